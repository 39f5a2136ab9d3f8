// SPDX-License-Identifier: BSD-3-Clause
//
// Checks what the event loop assumes about a network.
#pragma once

#include <string>

#include "network.hpp"

namespace ww::sim {

// Returns one line that says what is wrong, or an empty string.
std::string validate(const Network& network);

}  // namespace ww::sim
