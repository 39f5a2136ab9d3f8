// SPDX-License-Identifier: BSD-3-Clause
//
// Compares the impairments of a link with their definitions and theory: what delays packets, delays that change, and
// policers (a token bucket in exact fractions).
#include <random>

#include "engine/link/delays.hpp"
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

// Returns the delay at `sent`, by a search through the whole list.
Time delay_at(const DelayChanges& changes, Time base, Time sent) {
    const auto last_until = [&](Time time, Time before) {
        Time delay = before;
        for (std::size_t i = 0; i < changes.at.size(); i++)
            if (changes.at[i] <= time) delay = changes.delays[i];
        return delay;
    };
    if (changes.period == 0 || sent < changes.period) return last_until(sent, base);
    return last_until(sent % changes.period, changes.delays.back());
}

TEST(DelayChanges, APacketHasTheDelayOfTheMomentAtWhichItIsSent) {
    ChangingDelay delay({{kSecond, 2 * kSecond}, {50 * kMs, 20 * kMs}, 0}, 30 * kMs);
    const auto arrival_of = [&](Time sent) { return delay.arrival(sent + 30 * kMs) - sent; };
    EXPECT_EQ(arrival_of(kSecond - 1), 30 * kMs);
    EXPECT_EQ(arrival_of(kSecond), 50 * kMs);
    EXPECT_EQ(arrival_of(2 * kSecond - 1), 50 * kMs);
    EXPECT_EQ(arrival_of(2 * kSecond), 50 * kMs - 1) << "it does not overtake the one before";
    EXPECT_EQ(arrival_of(1000 * kSecond), 20 * kMs) << "the last change holds until the end";
}

TEST(DelayChanges, FollowTheirListThroughPeriodsAndSilences) {
    std::mt19937_64 random(5);
    for (int run = 0; run < 300; run++) {
        DelayChanges changes;
        Time time = static_cast<Time>(random() % 3) * kMs;
        for (std::uint64_t i = 1 + random() % 6; i > 0;
             i--, time += static_cast<Time>(random() % 50) * kMs) {
            changes.at.push_back(time);
            changes.delays.push_back(static_cast<Time>(random() % 80) * kMs);
        }
        if (run % 3 != 0)
            changes.period = changes.at.back() + static_cast<Time>(1 + random() % 40) * kMs;
        const Time base = static_cast<Time>(random() % 60) * kMs;
        ChangingDelay delay(changes, base);
        Time sent = 0, last = 0;
        for (int i = 0; i < 400; i++) {
            sent += static_cast<Time>(random() % (i % 50 == 0 ? 3000 : 20)) * kMs;
            last = std::max(last, sent + delay_at(changes, base, sent));
            ASSERT_EQ(delay.arrival(sent + base), last) << run << " " << i;
        }
    }
}

// A handover from 20 ms to 50 ms one way at 5 s adds 60 ms to the round trip.
TEST(DelayChanges, OfBothDirectionsChangeTheBaseRoundTrip) {
    Flow flow = bulk();
    flow.delayed_ack = 1;
    flow.receive_window_bytes = 20 * 1460;  // no queue
    Network network = one_link(1'000'000'000, 20 * kMs, 10 * kSecond, {flow});
    network.trace.windows = true;
    Link& link = network.links[0];
    for (Direction* d : {&link.forward, &link.backward})
        d->delay_changes = {{5 * kSecond}, {50 * kMs}, 0};
    const Result result = result_of(network);
    const WindowTrace& trace = result.flows[0].trace;
    double before = 0, after = 0;
    for (std::size_t i = 0; i < trace.time_s.size(); i++)
        (trace.time_s[i] < 5.0 ? before : after) = trace.rtt_s[i];
    EXPECT_NEAR(before, 0.040, 0.001);
    EXPECT_NEAR(after, 0.100, 0.001);
}

TokenBucket bucket(std::int64_t rate_bps, std::uint32_t burst_bytes) {
    return TokenBucket({rate_bps, burst_bytes}, Random(1, Stream::impairment, 0));
}

int passed(TokenBucket& policer, Time now, int packets, std::uint32_t bytes = 1500) {
    int count = 0;
    for (int i = 0; i < packets; i++) count += !policer.drops(now, bytes);
    return count;
}

TEST(Policer, AFullBucketPassesItsBurstAtOnce) {
    TokenBucket policer = bucket(1'000'000, 15'000);
    EXPECT_EQ(passed(policer, 0, 20), 10);
    EXPECT_EQ(passed(policer, 12 * kMs - 1, 5), 0);  // 1500 bytes take 12 ms
    EXPECT_EQ(passed(policer, 12 * kMs, 5), 1);
    EXPECT_EQ(passed(policer, kSecond, 20), 10) << "it holds no more than a burst";
}

TEST(Policer, APacketLargerThanTheBurstNeverPasses) {
    TokenBucket policer = bucket(1'000'000'000, 1499);
    EXPECT_EQ(passed(policer, kSecond, 10), 0);
    EXPECT_EQ(passed(policer, kSecond, 10, 1499), 1);
}

TEST(Policer, ALargeBurstAtALowRateNeverDrops) {
    TokenBucket policer = bucket(1000, 1u << 30);
    EXPECT_EQ(passed(policer, 0, 100'000), 100'000);
}

// Tokens in units of 1 / (8e12) byte: the bucket gains rate_bps of them per ps.
TEST(Policer, PassesWhatABucketOfTokensPasses) {
    std::mt19937_64 random(7);
    for (int run = 0; run < 50; run++) {
        const auto rate = static_cast<std::int64_t>(1000 + random() % 100'000'000);
        const auto burst = static_cast<std::uint32_t>(1 + random() % 100'000);
        TokenBucket policer = bucket(rate, burst);
        const long double whole = 8e12L * burst;
        long double tokens = whole;
        Time now = 0, before = 0;
        for (int i = 0; i < 2000; i++) {
            now += static_cast<Time>(random() %
                                     static_cast<std::uint64_t>(2 * 8 * kSecond / rate * 700));
            const auto bytes = static_cast<std::uint32_t>(40 + random() % 1461);
            tokens = std::min(whole, tokens + static_cast<long double>(now - before) * rate);
            before = now;
            const long double needed = 8e12L * bytes, spare = tokens - needed;
            const bool drops = policer.drops(now, bytes);
            if (std::abs(spare) > 4.0L * rate * i) {
                ASSERT_EQ(drops, spare < 0) << run << " " << i;
            }
            if (!drops) tokens -= needed;
        }
    }
}

// Packets of 1500 bytes at 2 Mb/s for 10 s through a policer of 1 Mb/s: it passes its burst and its rate.
TEST(Policer, PassesItsRateAndItsBurstOfDatagrams) {
    Network network = one_link(100'000'000, 0, 10 * kSecond, {datagrams(2'000'000)});
    network.links[0].forward.policer = Policer{1'000'000, 30'000};
    network.flows[0].header_bytes = 28;
    const Result result = result_of(network);
    const DirectionResult& way = result.forward[0];
    EXPECT_NEAR(static_cast<double>(way.bytes), 1'250'000 + 30'000, 2 * 1500);
    EXPECT_EQ(way.early_drops, way.queue_drops);
    EXPECT_NEAR(static_cast<double>(way.packets + way.queue_drops), 1667, 1);
    EXPECT_EQ(result.backward[0].queue_drops, 0u);
}

}  // namespace
}  // namespace ww::sim::test
