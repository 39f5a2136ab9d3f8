// SPDX-License-Identifier: BSD-3-Clause
//
// Linux's bursts (engine/tcp/pacing.hpp) and compressed ACKs (ack_timing.hpp).

#include <numeric>

#include "engine/tcp/ack_timing.hpp"
#include "engine/tcp/pacing.hpp"
#include "engine/tcp/receiver.hpp"
#include "engine/tcp/sender.hpp"
#include "one_link.hpp"

namespace ww::sim {
namespace {

constexpr Time kMillisecond = kSecond / 1000;
constexpr std::uint32_t kMss = 1448;
constexpr Time kLongPath = 100 * kMillisecond;

constexpr std::uint64_t bytes_per_s(std::uint64_t bytes) { return bytes << WW_BW_FRACTION; }

TEST(Bursts, HaveAMillisecondOfTheRateAndAtLeastTwoSegments) {
    EXPECT_EQ(Pacer::burst(bytes_per_s(125'000), kMss, kLongPath), 2u);
    // tcp_tso_autosize(): 12.5 MB/s >> 10 are 12207 bytes, 8 segments.
    EXPECT_EQ(Pacer::burst(bytes_per_s(12'500'000), kMss, kLongPath), 8u);
    EXPECT_EQ(Pacer::burst(bytes_per_s(12'500'000'000), kMss, kLongPath), 65216u / kMss);
}

TEST(Bursts, AreLongerOnAPathOfLessThanSomeMilliseconds) {
    // tcp_tso_rtt_log: 65216 >> (3 ms / 512 us) are 2038 bytes more.
    EXPECT_EQ(Pacer::burst(bytes_per_s(2'500'000), kMss, 3 * kMillisecond), (2441u + 2038u) / kMss);
    EXPECT_EQ(Pacer::burst(bytes_per_s(2'500'000), kMss, kNever), 2u);
}

TEST(Bursts, LeaveAtOnceAndTheNextOneWaitsForAllOfTheirSegments) {
    Pacer pacer;
    const std::uint64_t rate = bytes_per_s(kMss * 1000);  // a segment in a millisecond
    const Time start = kSecond;
    pacer.on_sent(start - kMillisecond, kMss, rate);  // so that it is on time
    pacer.on_burst(start, kMss, rate, 1, 3);
    EXPECT_FALSE(pacer.holds_back(start));
    pacer.on_burst(start, kMss, rate, 1, 3);
    EXPECT_FALSE(pacer.holds_back(start));
    EXPECT_TRUE(pacer.holds_back(start + 1));  // what comes later is another burst
    pacer.on_burst(start, kMss, rate, 1, 3);
    EXPECT_TRUE(pacer.holds_back(start));
    EXPECT_EQ(pacer.next_at(), start + 3 * kMillisecond);
}

// tcp_update_skb_after_send(): len_ns -= min(len_ns / 2, credit)
TEST(Bursts, MakeUpForUpToHalfOfTheirTime) {
    const std::uint64_t rate = bytes_per_s(kMss * 1000);
    for (const auto& [late, waits] : {std::pair{kMillisecond / 4, kMillisecond * 7 / 4},
                                      std::pair{10 * kMillisecond, kMillisecond}}) {
        Pacer pacer;
        pacer.on_burst(kSecond, kMss, rate, 1, 1);
        const Time sent = pacer.next_at() + late;
        pacer.on_burst(sent, 2 * kMss, rate, 2, 2);
        EXPECT_EQ(pacer.next_at(), sent + waits);
    }
}

// __tcp_transmit_skb(): "Force a PSH flag on all (GSO) packets".
TEST(Bursts, OfSeveralSegmentsEndWithPush) {
    const Sender::Burst burst{10, 15, 2};
    for (const auto& [segment, pushes] :
         {std::pair{10, false}, {11, true}, {12, false}, {13, true}, {14, false}})
        EXPECT_EQ(burst.pushes(segment), pushes) << segment;
    EXPECT_TRUE((Sender::Burst{10, 15, 3}.pushes(14))) << "the last two leave together";
    EXPECT_FALSE((Sender::Burst{10, 15}.pushes(14)));
}

// tcp_measure_rcv_mss() and tcp_cleanup_rbuf(): a full segment with PSH is acknowledged once it is read.
TEST(Bursts, AreAcknowledgedAtOnceIfTheyEndInOrder) {
    const Flow flow;
    const std::uint32_t mss = flow.mss();
    Receiver receiver(flow);
    receiver.on_syn(0);
    EXPECT_FALSE(receiver.on_data(kSecond, 1, mss));
    receiver.unacknowledged = 0;
    receiver.on_pushed(1 + mss);
    EXPECT_TRUE(receiver.on_data(kSecond, 1 + mss, mss));
    receiver.unacknowledged = 0;
    receiver.on_pushed(1 + 3 * mss);
    EXPECT_EQ(receiver.unacknowledged, 0u);
}

// Counts how often so many segments, or more than three, left at one time, of a flow without pacing or losses.
std::vector<int> sizes_of_bursts(std::int64_t rate_bps, bool tso) {
    Flow flow = test::tcp(WW_PROTOCOL_RENO);
    flow.tso = tso;
    Network network = test::one_link(rate_bps, 20 * kMillisecond, 20 * kSecond, {flow});
    network.trace.events = true;
    std::vector<int> counts(5);
    double at_s = -1;
    std::size_t size = 0;
    const FlowResult result = test::result_of(network).flows[0];
    for (const double time_s : test::times_s(result, EventKind::send)) {
        if (time_s != at_s && size > 0) counts[std::min<std::size_t>(size, 4)]++;
        size = time_s == at_s ? size + 1 : 1;
        at_s = time_s;
    }
    return counts;
}

// tcp_tso_should_defer(): a partial burst waits for an ACK that is due within a millisecond. At 100 Mb/s ACKs come every
// 0.24 ms, at 10 Mb/s every 2.4 ms. In Linux 6.12 93 % of CUBIC's bursts have 9 or 10 segments at 100 Mb/s.
TEST(Bursts, GrowWhileTheNextAckIsNear) {
    const auto longer = [](std::int64_t rate_bps, bool tso) {
        const std::vector<int> counts = sizes_of_bursts(rate_bps, tso);
        return static_cast<double>(counts[4]) / std::accumulate(counts.begin(), counts.end(), 0);
    };
    EXPECT_GT(longer(100'000'000, true), 0.8);
    EXPECT_LT(longer(100'000'000, false), 0.01);
    EXPECT_LT(longer(10'000'000, true), 0.02);
}

Flow compressing(std::uint32_t most) {
    Flow flow;
    flow.recovery = Recovery::prr;
    flow.compressed_acks = most;
    return flow;
}

TEST(CompressedAcks, AnswerTheFirstThreeSegmentsBeyondAGapAtOnce) {
    AckTiming timing(compressing(44));
    for (int segment = 0; segment < 3; segment++) EXPECT_TRUE(timing.on_out_of_order(0, 0));
    EXPECT_FALSE(timing.on_out_of_order(0, 0));
    EXPECT_FALSE(timing.on_out_of_order(43, 1));
    EXPECT_TRUE(timing.on_out_of_order(44, 0));
    timing.on_segment(kSecond);  // the next gap begins anew
    EXPECT_TRUE(timing.on_out_of_order(0, 0));
}

TEST(CompressedAcks, WaitForATwentiethOfTheRoundTripAndAMillisecondAtMost) {
    for (const auto& [rtt, waits] : {std::pair{10 * kMillisecond, kMillisecond / 2},
                                     std::pair{100 * kMillisecond, kMillisecond}}) {
        AckTiming timing(compressing(44));
        timing.on_syn_ack(0);
        timing.on_established(rtt);
        EXPECT_EQ(timing.together(), waits + kMillisecond / 10);
    }
}

// A receiver after its SYN, which answers what it takes or lets it wait.
struct Compressing {
    Flow flow = compressing(44);
    std::uint32_t mss = flow.mss();
    Receiver receiver{flow};
    Time now = 0;
    Compressing() { receiver.on_syn(0); }

    // Returns whether this segment is acknowledged at once.
    bool takes(std::uint32_t segment) {
        const bool at_once = receiver.on_data(now += kMicrosecond, 1 + segment * mss, mss);
        if (at_once) receiver.unacknowledged = 0;
        return at_once;
    }
};

// Segments 1 and 3 open blocks and 5 a third one, which must not push out a block that no ACK has reported.
TEST(CompressedAcks, DoNotWaitForAThirdBlock) {
    Compressing host;
    for (const std::uint32_t segment : {1u, 3u, 4u}) EXPECT_TRUE(host.takes(segment));
    EXPECT_FALSE(host.takes(5));  // in the newest block
    EXPECT_TRUE(host.takes(7));   // a third block ends the wait
    EXPECT_FALSE(host.takes(9));  // nothing waits that it could push out
    EXPECT_FALSE(host.takes(10));
    EXPECT_TRUE(host.takes(2));  // joins the third block
}

// RFC 7323, 4.3: SEG.SEQ <= Last.ACK.sent. Otherwise Eifel takes each such recovery for a spurious one (RFC 3522, 3).
TEST(CompressedAcks, EchoTheRetransmissionThatFillsTheGap) {
    Compressing host;
    for (const std::uint32_t segment : {1u, 2u, 3u}) EXPECT_TRUE(host.takes(segment));
    EXPECT_FALSE(host.takes(4));
    host.receiver.on_again(1);
    EXPECT_TRUE(host.takes(0));
    EXPECT_NE(host.receiver.take_ack_flags() & kAgain, 0);
}

TEST(CompressedAcks, ProveNoLossSpurious) {
    Flow flow = test::tcp(WW_PROTOCOL_CUBIC, Recovery::prr);
    flow.compressed_acks = 44;
    flow.rack = flow.undo = flow.timestamps = true;
    flow.header_bytes = kStampedHeader;
    Network network = test::one_link(100'000'000, 20 * kMillisecond, 20 * kSecond, {flow});
    network.links[0].forward.loss = Uniform{0.01};
    network.trace.events = true;
    const FlowResult result = test::result_of(network).flows[0];
    EXPECT_GT(result.fast_recoveries, 20u);
    for (const Event& event : result.events) ASSERT_NE(event.kind, EventKind::undo);
}

TEST(CompressedAcks, NeedSack) {
    Flow flow = compressing(44);
    flow.recovery = Recovery::newreno;
    AckTiming timing(flow);
    for (int segment = 0; segment < 10; segment++) EXPECT_TRUE(timing.on_out_of_order(0, 0));
}

}  // namespace
}  // namespace ww::sim
