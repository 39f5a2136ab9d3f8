// SPDX-License-Identifier: BSD-3-Clause
//
// Links in whole runs: jitter, reordering, marks and the senders' response, recorded rates; and the
// capture beside what was sent. fuzz/invariants.hpp compares a queue's statistics with its trace.
#include <set>

#include "engine/link/capture.hpp"
#include "engine/link/packet.hpp"
#include "one_link.hpp"
#include "statistics.hpp"

namespace ww::sim::test {
namespace {

// Returns when each datagram arrives, seen from node 1 of a second, instant link.
std::vector<Captured> arrivals(Network network) {
    network.nodes = 3;
    Link instant;
    instant.a = 1;
    instant.b = 2;
    instant.forward.rate_bps = instant.backward.rate_bps = 1'000'000'000'000;
    network.links.push_back(instant);
    for (Flow& flow : network.flows) flow.to = 2;
    network.trace.capture_link = 1;
    return simulate(network, 1).captured;
}

// The last of them would leave after a month: what is admitted is known from the limit alone.
TEST(Queue, CountsTheOverheadOfPacketsThatNeverLeave) {
    Network network = one_link(1000, 10 * kMs, 60 * kSecond);
    network.links[0].overhead_bytes = 1000;
    network.links[0].forward.queue_packets = kUnlimited;
    network.links[0].forward.queue_bytes = 4500 * 65'000;
    Flow flow = datagrams(51'200'000);
    flow.packet_bytes = 64'000;
    network.flows = {flow};
    const Result result = result_of(network);
    EXPECT_EQ(result.flows[0].sent - result.forward[0].queue_drops, 1u + 4500u);
}

TEST(Jitter, IsUniformAndKeepsTheOrder) {
    Network network = one_link(1'000'000'000, 10 * kMs, 400 * kSecond);
    network.links[0].forward.jitter = 4 * kMs;
    network.flows = {datagrams(1'200'000)};  // every 10 ms: keeping the order costs nothing
    const std::vector<Captured> seen = arrivals(network);
    ASSERT_GT(seen.size(), 39000u);
    std::vector<double> extras_ms;
    for (std::size_t i = 0; i < seen.size(); i++) {
        const Time base = static_cast<Time>(i) * 10 * kMs + 12 * kMicrosecond + 10 * kMs;
        extras_ms.push_back(seconds(seen[i].at - base - 10 * kMs) * 1e3);
        ASSERT_GE(extras_ms.back(), -0.001);
        ASSERT_LE(extras_ms.back(), 4.001);
    }
    expect_uniform(extras_ms, 4, "jitter");
}

TEST(Reordering, HoldsBackTheGivenShare) {
    Network network = one_link(1'000'000'000, 10 * kMs, 200 * kSecond);
    network.links[0].forward.reorder_rate = 0.05;
    network.links[0].forward.reorder_delay = 5 * kMs;
    network.flows = {datagrams(12'000'000)};  // one per ms: five overtake each delayed packet
    const std::vector<Captured> seen = arrivals(network);
    double late = 0;
    std::uint32_t newest = 0;
    for (const Captured& packet : seen) {
        late += packet.number < newest;
        newest = std::max(newest, packet.number);
    }
    const double count = static_cast<double>(seen.size());
    expect_chi_square({late, count - late}, {count * 0.05, count * 0.95}, "held back");
}

TEST(Reordering, LooksLikeLossToASenderWithThreeDuplicateAcks) {  // RFC 5681, 3.2
    Network network = one_link(10'000'000, 10 * kMs, 60 * kSecond);
    network.links[0].forward.reorder_rate = 0.01;
    network.links[0].forward.reorder_delay = 20 * kMs;
    network.links[0].forward.queue_packets = kUnlimited;
    network.flows = {tcp(WW_PROTOCOL_RENO)};
    const FlowResult flow = simulate(network, 1).flows[0];
    EXPECT_EQ(flow.lost + flow.queue_drops, 0u);
    EXPECT_GT(flow.fast_recoveries, 50u);
}

Network marking_of_reno(bool capable) {
    Flow flow = tcp(WW_PROTOCOL_RENO);
    flow.ecn = capable;
    flow.initial_ssthresh = 20;
    return marking(one_link(2'000'000, 20 * kMs, 100 * kSecond), 30, flow);
}

TEST(Ecn, HalvesOncePerRoundTripWithoutALoss) {  // RFC 3168, 6.1.2
    Network network = marking_of_reno(true);
    network.trace.events = true;
    const Result result = simulate(network, 1);
    EXPECT_EQ(result.forward[0].queue_drops, 0u);
    expect_reduced_once_per_round_trip(result, 20);
}

TEST(Ecn, MarksOnlyEcnCapableFlows) {  // RFC 3168, 5: not-ECT packets are dropped
    const Result result = simulate(marking_of_reno(false), 1);
    EXPECT_EQ(result.forward[0].marked, 0u);
    EXPECT_GT(result.forward[0].early_drops, 20u);
    EXPECT_EQ(result.flows[0].ecn_reductions, 0u);
}

TEST(Utilisation, EndsWithTheRun) {  // Packets that wait when the run ends are not sent
    Network network = one_link(1'000'000, 10 * kMs, kSecond);
    network.links[0].forward.queue_packets = kUnlimited;
    network.flows = {datagrams(10'000'000)};  // the first leaves 1.2 ms after the start
    network.flows[0].start = 500 * kMs;
    const DirectionResult way = simulate(network, 1).forward[0];
    EXPECT_GT(way.packets, 400u);
    EXPECT_NEAR(way.utilisation, 0.5 - 0.0012, 1e-9);
}

// network.hpp, Loss: both directions of a link are in the same state at the same time.
TEST(Fading, HitsBothDirectionsAtOnce) {
    Network network = one_link(10'000'000, 10 * kMs, 20 * kSecond);
    for (Direction* direction : {&network.links[0].forward, &network.links[0].backward}) {
        direction->loss = Markov{300 * kMs, 100 * kMs, 0, 1};
    }
    network.flows = {datagrams(1'200'000), datagrams(1'200'000)};
    std::swap(network.flows[1].from, network.flows[1].to);
    network.trace.queues = true;
    std::vector<double> lost[2];
    for (const Drop& drop : simulate(network, 1).drops) lost[drop.channel].push_back(drop.time_s);
    EXPECT_GT(lost[0].size(), 100u);
    EXPECT_EQ(lost[0], lost[1]) << "they send at the same times";
}

// RFC 3522, 3.2: the timestamp of an ACK that echoes a mark also tells which transmission it
// answers. Nothing is late here, so no retransmission is spurious.
TEST(Ecn, AnEchoDoesNotHideThatARetransmissionWasNeeded) {
    Flow flow = tcp(WW_PROTOCOL_RENO);
    flow.ecn = flow.timestamps = flow.undo = true;
    flow.header_bytes = kStampedHeader;
    Network network = marking(one_link(2'000'000, 20 * kMs, 200 * kSecond), 30, flow);
    network.links[0].forward.loss = Uniform{0.003};
    network.trace.events = true;
    const FlowResult result = simulate(network, 1).flows[0];
    EXPECT_GT(result.ecn_reductions, 20u);
    EXPECT_GT(result.fast_recoveries, 20u);
    for (const Event& event : result.events) ASSERT_NE(event.kind, EventKind::undo);
}

TEST(RecordedRate, IsWhatALongFlowGets) {
    Network network = one_link(1'000'000, 10 * kMs, 100 * kSecond);
    // 1504 bytes every ms for 2 s, then every 4 ms for 2 s: 12 and 3 Mb/s.
    auto& trace = network.links[0].forward.opportunities_ms;
    for (std::uint64_t ms = 1; ms <= 2000; ms++) trace.push_back(ms);
    for (std::uint64_t ms = 2004; ms <= 4000; ms += 4) trace.push_back(ms);
    network.flows = {datagrams(20'000'000)};
    network.links[0].backward.rate_bps = 100'000'000;
    const Result result = simulate(network, 1);
    EXPECT_NEAR(static_cast<double>(result.flows[0].delivered_bytes) * 8 / 100 * 1500 / 1460, 7.5e6,
                0.03e6);
    EXPECT_GT(result.forward[0].utilisation, 0.99);
}

// A segment may leave at the same instant at which the ACK that allows it arrives.
TEST(Capture, ShowsAnArrivalBeforeWhatItAllows) {
    Network network = one_link(2'000'000, 20 * kMs, 5 * kSecond, {tcp(WW_PROTOCOL_RENO)});
    network.flows[0].receive_window_bytes = 4 * 1460;  // nothing waits
    network.trace.capture_link = 0;
    const std::vector<Captured> seen = simulate(network, 1).captured;
    int pairs = 0;
    for (std::size_t i = 1; i < seen.size(); i++) {
        if (seen[i - 1].at != seen[i].at) continue;
        pairs++;
        EXPECT_LE(seen[i - 1].leaving, seen[i].leaving) << "at " << seen[i].at;
    }
    EXPECT_GT(pairs, 50);
}

// Order-keeping jitter makes packets arrive at the same time.
TEST(Capture, ShowsSimultaneousPacketsInTheirOrder) {
    Network network = one_link(1'000'000'000, 10 * kMs, 5 * kSecond);
    network.links[0].backward.jitter = 40 * kMs;
    network.flows = {datagrams(12'000'000)};
    std::swap(network.flows[0].from, network.flows[0].to);
    network.trace.capture_link = 0;
    const std::vector<Captured> seen = simulate(network, 1).captured;
    int at_once = 0;
    for (std::size_t i = 1; i < seen.size(); i++) {
        at_once += seen[i - 1].at == seen[i].at;
        ASSERT_EQ(seen[i].number, seen[i - 1].number + 1);
    }
    EXPECT_GT(at_once, 1000);
}

TEST(WindowTrace, HasRowsAtLeastTheIntervalApart) {
    Network network = one_link(2'000'000, 20 * kMs, 20 * kSecond,
                               {tcp(WW_PROTOCOL_RENO), tcp(WW_PROTOCOL_CUBIC)});
    network.trace.windows = true;
    const Result whole = simulate(network, 1);
    network.trace.interval = 300 * kMs;
    const Result thinned = simulate(network, 1);
    for (std::size_t flow = 0; flow < 2; flow++) {
        const std::vector<double>& times = thinned.flows[flow].trace.time_s;
        EXPECT_GT(times.size(), 30u);
        EXPECT_LT(times.size(), whole.flows[flow].trace.time_s.size() / 3);
        for (std::size_t i = 1; i < times.size(); i++)
            EXPECT_GT(times[i] - times[i - 1], 0.3 - 1e-9);
    }
}

// columns.hpp: the estimate is NaN before its first sample, and for controls without one.
TEST(WindowTrace, ShowsAnEstimateInBitsPerSecond) {
    Network network = one_link(2'000'000, 20 * kMs, 20 * kSecond, {tcp(WW_PROTOCOL_WESTWOOD_PLUS)});
    network.flows[0].receive_window_bytes = 40'000;  // fills the path, but not its queue
    network.trace.windows = true;
    const WindowTrace seen = simulate(network, 1).flows[0].trace;
    EXPECT_TRUE(std::isnan(seen.estimate_bps.front()));
    EXPECT_NEAR(seen.estimate_bps.back(), 2e6 * 1460 / 1500, 0.02e6) << "of the payload";
    EXPECT_NEAR(seen.sample_bps.back(), 2e6 * 1460 / 1500, 0.1e6);
    network.flows = {tcp(WW_PROTOCOL_RENO)};
    const WindowTrace without = simulate(network, 1).flows[0].trace;
    for (std::size_t i = 0; i < without.time_s.size(); i++)
        ASSERT_TRUE(std::isnan(without.estimate_bps[i]) && std::isnan(without.sample_bps[i]));
}

// A link that reorders ACKs keeps each one together with its SACK blocks.
TEST(Reordering, LeavesEachAckItsSackBlocks) {
    Network network = one_link(4'000'000, 10 * kMs, 20 * kSecond);
    network.nodes = 3;
    network.links.push_back(network.links[0]);
    network.links[1].a = 1;
    network.links[1].b = 2;
    network.links[1].backward.reorder_rate = 0.3;
    network.links[1].backward.reorder_delay = 7 * kMs;
    network.links[1].forward.loss = Uniform{0.03};
    network.flows = {tcp(WW_PROTOCOL_RENO)};
    network.flows[0].to = 2;
    const auto acks = [&](std::int64_t link) {
        network.trace.capture_link = link;
        std::multiset<std::vector<std::uint32_t>> ack_lists;
        std::size_t with_blocks = 0;
        for (const Captured& packet : simulate(network, 1).captured) {
            if (packet.leaving || packet.at > 19 * kSecond) continue;
            std::vector<std::uint32_t> ack{packet.number, packet.flags};
            ack.insert(ack.end(), packet.sack, packet.sack + 2 * packet.sack_count);
            with_blocks += packet.sack_count > 0;
            ack_lists.insert(ack);
        }
        EXPECT_GT(with_blocks, 200u);
        return ack_lists;
    };
    const auto sent = acks(1), arrived = acks(0);
    std::size_t missing = 0;
    for (const auto& ack : arrived) missing += sent.count(ack) < arrived.count(ack);
    EXPECT_EQ(missing, 0u);
}

TEST(Capture, KeepsEverySackBlock) {
    Capture capture(true);
    const SackBlocks sack{2, {{30, 40}, {10, 20}}};
    capture.add(Packet(), &sack, 5);
    const Captured& row = capture.rows[0];
    EXPECT_EQ(std::vector(row.sack, row.sack + 2 * row.sack_count),
              (std::vector<std::uint32_t>{30, 40, 10, 20}));
}

}  // namespace
}  // namespace ww::sim::test
