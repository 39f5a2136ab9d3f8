// SPDX-License-Identifier: BSD-3-Clause
//
// When the receiver acknowledges: delayed ACKs (RFC 5681, 4.2), the FIN (RFC 9293, 3.10.7.4), quick
// ACKs and Linux's adapting timer (engine/tcp/ack_timing.hpp). reassembly_test.cpp has reassembly.
#include "engine/tcp/receiver.hpp"

#include "engine/link/packet.hpp"
#include "scripted.hpp"

namespace ww::sim::test {
namespace {

constexpr std::uint32_t kBytes = 10;

Flow linux_flow() {
    Flow flow;
    flow.quick_acks = 16;
    flow.quick_acks_again = true;
    flow.min_delayed_ack_timeout = 40 * kMs;
    return flow;
}

// A receiver at which segments arrive, counted from 0.
class Host {
  public:
    explicit Host(const Flow& flow, Time round_trip = 100 * kMs) : receiver_(flow) {
        receiver_.on_syn(UINT32_MAX);  // the first byte has number 0
        receiver_.on_syn_ack_sent(now_);
        now_ += round_trip;
        receiver_.on_established(now_);
    }

    // A segment arrives `later` than the one before. Returns true if it is acknowledged at once.
    bool arrives(std::uint32_t segment, Time later = kMs) {
        return bytes_arrive(segment * kBytes, kBytes, later);
    }
    bool bytes_arrive(std::uint32_t first, std::uint32_t count, Time later = kMs) {
        now_ += later;
        const bool at_once = receiver_.on_data(now_, first, count);
        if (at_once) receiver_.unacknowledged = 0;
        return at_once;
    }
    // Lets the delayed ACK's timer fire.
    void waits() {
        EXPECT_FALSE(receiver_.on_timer());
        receiver_.unacknowledged = 0;
    }
    double timeout_ms() const {
        return static_cast<double>(receiver_.delayed_ack_timeout) / static_cast<double>(kMs);
    }
    bool next_arrives(Time later = kMs) { return arrives(next++, later); }
    // Counts the next segments in a row that are acknowledged at once.
    std::uint32_t quick() {
        std::uint32_t count = 0;
        while (next_arrives()) count++;
        return count;
    }
    Receiver& receiver() { return receiver_; }

    std::uint32_t next = 0;  // segment

