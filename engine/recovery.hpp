// SPDX-License-Identifier: BSD-3-Clause
//
// Two properties of each loss recovery, from core/recoveries.h.
#pragma once

#include "network.hpp"

namespace ww::sim {

// Returns true if the sender learns from SACK blocks which segments are missing (RFC 6675,
// scoreboard.hpp).
constexpr bool uses_sack(Recovery recovery) {
    switch (recovery) {
#define WW_CASE(ID, id, name, has_sack, ...) \
    case Recovery::id:                       \
        return has_sack != 0;
        WW_RECOVERIES(WW_CASE)
#undef WW_CASE
    }
    __builtin_unreachable();  // validate() rejects other values
}

// Returns true if core/recovery.h sets cwnd during recovery, so that it falls step by step.
constexpr bool uses_rate_reduction(Recovery recovery) {
    switch (recovery) {
#define WW_CASE(ID, id, name, has_sack, steps, ...) \
    case Recovery::id:                              \
        return steps != 0;
        WW_RECOVERIES(WW_CASE)
#undef WW_CASE
    }
    __builtin_unreachable();
}

}  // namespace ww::sim
