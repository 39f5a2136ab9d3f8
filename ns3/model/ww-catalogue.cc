/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "ww-catalogue.h"

#include "core/westwood.h"

#include <algorithm>

namespace ns3
{

namespace
{

std::string
RecoveryName(ww_recovery recovery)
{
    switch (recovery)
    {
#define WW_CASE(ID, id, name, ...)                                                                 \
    case WW_RECOVERY_##ID:                                                                         \
        return name;
        WW_RECOVERIES(WW_CASE)
#undef WW_CASE
    case WW_RECOVERY_ANY:
        break;
    }
    return "";
}

bool
HasCongControl(ww_protocol protocol)
{
    const ww_config config = ww_configure(protocol);
    return (ww_traits(&config) & (WW_NEEDS_RATE | WW_OWNS_RECOVERY | WW_FOLLOWS_PACKETS)) != 0;
}

} // namespace

const std::vector<WwProtocol>&
WwProtocols()
{
#define WW_ROW(ID, name, ALGORITHM, RECOVERY, settings, label, look, ns3Class, ...)                \
    {name, ns3Class, RecoveryName(WW_RECOVERY_##RECOVERY), HasCongControl(WW_PROTOCOL_##ID)},
    static const std::vector<WwProtocol> rows{WW_PROTOCOLS(WW_ROW)};
#undef WW_ROW
    return rows;
}

const WwProtocol*
WwFindProtocol(const std::string& name)
{
    const auto& rows = WwProtocols();
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const WwProtocol& row) {
        return row.name == name;
    });
    return found == rows.end() ? nullptr : &*found;
}

const std::vector<std::string>&
WwFamily()
{
    static const std::vector<std::string> family = [] {
        std::vector<std::string> names;
        for (const WwProtocol& row : WwProtocols())
        {
            if (row.ns3Class == "WwTcpWestwood")
            {
                names.push_back(row.name);
            }
        }
        return names;
    }();
    return family;
}

} // namespace ns3
