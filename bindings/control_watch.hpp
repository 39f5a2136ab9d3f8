// SPDX-License-Identifier: BSD-3-Clause
//
// Watches over runs with controls from files (control_watch.cpp).
#pragma once

#include <string>

#include "control.hpp"

namespace ww::bindings {

// Watches over the code of the shared object that has this address.
void watch_code(const void* address, const std::string& source);

// Ends this thread's run: a control has failed in an operation.
void fail(const std::string& source, const char* call, const std::string& problem);

}  // namespace ww::bindings
