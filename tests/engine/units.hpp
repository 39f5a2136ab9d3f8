// SPDX-License-Identifier: BSD-3-Clause
//
// Units of time for tests that describe paths and timers by hand.
#pragma once

#include "engine/network.hpp"

namespace ww::sim::test {

inline constexpr Time kMs = kSecond / 1000;

}  // namespace ww::sim::test
