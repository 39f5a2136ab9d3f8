// SPDX-License-Identifier: BSD-3-Clause
//
// The controls that are loaded while the simulator runs (core/loaded.h), by the key that a scenario's `cc` has
// with the name: `source` for a file, whose value identifies its contents.
#pragma once

#include <string>

#include "../core/westwood.h"

namespace ww::plan {

inline constexpr const char* kSource = "source";  // the key of `cc`

// Returns whether a name is that of a file with a control or, in Python, of a class; not of a protocol.
inline bool names_file(std::string_view name) {
    return name.size() > 2 && (name.ends_with(".c") || name.ends_with(".py"));
}

// Adds a control, which must stay; another one of this key is no longer found. Calls must not overlap with others
// of this header.
void add_control(const std::string& source, const ww_control_ops& control);

// Returns the control, or nullptr.
const ww_control_ops* find_control(const std::string& source);

// Returns the key of a control that was added.
std::string source_of(const ww_control_ops& control);

}  // namespace ww::plan
