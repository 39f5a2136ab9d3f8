/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Translates a plan into ns-3's terms.
 */
#ifndef WW_PLAN_H
#define WW_PLAN_H

#include "wire/plan.hpp"

#include "ns3/nstime.h"
#include "ns3/ww-tcp-helper.h"

#include <string>

namespace ns3
{

/// Converts a plan's picoseconds into seconds.
inline double
SecondsOf(ww::sim::Time time)
{
    return static_cast<double>(time) / static_cast<double>(ww::sim::kSecond);
}

/// Converts a plan's picoseconds into ns-3's time.
inline Time
TimeOf(ww::sim::Time time)
{
    return Seconds(SecondsOf(time));
}

/// Returns the factory of the module's sockets with this recovery; empty: the module has none.
inline std::string
FactoryOf(ww::sim::Recovery recovery)
{
    switch (recovery)
    {
#define WW_CASE(ID, id, name, ...)                                                                 \
    case ww::sim::Recovery::id:                                                                    \
        return WwTcpHelper::FactoryOf(name);
        WW_RECOVERIES(WW_CASE)
#undef WW_CASE
    }
    return "";
}

} // namespace ns3

#endif /* WW_PLAN_H */
