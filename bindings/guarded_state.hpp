// SPDX-License-Identifier: BSD-3-Clause
//
// Memory for the states of users' controls. Each ends where a page that nobody may touch begins, so that a write past
// its end is a signal at the line that makes it. It costs a run nothing: only where the state lies is different.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ww::bindings {

// Returns memory for a state of that many bytes; null if all of the places are taken.
void* take_guarded(std::size_t bytes);

// Takes a state's memory back. Returns false if something beside it was written.
bool give_back_guarded(void* state, std::size_t bytes);

// Returns the bit of a state's place, and takes back all places with such a bit, of runs that were left by a jump.
std::uint64_t bit_of_guarded(const void* state);
void give_back_guarded(std::uint64_t places);

// Returns whether an address lies in or between these states.
bool is_guarded(const void* address);

}  // namespace ww::bindings
