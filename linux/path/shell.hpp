// SPDX-License-Identifier: GPL-2.0-only
//
// A shell runs a command inside a gateway (gateway.hpp), whose path carries the command's packets.
//
// Three processes take part, and end together:
//
//   the front   is the process that the user started. It waits for the command, passes signals on, and ends as the
//               command ended.
//   the path    is a child in a session of its own. It runs the loop until the front has closed its pipe, however
//               the front ended. Then it ends the processes inside; devices and namespaces disappear with them.
//   the command is a child of the front, in its process group, so that the terminal's signals reach it. It is
//               killed with the front.
#pragma once

#include "plan.hpp"

namespace ww::path {

// Runs `command` (its words, then null) over the plan's network. Returns its exit code, or 126 or 127 if it could
// not be started, as a shell does. Ends by the same signal as the command.
int run_shell(const Plan& plan, char** command, bool meter);

// Ends every process in a network namespace, except the caller.
void end_all_in(int net);

}  // namespace ww::path
