// SPDX-License-Identifier: BSD-3-Clause
//
// Compares the policer with a token bucket that counts tokens in exact fractions.
#include <gtest/gtest.h>

#include <random>

#include "engine/network.hpp"
#include "one_link.hpp"
#include "units.hpp"

namespace ww::sim::test {
namespace {

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
    const Result result = simulate(network, 1);
    ASSERT_EQ(result.error, "");
    const DirectionResult& way = result.forward[0];
    EXPECT_NEAR(static_cast<double>(way.bytes), 1'250'000 + 30'000, 2 * 1500);
    EXPECT_EQ(way.early_drops, way.queue_drops);
    EXPECT_NEAR(static_cast<double>(way.packets + way.queue_drops), 1667, 1);
    EXPECT_EQ(result.backward[0].queue_drops, 0u);
}

}  // namespace
}  // namespace ww::sim::test
