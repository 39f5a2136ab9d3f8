/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Checks what a Westwood+ must do, on any congestion control: the module's has to pass all of the
 * checks (suite ww-checks), and mainline's is seen to fail them (program ww-checks).
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
    std::string name;                           //!< a word
    std::string clause;                         //!< what must be so
    WwVerdict (*run)(const WwSubject& subject); //!< whether it is
};

/**
 * \brief List all checks
 * \return the list
 */
const std::vector<WwCheck>& WwChecks();

/**
 * \brief Reset a connection while a sample is being taken, for a memory checker to watch
 * \param subject its congestion control
 */
void WwResetConnection(const WwSubject& subject);

} // namespace ns3

#endif /* WW_CHECKS_H */
