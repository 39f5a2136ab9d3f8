// SPDX-License-Identifier: BSD-3-Clause
//
// The ways of recovering from losses differ in two questions; a new way must answer both to compile.
#pragma once

#include "network.hpp"

namespace ww::sim {

// Does the sender know from SACK blocks which segments are missing (RFC 6675, scoreboard.hpp)?
constexpr bool uses_sack(Recovery recovery) {
    switch (recovery) {
    case Recovery::tahoe:
    case Recovery::reno:
    case Recovery::newreno:
        return false;
    case Recovery::sack:
    case Recovery::rate_halving:
    case Recovery::prr:
        return true;
    }
    __builtin_unreachable();  // validate() lets no other value pass
}

// Does core/recovery.h say what cwnd is during recovery, so that it falls step by step?
constexpr bool conserves(Recovery recovery) {
    switch (recovery) {
    case Recovery::tahoe:
    case Recovery::reno:
    case Recovery::newreno:
    case Recovery::sack:
        return false;
    case Recovery::rate_halving:
    case Recovery::prr:
        return true;
    }
    __builtin_unreachable();
}

}  // namespace ww::sim
