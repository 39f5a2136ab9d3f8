/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * What a Westwood+ must do, each as a check of any congestion control: the module's has to pass all
 * of them (suite ww-checks), mainline's is seen to fail them (program ww-checks).
 */
#ifndef WW_CHECKS_H
#define WW_CHECKS_H

#include "ww-path.h"

namespace ns3
{

/** \brief How a check went. */
struct WwVerdict
{
    bool holds;       //!< as it must be
    std::string seen; //!< what was measured
};

/** \brief A check. */
struct WwCheck
{
    std::string name;                         //!< a word
    std::string clause;                       //!< what must be so
    WwVerdict (*run)(const WwSubject& subject); //!< whether it is
};

/**
 * \brief All of them
 * \return the list
 */
const std::vector<WwCheck>& WwChecks();

/**
 * \brief A connection that is reset while a sample is being taken; a memory checker has to watch it
 * \param subject its congestion control
 */
void WwResetConnection(const WwSubject& subject);

} // namespace ns3

#endif /* WW_CHECKS_H */
