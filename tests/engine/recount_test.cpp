// SPDX-License-Identifier: BSD-3-Clause
//
// Counts a report's columns again from traces and a capture, and RFC 6298's RTTs and timeouts.
#include <map>
#include <random>
#include <set>

#include "engine/link/packet.hpp"
#include "one_link.hpp"

namespace ww::sim::test {
namespace {

// A transfer each way over a lossy link, captured at node 0, all traced; both end in the run.
Network both_ways(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto upto = [&](std::uint32_t n) {
        return static_cast<std::uint32_t>(random() % (n + 1));
    };
    const auto delay = (1 + upto(40)) * kMs;  // arguments would be drawn in the compiler's order
    const auto rate_bps = 1'000'000 + upto(3'000'000);
    Network network = one_link(rate_bps, delay, 100 * kSecond);
    Link& link = network.links[0];
    link.overhead_bytes = upto(2) * 19;
    for (Direction* way : {&link.forward, &link.backward}) {
        way->queue_packets = 5 + upto(30);
        if (seed % 3 == 0) way->queue_bytes = 20'000;
        way->loss = Uniform{seed % 2 == 0 ? 0.01 : 0.0};
    }
    for (const bool back : {false, true}) {
        const auto protocol = static_cast<ww_protocol>(upto(WW_PROTOCOL_COUNT - 1));
        constexpr Recovery kWithSack[] = {Recovery::sack, Recovery::prr, Recovery::rate_halving};
        Flow flow = tcp(protocol, kWithSack[upto(2)]);
        if (back) std::swap(flow.from, flow.to);
        flow.packet_bytes = 500 + upto(1000);
        flow.size_bytes = 100'000 + upto(200'000);
        flow.delayed_ack = 1 + upto(1);
        flow.start = upto(500) * kMs;
        flow.rack = upto(1) == 1;
        flow.frto = upto(1) == 1;
        flow.undo = upto(1) == 1;
        network.flows.push_back(flow);
    }
    network.trace = {true, 0, true, true, 0};
    return network;
}

// Bytes of a captured packet on the link. RFC 2018, 3: SACK has 2 + 8 n bytes and two of padding.
std::uint32_t on_the_wire(const Network& network, const Captured& packet) {
    const std::uint32_t options = packet.sack_count == 0 ? 0 : 4u + 8u * packet.sack_count;
    return network.flows[packet.flow].header_bytes + packet.payload + options +
           network.links[0].overhead_bytes;
}

class Recount : public testing::TestWithParam<std::uint64_t> {
  protected:
    void SetUp() override {
        network_ = both_ways(GetParam());
        result_ = simulate(network_, GetParam());
        ASSERT_EQ(result_.error, "");
        for (const FlowResult& flow : result_.flows) ASSERT_FALSE(std::isnan(flow.completed_s));
    }
    std::vector<Captured> captured(bool leaving, std::uint32_t flow, bool data) const {
        std::vector<Captured> packets;
        for (const Captured& packet : result_.captured)
            if (packet.leaving == leaving && packet.flow == flow && (packet.payload > 0) == data)
                packets.push_back(packet);
        return packets;
    }

