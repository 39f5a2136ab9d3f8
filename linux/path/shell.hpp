// SPDX-License-Identifier: GPL-2.0-only
//
// A shell is a command inside a gateway (gateway.hpp) whose path carries its packets for as long as it runs.
//
// Three processes take part, and none outlives the others:
//
//   the front   what the user started. It waits for the command, passes signals on to it and ends as it did.
//   the path    a child in a session of its own. It runs the loop until the front has closed its pipe, however
//               the front ended; then it ends what is still inside, and with it go devices and namespaces.
//   the command a child of the front, in its process group, so that the terminal's signals reach it. It
//               is killed with the front.
#pragma once

#include "plan.hpp"

namespace ww::path {

// Runs `command` (its words, and a null) with the plan's network for its path. Returns its exit code; 126 and
// 127 say that it could not be started, as a shell does. Ends by the signal that ended the command.
int run_shell(const Plan& plan, char** command, bool meter);

// Ends everything that runs in a network namespace, but not the caller.
void end_all_in(int net);

}  // namespace ww::path
