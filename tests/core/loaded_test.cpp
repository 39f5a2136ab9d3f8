// SPDX-License-Identifier: BSD-3-Clause
//
// What a host does for a control that is loaded while it runs (core/loaded.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "../../core/westwood.h"

namespace {

TEST(Loaded, EveryByteOfTheStateIsZeroBeforeTheFirstCall) {
    std::array<unsigned char, WW_OWN_STATE_MAX> memory{};
    static_assert(sizeof(ww_loaded_state) == WW_OWN_STATE_MAX);
    memory.fill(0xff);
    ww_loaded_state state;
    std::memcpy(&state, memory.data(), sizeof state);
    ww_control_ops ops{};
    ww_config config = ww_default_config(WW_ALG_LOADED);
    config.control = &ops;
    ww_loaded_init(&config, &state);
    std::memcpy(memory.data(), &state, sizeof state);
    EXPECT_TRUE(std::all_of(memory.begin(), memory.end(), [](int byte) { return byte == 0; }));
}

}  // namespace
