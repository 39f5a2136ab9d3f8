// SPDX-License-Identifier: BSD-3-Clause
//
// Channels that follow another (engine/link/channel.hpp) do as those asked for each packet.
#include <random>

#include "engine/link/channel.hpp"
#include "one_link.hpp"

namespace ww::sim {
namespace {

using Channels = std::vector<Channel>;

// The first channel may drop and lose; later ones are not slower.
Network three_links(std::mt19937_64& random) {
    Network network;
    network.nodes = 4;
    network.duration = kLongest;
    for (std::uint32_t i = 0; i < 3; i++) {
        Direction d;
        d.rate_bps =
            10'000'000 + (i == 0 ? 0 : static_cast<std::int64_t>(random() % 3) * 7'000'000);
        d.delay = static_cast<Time>(random() % 20) * kSecond / 1000;
        d.queue_packets = static_cast<std::int64_t>(random() % 20);
        if (i == 0 && random() % 2 == 0) d.loss = Uniform{0.01};
        network.links.push_back({i, i + 1, i == 0 ? 2u : 0u, d, d});
    }
    return network;
}

Channels forward_channels(const Network& network, std::uint64_t seed) {
    Channels channels;
    for (std::uint32_t i = 0; i < network.links.size(); i++)
        channels.emplace_back(network, 2 * i, seed);
    return channels;
}

Time arrival_of(const Passage& passage) {
    return passage.fate == Fate::arrives ? passage.at : kNever;
}

Time cross_each(Channels& channels, Time now, std::uint32_t bytes) {
    for (std::size_t i = 0; i < channels.size() && now != kNever; i++)
        now = arrival_of(channels[i].transmit(now, bytes));
    return now;
}

// Returns true if the first channel took the packet through all of them by itself.
bool cross_led(Channels& channels, Time& now, std::uint32_t bytes) {
    if (channels[0].pass_if_open(now, bytes, kLongest)) return true;
    channels[0].leave_step();
    now = cross_each(channels, now, bytes);
    channels[0].join();
    return false;
}

void expect_counted_alike(Channels& led, Channels& asked) {
    led[0].leave_step();
    for (std::size_t i = 0; i < led.size(); i++) {
        const DirectionResult is = led[i].result(), should_be = asked[i].result();
#define WW_SAME(type, name, ...) EXPECT_EQ(is.name, should_be.name) << #name << " of channel " << i;
        WW_DIRECTION_COLUMNS(WW_SAME)
#undef WW_SAME
    }
}

// Bursts and pauses, of one size for a while: each packet fares the same, and all counters agree.
TEST(Follower, GivesTheSameResultsAsAskingForEachPacket) {
    int led_by_first = 0;
    constexpr int kRuns = 60, kPackets = 1000;
    for (std::uint64_t seed = 1; seed <= kRuns; seed++) {
        std::mt19937_64 random(seed);
        const Network network = three_links(random);
        Channels led = forward_channels(network, seed), asked = forward_channels(network, seed);
        for (std::size_t i = 1; i < led.size(); i++) {
            ASSERT_TRUE(led[i].can_follow(led[0]));
            led[i - 1].follower = &led[i];
        }
        Time now = 0;
        std::uint32_t bytes = 1500;
        for (int i = 0; i < kPackets; i++) {
            if (random() % 2 == 0) now += static_cast<Time>(random() % 5) * kSecond / 1000;
            if (random() % 20 == 0) bytes = random() % 2 == 0 ? 1500 : 40;
            Time there = now;
            led_by_first += cross_led(led, there, bytes);
            ASSERT_EQ(there, cross_each(asked, now, bytes)) << "seed " << seed << ", packet " << i;
        }
        expect_counted_alike(led, asked);
    }
    EXPECT_GT(led_by_first, kRuns * kPackets / 2);
}

TEST(Follower, IsNeitherSlowerNorLosesNorHasImpairments) {
    Direction base;
    base.rate_bps = 10'000'000;
    Direction slower = base, losing = base, jittering = base;
    slower.rate_bps--;
    losing.loss = Uniform{0.01};
    jittering.jitter = kSecond / 1000;
    Network network;
    for (const Direction& d : {base, slower, losing, jittering})
        network.links.push_back({0, 1, 0, d, d});
    const Channels channels = forward_channels(network, 1);
    EXPECT_TRUE(channels[0].can_follow(channels[1]));
    for (std::size_t i = 1; i < channels.size(); i++)
        EXPECT_FALSE(channels[i].can_follow(channels[0])) << i;
    EXPECT_TRUE(channels[0].can_follow(channels[2]));
    EXPECT_FALSE(channels[0].can_follow(channels[3]));
}

}  // namespace
}  // namespace ww::sim
