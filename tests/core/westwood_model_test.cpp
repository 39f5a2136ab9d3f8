// SPDX-License-Identifier: BSD-3-Clause
//
// The Westwood family follows its equations, with any settings, on every call of any connection.
// The protocols of the family have the settings that their papers ask for.
#include "westwood_model.hpp"

namespace {

using ww::test::Choices;
using ww::test::Driven;
using ww::test::to_u32;
using ww::test::WestwoodModel;

ww_config any_settings(ww_protocol protocol, Choices choices) {
    ww_config config = ww::test::any_counting(protocol, choices);
    config.tau_us = choices.of({500000u, 500000u, 1u, 40000u, 1048575u, 2000000u, 60000000u});
    config.m = static_cast<std::uint8_t>(choices.of({10u, 10u, 0u, 2u, 16u}));
    config.bound_samples = !choices.one_in(3);
    config.alpha_permille = static_cast<std::uint16_t>(choices.of({900u, 0u, 333u, 1000u}));
    config.min_interval_us = choices.of({50000u, 50000u, 1u, 300000u});
    if (choices.one_in(2)) config.filter = static_cast<std::uint8_t>(choices.upto(5));
    if (choices.one_in(3)) config.sampler = static_cast<std::uint8_t>(choices.upto(2));
    if (choices.one_in(4)) config.rtt_tick_us = choices.of({1u, 2u, 4000u, 1000000u});
    if (choices.one_in(4)) config.seed_filter ^= true;
    if (choices.one_in(4)) config.counted_ticks ^= true;
    if (choices.one_in(4)) config.null_trapezoid ^= true;
    if (choices.one_in(2)) config.null_at_timeout ^= true;
    if (choices.one_in(4)) config.divided_timeouts ^= true;
    if (choices.one_in(4))
        config.max_counted = static_cast<std::uint8_t>(choices.of({2u, 3u, 255u}));
    if (choices.one_in(4)) config.literal_count ^= true;
    if (choices.one_in(4)) config.set_cwnd_on_loss ^= true;
    return config;
}

TEST(WestwoodModel, TheCoreFollowsThePapersWithAnySettings) {
    const auto family = {WW_PROTOCOL_WESTWOOD,
                         WW_PROTOCOL_WESTWOOD_NS3,
                         WW_PROTOCOL_WESTWOOD_PLUS,
                         WW_PROTOCOL_WESTWOOD_PLUS_NS3,
                         WW_PROTOCOL_WESTWOODNR_PLUS,
                         WW_PROTOCOL_WESTWOOD_PLUS_LINUX24,
                         WW_PROTOCOL_WESTWOOD_PLUS_LINUX,
                         WW_PROTOCOL_WESTWOOD_UCLA};
    int silent = 0, on_a_plateau = 0;
    for (std::uint64_t seed = 0; seed < 1000; seed++) {
        SCOPED_TRACE(seed);
        const ww_protocol protocol = family.begin()[seed % family.size()];
        Driven<WestwoodModel> driven(any_settings(protocol, Choices(seed)), seed,
                                     ww::test::any_window(Choices(seed + 1)));
        const WestwoodModel& model = driven.model;
        for (int i = 0; i < 400; i++) {
            driven.step();
            driven.expect_same();
            for (const std::uint64_t later_us : {0u, 49999u, 60000u, 3000000u}) {
                const std::uint64_t time_us = driven.path.now_us + later_us;
                const ww_observation seen = ww_observe(&driven.config, &driven.state, time_us);
                ASSERT_EQ(seen.bandwidth, model.filter.read(time_us));
                ASSERT_EQ(seen.raw, model.filter.raw);
                ASSERT_EQ(seen.rtt_min_us, model.rtt_min_us);
                ASSERT_EQ(seen.samples, model.filter.samples);
            }
            if (HasFatalFailure()) return;
            silent += model.filter.silent(driven.path.now_us + 60000);
            on_a_plateau += model.plateau != 0;
        }
    }
    EXPECT_GT(silent, 10000) << "the connections went everywhere";
    EXPECT_GT(on_a_plateau, 1000);
}

}  // namespace
