// SPDX-License-Identifier: BSD-3-Clause
//
// Connections start with nothing counted, measured or remembered.
#include <array>
#include <cstring>

#include "rounds.hpp"

namespace {

using ww::test::Host;

// Expects what begins with another value than zero, and makes it zero.
template <class Value>
void take(Value& value, std::uint64_t expected) {
    EXPECT_EQ(std::exchange(value, 0), expected);
}

void take_what_is_not_zero(ww_algorithm algorithm, ww_state& state) {
    if (algorithm == WW_ALG_WESTWOOD) take(state.westwood.rtt_min_us, UINT32_MAX);
    if (algorithm == WW_ALG_VEGAS) take(state.vegas.base_rtt_us, UINT32_MAX);
    if (algorithm == WW_ALG_VEGAS) take(state.vegas.min_rtt_us, UINT32_MAX);
    if (algorithm == WW_ALG_VENO) take(state.veno.base_rtt_us, UINT32_MAX);
    if (algorithm == WW_ALG_VENO) take(state.veno.min_rtt_us, UINT32_MAX);
    if (algorithm == WW_ALG_BBR) take(state.bbr.rtprop_us, UINT32_MAX);
    if (algorithm == WW_ALG_WESTWOOD_CUBIC) {
        take(state.westwood_cubic.rtt_min_us, UINT32_MAX);
        // A quarter of the way from a lossy link, 0, to a full queue, 1.
        take(state.westwood_cubic.evidence, (128u + 128u / 4) << 8);
    }
    if (algorithm != WW_ALG_BBR3) return;
    ww_bbr3_state& b = state.bbr3;
    for (auto* const bandwidth : {&b.bw_shortterm, &b.undo_bw_shortterm})
        take(*bandwidth, WW_BBR3_ANY_BW);
    for (auto* const volume :
         {&b.inflight_shortterm, &b.inflight_longterm, &b.undo_inflight_shortterm,
          &b.undo_inflight_longterm, &b.probe_up_acked_per_inc})
        take(*volume, WW_BBR3_ANY_VOLUME);
    take(b.min_rtt_us, UINT32_MAX);
    take(b.probe_rtt_min_delay_us, UINT32_MAX);
    take(b.undo_mode, WW_BBR3_NONE);
}

// Sets what belongs to no member to zero. Other compilers than gcc copy constants with zeros there.
void clear_padding([[maybe_unused]] ww_algorithm algorithm, [[maybe_unused]] ww_state& state) {
#if __has_builtin(__builtin_clear_padding)
#define WW_CASE(ID, name) \
    if (algorithm == WW_ALG_##ID) __builtin_clear_padding(&state.name);
    WW_ALGORITHMS(WW_CASE)
#undef WW_CASE
#endif
}

TEST(Start, NothingIsCountedMeasuredOrRemembered) {
    for (int id = 0; id < WW_PROTOCOL_COUNT; id++) {
        SCOPED_TRACE(id);
        Host host(static_cast<ww_protocol>(id));
        const ww_observation seen = host.seen();
        EXPECT_EQ(seen.bandwidth, 0u);
        EXPECT_EQ(seen.raw, 0u);
        EXPECT_EQ(seen.rtt_min_us, UINT32_MAX) << "larger than any that comes";
        EXPECT_EQ(seen.samples, 0u);
        std::memset(&host.state, 0, sizeof host.state);
        ww_init(&host.config, &host.state);
        const auto algorithm = static_cast<ww_algorithm>(host.config.algorithm);
        clear_padding(algorithm, host.state);
        take_what_is_not_zero(algorithm, host.state);
        std::array<unsigned char, sizeof(ww_state)> bytes;
        std::memcpy(bytes.data(), &host.state, sizeof host.state);
        EXPECT_TRUE(std::ranges::all_of(bytes, [](int byte) { return byte == 0; }));
    }
}

TEST(Start, EveryByteOfALoadedControlsStateIsZero) {  // core/loaded.h
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
