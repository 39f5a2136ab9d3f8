/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Checks the requirements on a Westwood+ for any congestion control. The module's must pass all
 * checks (suite ww-checks); mainline's fails them (program ww-checks).
 */
#ifndef WW_CHECKS_H
#define WW_CHECKS_H

#include "ww-path.h"

namespace ns3
{

/** \brief The result of a check. */
struct WwVerdict
{
    bool holds;       //!< whether the check passed
    std::string seen; //!< what was measured
};

/** \brief A check. */
struct WwCheck
{
    std::string name;                           //!< one word
    std::string clause;                         //!< the requirement
    WwVerdict (*run)(const WwSubject& subject); //!< tests it
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
