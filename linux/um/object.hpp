// SPDX-License-Identifier: GPL-2.0-only
//
// Loads the compiled control of a user into the machine. Its program is static, so that it has no loader for shared
// objects; westwood/control/objects.py has checked that this one needs and runs nothing when it is loaded.
#pragma once

#include <string>

#include "../../core/westwood.h"

namespace ww::path {

// Returns the control's table, for the only control that a machine has; throws PlanError.
const ww_control_ops& load_control(const std::string& file);

}  // namespace ww::path
