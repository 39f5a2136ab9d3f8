// SPDX-License-Identifier: BSD-3-Clause
//
// Says how many blocks of random networks a test runs. Under sanitizers a run takes ten times as long, and the fuzz
// targets draw networks there, too: fewer blocks are enough.
#pragma once

#include <cstddef>

namespace ww::sim::test {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WW_FEWER_BLOCKS
#endif
#endif
#ifdef WW_FEWER_BLOCKS
inline constexpr std::size_t kBlocks = 4;
#else
inline constexpr std::size_t kBlocks = 10;
#endif

}  // namespace ww::sim::test
