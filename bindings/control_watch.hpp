// SPDX-License-Identifier: BSD-3-Clause
//
// Watches over runs with controls from files (control_watch.cpp).
#pragma once

#include <cstdint>
#include <string>

#include "control.hpp"

namespace ww::bindings {

// Watches over the code of the shared object that has this address. `name` is the file's.
void watch_code(const void* address, const std::string& source, const std::string& name);

// This thread's run opens or closes a connection with that control, whose state has this place (guarded_state.hpp).
void opens(const std::string& source, std::uint64_t place);
void closes(std::uint64_t place);

// Ends this thread's run: a control has failed in an operation.
void fail(const std::string& source, const char* call, const std::string& problem);

}  // namespace ww::bindings
