// SPDX-License-Identifier: BSD-3-Clause
//
// A run in pieces is the run in one piece.
#include "engine/sim/stepped.hpp"

#include "../fuzz/difference.hpp"
#include "one_link.hpp"

namespace ww::sim::test {
namespace {

// Flows that ACK clocks, pacing timers and packets of datagrams drive, over a link that loses some.
Network with_all_timers() {
    Network network =
        one_link(10'000'000, kSecond / 100, 10 * kSecond,
                 {tcp(WW_PROTOCOL_CUBIC), tcp(WW_PROTOCOL_BBR), datagrams(1'000'000)});
    network.links[0].forward.loss = Uniform{.rate = 0.001};
    network.trace.events = true;
    return network;
}

Outcome in_pieces(const Network& network, Time piece) {
    SteppedRun stepped(network, 7);
    for (Time until = piece; stepped.run_until(until);) until += piece;
    return stepped.finish();
}

TEST(SteppedRun, EqualsTheRunInOnePiece) {
    const Network network = with_all_timers();
    const Outcome whole = run(network, 7);
    for (const Time piece : {kSecond / 3, kSecond / 1000, kMicrosecond * 77}) {
        const Outcome stepped = in_pieces(network, piece);
        EXPECT_TRUE(fuzz::same(stepped.records.events, whole.records.events)) << piece;
        EXPECT_EQ(stepped.packets, whole.packets);
        for (std::size_t i = 0; i < 3; i++)
            EXPECT_EQ(stepped.connections[i].delivered_bytes, whole.connections[i].delivered_bytes);
    }
}

TEST(SteppedRun, IsOverAtTheEndOfTheNetworksDuration) {
    const Network network = with_all_timers();
    SteppedRun stepped(network, 1);
    EXPECT_TRUE(stepped.run_until(network.duration - 1));
    EXPECT_FALSE(stepped.run_until(network.duration));
    EXPECT_FALSE(stepped.run_until(2 * network.duration));
}

TEST(SteppedRun, TakesNoEventAfterThePause) {
    const Network network = with_all_timers();
    SteppedRun stepped(network, 1);
    stepped.run_until(kSecond);
    const Outcome seen = stepped.finish();
    ASSERT_FALSE(seen.records.events.empty());
    EXPECT_LE(seen.records.events.back().time_s, 1.0);
    EXPECT_GT(seen.records.events.back().time_s, 0.99);
}

TEST(SteppedRun, EndsSoonAfterItsCallerWantsItTo) {
    const Network network = with_all_timers();
    SteppedRun stepped(network, 1, Stop([](void*) { return std::uint32_t{0}; }, nullptr));
    EXPECT_FALSE(stepped.run_until(kSecond));
    EXPECT_TRUE(stepped.finish().stopped);
}

TEST(SteppedRun, RefusalSaysWhatTheEngineWouldSay) {
    Network network = with_all_timers();
    EXPECT_EQ(refusal(network), "");
    network.flows[0].to = 9;
    EXPECT_NE(refusal(network), "");
    EXPECT_EQ(refusal(network), run(network, 1).error);
}

}  // namespace
}  // namespace ww::sim::test
