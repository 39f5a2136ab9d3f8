// SPDX-License-Identifier: BSD-3-Clause
//
// CUBIC follows RFC 9438, Linux or ns-3, with any HyStart, on every call of any connection.
#include "cubic_model.hpp"

namespace {

using ww::test::Choices;
using ww::test::CubicModel;
using ww::test::Driven;

TEST(CubicModel, TheCoreFollowsTheRules) {
    int in_css = 0, after_hystart = 0, in_avoidance = 0;
    for (std::uint64_t seed = 0; seed < 1200; seed++) {
        SCOPED_TRACE(seed);
        Choices choices(seed);
        ww_config config = ww::test::any_counting(WW_PROTOCOL_CUBIC, Choices(seed));
        config.cubic_rules = static_cast<std::uint8_t>(seed % 3);
        config.slow_start = static_cast<std::uint8_t>(seed / 3 % 4);
        config.fast_convergence = !choices.one_in(3);
        Driven<CubicModel> cubic(config, seed, ww::test::any_window(Choices(seed + 1)));
        for (int i = 0; i < 400; i++) {
            cubic.step();
            cubic.expect_same();
            if (HasFatalFailure()) return;
            in_css += cubic.model.careful.in_css();
            after_hystart += !cubic.happened && cubic.window.ssthresh == cubic.window.cwnd;
            in_avoidance += cubic.window.cwnd >= cubic.window.ssthresh;
        }
    }
    EXPECT_GT(in_css, 1000) << "the connections went everywhere";
    EXPECT_GT(after_hystart, 100);
    EXPECT_GT(in_avoidance, 10000);
}

}  // namespace
