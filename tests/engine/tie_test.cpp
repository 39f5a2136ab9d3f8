// SPDX-License-Identifier: BSD-3-Clause
//
// In networks of round numbers many events fall on the same picosecond: links, flows and starts are
// equal. An event per hop gives the same results, bit for bit.
#include "../fuzz/difference.hpp"
#include "blocks.hpp"
#include "one_link.hpp"

namespace ww::sim::test {
namespace {

Direction round_direction(std::int64_t megabits, Time milliseconds, std::int64_t queue) {
    Direction d;
    d.rate_bps = megabits * 1'000'000;
    d.delay = milliseconds * kMs;
    d.queue_packets = queue;
    return d;
}

Link equal_link(std::uint32_t a, std::uint32_t b, const Direction& d) { return {a, b, 0, d, d}; }

Flow round_flow(std::uint32_t from, std::uint32_t to, std::uint32_t kind) {
    Flow f;
    f.from = from;
    f.to = to;
    f.packet_bytes = 960 + 40;  // a packet takes 1 ms at 8 Mb/s
    f.recovery = static_cast<Recovery>(kind % 4);
    f.cc = ww_configure(static_cast<ww_protocol>(kind / 4 % WW_PROTOCOL_COUNT));
    f.delayed_ack = 1 + kind % 3;
    f.receive_window_bytes = 64 * f.mss();
    if (kind % 2 == 1) f.delayed_ack_timeout = kMs;  // due when the next packet arrives
    return f;
}

// Senders and receivers behind their own links, around one bottleneck; every second flow goes back.
Network dumbbell(std::uint32_t pairs, std::uint32_t kind) {
    Network network;
    network.nodes = 2 + 2 * pairs;
    network.links.push_back(equal_link(0, 1, round_direction(8, 10, 20)));
    for (std::uint32_t i = 0; i < pairs; i++) {
        const std::uint32_t left = 2 + 2 * i, right = left + 1;
        network.links.push_back(equal_link(left, 0, round_direction(8, 5, 50)));
        network.links.push_back(equal_link(1, right, round_direction(8, 5, 50)));
        const bool back = i % 2 == 1;
        network.flows.push_back(round_flow(back ? right : left, back ? left : right, kind + i));
    }
    return network;
}

// One flow over the whole path, one over each hop, and the same in the other direction.
Network parking_lot(std::uint32_t hops, std::uint32_t kind) {
    Network network;
    network.nodes = hops + 1;
    for (std::uint32_t i = 0; i < hops; i++)
        network.links.push_back(equal_link(i, i + 1, round_direction(8, 10, 15)));
    network.flows = {round_flow(0, hops, kind), round_flow(hops, 0, kind)};
    for (std::uint32_t i = 0; i < hops; i++) {
        network.flows.push_back(round_flow(i, i + 1, kind + i));
        network.flows.push_back(round_flow(i + 1, i, kind + i));
    }
    return network;
}

std::vector<Network> networks() {
    std::vector<Network> all;
    for (std::uint32_t kind = 0; kind < 20; kind++) {
        for (const std::uint32_t size : {1u, 2u, 4u, 8u}) all.push_back(dumbbell(size, kind));
        for (const std::uint32_t size : {1u, 2u, 3u, 5u}) all.push_back(parking_lot(size, kind));
    }
    for (std::size_t i = 0; i < all.size(); i++) {
        all[i].duration = 8 * kSecond;
        all[i].trace.windows = all[i].trace.events = true;
        if (i % 3 == 0) all[i].links[0].forward.loss = Uniform{0.02};
        if (i % 5 == 0) all[i].links[0].backward.loss = Uniform{0.05};
    }
    return all;
}

class TiesOf16Networks : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Engine, TiesOf16Networks, testing::Range<std::size_t>(0, kBlocks));

TEST_P(TiesOf16Networks, OneEventPerHopChangesNothing) {
    std::vector<Network> all = networks();
    ASSERT_EQ(all.size(), 160u);
    for (std::size_t i = GetParam(); i < all.size(); i += 10) {
        Network& network = all[i];
        const Result inlined = result_of(network, i);
        network.event_per_hop = true;
        EXPECT_EQ(fuzz::difference(inlined, simulate(network, i)), "") << "network " << i;
    }
}

// simulation.hpp: on a tie packets come before timers.
TEST(Ties, APacketComesBeforeADelayedAckDueAtTheSameTime) {
    for (const bool event_per_hop : {false, true}) {
        Network network = one_link(8'000'000, 5 * kMs, kSecond, {round_flow(0, 1, 1)});
        network.flows[0].delayed_ack = 2;
        network.flows[0].size_bytes = 10 * 960;
        network.event_per_hop = event_per_hop;
        // The SYN-ACK and five ACKs of two segments each, a millisecond apart.
        EXPECT_EQ(simulate(network, 1).backward[0].packets, 6u);
        network.flows[0].delayed_ack_timeout = kMs - 1;
        EXPECT_EQ(simulate(network, 1).backward[0].packets, 11u);
    }
}

TEST(Ties, OtherSeedsGiveOtherLosses) {
    Network network = dumbbell(4, 0);
    network.duration = 8 * kSecond;
    network.links[0].forward.loss = Uniform{0.02};
    EXPECT_NE(fuzz::difference(simulate(network, 1), simulate(network, 2)), "");
}

}  // namespace
}  // namespace ww::sim::test
