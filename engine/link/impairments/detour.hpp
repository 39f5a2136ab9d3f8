// SPDX-License-Identifier: BSD-3-Clause
//
// A detour: from `start` on, packets take a longer way for a time, as after a reroute or a handover. With `every` it
// recurs. A packet's way follows from when it would arrive without the detour. Packets that would overtake others at
// the end of a detour arrive right after them, unless the detour does not keep the order.
#pragma once

#include <algorithm>

#include "impairment.hpp"

#define WW_DETOUR_SETTINGS(X)                                                                     \
    X(TIME, delay, 20'000 * kMicrosecond, 0, kHour, "Additional one-way delay of the detour", "") \
    X(TIME, start, 0, 0, kLongest, "When the first detour begins", "")                            \
    X(TIME, length, kLongest, 1, kLongest, "How long a detour lasts",                             \
      "A reroute lasts until the end of the run.")                                                \
    X(TIME, every, 0, 0, kLongest, "Time from one detour to the next; 0: there is one",           \
      "A reroute happens once.")                                                                  \
    X(SWITCH, keeps_order, true, 0, 1,                                                            \
      "Packets after a detour wait for those on it; else they overtake them",                     \
      "Equipment that changes a path tries to keep the order.")

namespace ww::sim {

struct Detour {
    WW_DETOUR_SETTINGS(WW_SETTING_MEMBER)
};

class Detours : public Impairment {
  public:
    static constexpr bool kDelays = true;

    Detours(const Detour& settings, const Random&) : settings_(settings) {}

    Time arrival(Time time) {
        Time since = time - settings_.start;
        if (since >= 0 && settings_.every > 0) since %= settings_.every;
        const bool is_detour = since >= 0 && since < settings_.length;
        const Time there = time + (is_detour ? settings_.delay : 0);
        return last_ = settings_.keeps_order ? std::max(last_, there) : there;
    }

  private:
    Detour settings_;
    Time last_ = 0;
};

}  // namespace ww::sim
