// SPDX-License-Identifier: BSD-3-Clause
//
// Runs networks whose controls come from files of users.
#pragma once

#include <functional>
#include <stdexcept>

#include "bindings.hpp"

namespace ww::bindings {

// Thrown for a control that fails during a run. The message has four fields between tabs: what identifies the control,
// the operation or nothing, the place in the machine code or nothing, and what went wrong.
struct ControlFailed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Does work that calls controls, for a thread without the interpreter lock. Throws ControlFailed. Of a whole run nothing
// remains after the work, even if it ends by a failure.
void watched(const std::function<void()>& work, bool is_whole = true);

// Like sim::run, for a thread without the interpreter lock. Throws ControlFailed.
sim::Outcome run_watched(const sim::Network& network, std::uint64_t seed, sim::Sink* sink,
                         const sim::Stop& stop);

// Tells the watch that this thread's run goes on. Returns false if a control has failed.
bool still_sound();

// Binds the loading of controls.
void bind_control(nb::module_& m);

// Binds recordings of calls.
void bind_calls(nb::module_& m);

// Binds what takes from a process all that a control does not need.
void bind_confine(nb::module_& m);

}  // namespace ww::bindings
