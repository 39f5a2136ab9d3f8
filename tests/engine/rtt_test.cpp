// SPDX-License-Identifier: BSD-3-Clause
//
// The RTT estimator by the clauses of RFC 6298, beside its formulas in real numbers.
#include "engine/tcp/rtt.hpp"

#include <random>

#include "one_link.hpp"

namespace ww::sim::test {
namespace {

RtoSettings settings_with(Time granularity) {
    Flow flow;
    flow.min_rto = 1;
    flow.clock_granularity = granularity;
    return RtoSettings(flow);
}

TEST(Rtt, BeginsWithTheInitialTimeoutAndNoSample) {  // 2.1
    Flow flow;
    flow.initial_rto = 3 * kSecond;
    const RttEstimator rtt{RtoSettings(flow)};
    EXPECT_EQ(rtt.rto(), 3 * kSecond);
    EXPECT_EQ(rtt.srtt(), 0);
    EXPECT_EQ(rtt.last(), 0);
    EXPECT_EQ(rtt.min(), kNever);
}

TEST(Rtt, FollowsTheFormulasOverRandomSamples) {  // 2.2, 2.3
    std::mt19937_64 random(1);
    for (const Time granularity : {Time{0}, 10 * kMs, kSecond}) {
        const RtoSettings settings = settings_with(granularity);
        RttEstimator rtt(settings);
        double srtt = 0, rttvar = 0;
        for (int i = 0; i < 1000; i++) {
            const auto sample =
                static_cast<Time>(1 + random() % static_cast<std::uint64_t>(kSecond));
            const auto r = static_cast<double>(sample);
            rttvar = i == 0 ? r / 2 : 0.75 * rttvar + 0.25 * std::fabs(srtt - r);
            srtt = i == 0 ? r : 0.875 * srtt + 0.125 * r;
            rtt.on_sample(sample, settings);
            // In whole picoseconds each step rounds by less than one, and the filters forget.
            ASSERT_NEAR(static_cast<double>(rtt.srtt()), srtt, 10);
            const double rto = srtt + std::max(static_cast<double>(granularity), 4 * rttvar);
            ASSERT_NEAR(static_cast<double>(rtt.rto()), rto, 200);
        }
    }
}

TEST(Rtt, KeepsTheTimeoutWithinItsBounds) {  // 2.4, 2.5, 5.5
    Flow flow;
    flow.min_rto = 200 * kMs;
    flow.max_rto = 5 * kSecond;
    const RtoSettings settings(flow);
    RttEstimator rtt(settings);
    rtt.on_sample(kMs, settings);
    EXPECT_EQ(rtt.rto(), 200 * kMs);
    for (int i = 1; i <= 4; i++) {
        rtt.back_off(settings);
        EXPECT_EQ(rtt.rto(), (200 << i) * kMs);
    }
    rtt.back_off(settings);
    EXPECT_EQ(rtt.rto(), 5 * kSecond);
    rtt.on_sample(30 * kSecond, settings);
    EXPECT_EQ(rtt.rto(), 5 * kSecond);
}

TEST(Rtt, ASampleEndsTheBackoff) {  // 2.3 after 5.5
    const RtoSettings settings = settings_with(kMs);
    RttEstimator rtt(settings);
    rtt.on_sample(100 * kMs, settings);
    rtt.back_off(settings);
    EXPECT_EQ(rtt.rto(), 600 * kMs);
    rtt.on_sample(100 * kMs, settings);
    EXPECT_EQ(rtt.rto(), 250 * kMs);  // RTTVAR has fallen to 3/4
}

TEST(Rtt, WaitsThreeSecondsAfterALostSyn) {  // 5.7
    Flow flow;
    const RtoSettings settings(flow);
    RttEstimator rtt(settings);
    rtt.back_off(settings);
    rtt.restart_after_lost_syn(settings);
    EXPECT_EQ(rtt.rto(), 3 * kSecond);
    flow.initial_rto = 4 * kSecond;
    const RtoSettings later(flow);
    RttEstimator patient(later);
    patient.restart_after_lost_syn(later);
    EXPECT_EQ(patient.rto(), 4 * kSecond);
}

TEST(Rtt, UsesTheOldestSegmentForTheTimerAndReportsTheNewest) {
    const RtoSettings settings = settings_with(0);
    RttEstimator rtt(settings);
    rtt.on_ack(100 * kMs, 160 * kMs, settings);
    rtt.on_ack(120 * kMs, 160 * kMs, settings);
    EXPECT_EQ(rtt.srtt(), 160 * kMs);
    EXPECT_EQ(rtt.last(), 120 * kMs);
    EXPECT_EQ(rtt.min(), 100 * kMs);
    rtt.on_sample(50 * kMs, settings);  // for example, of the handshake
    EXPECT_EQ(rtt.last(), 120 * kMs);
    EXPECT_EQ(rtt.min(), 100 * kMs);
}

}  // namespace
}  // namespace ww::sim::test
