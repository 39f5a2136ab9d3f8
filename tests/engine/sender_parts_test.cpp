// SPDX-License-Identifier: BSD-3-Clause
//
// The smaller parts of the sender: segments, times, pacing, ECN, rate reduction, statistics.
#include <array>
#include <random>
#include <set>

#include "engine/recovery.hpp"
#include "engine/tcp/ecn.hpp"
#include "engine/tcp/pacing.hpp"
#include "engine/tcp/rate_reduction.hpp"
#include "engine/tcp/segmentation.hpp"
#include "engine/tcp/send_times.hpp"
#include "engine/tcp/sender_settings.hpp"
#include "engine/tcp/sender_statistics.hpp"
#include "one_link.hpp"

namespace ww::sim::test {
namespace {

// Flows whose configurations are equal share one object.
TEST(SenderSettings, ConfigurationsDifferByEachParameter) {
    const ww_config config = tcp(WW_PROTOCOL_CUBIC).cc;
    EXPECT_EQ(config, config);
    for (const int parameter : {0, 1, WW_PARAMETERS_MAX - 1}) {
        ww_config other = config;
        other.own[parameter]++;
        EXPECT_LT(config, other) << parameter;
        EXPECT_GT(other, config) << parameter;
    }
}

// RFC 9293, 3.4: the SYN takes a sequence number.
TEST(Segmentation, NumbersSegmentsAcrossTheWrapAndKnowsTheLast) {
    Flow flow;
    flow.size_bytes = 3 * 1460 + 7;
    const Segmentation segments(flow, UINT32_MAX - 1460);
    EXPECT_EQ(segments.isn(), UINT32_MAX - 1460);
    EXPECT_EQ(segments.number(0), UINT32_MAX - 1459);
    EXPECT_EQ(segments.number(1), 0u);
    EXPECT_EQ(segments.count(), 4);
    EXPECT_EQ(segments.payload(0), 1460u);
    EXPECT_EQ(segments.payload(3), 7u);
    EXPECT_TRUE(segments.is_last(3));
    EXPECT_FALSE(segments.is_last(2));
}

TEST(Segmentation, AMultipleOfTheSegmentSizeEndsWithAFullSegment) {
    Flow flow;
    flow.size_bytes = 2 * 1460;
    const Segmentation segments(flow, 0);
    EXPECT_EQ(segments.count(), 2);
    EXPECT_EQ(segments.payload(1), 1460u);
}

TEST(Segmentation, CountsTheSegmentsThatHoldSomeBytes) {
    Flow flow;
    flow.packet_bytes = 100 + flow.header_bytes;
    const Segmentation segments(flow, 0);
    for (int bytes = 0; bytes <= 1000; bytes++)
        EXPECT_EQ(segments.segments_in(bytes), std::ceil(bytes / 100.0)) << bytes;
    EXPECT_EQ(segments.segments_in(-1), 0);
}

TEST(SendTimes, KnowASegmentThatWasSentAtTimeZeroFromOneSentAgain) {
    SendTimes times;
    times.on_sent(0, 0);
    EXPECT_FALSE(times.was_sent_again(0));
    times.on_sent_again(0, 0);
    EXPECT_TRUE(times.was_sent_again(0));
    EXPECT_EQ(times.last(0), 0);
}

// Segments are sent, resent and acknowledged at random; a table of all times is right.
TEST(SendTimes, RememberEachSegmentInFlightAndWhichMayBeMeasured) {
    std::mt19937_64 random(1);
    SendTimes times;
    std::vector<Time> sent;
    std::set<std::int64_t> again;
    std::int64_t una = 0;
    for (Time now = 1; now < 20'000; now++) {
        const auto next = static_cast<std::int64_t>(sent.size());
        const std::uint64_t what = random() % 100;
        if (what < 55) {
            if (!times.has_room_for(next, una)) times.grow(una, next);
            ASSERT_TRUE(times.has_room_for(next, una));
            times.on_sent(next, now);
            sent.push_back(now);
        } else if (una < next && what < 57) {
            const std::int64_t segment =
                una + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(next - una));
            times.on_sent_again(segment, now);
            ASSERT_TRUE(times.was_sent_again(segment));
            ASSERT_EQ(times.last(segment), now);
            again.insert(segment);
        } else if (una < next) {
            const std::int64_t end = una + 1 + static_cast<std::int64_t>(random() % 2);
            if (end > next) continue;
            const bool measures = again.lower_bound(una) == again.lower_bound(end);
            ASSERT_EQ(times.may_measure(una, end), measures) << una;
            if (measures) {
                ASSERT_EQ(times.at(una), sent[static_cast<std::size_t>(una)]);
                ASSERT_EQ(times.last(una), times.at(una));
                ASSERT_EQ(times.at(end - 1), sent[static_cast<std::size_t>(end - 1)]);
            }
            una = end;
        }
    }
    EXPECT_GT(una, 5000);
    EXPECT_GT(again.size(), 100u);
    EXPECT_GT(times.capacity(), 16u);  // it grew
}

TEST(Pacer, DelaysByTheTimeOfThePayloadAtTheRate) {
    Pacer pacer;
    EXPECT_FALSE(pacer.holds_back(0));
    pacer.on_sent(kMs, 1460, 0);  // not paced
    EXPECT_FALSE(pacer.holds_back(0));
    pacer.on_sent(kMs, 1460, std::uint64_t{1'460'000} << WW_BW_FRACTION);
    EXPECT_EQ(pacer.next_at(), 2 * kMs);
    EXPECT_TRUE(pacer.holds_back(2 * kMs - 1));
    EXPECT_FALSE(pacer.holds_back(2 * kMs));
    pacer.on_sent(2 * kMs, 65495, 1);  // slower than any run lasts, without overflow
    EXPECT_TRUE(pacer.holds_back(INT64_MAX / 16));
}

TEST(EcnSender, RespondsOncePerWindowOfDataAndReportsItOnce) {
    EcnSender ecn;
    EXPECT_EQ(ecn.flags(false), kEct);
    EXPECT_TRUE(ecn.answers(1));
    ecn.on_reduced(10);
    EXPECT_FALSE(ecn.answers(10));
    EXPECT_TRUE(ecn.answers(11));
    EXPECT_EQ(ecn.flags(true), 0);  // RFC 3168, 6.1.5, and CWR waits for a new segment
    EXPECT_EQ(ecn.flags(false), kEct | kCwr);
    EXPECT_EQ(ecn.flags(false), kEct);
}

TEST(EcnSender, SendsTheCodepointThatWasAskedFor) {
    EXPECT_EQ(EcnSender(false).flags(false), kEct);
    EXPECT_EQ(EcnSender(true).flags(false), kEct | kEct1);
}

// RFC 9331, section 5: ECT(1) and CE identify L4S packets. An ACK's kCe is ECE, which does not.
TEST(Packet, IsOfL4sByItsEcnField) {
    EXPECT_TRUE(is_l4s(kEct | kEct1));
    EXPECT_TRUE(is_l4s(kEct | kCe));
    EXPECT_FALSE(is_l4s(kEct));
    EXPECT_FALSE(is_l4s(0));
    EXPECT_FALSE(is_l4s(kAck | kCe));
}

TEST(Recovery, ReducesTheRateOnlyWithSack) {  // Rate reduction learns from SACK what was delivered
    EXPECT_FALSE(uses_sack(Recovery::newreno));
    EXPECT_TRUE(uses_sack(Recovery::sack));
    EXPECT_FALSE(uses_rate_reduction(Recovery::sack));
    for (const Recovery recovery : {Recovery::rate_halving, Recovery::prr})
        EXPECT_TRUE(uses_sack(recovery) && uses_rate_reduction(recovery));
}

// RFC 9937: at entry cwnd stays; then one segment leaves for every two delivered.
TEST(RateReduction, HalvesInStepsWithPrr) {
    RateReduction prr(Recovery::prr);
    prr.begin(10, 20);
    std::uint32_t cwnd = 20, sent = 0;
    for (std::uint32_t pipe = 19, acks = 0; acks < 18; acks++, pipe--) {
        cwnd = prr.on_ack(cwnd, pipe, 1, false);
        for (; pipe < cwnd; pipe++, sent++) prr.on_sent();
    }
    EXPECT_EQ(sent, 9u);
    EXPECT_EQ(prr.target(), 10u);
}

TEST(RateReduction, RateHalvingTakesOffOneSegmentPerTwoAcksAndRestarts) {
    RateReduction halving(Recovery::rate_halving);
    for (int episode = 0; episode < 2; episode++) {
        halving.begin(10, 20);
        EXPECT_EQ(halving.on_ack(20, 30, 1, true), 20u);
        EXPECT_EQ(halving.on_ack(20, 30, 1, true), 19u);
        EXPECT_EQ(halving.on_ack(19, 30, 1, true), 19u);  // begin() clears the odd one
    }
}

TEST(SenderStatistics, AveragesCwndOverTheConnectionAndSrttOverItsSamples) {
    SenderStatistics statistics;
    statistics.on_established(2 * kSecond);
    statistics.on_cwnd(3 * kSecond, 10);  // 10 for one second, then 40
    statistics.on_srtt(100 * kMs);
    statistics.on_srtt(200 * kMs);
    statistics.on_complete(5 * kSecond);
    FlowResult result;
    statistics.write(100 * kSecond, 40, 90 * kMs, result);
    EXPECT_DOUBLE_EQ(result.mean_cwnd, 30);
    EXPECT_DOUBLE_EQ(result.mean_srtt_s, 0.15);
    EXPECT_DOUBLE_EQ(result.min_rtt_s, 0.09);
    EXPECT_DOUBLE_EQ(result.established_s, 2);
    EXPECT_DOUBLE_EQ(result.completed_s, 5);
}

TEST(SenderStatistics, AReceiveWindowLimitsWhileCwndIsLarger) {
    SenderStatistics statistics(20);
    statistics.on_established(kSecond);
    statistics.on_cwnd(3 * kSecond, 20);
    statistics.on_cwnd(7 * kSecond, 21);
    FlowCounts result;
    statistics.write(8 * kSecond, 10, kNever, result);
    EXPECT_EQ(result.receiver_limited_s, 4);
}

TEST(SenderStatistics, AReceiveWindowLimitsAPacedSenderWhileItIsFull) {
    SenderStatistics statistics(20, true);
    statistics.on_established(kSecond);
    statistics.on_cwnd(2 * kSecond, 50);
    statistics.on_paced_ack(3 * kSecond, 19);
    statistics.on_paced_ack(5 * kSecond, 20);
    FlowCounts result;
    statistics.write(8 * kSecond, 50, kNever, result);
    EXPECT_EQ(result.receiver_limited_s, 2);
}

TEST(SenderStatistics, KeepsTheLargestCwndWheneverItWas) {
    for (const auto& [first, then, last] :
         {std::array{50u, 10u, 20u}, {10u, 50u, 20u}, {10u, 20u, 50u}}) {
        SenderStatistics statistics;
        statistics.on_established(0);
        statistics.on_cwnd(kSecond, first);
        statistics.on_cwnd(2 * kSecond, then);
        FlowResult result;
        statistics.write(3 * kSecond, last, kNever, result);
        EXPECT_EQ(result.max_cwnd, 50);
    }
}

TEST(SenderStatistics, HasNoMeansWithoutAConnection) {
    SenderStatistics statistics;
    FlowResult result;
    statistics.write(kSecond, 10, kNever, result);
    for (const double value : {result.mean_cwnd, result.max_cwnd, result.mean_srtt_s,
                               result.min_rtt_s, result.established_s, result.completed_s})
        EXPECT_TRUE(std::isnan(value));
}

}  // namespace
}  // namespace ww::sim::test
