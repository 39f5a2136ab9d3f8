// SPDX-License-Identifier: BSD-3-Clause
//
// What can be wrong with a user's control (core/loaded.h), for hosts that load one.
#pragma once

#include <string>
#include <vector>

#include "../core/frame.h"
#include "../core/westwood.h"

namespace ww::wire {

inline constexpr const char* kControlSymbol = "ww_own_control";  // WW_CONTROL defines it

// Returns what is wrong with a table, which a file may also have without WW_CONTROL; empty if nothing is.
inline std::string problem_of(const ww_control_ops& ops) {
    if (ops.version != WW_CONTROL_VERSION) return "it was compiled for another version of westwood";
    if (ops.state_bytes < sizeof(ww_common) || ops.state_bytes > WW_OWN_STATE_MAX)
        return "its state has " + std::to_string(ops.state_bytes) + " bytes, expected at most 232";
    if (ops.like >= WW_PROTOCOL_COUNT) return "it is like no control of the catalogue";
    if (ops.parameter_count > WW_PARAMETERS_MAX || ops.quantity_count > WW_QUANTITIES_MAX)
        return "it has more than 16 parameters, or more than 4 quantities";
    if (ops.label == nullptr || *ops.label == '\0') return "it has no label";
    if (ops.on_ack == nullptr) return "it has no .on_ack";
    if (ops.on_loss == nullptr) return "it has no .on_loss";
    return "";
}

// Returns the names of the operations that a table has.
inline std::vector<const char*> calls_of(const ww_control_ops& ops) {
    std::vector<const char*> names;
#define WW_ROW(call) \
    if (ops.call != nullptr) names.push_back(#call);
    WW_OPERATIONS(WW_ROW)
#undef WW_ROW
    return names;
}

// Returns what is wrong with a window that a control has set out of range.
inline std::string problem_of(const ww_window& window) {
    const auto sets = [](const char* what, auto value, const char* expected) {
        return std::string("sets ") + what + " to " + std::to_string(value) + ", expected " +
               expected;
    };
    if (window.cwnd < 1 || window.cwnd > WW_CWND_MAX)
        return sets("cwnd", window.cwnd, "from 1 to 2^28 segments");
    if (window.ssthresh > WW_SSTHRESH_INFINITE)
        return sets("ssthresh", window.ssthresh, "less than 2^31 segments");
    return sets("pacing", window.pacing, "at most 2^45");
}

}  // namespace ww::wire
