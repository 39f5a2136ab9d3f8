// SPDX-License-Identifier: BSD-3-Clause
//
// RED by Floyd & Jacobson 1993: average, probability, gaps between drops; gentle RED, and ECN.
#include "engine/link/queue/red.hpp"

#include "engine/link/channel.hpp"
#include "one_link.hpp"
#include "statistics.hpp"

namespace ww::sim::test {
namespace {

constexpr Time kPacketTime = kSecond / 1000;

Red red_of(double min, double max, double max_p, double weight) {
    Red red;
    red.min_packets = min;
    red.max_packets = max;
    red.max_p = max_p;
    red.weight = weight;
    return red;
}

RedQueue queue_of(const Red& red, std::uint64_t seed = 1) {
    return RedQueue(red,
                    {[](std::uint32_t) { return kPacketTime; }, Random(seed, Stream::queue, 0)});
}

// With a weight of 1 the average is the current queue length.
Verdict arrive(RedQueue& queue, std::size_t waiting, bool ecn_capable = false) {
    return queue.enqueue(0, {waiting, 0}, ecn_capable);
}

TEST(Red, AveragesTheQueue) {  // section 4, equation 2: avg = (1 - w) avg + w q
    RedQueue queue = queue_of(red_of(1000, 2000, 0.1, 0.002));
    double average = 0;
    for (std::size_t i = 0; i < 5000; i++) {
        const std::size_t waiting = i * i % 97;
        queue.enqueue(0, {waiting, 1}, false);
        average = 0.998 * average + 0.002 * static_cast<double>(waiting);
        ASSERT_NEAR(queue.average_packets(), average, 1e-9);
    }
}

TEST(Red, ForgetsWhileTheLinkIsIdle) {  // section 4: m = idle time / transmission time of a packet
    RedQueue queue = queue_of(red_of(1000, 2000, 0.1, 0.01));
    for (int i = 0; i < 1000; i++) queue.enqueue(0, {50, 1}, false);
    const double before = queue.average_packets();
    queue.enqueue(kSecond, {0, kSecond - 37 * kPacketTime}, false);
    EXPECT_NEAR(queue.average_packets(), before * std::pow(0.99, 38), 1e-9);
}

// settings.hpp, mean_packet: an idle queue's average decays as if packets of this size had left, at
// the link's rate. A recorded rate counts by its average.
TEST(Red, ForgetsAtTheRateOfItsLink) {
    struct Case {
        bool recorded;
        std::uint32_t mean_packet_bytes;
        int in_40_ms;  // mean packets: recorded 0.5 and 1 ms each, else 0.752 and 1.504 ms
    };
    for (const auto& [recorded, mean_packet_bytes, in_40_ms] :
         {Case{true, 752, 80}, {true, 1504, 40}, {false, 752, 53}, {false, 1504, 26}}) {
        Direction d;
        d.rate_bps = 8'000'000;
        if (recorded) d.opportunities_ms = {1, 1, 2, 4};  // 1504 bytes a ms
        d.red = red_of(1000, 2000, 0.1, 0.01);
        d.queue_kind = QueueKind::red;
        d.red.mean_packet_bytes = mean_packet_bytes;
        Network network;
        network.duration = kLongest;
        network.links.push_back({0, 1, 0, d, d});
        Channel channel(network, 0, 1);
        Packet packet;
        Passage last{};
        for (int i = 0; i < 100; i++) last = channel.transmit_impaired(0, 1500, packet, nullptr);
        const auto& red = std::get<RedQueue>(channel.impairments->discipline);
        const double before = red.average_packets();
        EXPECT_GT(before, 10);
        channel.transmit_impaired(last.at + 40 * kMs, 1500, packet, nullptr);
        EXPECT_NEAR(red.average_packets(), before * std::pow(0.99, in_40_ms + 1), 1e-9);
    }
}

TEST(Red, DropsNothingBelowMinAndEverythingFromMaxOn) {
    RedQueue queue = queue_of(red_of(5, 15, 0.1, 1));
    for (int i = 0; i < 10000; i++) ASSERT_EQ(arrive(queue, 4), Verdict::pass);
    for (int i = 0; i < 100; i++) ASSERT_EQ(arrive(queue, 15), Verdict::drop);
}

// ns-2's and ns-3's RED: an average above min drops nothing while the queue itself is short.
TEST(Red, MaySpareAShortQueue) {
    for (const std::size_t spared : {1u, 2u}) {
        Red red = red_of(1, 2, 1, 0.5);
        red.spared_packets = static_cast<double>(spared);
        RedQueue spares = queue_of(red), strict = queue_of(red_of(1, 2, 1, 0.5));
        for (RedQueue* queue : {&spares, &strict}) queue->enqueue(0, {100, 1}, false);
        EXPECT_EQ(arrive(strict, spared), Verdict::drop);
        EXPECT_EQ(arrive(spares, spared), Verdict::pass);
        EXPECT_EQ(arrive(spares, spared + 1), Verdict::drop);
    }
}

TEST(Red, GrowsLinearlyBetweenItsThresholds) {  // pb = max_p (avg - min) / (max - min)
    RedQueue queue = queue_of(red_of(5, 15, 0.1, 1));
    for (std::size_t waiting = 5; waiting < 15; waiting++) {
        arrive(queue, waiting);
        EXPECT_NEAR(queue.probability(), 0.01 * static_cast<double>(waiting - 5), 1e-12);
    }
}

TEST(Red, GentleGrowsOnToTwiceMax) {  // Floyd 2000
    Red red = red_of(5, 15, 0.1, 1);
    red.gentle = true;
    RedQueue queue = queue_of(red);
    const double expected[][2] = {{14, 0.09}, {15, 0.1}, {21, 0.46}, {27, 0.82}, {30, 1}, {40, 1}};
    for (const auto& [waiting, probability] : expected) {
        arrive(queue, static_cast<std::size_t>(waiting));
        EXPECT_NEAR(queue.probability(), probability, 1e-12) << waiting;
    }
}

TEST(Red, SpreadsItsDropsEvenly) {  // section 7, method 2, as Figure 2 counts
    RedQueue queue = queue_of(red_of(5, 15, 0.1, 1), 3);
    constexpr std::size_t kGaps = 19;  // 1 / pb - 1 at an average of 10, where pb is 0.05
    std::vector<double> seen(kGaps);
    std::size_t gap = 0;
    int drops = -1;  // the first gap begins before the first drop
    while (drops < 40000) {
        gap++;
        if (arrive(queue, 10) == Verdict::pass) continue;
        if (drops++ >= 0) {
            ASSERT_LE(gap, kGaps);
            seen[gap - 1]++;
        }
        gap = 0;
    }
    expect_chi_square(seen, std::vector<double>(kGaps, 40000.0 / kGaps), "gaps");
}

TEST(Red, MarksEcnCapablePacketsAndDropsTheOthers) {  // RFC 3168, 7
    Red red = red_of(5, 15, 0.1, 1);
    red.ecn = true;
    RedQueue queue = queue_of(red);
    int marked = 0;
    for (int i = 0; i < 10000; i++) {
        const bool capable = i % 2 == 0;
        const Verdict verdict = arrive(queue, 10, capable);
        ASSERT_NE(verdict, capable ? Verdict::drop : Verdict::mark);
        marked += verdict == Verdict::mark;
    }
    EXPECT_GT(marked, 100);
    EXPECT_EQ(arrive(queue, 15, true), Verdict::drop) << "beyond max a mark is not enough";
}

TEST(Red, WithoutEcnDropsAllPacketsAlike) {
    RedQueue queue = queue_of(red_of(5, 15, 0.1, 1));
    for (int i = 0; i < 10000; i++) ASSERT_NE(arrive(queue, 10, true), Verdict::mark);
}

// It drops only while the average is at least min, and an arrival moves the average by at most w (q - avg).
TEST(Red, ItsTraceHasTheAverageThatItDropsBy) {
    Network network = one_link(2'000'000, 20 * kMs, 60 * kSecond);
    Direction& way = network.links[0].forward;
    way.queue_kind = QueueKind::red;
    way.red.min_packets = 5;
    way.red.max_packets = 15;
    network.flows = {tcp(WW_PROTOCOL_RENO)};
    network.trace.queues = true;
    const Result traced = simulate(network, 1);
    const StateTrace& states = traced.forward[0].states;
    ASSERT_GT(states.value.size(), 1000u);
    std::size_t row = 0, drops = 0;
    for (const Drop& drop : traced.drops) {
        if (drop.kind != DropKind::early) continue;
        while (row + 1 < states.time_s.size() && states.time_s[row + 1] <= drop.time_s) row++;
        EXPECT_GE(states.value[row], 5) << drop.time_s;
        drops++;
    }
    EXPECT_GT(drops, 5u);
    for (std::size_t i = 1; i < states.value.size(); i++) {
        ASSERT_NE(states.value[i], states.value[i - 1]) << "a row is a change";
        ASSERT_LE(states.value[i] - states.value[i - 1], way.red.weight * 100);
    }

    network.trace.queues = false;
    EXPECT_EQ(simulate(network, 1).flows[0].sent, traced.flows[0].sent)
        << "looking changes nothing";
}

// RFC 3168, 5: the codepoint CE stays, so a packet that two queues would mark counts at the first.
TEST(Red, APacketMarkedBeforeIsNotCountedAgain) {
    Flow flow = tcp(WW_PROTOCOL_SACK);
    flow.ecn = true;
    flow.to = 2;
    Network network = marking(one_link(10'000'000, 20 * kMs, 30 * kSecond), 20, flow);
    network.nodes = 3;
    Link second = network.links[0];
    second.a = 1;
    second.b = 2;
    second.forward.rate_bps = 9'000'000;
    network.links.push_back(second);
    network.trace.queues = true;
    const Result result = simulate(network, 1);
    for (std::uint32_t link : {0u, 1u}) {
        const auto is_mark = [&](const Drop& drop) {
            return drop.kind == DropKind::mark && drop.channel == 2 * link;
        };
        const auto marks = std::ranges::count_if(result.drops, is_mark);
        EXPECT_EQ(static_cast<std::uint64_t>(marks), result.forward[link].marked) << link;
        EXPECT_GT(marks, 0) << link;
    }
}

}  // namespace
}  // namespace ww::sim::test
