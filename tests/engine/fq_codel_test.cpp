// SPDX-License-Identifier: BSD-3-Clause
//
// FQ-CoDel by the sections of RFC 8290: its round robin alone, and in a network.
#include "engine/link/queue/fq_codel.hpp"

#include <map>

#include "../fuzz/difference.hpp"
#include "engine/link/held_packets.hpp"
#include "one_link.hpp"

namespace ww::sim::test::of_fq_codel {
namespace {

const Place kPlace{[](std::uint32_t) { return kMs; }, Random(1, Stream::queue, 0)};

// A queue whose packets leave when the test asks.
class Bench {
  public:
    explicit Bench(const FqCoDel& settings)
        : fq_(settings, kPlace), held_(1000, kUnlimited, 0, settings.flows) {}

    void arrive(std::uint32_t flow, std::uint32_t bytes, int count = 1) {
        HeldPacket packet;
        packet.packet.flow = flow;
        packet.ip_bytes = bytes;
        const std::uint32_t line = fq_.line_of({flow});
        for (; count > 0; count--) {
            fq_.join(line);
            held_.push(packet, line);
        }
    }
    // Returns the flow of the packet that leaves.
    std::uint32_t leave() {
        const std::uint32_t line = fq_.next_line(0, held_);
        EXPECT_EQ(fq_.dequeue(0, held_.head(line)), Verdict::pass);
        return held_.pop(line).packet.flow;
    }
    std::map<std::uint32_t, int> leave(int count) {
        std::map<std::uint32_t, int> flows;
        for (; count > 0; count--) flows[leave()]++;
        return flows;
    }

  private:
    FqCoDelQueue fq_;
    HeldPackets held_;
};

// 4.2: each flow sends QUANTUM bytes in a round, so flows share by bytes, not by packets.
TEST(FqCoDel, FlowsShareByBytes) {
    Bench queue({});
    queue.arrive(1, 1500, 300);
    queue.arrive(2, 500, 300);
    const auto left = queue.leave(200);
    EXPECT_NEAR(left.at(1) * 1500, left.at(2) * 500, 2 * 1514);
}

// 4.2: a packet of a new flow overtakes those of flows with a standing queue.
TEST(FqCoDel, ANewFlowGoesFirst) {
    Bench queue({});
    queue.arrive(1, 1500, 10);
    queue.arrive(2, 1500, 10);
    queue.leave(6);
    queue.arrive(3, 100);
    EXPECT_EQ(queue.leave(), 3u);
}

// 4.2: a flow that sends one packet at a time starves nobody: its empty queue becomes an old one.
TEST(FqCoDel, ASparseFlowDoesNotStarveTheOthers) {
    Bench queue({});
    queue.arrive(1, 1500, 100);
    queue.leave(2);
    std::map<std::uint32_t, int> left;
    for (int i = 0; i < 50; i++) {
        queue.arrive(2, 1500);
        left[queue.leave()]++;
    }
    EXPECT_NEAR(left[1], left[2], 2);
}

Network shared_link(QueueKind kind, std::size_t flows, std::int64_t packets = 1000) {
    std::vector<Flow> started(flows, bulk());
    for (std::size_t i = 0; i < flows; i++) started[i].start = static_cast<Time>(i) * 300 * kMs;
    return managed_link(kind, 10'000'000, 20 * kMs, 20 * kSecond, started, packets);
}

// 4.2: with one queue FQ-CoDel is CoDel, whatever the flows; and so it is with one flow.
TEST(FqCoDel, OneQueueIsCoDel) {
    for (const std::size_t flows : {1u, 4u}) {
        Network single = shared_link(QueueKind::fq_codel, flows);
        if (flows > 1) single.links[0].forward.fq_codel.flows = 1;
        const Result codel = simulate(shared_link(QueueKind::codel, flows), 1);
        EXPECT_GT(codel.forward[0].early_drops, 0u);
        EXPECT_EQ(fuzz::difference(simulate(single, 1), codel), "");
    }
}

TEST(FqCoDel, FlowsGetEqualShares) {  // 1: flows get equal shares, although their windows differ
    Network network = shared_link(QueueKind::fq_codel, 4);
    network.flows[0].cc = ww_configure(WW_PROTOCOL_CUBIC);
    network.flows[1].cc = ww_configure(WW_PROTOCOL_VEGAS);
    const Result result = result_of(network);
    double least = 1e18, most = 0;
    for (const FlowResult& flow : result.flows) {
        least = std::min(least, static_cast<double>(flow.delivered_bytes));
        most = std::max(most, static_cast<double>(flow.delivered_bytes));
    }
    EXPECT_GT(least / most, 0.8);
    EXPECT_GT(result.forward[0].utilisation, 0.95);
}

// 4.1: a full queue drops from its longest queue, so a flow that sends little loses nothing.
TEST(FqCoDel, AFullQueueDropsFromTheLongest) {
    Network network = shared_link(QueueKind::fq_codel, 2, 20);
    network.links[0].forward.fq_codel.target = kHour;  // CoDel drops nothing
    network.flows = {datagrams(20'000'000), datagrams(1'000'000)};
    const Result result = result_of(network);
    EXPECT_GT(result.flows[0].queue_drops, 1000u);
    EXPECT_EQ(result.flows[1].queue_drops, 0u);
    EXPECT_EQ(result.forward[0].early_drops, 0u);
    EXPECT_EQ(result.forward[0].queue_drops, result.flows[0].queue_drops);
    EXPECT_EQ(result.flows[0].sent, result.flows[0].queue_drops + result.flows[0].in_flight +
                                        result.flows[0].delivered_bytes / network.flows[0].mss());
}

}  // namespace
}  // namespace ww::sim::test::of_fq_codel
