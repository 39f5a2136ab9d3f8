// SPDX-License-Identifier: BSD-3-Clause
//
// What a loss model decides. A model is one file of this folder, which declares its settings, and a row of
// kinds.hpp. It says how many packets pass before the next one that needs a decision, so independent losses take
// one random number per loss, not one per packet:
//
//   packets_until_due()  the packets that pass before the next decision; kNoLoss: all
//   decide(now)          true if the packet due, which leaves the transmitter at `now`, is lost
//   resize(...)          the size of the packets has changed (bits.hpp); true: ask packets_until_due() again
//
// A model that only counts packets has kCounts = true. Then decide() ignores the time, and its losses can be listed
// by number, for every engine.
#pragma once

#include "../../base/random.hpp"
#include "../../base/stop.hpp"

namespace ww::sim {

inline constexpr std::uint64_t kNoLoss = UINT64_MAX;  // packets until a loss that never comes

// What a loss model is built for.
struct LossPlace {
    Random random;  // of the direction
    Random shared;  // of the link: both directions draw the same
    Stop* stop = nullptr;
};

// A model that loses nothing.
struct LossModel {
    static constexpr bool kCounts = true;
    std::uint64_t packets_until_due() { return kNoLoss; }
    bool decide(Time /*now*/) { return true; }
    bool resize(std::uint32_t /*bytes*/, std::uint64_t /*until_due*/) { return false; }
};

}  // namespace ww::sim
