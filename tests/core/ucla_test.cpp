// SPDX-License-Identifier: BSD-3-Clause
//
// The ns-2 module of TCP Westwood by its authors: M. Valla, UCLA, tcp-westwood-nr.cc 1.3 of June
// 2002. Each test names the member function that it describes.
#include "rounds.hpp"

namespace {

using ww::test::bytes_per_second;

using ww::test::kMss;

class Module : public ww::test::Host {
  public:
    Module() : Host(WW_PROTOCOL_WESTWOOD_UCLA) {}
    explicit Module(const ww_config& by) : Host(by) {}

    // Takes an ACK `after_us` the last one; no segments: a duplicate.
    void ack(std::uint64_t after_us, std::uint32_t segments = 1, std::uint32_t rtt_us = 0) {
        ww_sample sample{};
        sample.acked_segments = segments;
        sample.is_dupack = segments == 0;
        sample.in_flight = 10;
        sample.rtt_us = rtt_us;
        take(after_us, sample);
    }
    double estimate() const { return bytes_per_second(seen().bandwidth); }
    double sample() const { return bytes_per_second(seen().raw); }
    std::uint32_t rtt_min_us() const { return seen().rtt_min_us; }
    std::uint32_t ssthresh_after_timeout() {
        timeout(10);
        return window.ssthresh;
    }
    std::uint32_t ssthresh_after_loss() {
        loss(10);
        return window.ssthresh;
    }
};

// Filter type 3 with tau_ = 1.
ww_config time_varying() {
    ww_config config = ww_configure(WW_PROTOCOL_WESTWOOD_UCLA);
    config.filter = WW_FILTER_TUSTIN;
    config.tau_us = 1'000'000;
    config.m = 2;
    config.null_trapezoid = true;
    config.null_at_timeout = true;  // shows null samples one by one
    return config;
}

// ---- bwe_computation(): the filter

TEST(UclaFilter, WeighsTheOldEstimateBy19Of21WhateverTheSpacing) {  // type 1
    for (const std::uint64_t gap_us : {1'000u, 50'000u, 3'000'000u}) {
        Module module;
        module.ack(0);
        double b = 0, before = 0;
        for (const std::uint64_t gap : {gap_us, gap_us / 2, 2 * gap_us, gap_us}) {
            const double s = kMss / (static_cast<double>(gap) / 1e6);
            b = (19 * b + s + before) / 21;
            before = s;
            module.ack(gap);
            EXPECT_NEAR(module.estimate(), b, 0.02);
        }
    }
}

TEST(UclaFilter, WithM15WeighsItBy29Of31) {  // type 2: .93548 and .03225
    Module module;
    module.config.m = 15;
    module.ack(0);
    module.ack(10'000);
    EXPECT_NEAR(module.estimate(), 100'000 / 31.0, 1);
    module.ack(10'000);
    EXPECT_NEAR(module.estimate(), (29 * 100'000 / 31.0 + 200'000) / 31, 1);
    EXPECT_NEAR(29 / 31.0, .93548, 1e-5);
}

TEST(UclaFilter, TimeVaryingFallsByThreeFifthsAndKeepsAFifthOfTheLastSample) {  // type 3
    Module module(time_varying());
    for (int i = 0; i < 9000; i++) module.ack(1'000);
    EXPECT_NEAR(module.estimate(), 1e6, 1e3);
    module.now_us += 500'000;
    EXPECT_NEAR(module.estimate(), 0.6e6 + 0.2e6, 1e3);
    module.now_us += 500'000;  // the sample before is now a null sample
    EXPECT_NEAR(module.estimate(), 0.6 * 0.8e6, 1e3);
}

TEST(UclaFilter, TimeVaryingDividesByTheRemainderOrHalfOfTau) {
    Module module(time_varying());
    for (int i = 0; i < 9000; i++) module.ack(1'000);
    module.ack(1'200'000);
    EXPECT_NEAR(module.sample(), kMss / 0.2, 1);
    module.ack(1'005'000);  // a remainder below 10 ms
    EXPECT_NEAR(module.sample(), kMss / 0.5, 1);
}

// ---- bwe_computation(): what an ACK counts

TEST(UclaCount, IsTwoSegmentsAtMost) {
    for (const auto& [segments, counted] :
         {std::pair{1u, 1.0}, {2u, 2.0}, {3u, 2.0}, {100u, 2.0}}) {
        Module module;
        module.ack(0);
        module.ack(10'000, segments);
        EXPECT_NEAR(module.sample(), counted * kMss / 0.010, 1) << segments;
    }
}

TEST(UclaCount, LeavesOutWhatDuplicatesHaveAnnounced) {  // unaccounted_
    Module module;
    module.ack(0);
    for (int i = 0; i < 4; i++) module.ack(10'000, 0);
    module.ack(10'000, 5);  // the retransmission and the four
    EXPECT_NEAR(module.sample(), kMss / 0.010, 1);
    module.ack(10'000, 2);  // one of them was left: cumul_ack - 1
    EXPECT_NEAR(module.sample(), 2 * kMss / 0.010, 1);
}

// ---- rtt_update() of ns-2, which the module reads

std::uint32_t rtt_in_ticks(std::uint64_t sent_us, std::uint32_t rtt_us, std::uint32_t tick_us) {
    Module module;
    module.config.rtt_tick_us = tick_us;
    module.now_us = sent_us + rtt_us;
    module.ack(0, 1, rtt_us);
    return module.rtt_min_us() / tick_us;
}

TEST(UclaRtt, CountsTheTicksSinceTheLastOneBeforeSending) {  // t = floor((rtt + offset) / tick)
    EXPECT_EQ(rtt_in_ticks(1'000'000, 94'000, 10'000), 9u);
    EXPECT_EQ(rtt_in_ticks(1'005'999, 94'000, 10'000), 9u);
    EXPECT_EQ(rtt_in_ticks(1'006'000, 94'000, 10'000), 10u);
    EXPECT_EQ(rtt_in_ticks(1'009'999, 94'000, 10'000), 10u);
}

TEST(UclaRtt,
     HasTheWholeTicksOfThePathAsMinimum) {  // longer than a path below a tick, else shorter
    Module module;
    for (int i = 0; i < 1000; i++) module.ack(1'234, 1, 74'000);
    EXPECT_EQ(module.rtt_min_us(), 70'000u);
    module = Module();
    module.config.rtt_tick_us = 100'000;
    for (int i = 0; i < 1000; i++) module.ack(1'234, 1, 74'000);
    EXPECT_EQ(module.rtt_min_us(), 100'000u);
}

// ---- slowdown(CLOSE_FASTER) and dupack_action()

// One segment per 990 us over 100 ms.
Module with_a_bdp_of_101() {
    Module module;
    for (int i = 0; i < 2000; i++) module.ack(990, 1, 100'000);
    EXPECT_EQ(module.rtt_min_us(), 100'000u);
    EXPECT_NEAR(module.estimate(), kMss / 990e-6, 1);
    return module;
}

TEST(UclaTimeout, InSlowStartTheDivisorGrowsByOneUpTo4) {
    Module module = with_a_bdp_of_101();
    module.window = {10, WW_SSTHRESH_INFINITE, 0};
    for (const std::uint32_t ssthresh : {101u, 50u, 33u, 25u, 25u})
        EXPECT_EQ(module.ssthresh_after_timeout(), ssthresh);
    EXPECT_EQ(module.window.cwnd, 1u);
}

TEST(UclaTimeout, InCongestionAvoidanceTheDivisorIsOneAgain) {
    Module module = with_a_bdp_of_101();
    module.window = {10, WW_SSTHRESH_INFINITE, 0};
    for (int i = 0; i < 3; i++) module.ssthresh_after_timeout();
    module.window = {80, 50, 0};
    EXPECT_EQ(module.ssthresh_after_timeout(), 101u);
    EXPECT_EQ(module.ssthresh_after_timeout(), 50u) << "and grows from there";
}

TEST(UclaTimeout, ThreeDupacksInSlowStartAddAQuarter) {
    Module module = with_a_bdp_of_101();
    for (int i = 0; i < 2; i++) {
        module.window = {10, WW_SSTHRESH_INFINITE, 0};
        EXPECT_EQ(module.ssthresh_after_loss(), 101u) << "which nothing divides";
    }
    module.window = {10, WW_SSTHRESH_INFINITE, 0};
    EXPECT_EQ(module.ssthresh_after_timeout(), 67u);  // by 1.5
}

}  // namespace