    Network network_;
    Result result_;
};

TEST_P(Recount, LinksCarryWhatACaptureShows) {
    std::uint64_t packets[2] = {0, 0}, bytes[2] = {0, 0};
    Time sending = 0;
    for (const Captured& packet : result_.captured) {
        const std::uint32_t size = on_the_wire(network_, packet);
        packets[packet.leaving]++;
        bytes[packet.leaving] += size;
        const std::int64_t rate = network_.links[0].forward.rate_bps;
        if (packet.leaving) sending += (static_cast<Time>(size) * 8 * kSecond + rate / 2) / rate;
    }
    const DirectionResult& forward = result_.forward[0];
    const DirectionResult& backward = result_.backward[0];
    EXPECT_EQ(forward.packets, packets[true]);
    EXPECT_EQ(forward.bytes, bytes[true]);
    EXPECT_NEAR(forward.utilisation, seconds(sending) / seconds(network_.duration), 1e-12);
    EXPECT_EQ(backward.packets - backward.lost, packets[false]);
    EXPECT_GE(backward.bytes, bytes[false]);
    EXPECT_EQ(backward.lost == 0, backward.bytes == bytes[false]);
    EXPECT_EQ(result_.packets, forward.packets + backward.packets);
    EXPECT_EQ(forward.in_flight + backward.in_flight, 0u);
}

TEST_P(Recount, AFlowSendsAndReceivesWhatACaptureShows) {
    const FlowResult &out = result_.flows[0], &in = result_.flows[1];
    EXPECT_EQ(out.sent - out.queue_drops, captured(true, 0, true).size());
    const std::vector<Captured> data = captured(false, 1, true);
    EXPECT_EQ(in.sent - in.queue_drops - in.lost, data.size());
    std::uint64_t bytes = 0;
    for (const Captured& packet : data) bytes += network_.flows[1].header_bytes + packet.payload;
    EXPECT_EQ(in.ip_bytes_at_sink, bytes);
    EXPECT_EQ(in.last_arrival_s, seconds(data.back().at));
    for (const std::size_t i : {0u, 1u})
        EXPECT_EQ(result_.flows[i].delivered_bytes,
                  static_cast<std::uint64_t>(network_.flows[i].size_bytes));
    // The sender is connected by the SYN-ACK, and done with the ACK that covers all its data.
    const std::vector<Captured> acks = captured(false, 0, false);
    ASSERT_FALSE(acks.empty());
    EXPECT_NE(acks.front().flags & kSyn, 0);
    EXPECT_EQ(out.established_s, seconds(acks.front().at));
    const auto end = captured(true, 0, false).front().number + 1 +
                     static_cast<std::uint32_t>(network_.flows[0].size_bytes);
    const auto last = std::find_if(acks.begin(), acks.end(),
                                   [&](const Captured& ack) { return ack.number == end; });
    ASSERT_NE(last, acks.end());
    EXPECT_EQ(out.completed_s, seconds(last->at));
    EXPECT_EQ(out.start_s, seconds(network_.flows[0].start));
}

TEST_P(Recount, AFlowDecidesAsItsEventsSay) {  // fuzz/invariants.hpp has the other counters
    for (const FlowResult& flow : result_.flows) {
        std::map<EventKind, std::uint64_t> count;
        for (const Event& event : flow.events) count[event.kind]++;
        EXPECT_EQ(flow.fast_recoveries, count[EventKind::recovery]);
        EXPECT_EQ(flow.ecn_reductions, count[EventKind::ecn]);
    }
}

// With SACK nothing inflates the window, so the trace shows cwnd itself.
TEST_P(Recount, TheMeanWindowIsTheIntegralOfItsTrace) {
    for (const FlowResult& flow : result_.flows) {
        const WindowTrace& trace = flow.trace;
        ASSERT_FALSE(trace.time_s.empty());
        EXPECT_EQ(trace.time_s.front(), flow.established_s);
        double integral = 0, most = 0;
        for (std::size_t i = 0; i < trace.time_s.size() && trace.time_s[i] < flow.completed_s;
             i++) {
            const bool is_last = i + 1 == trace.time_s.size();
            const double until_s =
                is_last ? flow.completed_s : std::min(trace.time_s[i + 1], flow.completed_s);
            integral += trace.cwnd[i] * (until_s - trace.time_s[i]);
            most = std::max(most, trace.cwnd[i]);
        }
        EXPECT_NEAR(flow.mean_cwnd, integral / (flow.completed_s - flow.established_s),
                    1e-6 * flow.mean_cwnd);
        EXPECT_GE(flow.max_cwnd, most);
        EXPECT_LE(flow.max_cwnd, *std::max_element(trace.cwnd.begin(), trace.cwnd.end()));
    }
}

// RFC 6298 over the events of a sender with SACK.
class Rfc6298 {
  public:
    Rfc6298(const Flow& flow, double handshake_s) : flow_(flow) { take(handshake_s, handshake_s); }

    void on(const Event& event) {
        if (event.kind == EventKind::send) {
            sent_[event.segment] = event.time_s;
            next = event.segment + 1;
        } else if (event.kind == EventKind::retransmit) {
            again_.insert(event.segment);
        } else if (event.kind == EventKind::timeout) {
            rto_s = std::min(2 * rto_s, seconds(flow_.max_rto));  // 5.5
        } else if (event.kind == EventKind::ack) {
            acknowledge(event);
        }
    }

