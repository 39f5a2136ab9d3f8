// SPDX-License-Identifier: BSD-3-Clause
//
// A run ends soon after its caller wants it to, and asking does not change results.
#include "engine/base/stop.hpp"

#include "engine/traffic/datagrams.hpp"
#include "one_link.hpp"

namespace ww::sim::test {
namespace {

// A caller that ends the run with its n-th answer.
struct Caller {
    std::uint32_t events = 1, answers = 0, last_answer = UINT32_MAX;

    Stop stop() {
        return {[](void* self) {
                    auto& caller = *static_cast<Caller*>(self);
                    return ++caller.answers >= caller.last_answer ? 0 : caller.events;
                },
                this};
    }
};

Network lone_flow(Time duration) {
    Network network = one_link(10'000'000, kSecond / 100, duration);
    network.flows.push_back(tcp(WW_PROTOCOL_RENO));
    return network;
}

// A source of one packet in hours, and one that turns on and off a million times per second.
Flow mostly_silent() {
    Flow flow = datagrams(1);
    flow.datagrams.on_mean = flow.datagrams.off_mean = kMicrosecond;
    flow.datagrams.spread = Spread::exponential;
    return flow;
}

TEST(Stop, AsksAfterAsManyEventsAsTheCallerSays) {
    for (const ww_protocol protocol : {WW_PROTOCOL_RENO, WW_PROTOCOL_BBR}) {  // BBRv1 paces
        Network network = lone_flow(10 * kSecond);
        network.flows = {tcp(protocol), datagrams(100'000)};
        const Result alone = simulate(network, 1);
        EXPECT_GE(alone.events, alone.flows[1].sent) << "one each at least";
        for (const std::uint32_t events : {1u, 7u, 4096u}) {
            Caller caller{.events = events};
            const Result asked = simulate(network, 1, caller.stop());
            EXPECT_EQ(asked.events, alone.events);
            EXPECT_EQ(asked.flows[0].delivered_bytes, alone.flows[0].delivered_bytes);
            EXPECT_FALSE(asked.stopped);
            EXPECT_EQ(caller.answers, alone.events / events + 1);
        }
    }
}

TEST(Stop, AlsoEndsTheRunWithinAnEvent) {
    Network network = one_link(10'000'000, kSecond / 100, 1000 * kSecond);
    network.flows.push_back(mostly_silent());
    Caller caller{.last_answer = 3};
    EXPECT_TRUE(simulate(network, 1, caller.stop()).stopped);
}

TEST(Stop, EndsTheRunWithTheAnswer) {
    Caller caller{.events = 100, .last_answer = 5};
    const Result result = simulate(lone_flow(kLongest), 1, caller.stop());
    EXPECT_TRUE(result.stopped);
    EXPECT_EQ(caller.answers, 5u);
}

TEST(Stop, EndsALoopOverTheStatesOfALinkWithinOnePacket) {
    Network network = lone_flow(kLongest);
    network.links[0].forward.rate_bps =
        1000;  // the link changes its state 12 million times per packet
    network.links[0].forward.loss = Markov{kMicrosecond, kMicrosecond, 0.5, 0.5};
    Caller caller{.last_answer = 1000};
    EXPECT_TRUE(simulate(network, 1, caller.stop()).stopped);
}

TEST(Stop, EndsALoopOverPeriodsInWhichASourceSendsNothing) {
    Network network = one_link(10'000'000, 0, kLongest);
    network.flows.push_back(mostly_silent());
    Caller caller{.last_answer = 1000};
    EXPECT_TRUE(simulate(network, 1, caller.stop()).stopped);
}

TEST(Datagrams, ASourceDoesNotLookBeyondTheEndOfTheRun) {
    Caller caller;
    Stop stop = caller.stop();
    DatagramSource source(mostly_silent(), 1, 0, kSecond / 10, &stop);  // 50 000 periods
    EXPECT_EQ(source.next(0), kNever);
    EXPECT_LT(caller.answers, 30u);
}

}  // namespace
}  // namespace ww::sim::test
