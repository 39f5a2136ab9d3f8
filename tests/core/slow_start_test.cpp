// SPDX-License-Identifier: BSD-3-Clause
//
// The setting slow_start ends slow start around every control that has Reno's, and no other.
#include <gtest/gtest.h>

#include "rounds.hpp"

namespace {

using ww::test::Rounds;

Rounds started(ww_protocol id, ww_start_rule rule, std::uint32_t cwnd = 16) {
    Rounds c(id, cwnd);
    c.config.slow_start = static_cast<std::uint8_t>(rule);
    c.before_sending = true;
    ww_init(&c.config, &c.state);
    return c;
}

TEST(SlowStart, IsStandardUnlessARowSaysOtherwise) {
    for (int id = 0; id < WW_PROTOCOL_COUNT; id++) {
        const ww_config config = ww_configure(static_cast<ww_protocol>(id));
        EXPECT_EQ(config.slow_start,
                  config.algorithm == WW_ALG_CUBIC ? WW_HYSTART_PLUS_PLUS : WW_SLOW_START_STANDARD);
        EXPECT_FALSE(ww_start_is_apart(&config)) << "nothing around the controls of Linux: " << id;
    }
}

TEST(SlowStart, IsSetAroundTheControlsThatHaveRenosOnly) {
    for (int rule = WW_HYSTART_LINUX; rule <= WW_CAREFUL_RESUME; rule++)
        for (int algorithm = 0; algorithm < WW_ALGORITHM_COUNT; algorithm++) {
            ww_config config = ww_default_config(static_cast<std::uint8_t>(algorithm));
            config.slow_start = static_cast<std::uint8_t>(rule);
            const bool has_renos = algorithm == WW_ALG_RENO || algorithm == WW_ALG_WESTWOOD ||
                                   algorithm == WW_ALG_VEGAS || algorithm == WW_ALG_VENO;
            const bool is_cubics = algorithm == WW_ALG_CUBIC && rule >= WW_SEARCH;
            EXPECT_EQ(ww_start_is_apart(&config), has_renos || is_cubics);
        }
}

// CUBIC has HyStart and HyStart++ itself, so that it has them in Linux, too. Both places do the same.
TEST(SlowStart, EndsAroundRenoAsItDoesInCubic) {
    for (const ww_start_rule rule : {WW_HYSTART_LINUX, WW_HYSTART_NS3, WW_HYSTART_PLUS_PLUS}) {
        for (const std::uint32_t rise_us : {0u, 3000u, 6000u, 12000u, 60000u}) {
            Rounds inside = started(WW_PROTOCOL_CUBIC, rule);
            Rounds around = started(WW_PROTOCOL_SACK, rule);
            std::uint32_t rtt_us = 40000;
            for (int round = 0; round < 12; round++) {
                const std::uint32_t count = inside.window.cwnd;
                if (inside.window.ssthresh != WW_SSTHRESH_INFINITE) break;
                for (std::uint32_t i = 0; i < count; i++) {
                    inside.ack(rtt_us / count, rtt_us);
                    around.ack(rtt_us / count, rtt_us);
                    ASSERT_EQ(inside.window.ssthresh, around.window.ssthresh) << rule;
                    if (inside.window.ssthresh != WW_SSTHRESH_INFINITE) break;
                    ASSERT_EQ(inside.window.cwnd, around.window.cwnd) << rule << " " << rise_us;
                }
                rtt_us += round > 1 ? rise_us : 0;
            }
            if (rise_us >= 12000 && rule != WW_HYSTART_NS3) {
                EXPECT_NE(around.window.ssthresh, WW_SSTHRESH_INFINITE) << rule << " " << rise_us;
            }
        }
    }
}

// Longer round trips begin conservative slow start, which grows by a quarter of slow start's growth.
void expect_conservative_growth(Rounds& c) {
    c.round(40000);
    c.round(40000);
    for (int i = 0; i < 8; i++) c.ack(10, 60000);
    c.round(60000);
    const std::uint32_t css = c.window.cwnd;
    for (int i = 0; i < 40; i++) c.ack(10, 60000);
    EXPECT_EQ(c.window.cwnd, css + 10);
}

TEST(SlowStart, HystartPlusPlusEndsTheFirstOneOfEachControl) {  // RFC 9406, 4.2 and 4.3
    for (const ww_protocol id : {WW_PROTOCOL_SACK, WW_PROTOCOL_WESTWOOD_PLUS, WW_PROTOCOL_VENO}) {
        SCOPED_TRACE(id);
        Rounds c = started(id, WW_HYSTART_PLUS_PLUS);
        expect_conservative_growth(c);
        for (int i = 0; i < 6; i++) c.round(60000);
        EXPECT_LE(c.window.ssthresh, c.window.cwnd) << id;
    }
}

TEST(SlowStart, CubicHasConservativeSlowStartWithTheRulesOfLinux) {
    Rounds c = started(WW_PROTOCOL_CUBIC, WW_HYSTART_PLUS_PLUS);
    c.config.cubic_rules = WW_RULES_LINUX;
    expect_conservative_growth(c);
}

TEST(SlowStart, TheFirstOneEndsWithALossAndAnUndoResumesIt) {
    for (const int event : {0, 1, 2}) {
        Rounds c = started(WW_PROTOCOL_SACK, WW_SEARCH);
        c.round(40000);
        if (event == 0) c.loss();
        if (event == 1) c.timeout();
        if (event == 2)
            ww_on_mark(&c.config, &c.state, &c.window, c.now_us, c.window.cwnd, ww::test::kMss);
        EXPECT_TRUE(c.state.start.over);
        const std::uint32_t counted = c.state.start.search.acked;
        c.window.ssthresh = 1000;
        c.ack(1000, 40000);
        EXPECT_EQ(c.state.start.search.acked, counted) << "no SEARCH in a later slow start";
        c.timeout(10, true);
        c.undo();
        EXPECT_FALSE(c.state.start.over) << "a repeated timeout is no second one";
        c.loss();
        c.loss();
        c.undo();
        EXPECT_TRUE(c.state.start.over) << "only the last loss was spurious";
    }
}

TEST(SlowStart, ATimeoutBeginsAnotherWithHystart) {  // tcp_cubic.c: bictcp_reset()
    Rounds c = started(WW_PROTOCOL_SACK, WW_HYSTART_LINUX);
    c.state.start.hystart.done = true;
    c.loss();
    EXPECT_TRUE(c.state.start.hystart.done);
    c.timeout();
    EXPECT_FALSE(c.state.start.hystart.done);
}

TEST(SlowStart,
     SearchEndsCubicsInAnUndisturbedStage) {  // RFC 9438, 4.10: as after a timeout, K = 0
    Rounds c = started(WW_PROTOCOL_CUBIC, WW_SEARCH, 10);
    for (int i = 0; i < 4; i++) c.round(100000);
    for (int i = 0; i < 2000 && c.window.ssthresh == WW_SSTHRESH_INFINITE; i++) c.ack(1000, 200000);
    ASSERT_NE(c.window.ssthresh, WW_SSTHRESH_INFINITE);
    EXPECT_NEAR(c.window.cwnd, 105, 2) << "105 ms of a segment per ms";
    c.ack(1000, 100000);
    EXPECT_EQ(c.state.cubic.curve.k_ms, 0u);
    EXPECT_EQ(c.state.cubic.curve.cwnd_prior, c.window.ssthresh);
}

}  // namespace