    double rtt_s = NAN, srtt_s = 0, rto_s = 1, least_s = INFINITY, sum_s = 0;
    int samples = 0;
    std::int64_t una = 0, next = 0;

  private:
    void acknowledge(const Event& ack) {
        const bool is_known = again_.lower_bound(una) == again_.lower_bound(ack.segment);
        if (is_known) {  // 3, Karn
            rtt_s = ack.time_s - sent_[ack.segment - 1];
            take(ack.time_s - sent_[una], rtt_s);
        }
        una = ack.segment;
    }
    void take(double oldest_s, double newest_s) {
        least_s = std::min(least_s, newest_s);
        if (samples == 0) {  // 2.2
            srtt_s = oldest_s;
            rttvar_s_ = oldest_s / 2;
        } else {  // 2.3
            rttvar_s_ += (std::abs(srtt_s - oldest_s) - rttvar_s_) / 4;
            srtt_s += (oldest_s - srtt_s) / 8;
        }
        samples++;
        sum_s += srtt_s;
        rto_s = srtt_s + std::max(seconds(flow_.clock_granularity), 4 * rttvar_s_);
        rto_s = std::clamp(rto_s, seconds(flow_.min_rto), seconds(flow_.max_rto));
    }

    const Flow& flow_;
    std::map<std::int64_t, double> sent_;
    std::set<std::int64_t> again_;
    double rttvar_s_ = 0;
};

TEST_P(Recount, RoundTripsAndTimeoutsFollowRfc6298) {
    for (const std::size_t i : {0u, 1u}) {
        const FlowResult& flow = result_.flows[i];
        const double handshake_s = flow.established_s - flow.start_s;
        if (handshake_s > 0.9) continue;  // a SYN was lost: 5.7, in handshake_test.cpp
        Rfc6298 model(network_.flows[i], handshake_s);
        std::size_t event = 0, compared = 0;
        for (std::size_t row = 0; row < flow.trace.time_s.size(); row++) {
            const double now_s = flow.trace.time_s[row];
            while (event < flow.events.size() && flow.events[event].time_s <= now_s)
                model.on(flow.events[event++]);
            if (row + 1 < flow.trace.time_s.size() && flow.trace.time_s[row + 1] == now_s) continue;
            compared++;
            constexpr double kRounding = 1e-9;
            ASSERT_NEAR(flow.trace.srtt_s[row], model.srtt_s, kRounding) << now_s;
            ASSERT_NEAR(flow.trace.rto_s[row], model.rto_s, kRounding) << now_s;
            ASSERT_EQ(std::isnan(flow.trace.rtt_s[row]), std::isnan(model.rtt_s)) << now_s;
            if (!std::isnan(model.rtt_s)) {
                ASSERT_NEAR(flow.trace.rtt_s[row], model.rtt_s, kRounding) << now_s;
            }
            ASSERT_EQ(flow.trace.in_flight[row], static_cast<double>(model.next - model.una));
            const Event& last = flow.events[std::max<std::size_t>(event, 1) - 1];
            if (event == 0 || last.time_s != now_s) continue;
            ASSERT_EQ(flow.trace.cwnd[row], last.cwnd) << now_s;
            const double ssthresh = flow.trace.ssthresh[row];
            ASSERT_TRUE(std::isnan(ssthresh) ? last.ssthresh >= WW_SSTHRESH_INFINITE
                                             : ssthresh == last.ssthresh)
                << now_s;
        }
        EXPECT_GT(compared, 40u);
        while (event < flow.events.size()) model.on(flow.events[event++]);
        EXPECT_NEAR(flow.min_rtt_s, model.least_s, 1e-9);
        EXPECT_NEAR(flow.mean_srtt_s, model.sum_s / model.samples, 1e-9);
    }
}

INSTANTIATE_TEST_SUITE_P(Engine, Recount, testing::Range<std::uint64_t>(1, 13));

}  // namespace
}  // namespace ww::sim::test
