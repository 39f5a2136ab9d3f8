// SPDX-License-Identifier: BSD-3-Clause
//
// How the engine keeps the records of core/delivery.h, whose equations tests/core/delivery_test.cpp tests.
#include "connected.hpp"
#include "engine/tcp/rate_sample.hpp"

namespace ww::sim::test {
namespace {

// Sends segments a millisecond apart, segment 0 at 0 ms.
RateSampler sent(std::int64_t count) {
    RateSampler rate;
    rate.reserve(16, 0, 0);
    for (std::int64_t s = 0; s < count; s++) rate.on_sent(s * kMs, s, 0, 0, s == 0, false);
    return rate;
}

ww_sample say(RateSampler& rate, Time now, std::initializer_list<std::int64_t> delivered,
              Time min_rtt = 0) {
    for (const std::int64_t s : delivered) rate.on_delivered(now, s);
    ww_sample sample{};
    rate.fill(now, min_rtt, 0, sample);
    return sample;
}

TEST(RateSample, TheLastOfSegmentsInOrderGivesTheSample) {
    RateSampler one_by_one = sent(5), at_once = sent(5);
    for (const std::int64_t first : {0, 2}) {
        const Time now = (50 + first) * kMs;
        at_once.on_delivered_in_order(now, first + 1, 2);
        const ww_sample is = say(at_once, now, {});
        const ww_sample should_be = say(one_by_one, now, {first, first + 1});
        EXPECT_EQ(is.rate_rtt_us, should_be.rate_rtt_us);
        EXPECT_EQ(is.rate_interval_us, should_be.rate_interval_us);
        EXPECT_EQ(is.rate_segments, should_be.rate_segments);
        EXPECT_EQ(is.newly_delivered, should_be.newly_delivered);
        EXPECT_EQ(is.delivered, should_be.delivered);
        EXPECT_EQ(is.prior_delivered, should_be.prior_delivered);
    }
}

TEST(RateSample, AnAckAfterASackIsNotAnotherDelivery) {
    RateSampler rate = sent(5);
    EXPECT_EQ(say(rate, 50 * kMs, {4}).rate_rtt_us, 46000u) << "by SACK";
    EXPECT_EQ(say(rate, 90 * kMs, {0, 1, 4}).rate_rtt_us, 89000u) << "and cumulatively";
}

// draft-ietf-ccwg-bbr, 2.3: RS.tx_in_flight and RS.lost.
TEST(RateSample, KnowsWhatWasInFlightAndLostWhenItsSegmentWasSent) {
    RateSampler rate;
    rate.reserve(16, 0, 0);
    rate.on_sent(0, 0, 1, 0, true, false);
    rate.on_sent(kMs, 1, 2, 5, false, false);
    rate.on_delivered(50 * kMs, 0);
    rate.on_delivered(50 * kMs, 1);
    ww_sample sample{};
    rate.fill(50 * kMs, 0, 7, sample);
    EXPECT_EQ(sample.prior_pipe, 2u) << "of the segment sent last";
    EXPECT_EQ(sample.lost_since, 2u);
}

// The control learns the round trip of what a SACK block delivers before it is acknowledged.
TEST(RateSample, TheSenderReportsWhatASackDelivers) {
    Flow flow = with_sack();
    flow.cc = ww_configure(WW_PROTOCOL_WESTWOOD_CUBIC);
    Connected sender(flow);
    for (const int segment : {0, 1, 2}) ASSERT_EQ(sender.next(100 + 10 * segment), segment);
    sender.ack(180, 0, {.sacked = {{2, 3}}});
    EXPECT_EQ(sender.observe(180 * kMs).rtt_min_us, 60000u);
    sender.ack(190, 3);
    EXPECT_EQ(sender.observe(190 * kMs).rtt_min_us, 60000u) << "80 ms of the second";
}

}  // namespace
}  // namespace ww::sim::test