  private:
    Receiver receiver_;
    Time now_ = 0;
};

TEST(DelayedAck, EveryNthSegmentIsAcknowledged) {  // RFC 5681, 4.2
    Flow flow;
    flow.delayed_ack = 3;
    Host host(flow);
    for (std::uint32_t segment = 0; segment < 30; segment++)
        EXPECT_EQ(host.arrives(segment), segment % 3 == 2) << segment;
    EXPECT_EQ(host.timeout_ms(), 200);
}

// Its ACKs carry only a number, unless there is more to say.
TEST(DelayedAck, IsPlainWhileDataComesInOrder) {
    Flow flow;
    flow.recovery = Recovery::sack;
    flow.undo = true;  // asks for D-SACKs
    Host host(flow);
    const auto is_plain_after = [&](std::uint32_t segment) {
        host.arrives(segment);
        const bool plain = host.receiver().is_on_fast_path();
        host.receiver().sack_blocks();  // an ACK leaves
        return plain;
    };
    EXPECT_TRUE(is_plain_after(0));
    EXPECT_FALSE(is_plain_after(2)) << "beyond a gap";
    EXPECT_FALSE(is_plain_after(4)) << "beyond two gaps";
    EXPECT_FALSE(is_plain_after(1)) << "one is left";
    EXPECT_TRUE(is_plain_after(3));
    EXPECT_FALSE(is_plain_after(3)) << "a duplicate, which a D-SACK reports";
    EXPECT_TRUE(is_plain_after(5));
}

// RFC 2883, 4: the first block names the segment that arrived twice, in order or not.
TEST(DSack, NamesTheSegmentThatArrivedTwice) {
    Flow flow;
    flow.undo = true;
    Host host(flow);
    host.arrives(0);
    host.arrives(2);
    for (const std::uint32_t segment : {0u, 2u}) {
        host.arrives(segment);
        const SackBlocks blocks = host.receiver().sack_blocks();
        ASSERT_EQ(blocks.count, 2u);
        EXPECT_EQ(blocks.block[0].start, segment * kBytes);
        EXPECT_EQ(blocks.block[0].end, (segment + 1) * kBytes);
        EXPECT_EQ(blocks.block[1].start, 2 * kBytes);
        EXPECT_EQ(blocks.block[1].end, 3 * kBytes);
    }
}

// Each segment raises the window by two (tcp_grow_window()) and is acknowledged at once.
TEST(QuickAcks, EachSegmentThatRaisesTheWindowIsAcknowledged) {
    Flow flow = linux_flow();
    flow.initial_receive_window_bytes = 64'000;
    flow.receive_window_bytes = 64'000 + 2 * 100 * flow.mss();
    Host host(flow);
    EXPECT_EQ(host.quick(), 100u + 16) << "and then as many as at any start";
    flow.quick_acks = 0;
    flow.quick_acks_again = false;
    flow.min_delayed_ack_timeout = 0;
    Host by_rfc(flow);
    EXPECT_EQ(by_rfc.quick(), 100u) << "without Linux's other rules, too";
    flow.initial_receive_window_bytes = flow.receive_window_bytes;
    EXPECT_EQ(Host(flow).quick(), 0u) << "all of it is there from the start";
}

// RFC 7323, 4.3: TS.Recent is updated by a segment that lies at Last.ACK.sent or before it, and
// only if no earlier segment waits for its ACK.
TEST(Timestamps, ARetransmissionIsEchoedIfItLiesAtTheLastAck) {
    for (const auto& [ahead, echoed] : {std::pair{-10, true}, {-1, true}, {0, true}, {1, false}}) {
        Host host(Flow{});
        host.receiver().on_again(static_cast<std::uint32_t>(ahead));  // the next byte is 0
        EXPECT_EQ((host.receiver().take_ack_flags() & kAgain) != 0, echoed) << ahead;
        EXPECT_EQ(host.receiver().take_ack_flags() & kAgain, 0) << "once";
    }
    Host waiting(Flow{});
    EXPECT_FALSE(waiting.arrives(0));
    waiting.receiver().on_again(kBytes);
    EXPECT_EQ(waiting.receiver().take_ack_flags() & kAgain, 0) << "the first segment's is echoed";
}

TEST(Fin, IsNotCoveredBeforeItHasArrived) {
    Receiver receiver{Flow{}};
    receiver.on_syn(UINT32_MAX - 2 * kBytes);  // the second segment ends where numbers wrap to 0
    receiver.on_established(0);
    receiver.on_data(0, 0u - kBytes, kBytes);
    receiver.on_data(0, 0u - 2 * kBytes, kBytes);
    EXPECT_EQ(receiver.next_number, 0u);
    EXPECT_EQ(receiver.take_ack_flags() & kFin, 0);
}

// TcpSocketBase::ProcessSynRcvd(): "Always respond to first data packet to speed up the connection."
TEST(QuickAcks, TheFirstDataSegmentGetsOneAsInNs3) {
    Flow flow;
    flow.quick_acks = 1;
    Host host(flow);
    for (std::uint32_t segment = 0; segment < 20; segment++)
        EXPECT_EQ(host.arrives(segment), segment % 2 == 0) << segment;
}

// TCP_MAX_QUICKACKS: 16 ACKs of one segment each, and then every second segment.
TEST(QuickAcks, SixteenAreAsInLinux) {
    Host host(linux_flow());
    EXPECT_EQ(host.quick(), 16u);
    for (std::uint32_t segment = host.next; segment < 40; segment++)
        EXPECT_EQ(host.arrives(segment), segment % 2 == 1) << segment;
}

// tcp_dec_quickack_mode() counts every ACK, also those of out-of-order data.
TEST(QuickAcks, AnAckOfDataOutOfOrderIsOneOfThem) {
    Flow flow = linux_flow();
    flow.quick_acks_again = false;
    Host host(flow);
    EXPECT_TRUE(host.arrives(1));
    EXPECT_TRUE(host.arrives(0));
    host.next = 2;
    EXPECT_EQ(host.quick(), 14u);
}

// tcp_data_queue(): "A retransmit ... Force an immediate ack", and tcp_enter_quickack_mode().
TEST(QuickAcks, DuplicateDataBringsThemAgain) {
    Host host(linux_flow());
    host.quick();
    EXPECT_TRUE(host.arrives(3));
    EXPECT_EQ(host.quick(), 15u);
}

TEST(QuickAcks, DataBeyondOneMissingByteIsNoDuplicate) {
    Host host(linux_flow());
    host.quick();
    const std::uint32_t missing = host.next++ * kBytes;
    EXPECT_TRUE(host.bytes_arrive(missing + 1, kBytes - 1)) << "beyond a gap";
    EXPECT_TRUE(host.bytes_arrive(missing, 1)) << "fills it";
    EXPECT_EQ(host.quick(), 0u);
}

// tcp_event_data_recv(): "Too long gap. Apparently sender failed to restart window". The RTO comes
// from the handshake's round trip R: R + max(G, 2 R) = 300 ms.
TEST(QuickAcks, APauseLongerThanTheRtoBringsThemAgain) {
    Flow flow = linux_flow();
    flow.min_rto = flow.clock_granularity = 200 * kMs;
    Host host(flow);
    host.quick();
    host.next_arrives();
    EXPECT_FALSE(host.next_arrives(299 * kMs));
    EXPECT_TRUE(host.next_arrives());
    EXPECT_TRUE(host.next_arrives(301 * kMs));
    EXPECT_EQ(host.quick(), 15u);
}

// tcp_event_data_recv(): ATO / 2 + least / 2 for segments 20 ms apart at most, else ATO / 2 + m.
TEST(AckTimeout, FollowsThePaceOfTheSegments) {
    Host host(linux_flow(), 300 * kMs);
    host.next_arrives();
    EXPECT_EQ(host.timeout_ms(), 40);
    host.next_arrives(30 * kMs);
    EXPECT_EQ(host.timeout_ms(), 50);  // 40 / 2 + 30
    host.next_arrives(45 * kMs);
    EXPECT_EQ(host.timeout_ms(), 70);  // 50 / 2 + 45
    host.next_arrives(100 * kMs);
    EXPECT_EQ(host.timeout_ms(), 70) << "a pause longer than ATO leaves it";
    host.next_arrives(20 * kMs);
    EXPECT_EQ(host.timeout_ms(), 55);  // 70 / 2 + 20
    for (int i = 0; i < 60; i++) host.next_arrives(kMs);
    EXPECT_NEAR(host.timeout_ms(), 40, 1e-6);
}

// tcp_delack_timer_handler() doubles it; tcp_send_delayed_ack() bounds it: a round trip, 40, 200 ms.
TEST(AckTimeout, DoublesWhenItExpiresAndIsBoundedByTheRoundTrip) {
    const auto after_timers = [](Time round_trip, int timers) {
        Host host(linux_flow(), round_trip);
        host.next_arrives();
        for (int i = 0; i < timers; i++) host.waits();
        host.next_arrives(kSecond / 2);  // longer than ATO, so ATO stays
        return host.timeout_ms();
    };
    EXPECT_EQ(after_timers(10 * kMs, 1), 40);
    EXPECT_EQ(after_timers(70 * kMs, 1), 70);
    EXPECT_EQ(after_timers(150 * kMs, 1), 80);
    EXPECT_EQ(after_timers(150 * kMs, 2), 150);
    EXPECT_EQ(after_timers(300 * kMs, 3), 200);
}

// RFC 6298, 3: a repeated SYN-ACK gives no sample; delayed_ack_timeout remains the bound.
TEST(AckTimeout, ARepeatedSynAckGivesNoSample) {
    Flow flow = linux_flow();
    flow.syn_ack_timer = true;
    Receiver receiver(flow);
    receiver.on_syn(UINT32_MAX);
    receiver.on_syn_ack_sent(0);
    EXPECT_TRUE(receiver.on_timer());
    receiver.on_syn_ack_sent(kSecond);
    receiver.on_established(kSecond + 10 * kMs);
    for (int i = 0; i < 4; i++) EXPECT_FALSE(receiver.on_timer());
    receiver.on_data(2 * kSecond, 0, kBytes);
    EXPECT_EQ(receiver.delayed_ack_timeout, 200 * kMs);
}

// Lists packets of a direction as (number, whether it has the FIN).
std::vector<std::pair<std::uint32_t, bool>> captured(const Result& result, bool acks) {
    std::vector<std::pair<std::uint32_t, bool>> numbers;
    for (const Captured& row : result.captured)
        if (((row.flags & kAck) != 0) == acks && (row.flags & (kSyn | kBare)) == 0)
            numbers.push_back({row.number, (row.flags & kFin) != 0});
    return numbers;
}

Result transfer(std::vector<std::uint64_t> lost_forward, std::uint32_t delayed_ack = 2) {
    Network network = scripted_network(Recovery::sack);
    network.flows[0].random_isn = false;
    network.flows[0].isn = UINT32_MAX;
    network.flows[0].size_bytes = 4'300;  // five segments, the last of 300 bytes
    network.flows[0].delayed_ack = delayed_ack;
    network.links[0].forward.loss = LossList{std::move(lost_forward)};
    network.links[0].backward.loss = {};
    network.trace.capture_link = 0;
    return simulate(network, 1);
}

// RFC 9293, 3.10.4: the last segment carries the FIN; 3.10.7.4: it is acknowledged at once.
TEST(Fin, EndsATransferAndIsAcknowledgedAtOnce) {
    const Result result = transfer({});
    using Packets = std::vector<std::pair<std::uint32_t, bool>>;
    EXPECT_EQ(captured(result, false),
              (Packets{{0, false}, {1000, false}, {2000, false}, {3000, false}, {4000, true}}));
    EXPECT_EQ(captured(result, true), (Packets{{2000, false}, {4000, false}, {4300, true}}));
    EXPECT_EQ(result.flows[0].delivered_bytes, 4'300u);
    const double round_trip = 0.1 + 340 * 8 / 8.32e6 + 40 * 8 / 8.32e6;
    const double last_sent = 0.1 + 2 * 40 * 8 / 8.32e6 + 40 * 8 / 8.32e6 + 4 * 1e-3;
    EXPECT_NEAR(result.flows[0].completed_s, last_sent + round_trip, 1e-9);
}

TEST(Fin, IsAcknowledgedOnceEverythingIsThere) {
    const Result result = transfer({4});  // the second data segment, after SYN and ACK
    const auto acks = captured(result, true);
    for (std::size_t i = 0; i < acks.size(); i++)
        EXPECT_EQ(acks[i].second, acks[i].first == 4300) << acks[i].first;
    EXPECT_TRUE(acks.back().second);
}

// RFC 9293, 3.8.1: the FIN is retransmitted with its segment.
TEST(Fin, IsRetransmittedWithItsSegment) {
    const Result result = transfer({7});
    const auto data = captured(result, false);
    ASSERT_EQ(data.size(), 6u);
    EXPECT_EQ(data.back(), (std::pair<std::uint32_t, bool>{4000, true}));
    EXPECT_EQ(result.flows[0].retransmitted, 1u);
    EXPECT_TRUE(captured(result, true).back().second);
}

// ns-3 acknowledges the first segment at once, which an initial window of one shows.
TEST(QuickAcks, SaveAnInitialWindowOfOneFromTheDelayedAckTimer) {
    const auto completed = [](std::uint32_t quick_acks) {
        Network network = scripted_network(Recovery::sack);
        network.links[0].forward.loss = network.links[0].backward.loss = {};
        network.flows[0].initial_cwnd = 1;
        network.flows[0].initial_ssthresh = WW_SSTHRESH_INFINITE;
        network.flows[0].size_bytes = 2'000;
        network.flows[0].delayed_ack = 2;
        network.flows[0].quick_acks = quick_acks;
        return simulate(network, 1).flows[0].completed_s;
    };
    EXPECT_NEAR(completed(0) - completed(1), 0.2, 1e-9);
}

}  // namespace
}  // namespace ww::sim::test
