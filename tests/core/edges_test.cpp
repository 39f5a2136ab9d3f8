// SPDX-License-Identifier: BSD-3-Clause
//
// Edge cases that the models of random connections (*_model_test.cpp) rarely meet: the first and
// the last value within a bound, the largest windows, reports of a host that knows almost nothing.
#include "rounds.hpp"

namespace {

using ww::test::Rounds;

// ---- Westwood

TEST(Edges, WithoutARoundTripThereIsNoBdpToSetAWindowFrom) {  // BWE RTTmin, Mascolo 2001
    Rounds c(WW_PROTOCOL_WESTWOOD_NS3, 40);
    for (int i = 0; i < 10; i++) c.ack(1000, 0);
    ASSERT_GT(c.seen().bandwidth, 0u);
    c.loss();
    EXPECT_EQ(c.window.ssthresh, c.config.min_cwnd);
}

TEST(Edges, ARoundTripIsRoundedUpToTicksUnlessItIsTooLong) {  // usecs_to_jiffies()
    constexpr std::uint32_t tick = 4000;
    const auto measured = [](std::uint32_t rtt_us) {
        Rounds c(WW_PROTOCOL_WESTWOOD_PLUS_LINUX, 40);
        c.ack(1000, rtt_us);
        return c.state.westwood.last_rtt_us;
    };
    EXPECT_EQ(measured(1), tick);
    EXPECT_EQ(measured(tick), tick);
    EXPECT_EQ(measured(tick + 1), 2 * tick);
    EXPECT_EQ(measured(UINT32_MAX - tick), (UINT32_MAX - 1) / tick * tick) << "the longest";
    EXPECT_EQ(measured(UINT32_MAX - tick + 1), UINT32_MAX - tick + 1) << "as the host says it";
}

TEST(Edges, APlateauThatWasReachedIsOverForGood) {  // Frikha 2005, equation 5
    Rounds c(WW_PROTOCOL_WESTWOODNR_PLUS, 22);
    c.loss();
    ASSERT_EQ(c.window.cwnd, 12u);
    for (std::uint32_t acks = 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11; acks > 0; acks--)
        c.ack(1000, 100000);
    c.window.cwnd = 5;  // whatever the host's recovery left
    c.ack(1000, 100000);
    EXPECT_LE(c.window.cwnd, 6u);
}

// ---- CUBIC

TEST(Edges, TheLargestWindowsAreRenoFriendly) {  // RFC 9438, 4.3
    constexpr std::uint32_t large = 9000000, largest = WW_CUBIC_CWND_MAX;
    Rounds c(WW_PROTOCOL_CUBIC, large, large);
    c.ack(1000, 100000);
    EXPECT_GE(c.state.cubic.curve.w_est >> 32, large) << "W_est starts as cwnd";
    c.window.cwnd = largest;
    c.state.cubic.curve.w_est = std::uint64_t{largest} << 32 | UINT32_MAX;
    c.ack(1000, 100000, 1u << 16);
    EXPECT_EQ(c.window.cwnd, largest);
    EXPECT_LE(c.state.cubic.curve.w_est >> 32, largest);
}

// Returns delay_min after a round trip of 40 ms this late in a stage.
std::uint32_t delay_min_us(ww_start_rule rules, std::uint64_t ms_in_stage) {
    Rounds c(WW_PROTOCOL_CUBIC, 100, 50);
    c.config.cubic_rules = WW_RULES_LINUX;
    c.config.slow_start = static_cast<std::uint8_t>(rules);
    c.ack(1000, 0);  // the stage begins
    c.ack(ms_in_stage * 1000, 40000);
    return c.state.cubic.delay_min_us;
}

TEST(Edges,
     EarlyRoundTripsOfAStageDoNotCount) {  // "Discard delay samples right after fast recovery"
    EXPECT_EQ(delay_min_us(WW_HYSTART_LINUX, 999), 0u);
    EXPECT_EQ(delay_min_us(WW_HYSTART_LINUX, 1000), 40000u);
    EXPECT_EQ(delay_min_us(WW_HYSTART_NS3, 9), 0u);
    EXPECT_EQ(delay_min_us(WW_HYSTART_NS3, 10), 40000u);
}

// ---- BBRv1

TEST(Edges, BeforeARateIsKnownOneWindowIsPacedPerRoundTrip) {  // draft-cardwell-...-00, 4.2.1
    const auto pacing = [](std::uint32_t rtt_us) {
        Rounds c(WW_PROTOCOL_BBR, 10);
        c.ack(1000, rtt_us);  // without a rate sample
        return c.window.pacing;
    };
    EXPECT_EQ(pacing(0), 0u) << "nor is the round trip known";
    const std::uint64_t fastest = 10 * 1000 * UINT64_C(256000000) * 739 * 99 / (100 * 256);
    EXPECT_EQ(pacing(1), std::min(fastest, WW_BW_MAX)) << "in a microsecond";
    EXPECT_EQ(pacing(100000), 10 * 1000 * UINT64_C(2560) * 739 * 99 / (100 * 256));
}

TEST(Edges, BeforeARoundTripIsKnownTheBdpIsTheInitialWindow) {  // 4.2.3.2, RFC 6928
    Rounds c(WW_PROTOCOL_BBR, 100, 100);
    c.state.bbr.rtprop_us = UINT32_MAX;
    EXPECT_EQ(ww_bbr_bdp(&c.state.bbr, 1, WW_BBR_UNIT, 1000), 10u);
}

TEST(Edges, APipeIsNotFullWhileBandwidthGrowsByAQuarter) {  // 4.3.2.2
    for (const std::uint64_t grown : {124u, 125u}) {
        Rounds c(WW_PROTOCOL_BBR, 100, 100);
        c.state.bbr.full_bw = 100;
        c.state.bbr.max_bw[0] = grown;
        ww_bbr_set(&c.state.bbr, WW_BBR_ROUND_START, true);
        const ww_sample sample{};
        ww_bbr_check_full_pipe(&c.state.bbr, &sample);
        EXPECT_EQ(c.state.bbr.full_rounds, grown < 125 ? 1 : 0);
    }
}

TEST(Edges, TheLargestCubesHaveARoot) {
    for (const std::uint64_t root : {1u << 19, 1u << 20, (1u << 20) + 12345u})
        EXPECT_EQ(ww_cube_root(root * root * root), root);
}

TEST(Edges, ARoundTripIsTenSecondsOldAfterMoreThanTen) {  // 4.1.2.3: RTpropFilterLen
    const auto mode_after = [](std::uint64_t us) {
        Rounds c(WW_PROTOCOL_BBR, 10);
        c.ack(1000, 100000);
        c.ack(us, 100001);
        return c.state.bbr.mode;
    };
    EXPECT_EQ(mode_after(10000000), WW_BBR_STARTUP);
    EXPECT_EQ(mode_after(10000001), WW_BBR_PROBE_RTT);
}

TEST(Edges, AQuantumIsOneTwoOrAMillisecondOfSegments) {  // 4.2.2
    const auto quantum = [](std::uint64_t bytes_per_s, std::uint32_t mss) {
        return ww_bbr_quantum(bytes_per_s << WW_BW_FRACTION, mss);
    };
    EXPECT_EQ(quantum(1200000 / 8 - 1, 1000), 1u);
    EXPECT_EQ(quantum(1200000 / 8, 1000), 2u);
    EXPECT_EQ(quantum(24000000 / 8 - 1, 1000), 2u);
    EXPECT_EQ(quantum(24000000 / 8, 1000), 3u) << "3 MB/s for 1 ms";
    EXPECT_EQ(quantum(24000000 / 8, 9000), 2u) << "two at least";
    EXPECT_EQ(quantum(100000000, 1), 65536u) << "64 KiB at most";
}

// ---- BBRv3

TEST(Edges, ATimeoutAtTheLargestFlightStaysWithinTheLargestWindow) {
    Rounds c(WW_PROTOCOL_BBR3, 50);
    c.timeout();
    ww_lost lost{};
    lost.mss = 1250;
    lost.pipe = UINT32_MAX;
    ww_on_packet_lost(&c.config, &c.state, &c.window, &lost);
    EXPECT_EQ(c.window.cwnd, WW_CWND_MAX);
}

TEST(Edges, TheSendQuantumIsAMillisecondWithinTwoSegmentsAnd64Kilobytes) {  // draft, 5.6.3
    const ww_config config = ww_configure(WW_PROTOCOL_BBR3);
    const auto quantum = [&](std::uint64_t bytes_per_s, std::uint32_t mss = 1000) {
        const ww_window window{10, WW_SSTHRESH_INFINITE,
                               std::min(bytes_per_s << WW_BW_FRACTION, WW_BW_MAX)};
        return ww_quantum(&config, &window, mss);
    };
    EXPECT_EQ(quantum(100000), 2u);
    EXPECT_EQ(quantum(30000000), 30u);
    EXPECT_EQ(quantum(1000000000), 65u);
    EXPECT_EQ(quantum(WW_BW_MAX >> WW_BW_FRACTION, 1), 65536u);
}

// ---- HyStart

TEST(Edges, TheDelayThatShowsAQueueIsFromFourToSixteenMilliseconds) {  // RFC 9406, 4.2 and 4.3
    EXPECT_EQ(ww_hystart_threshold(8000), 4000u);
    EXPECT_EQ(ww_hystart_threshold(4001 * 8), 4001u);
    EXPECT_EQ(ww_hystart_threshold(15999 * 8), 15999u);
    EXPECT_EQ(ww_hystart_threshold(400000), 16000u);
}

TEST(Edges, ATrainMayLastHalfARoundTripAndHalfACushion) {  // tcp_cubic.c: hystart_ack_delay()
    ww_config config = ww_configure(WW_PROTOCOL_CUBIC);
    config.slow_start = WW_HYSTART_LINUX;
    const auto longest = [&](std::uint32_t srtt_us, std::uint32_t cwnd) {
        const ww_hystart_delays delays{srtt_us, srtt_us, 100000};
        const ww_window window{cwnd, WW_SSTHRESH_INFINITE, 0};
        return ww_hystart_longest(&config, &delays, &window, 1024);
    };
    // Four bursts of 64 KiB at 2 cwnd / srtt, here 2^18 srtt / (2 * 12800 * 1024), take 0.01 srtt.
    EXPECT_EQ(longest(99799, 12800), 50000u + 997 / 2) << "997.99 us";
    EXPECT_EQ(longest(99800, 12800), 50000u + 998 / 2) << "998 us";
    EXPECT_EQ(longest(999999, 12800), 50000u + 1000 / 2) << "1 ms at most";
}

TEST(Edges, TheAcksOfATrainAreTwoMillisecondsApartAtMost) {
    ww_config config = ww_configure(WW_PROTOCOL_CUBIC);
    config.slow_start = WW_HYSTART_NS3;
    const auto in_train = [&](std::uint64_t now_us) {
        ww_hystart_state state{{0, 0}, 100000, 500000, 0, 0, false};
        const ww_hystart_delays delays{1000, 1000, 1000};
        const ww_window window{100, WW_SSTHRESH_INFINITE, 0};
        ww_sample sample{};
        sample.now_us = now_us;
        return ww_hystart_train(&config, &state, &delays, &window, &sample);
    };
    EXPECT_TRUE(in_train(502000));
    EXPECT_FALSE(in_train(502001));
}

TEST(Edges, InNs3TheDelayIsThatOfThePathFromFourMillisecondsToASecond) {  // tcp-cubic.cc: Clamp
    ww_config config = ww_configure(WW_PROTOCOL_CUBIC);
    config.slow_start = WW_HYSTART_NS3;
    const auto ends = [&](std::uint32_t least_us, std::uint32_t round_us) {
        ww_hystart_state state{{0, 0}, 0, 0, round_us, WW_HYSTART_SAMPLES, false};
        const ww_hystart_delays delays{round_us, round_us, least_us};
        return ww_hystart_delay(&config, &state, &delays);
    };
    EXPECT_FALSE(ends(2000, 2000 + 4000));
    EXPECT_TRUE(ends(2000, 2000 + 4001));
    EXPECT_FALSE(ends(50000, 100000));
    EXPECT_TRUE(ends(50000, 100001));
    EXPECT_FALSE(ends(2000000, 2000000 + 1000000));
    EXPECT_TRUE(ends(2000000, 2000000 + 1000001));
}

}  // namespace
