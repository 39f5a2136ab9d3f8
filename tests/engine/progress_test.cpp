// SPDX-License-Identifier: BSD-3-Clause
//
// No flow stalls, none gets more than the path carries, every packet sent is accounted for.
#include <random>

#include "one_link.hpp"

namespace ww::sim::test {
namespace {

constexpr Recovery kClassicRecoveries[] = {Recovery::tahoe, Recovery::reno, Recovery::newreno,
                                           Recovery::sack};

Network lone_flow(Recovery recovery, ww_protocol cc, double loss, double ack_loss) {
    Network network = table_1(recovery, 1, loss, 2000 * kSecond);
    Link& bottleneck = network.links[0];
    bottleneck.forward.queue_packets = bottleneck.backward.queue_packets = 20;
    bottleneck.backward.loss = Uniform{ack_loss};
    network.flows[0].cc = ww_configure(cc);
    network.flows[0].cc.byte_counting = false;
    network.trace.events = true;
    return network;
}

// In any 200 s something new is acknowledged, because the RTO is at most a minute.
TEST(Progress, NoBulkFlowStalls) {
    std::uint64_t seed = 0;
    for (const Recovery recovery : kClassicRecoveries)
        for (const auto cc : {WW_PROTOCOL_RENO, WW_PROTOCOL_WESTWOOD, WW_PROTOCOL_WESTWOOD_PLUS})
            for (const double loss : {0.0, 0.005, 0.05}) {
                const Network network = lone_flow(recovery, cc, loss, loss / 2);
                const FlowResult flow = simulate(network, ++seed).flows[0];
                double last = 0;
                for (const double time_s : times_s(flow, EventKind::ack)) {
                    ASSERT_LT(time_s - last, 200);
                    last = time_s;
                }
                EXPECT_GT(last, 1800);
            }
}

// 2 Mb/s carry 400-byte packets with 360 bytes of payload each.
TEST(Progress, NoFlowGetsMoreThanTheBottleneckCarries) {
    for (const Recovery recovery : kClassicRecoveries) {
        const Network network = lone_flow(recovery, WW_PROTOCOL_WESTWOOD_PLUS, 0, 0);
        const FlowResult flow = simulate(network, 1).flows[0];
        const double goodput = static_cast<double>(flow.delivered_bytes) * 8 / 2000;
        EXPECT_LE(goodput, 1.8e6);
        EXPECT_GT(goodput, 0.8 * 1.8e6);
        EXPECT_LE(static_cast<double>(flow.ip_bytes_at_sink) * 8 / 2000, 2e6);
    }
}

TEST(Progress, AllFlowsTogetherGetNoMoreThanTheBottleneckCarries) {
    for (std::uint32_t flows = 2; flows <= 8; flows++) {
        Network network = lone_flow(Recovery::newreno, WW_PROTOCOL_RENO, 0.001, 0);
        network.trace.events = false;
        network.duration = 200 * kSecond;
        network.flows.resize(flows, network.flows[0]);
        for (std::uint32_t i = 0; i < flows; i++) network.flows[i].start = i * 97 * kMs;
        std::uint64_t bytes = 0;
        for (const FlowResult& flow : simulate(network, flows).flows) {
            EXPECT_GT(flow.delivered_bytes, 0u);
            bytes += flow.ip_bytes_at_sink;
        }
        EXPECT_LE(static_cast<double>(bytes) * 8 / 200, 2e6);
        EXPECT_GT(static_cast<double>(bytes) * 8 / 200, 1.5e6);
    }
}

TEST(Progress, WithoutAnyArrivalThereIsNoConnection) {
    Network network = lone_flow(Recovery::newreno, WW_PROTOCOL_RENO, 1, 0);
    const FlowResult flow = simulate(network, 1).flows[0];
    EXPECT_EQ(flow.sent, 0u);
    EXPECT_EQ(flow.delivered_bytes, 0u);
    EXPECT_NE(flow.established_s, flow.established_s);  // NaN
    EXPECT_NE(flow.completed_s, flow.completed_s);
}

// A transfer with RACK-TLP, F-RTO and undo over a path that loses, reorders and delays packets,
// with short timeouts and often a small window.
Network any_transfer(ww_protocol cc, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto upto = [&](std::uint64_t most) { return random() % (most + 1); };
    const std::int64_t rate = 100'000 << upto(7);
    Network network = one_link(rate, static_cast<Time>(upto(400)) * kMs, 20'000 * kSecond);
    for (Direction* d : {&network.links[0].forward, &network.links[0].backward}) {
        d->queue_packets = static_cast<std::uint32_t>(1 + upto(100));
        d->loss = Uniform{static_cast<double>(upto(30)) / 100};
        d->jitter = static_cast<Time>(upto(1) * upto(200)) * kMs;
        d->reorder_rate = static_cast<double>(upto(1) * upto(20)) / 100;
        d->reorder_delay = static_cast<Time>(upto(300)) * kMs;
    }
    Flow flow = bulk();
    flow.recovery = Recovery::prr;
    flow.cc = ww_configure(cc);
    flow.rack = true;
    flow.frto = flow.undo = flow.timestamps = upto(2) > 0;
    flow.header_bytes = kStampedHeader;
    flow.delayed_ack = static_cast<std::uint32_t>(1 + upto(7));
    flow.min_rto = upto(1) == 0 ? kMs : 200 * kMs;
    flow.initial_cwnd = static_cast<std::uint32_t>(1 + upto(19));
    flow.receive_window_bytes =
        flow.mss() * static_cast<std::uint32_t>(2 + upto(2) + upto(1) * upto(300));
    flow.size_bytes = flow.mss() * static_cast<std::int64_t>(1 + upto(200));
    network.flows = {flow};
    network.trace.events = true;
    return network;
}

// Timers never lie in the past, and what a sender must send at once is not held back until all is
// acknowledged. Otherwise a paced sender would send beyond the end, or never again.
TEST(Progress, TransfersEndOnAnyPath) {
    for (const auto cc : {WW_PROTOCOL_SACK, WW_PROTOCOL_CUBIC, WW_PROTOCOL_BBR})
        for (std::uint64_t seed = 1; seed <= 700; seed++) {
            const Network network = any_transfer(cc, seed);
            const FlowResult flow = simulate(network, seed).flows[0];
            const std::int64_t segments = network.flows[0].size_bytes / network.flows[0].mss();
            double now = 0;
            for (const Event& event : flow.events) {
                ASSERT_GE(event.time_s, now) << "seed " << seed;
                ASSERT_TRUE(event.kind != EventKind::send || event.segment < segments)
                    << "seed " << seed;
                now = event.time_s;
            }
            ASSERT_FALSE(std::isnan(flow.completed_s)) << "cc " << cc << " seed " << seed;
        }
}

}  // namespace
}  // namespace ww::sim::test
