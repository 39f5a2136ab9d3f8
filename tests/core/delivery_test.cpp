// SPDX-License-Identifier: BSD-3-Clause
//
// Delivery rate samples: draft-ietf-ccwg-bbr, 4.1.2.
#include "../../core/delivery.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <initializer_list>

namespace {

constexpr std::uint64_t kRateMs = 1000;  // times are in microseconds

// A connection that numbers its packets from 0.
struct RatedFlow {
    ww_delivery flow{};
    std::array<ww_delivery_record, 8> records{};

    void send(std::uint64_t now, std::uint32_t number, std::uint32_t pipe = 0, bool again = false) {
        ww_delivery_on_sent(&flow, &records.at(number), now, pipe, now == 0, again);
    }
    void deliver(std::uint64_t now, std::uint32_t number) {
        ww_delivery_on_delivered(&flow, &records.at(number), number, now, 1);
    }
    ww_sample sample(std::uint64_t now, std::initializer_list<std::uint32_t> numbers,
                     std::uint64_t min_rtt = 0) {
        for (const std::uint32_t number : numbers) deliver(now, number);
        ww_sample filled{};
        ww_delivery_fill(&flow, now, min_rtt, 1, &filled);
        return filled;
    }
};

// Sends packets a millisecond apart, packet 0 at 0 ms.
RatedFlow sent_packets(std::uint32_t count) {
    RatedFlow connection;
    for (std::uint32_t number = 0; number < count; number++)
        connection.send(number * kRateMs, number, number + 1);
    return connection;
}

TEST(Delivery, ARateIsWhatArrivedInTheLongerOfTwoSpans) {
    RatedFlow connection = sent_packets(3);
    ww_sample sample = connection.sample(50 * kRateMs, {0});
    EXPECT_EQ(sample.rate_segments, 1u);
    EXPECT_EQ(sample.rate_interval_us, 50 * kRateMs) << "since the first packet left";
    EXPECT_EQ(sample.rate_rtt_us, 50 * kRateMs);
    EXPECT_EQ(sample.prior_delivered, 0u);
    sample = connection.sample(51 * kRateMs, {1, 2});
    EXPECT_EQ(sample.rate_segments, 3u);
    EXPECT_EQ(sample.rate_interval_us, 51 * kRateMs);
    EXPECT_EQ(sample.delivered, 3u);
    EXPECT_EQ(sample.newly_delivered, 2u);
    connection.send(60 * kRateMs, 3);
    connection.send(100 * kRateMs, 4);
    sample = connection.sample(110 * kRateMs, {3});
    EXPECT_EQ(sample.rate_interval_us, 59 * kRateMs) << "since the delivery before it was sent";
    EXPECT_EQ(sample.prior_delivered, 3u);
    sample = connection.sample(120 * kRateMs, {4});
    EXPECT_EQ(sample.rate_interval_us, 98 * kRateMs) << "the packets took longer to leave";
}

TEST(Delivery, TheNewestPacketGivesTheSample) {
    EXPECT_EQ(sent_packets(5).sample(60 * kRateMs, {4, 3}).rate_rtt_us, 56 * kRateMs);
    EXPECT_EQ(sent_packets(5).sample(60 * kRateMs, {3, 4}).rate_rtt_us, 56 * kRateMs);
    for (const bool is_reversed : {false, true}) {  // sent at one time, so numbers decide
        RatedFlow connection = sent_packets(1);
        connection.send(10 * kRateMs, 1, 7);
        connection.send(10 * kRateMs, 2, 8);
        const ww_sample sample = is_reversed ? connection.sample(60 * kRateMs, {2, 1})
                                             : connection.sample(60 * kRateMs, {1, 2});
        EXPECT_EQ(sample.prior_pipe, 8u);
    }
}

TEST(Delivery, ARetransmissionHasARateAndNoRoundTrip) {  // Karn: which of the two arrived?
    RatedFlow connection = sent_packets(3);
    connection.send(40 * kRateMs, 0, 0, true);
    const ww_sample sample = connection.sample(50 * kRateMs, {0, 1, 2});
    EXPECT_EQ(sample.rate_rtt_us, 0u);
    EXPECT_GT(sample.rate_segments, 0u);
    EXPECT_EQ(sample.newly_delivered, 3u);
}

TEST(Delivery, AnAckThatDeliversNothingHasNoRate) {
    RatedFlow connection = sent_packets(3);
    connection.sample(50 * kRateMs, {2});
    const ww_sample sample = connection.sample(60 * kRateMs, {});
    EXPECT_EQ(sample.rate_segments + sample.rate_interval_us + sample.rate_rtt_us, 0u);
    EXPECT_EQ(sample.newly_delivered, 0u);
    EXPECT_EQ(sample.delivered, 1u);
}

TEST(Delivery, AnIntervalBelowTheSmallestRoundTripHasNoRate) {
    EXPECT_EQ(sent_packets(1).sample(50 * kRateMs, {0}, 50 * kRateMs).rate_interval_us,
              50 * kRateMs);
    const ww_sample sample = sent_packets(1).sample(50 * kRateMs, {0}, 50 * kRateMs + 1);
    EXPECT_EQ(sample.rate_interval_us, 0u);
    EXPECT_EQ(sample.rate_rtt_us, 50 * kRateMs);
}

TEST(Delivery, TheApplicationLimitsUntilTheFlightHasArrived) {  // even if nothing is in flight
    for (const std::uint32_t pipe : {0u, 1u, 2u}) {
        RatedFlow connection = sent_packets(3);
        for (std::uint32_t number = 0; number < 3 - pipe; number++) connection.deliver(1, number);
        EXPECT_FALSE(ww_delivery_is_limited(&connection.flow));
        ww_delivery_on_limited(&connection.flow, pipe);
        EXPECT_TRUE(ww_delivery_is_limited(&connection.flow));
        connection.send(60 * kRateMs, 3);
        for (std::uint32_t number = 3 - pipe; number < 3; number++) connection.deliver(2, number);
        EXPECT_EQ(ww_delivery_is_limited(&connection.flow), pipe == 0);
        EXPECT_TRUE(connection.sample(110 * kRateMs, {3}).is_app_limited) << pipe;
        connection.send(120 * kRateMs, 4);
        EXPECT_FALSE(connection.sample(170 * kRateMs, {4}).is_app_limited) << pipe;
    }
}

TEST(Delivery, LossesAndTheFlightAreThoseSinceAPacketWasSent) {
    RatedFlow connection = sent_packets(1);
    connection.flow.lost = 5;
    connection.send(kRateMs, 1, 2);
    connection.deliver(50 * kRateMs, 0);
    connection.flow.lost = 7;
    ww_lost lost{};
    ww_delivery_fill_lost(&connection.flow, &connection.records[1], &lost);
    EXPECT_EQ(lost.delivered, 1u);
    EXPECT_EQ(lost.prior_delivered, 0u);
    EXPECT_EQ(lost.prior_pipe, 2u);
    EXPECT_EQ(lost.lost_since, 2u);
    EXPECT_FALSE(lost.is_app_limited);
    connection.records[1].is_app_limited = true;
    ww_delivery_fill_lost(&connection.flow, &connection.records[1], &lost);
    EXPECT_TRUE(lost.is_app_limited);
    const ww_sample sample = connection.sample(50 * kRateMs, {1});
    EXPECT_EQ(sample.prior_pipe, 2u);
    EXPECT_EQ(sample.lost_since, 2u);
    EXPECT_EQ(sample.newly_lost, 7u);
    EXPECT_EQ(connection.sample(60 * kRateMs, {}).newly_lost, 0u);
}

TEST(Delivery, CountsMayWrapAndSpansAreClamped) {
    RatedFlow connection;
    connection.flow.delivered = connection.flow.sampled_delivered = UINT32_MAX;
    connection.send(0, 0);
    ww_delivery_on_limited(&connection.flow, 3);
    EXPECT_TRUE(ww_delivery_is_limited(&connection.flow));
    const ww_sample sample = connection.sample(std::uint64_t{5} << 32, {0});
    EXPECT_EQ(sample.delivered, 0u);
    EXPECT_EQ(sample.newly_delivered, 1u);
    EXPECT_EQ(sample.rate_segments, 1u);
    EXPECT_EQ(sample.rate_interval_us, UINT32_MAX);
    EXPECT_EQ(sample.rate_rtt_us, UINT32_MAX);
    EXPECT_TRUE(ww_delivery_is_limited(&connection.flow));
    ww_sample in_units{};
    connection.send(std::uint64_t{6} << 32, 1);
    connection.deliver((std::uint64_t{6} << 32) + 2999, 1);
    ww_delivery_fill(&connection.flow, (std::uint64_t{6} << 32) + 2999, 0, 1000, &in_units);
    EXPECT_EQ(in_units.rate_rtt_us, 2u) << "whole microseconds";
}

TEST(Delivery, ALimitEndsWhereCountsHaveWrapped) {
    RatedFlow connection;
    connection.flow.limited_until = INT32_MAX;
    EXPECT_TRUE(ww_delivery_is_limited(&connection.flow));
    connection.flow.limited_until++;
    EXPECT_FALSE(ww_delivery_is_limited(&connection.flow)) << "as far behind as ahead";
}

TEST(Delivery, WhatFollowsSilenceIsTimedFromItsStart) {
    RatedFlow connection = sent_packets(1);
    connection.sample(50 * kRateMs, {0});
    ww_delivery_on_sent(&connection.flow, &connection.records[1], 900 * kRateMs, 1, true, false);
    EXPECT_EQ(connection.sample(960 * kRateMs, {1}).rate_interval_us, 60 * kRateMs);
}

}  // namespace
