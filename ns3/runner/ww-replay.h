/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Makes the calls of a recording (core/calls.h) in a control, for `westwood control replay`.
 */
#ifndef WW_REPLAY_H
#define WW_REPLAY_H

#include "core/calls.h"
#include "ww-control.h"

#include <cinttypes>
#include <cstdio>
#include <iostream>
#include <map>
#include <string>

namespace ns3
{

/// Returns the configuration of a protocol; throws PlanError for an unknown name.
inline ww_config
ConfigOfProtocol(const std::string& name)
{
    static const std::map<std::string, ww_protocol> protocols = {
#define WW_ROW(ID, name, ...) {name, WW_PROTOCOL_##ID},
        WW_PROTOCOLS(WW_ROW)
#undef WW_ROW
    };
    const auto found = protocols.find(name);
    if (found == protocols.end())
    {
        throw ww::wire::PlanError("replay: no protocol " + name);
    }
    return ww_configure(found->second);
}

/// Makes the calls on standard input, up to a line `end`, and prints the windows after each.
/// words: a protocol, or the source of a user's control, its shared object and its parameters
inline void
Replay(int count, char** words)
{
    ww_config config{};
    if (count == 1)
    {
        config = ConfigOfProtocol(words[0]);
    }
    else
    {
        const ww_control_ops& control = LoadControl(words[0], words[1]);
        config = ww_configure(static_cast<ww_protocol>(control.like));
        config.algorithm = WW_ALG_LOADED;
        config.control = &control;
        for (int i = 2; i < count && i < 2 + WW_PARAMETERS_MAX; i++)
        {
            config.own[i - 2] = static_cast<uint32_t>(std::stoul(words[i]));
        }
    }
    config.batched_acks = true;
    ww_state state;
    ww_window window{};
    for (std::string line; std::getline(std::cin, line) && line != "end";)
    {
        const ww_call call = ww_read_call(line.c_str());
        ww_make_call(&config, &state, &window, &call);
        std::printf("%" PRIu32 " %" PRIu32 " %" PRIu64 "\n",
                    window.cwnd,
                    window.ssthresh,
                    window.pacing);
    }
}

} // namespace ns3

#endif /* WW_REPLAY_H */
