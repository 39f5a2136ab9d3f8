// SPDX-License-Identifier: BSD-3-Clause
//
// The statement of a plan that hands a flow's connections to a QUIC stack, or names a kernel's control:
//
//   stack FLOW quinn|noq|FORK own|ours CONTROL     with the stack's own control, or with one of ours
//   stack FLOW linux own CONTROL                   in the kernel with a control of its own, by its name there
#pragma once

#include <cstdint>
#include <string>

#include "words.hpp"

namespace ww::wire {

struct Stack {
    std::uint32_t flow = 0;
    std::string name;
    bool is_own = false;  // the control is the stack's
    std::string control;
};

inline Stack read_stack(Words& words) {
    Stack stack;
    words.into(stack.flow, 0, UINT32_MAX);
    stack.name = words.word();
    words.into(stack.is_own, {{"own", true}, {"ours", false}});
    stack.control = words.word();
    return stack;
}

}  // namespace ww::wire
