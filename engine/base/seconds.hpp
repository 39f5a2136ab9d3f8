// SPDX-License-Identifier: BSD-3-Clause
//
// Results are in seconds, while the engine's clock counts picoseconds.
#pragma once

#include "../settings.hpp"

namespace ww::sim {

inline double seconds(Time t) { return static_cast<double>(t) / static_cast<double>(kSecond); }

}  // namespace ww::sim
