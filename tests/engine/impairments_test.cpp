// SPDX-License-Identifier: BSD-3-Clause
//
// Compares the impairments that delay packets with their definitions and theory.
#include <gtest/gtest.h>

#include <cmath>

#include "one_link.hpp"

namespace ww::sim::test {
namespace {

Random impairment_stream(std::uint64_t seed) { return Random(seed, Stream::impairment, 0); }

TEST(Aggregation, ABurstHasAllThatComesWhileItWaits) {
    Aggregator aggregator({5 * kMs}, impairment_stream(1));
    for (const Time time : {10 * kMs, 12 * kMs, 15 * kMs})
        EXPECT_EQ(aggregator.arrival(time), 15 * kMs);
    EXPECT_EQ(aggregator.arrival(15 * kMs + 1), 20 * kMs + 1) << "the next burst";
    EXPECT_EQ(aggregator.arrival(90 * kMs), 95 * kMs);
}

TEST(Detour, DelaysPacketsWhileItLasts) {
    Detours detours({30 * kMs, kSecond, kSecond / 2, 2 * kSecond, true}, impairment_stream(1));
    const auto extra = [&](Time time) { return detours.arrival(time) - time; };
    EXPECT_EQ(extra(kSecond - 1), 0);
    EXPECT_EQ(extra(kSecond), 30 * kMs);
    EXPECT_EQ(extra(kSecond * 3 / 2 - 1), 30 * kMs);
    EXPECT_EQ(extra(kSecond * 3 / 2), 30 * kMs - 1) << "it does not overtake the one before";
    EXPECT_EQ(extra(2 * kSecond), 0);
    EXPECT_EQ(extra(3 * kSecond), 30 * kMs) << "the second one";
}

TEST(Detour, ThatDoesNotKeepTheOrderIsOvertaken) {
    Network network = one_link(10'000'000, 10 * kMs, 2 * kSecond);
    network.links[0].forward.detour = Detour{30 * kMs, kSecond, 5 * kMs, 0, false};
    network.flows = {tcp(WW_PROTOCOL_CUBIC)};
    network.flows[0].recovery = Recovery::sack;
    const FlowResult flow = simulate(network, 1).flows[0];
    EXPECT_EQ(flow.fast_recoveries, 1u) << "four packets are late by 25 that overtake them";
    EXPECT_EQ(flow.timeouts, 0u);
    network.links[0].forward.detour->keeps_order = true;
    EXPECT_EQ(simulate(network, 1).flows[0].fast_recoveries, 0u);
}

TEST(Detour, OfTheDefaultLengthLastsUntilTheEnd) {
    Detour reroute;
    reroute.delay = 10 * kMs, reroute.start = kSecond;
    Detours detours(reroute, impairment_stream(1));
    EXPECT_EQ(detours.arrival(kSecond - 1), kSecond - 1);
    EXPECT_EQ(detours.arrival(1000 * kSecond), 1000 * kSecond + 10 * kMs);
}

// Mean and variance of N1 ms + N2 7.5 ms - U(0, 1 ms) [N1 >= 1].
TEST(WifiJitter, HasTheMomentsOfItsModel) {
    for (const Time mean : {1 * kMs, 7 * kMs, 40 * kMs}) {
        WifiDelays wifi({mean}, impairment_stream(3));
        constexpr int kDraws = 400'000;
        double sum = 0, squares = 0;
        for (int i = 0; i < kDraws; i++) {
            const double ms = static_cast<double>(wifi.delay()) / static_cast<double>(kMs);
            ASSERT_GE(ms, 0);
            sum += ms;
            squares += ms * ms;
        }
        const double any = 1 - std::exp(-1.0),
                     share = static_cast<double>(mean - kMs) / (90.0 * kMs);
        const double short_mean = 1 - any / 2, long_mean = share * 12 * 7.5;
        // E[(N1 - U [N1 >= 1])^2] = E[N1^2] - 2 E[N1] / 2 + any / 3; E[N2^2] = 12 + 144 while it is drawn.
        const double short_square = 2 - 1 + any / 3, long_square = share * (12 + 144) * 7.5 * 7.5;
        const double variance =
            short_square - short_mean * short_mean + long_square - long_mean * long_mean;
        const double seen = sum / kDraws;
        EXPECT_NEAR(seen, short_mean + long_mean, 5 * std::sqrt(variance / kDraws));
        EXPECT_NEAR(squares / kDraws - seen * seen, variance, 0.03 * variance);
    }
}

TEST(WifiJitter, KeepsPacketsInOrder) {
    WifiDelays wifi({40 * kMs}, impairment_stream(4));
    Time last = 0;
    for (Time time = 0; time < 20 * kSecond; time += kMs) {
        const Time there = wifi.arrival(time);
        ASSERT_GE(there, std::max(time, last));
        last = there;
    }
}

}  // namespace
}  // namespace ww::sim::test
