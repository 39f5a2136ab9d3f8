// SPDX-License-Identifier: BSD-3-Clause
//
// What an impairment does to the packets of a channel. A kind is one file of this folder, which declares its
// settings, and a row of kinds.hpp. It acts at one end or at both:
//
//   drops()    kDrops: returns whether a packet is dropped on arrival, before it reaches the queue
//   arrival()  kDelays: returns when a packet arrives at the far end that would arrive at `time`. Calls come in the
//              order of arrival, and packets stay in that order, unless channels know of it: reorders() in network.hpp
#pragma once

#include "../../base/random.hpp"

namespace ww::sim {

// What an impairment does at an end where it does nothing.
struct Impairment {
    static constexpr bool kDrops = false, kDelays = false;
    bool drops(Time /*now*/, std::uint32_t /*bytes*/) { return false; }
    Time arrival(Time time) { return time; }
};

}  // namespace ww::sim
