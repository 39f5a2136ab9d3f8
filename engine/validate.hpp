// SPDX-License-Identifier: BSD-3-Clause
//
// What a network must satisfy before the loop may trust it.
#pragma once

#include <string>

#include "network.hpp"

namespace ww::sim {

// One line that says what is wrong, or an empty string.
std::string validate(const Network& network);

}  // namespace ww::sim
