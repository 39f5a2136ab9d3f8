// SPDX-License-Identifier: BSD-3-Clause
//
// The ways of recovering from losses differ in two questions, which core/recoveries.h answers.
#pragma once

#include "network.hpp"

namespace ww::sim {

// Does the sender know from SACK blocks which segments are missing (RFC 6675, scoreboard.hpp)?
constexpr bool uses_sack(Recovery recovery) {
    switch (recovery) {
#define WW_CASE(ID, id, name, has_sack, ...) \
    case Recovery::id:                       \
        return has_sack != 0;
        WW_RECOVERIES(WW_CASE)
#undef WW_CASE
    }
    __builtin_unreachable();  // validate() lets no other value pass
}

// Does core/recovery.h say what cwnd is during recovery, so that it falls step by step?
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
