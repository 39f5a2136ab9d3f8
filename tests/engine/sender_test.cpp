// SPDX-License-Identifier: BSD-3-Clause
//
// Calls the sender directly, for what the wire alone cannot show.
#include <gtest/gtest.h>

#include <deque>

#include "connected.hpp"

namespace ww::sim::test {
namespace {

// contract.h: the RTT is that of the newest acknowledged segment. RFC 6298, 4: the timer's sample
// includes the receiver's delay, so it is that of the oldest.
TEST(Sender, MeasuresTheNewestSegmentAndTimesTheOldest) {
    Sender sender = connected(Flow(), 100 * kMs);
    EXPECT_EQ(sender.rtt().rto(), 300 * kMs);
    EXPECT_EQ(sender.next_segment(100 * kMs), 0);
    EXPECT_EQ(sender.next_segment(160 * kMs), 1);
    EXPECT_EQ(sender.on_ack(260 * kMs, {sender.segments().number(2)}).progress, Progress::advanced);
    EXPECT_EQ(sender.rtt().last(), 100 * kMs);
    // R' = 160: RTTVAR = 3/4 50 + 1/4 60 = 52.5, SRTT = 7/8 100 + 1/8 160 = 107.5
    EXPECT_EQ(sender.rtt().rto(), (107'500 + 4 * 52'500) * kMicrosecond);
}

TEST(Sender, IgnoresOldAcksAndThoseForNothing) {
    Sender sender = connected(Flow(), 100 * kMs);
    EXPECT_EQ(sender.on_ack(100 * kMs, {sender.segments().number(0)}).progress,
              Progress::none);  // nothing is out
    while (sender.next_segment(100 * kMs) >= 0) continue;
    EXPECT_EQ(sender.in_flight(), 10);
    EXPECT_EQ(sender.on_ack(200 * kMs, {sender.segments().number(4)}).progress, Progress::advanced);
    EXPECT_EQ(sender.on_ack(201 * kMs, {sender.segments().number(2)}).progress, Progress::old);
    EXPECT_EQ(sender.on_ack(202 * kMs, {sender.segments().number(4)}).progress, Progress::dupack);
    EXPECT_EQ(sender.una(), 4);
}

TEST(Sender, SendsNothingBeforeTheHandshakeIsDone) {
    Sender sender(settings_of(Flow()), Flow(), 1);
    sender.on_syn_sent(0);
    EXPECT_EQ(sender.next_segment(0), -1);
    EXPECT_EQ(sender.timer.deadline, kSecond);
}

// RFC 6298, 5.2: the timer is off once everything is acknowledged.
TEST(Sender, TurnsItsTimerOffWhenAllIsAcknowledged) {
    Flow flow;
    flow.size_bytes = 2 * 1460;
    Sender sender = connected(flow, 100 * kMs);
    while (sender.next_segment(100 * kMs) >= 0) continue;
    EXPECT_EQ(sender.timer.deadline, 400 * kMs);
    sender.on_ack(200 * kMs, {sender.segments().number(1)});
    EXPECT_EQ(sender.timer.deadline, 200 * kMs + sender.rtt().rto());
    sender.on_ack(201 * kMs, {sender.segments().number(2)});
    EXPECT_EQ(sender.timer.deadline, kNever);
}

// RFC 6298, 5.3: an ACK of new data restarts the timer, also while other segments are missing.
TEST(Sender, RestartsItsTimerWhileSegmentsAreMissing) {
    Sender sender = connected(with_sack(), 100 * kMs);
    while (sender.next_segment(100 * kMs) >= 0) continue;
    SackBlocks blocks;
    blocks.block[blocks.count++] = {sender.segments().number(5), sender.segments().number(6)};
    sender.on_ack(200 * kMs, {sender.segments().number(1), &blocks});
    sender.on_ack(250 * kMs, {sender.segments().number(2), &blocks});
    EXPECT_EQ(sender.timer.deadline, 250 * kMs + sender.rtt().rto());
}

// settings.hpp, stop: the time after which there is no new data, to the picosecond.
TEST(Sender, SendsNothingNewFromStopOn) {
    Flow flow;
    flow.stop = 150 * kMs;
    for (const auto& [last, sent] : {std::pair{flow.stop - 1, 10}, {flow.stop, 0}}) {
        Sender sender = connected(flow, 100 * kMs);
        int segments = 0;
        while (sender.next_segment(last) >= 0) segments++;
        EXPECT_EQ(segments, sent) << last;
        Sender::Burst burst{0, 0};
        Sender other = connected(flow, 100 * kMs);
        EXPECT_TRUE(other.take_burst<false>(last, burst));
        EXPECT_EQ(burst.end - burst.first, sent) << last;
    }
}

// RFC 8985, 7.2: PTO = 2 SRTT, plus the receiver's longest delay of an ACK if one segment is in
// flight; at most the RTO.
TEST(Sender, AProbeIsDueAfterTwoRoundTrips) {
    for (const Time slack : {Time{0}, 2 * kMs}) {
        Flow flow;
        flow.cc = ww_configure(WW_PROTOCOL_SACK);
        flow.recovery = Recovery::sack;
        flow.rack = true;
        flow.rack_slack = slack;
        flow.size_bytes = 10 * flow.mss();
        Sender sender(settings_of(flow), flow, 99);  // RTO: 1 s
        sender.on_syn_sent(0);
        sender.on_syn_ack(100 * kMs);
        while (sender.next_segment(100 * kMs) >= 0) continue;
        const auto acknowledge = [&](std::int64_t segment) {
            sender.on_ack(200 * kMs, {sender.segments().number(segment)});
            return sender.timer.deadline - 200 * kMs;
        };
        EXPECT_EQ(acknowledge(8), 200 * kMs + slack) << "two in flight";
        EXPECT_EQ(acknowledge(9), 200 * kMs + 200 * kMs) << "one in flight";
        EXPECT_EQ(sender.on_timer(600 * kMs), Due::probe);
        EXPECT_EQ(sender.timer.deadline, 600 * kMs + sender.rtt().rto()) << "then the timeout";
        EXPECT_EQ(sender.next_segment(600 * kMs), 9);
        EXPECT_TRUE(sender.is_retransmission()) << "there is no new data";
        EXPECT_EQ(sender.next_segment(600 * kMs), -1);
    }
}

// contract.h, is_cwnd_limited: cwnd counts as full up to the receiver's window, but not beyond it.
TEST(Sender, CwndGrowsToOneAboveTheReceiversWindow) {
    Flow flow;
    flow.cc.validate_cwnd = true;
    flow.receive_window_bytes = 10 * flow.mss();
    Sender sender = connected(flow, 100 * kMs);
    EXPECT_EQ(sent_by(sender, 100 * kMs).size(), 10u);
    for (const std::int64_t acked : {1, 2}) {
        sender.on_ack(200 * kMs, {sender.segments().number(acked)});
        EXPECT_EQ(sender.window().cwnd, 11u);
        EXPECT_EQ(sent_by(sender, 200 * kMs).size(), 1u);
    }
}

// draft-cheng-iccrg-delivery-rate-estimation, 3.4: a sender is limited by its application only while
// it has no data to send. So BBRv1 ends its startup if the receiver's window limits it.
TEST(Sender, TheReceiversWindowIsNoLimitOfTheApplication) {
    Flow flow = with_sack();
    flow.cc = ww_configure(WW_PROTOCOL_BBR);
    flow.receive_window_bytes = 4 * flow.mss();
    Sender sender = connected(flow, 100 * kMs);
    std::deque<Time> in_flight;  // when each segment was sent
    for (Time now = 100 * kMs; now < 3 * kSecond; now += 5 * kMs) {
        for (; !in_flight.empty() && now - in_flight.front() == 100 * kMs; in_flight.pop_front())
            sender.on_ack(now, {sender.segments().number(sender.una() + 1)});
        in_flight.resize(in_flight.size() + sent_by(sender, now).size(), now);
    }
    const std::uint64_t startup = 2 * sender.observe(3 * kSecond).bandwidth;
    EXPECT_GT(startup, 0u);
    EXPECT_LT(sender.window().pacing, startup);
}

// RFC 5681, 3.2: three duplicates, also if the very first segment is the one that is missing.
TEST(Sender, CountsDuplicatesFromTheFirstAckOn) {
    for (const Recovery recovery : {Recovery::tahoe, Recovery::reno, Recovery::newreno}) {
        Flow flow;
        flow.recovery = recovery;
        Sender sender = connected(flow, 100 * kMs);
        while (sender.next_segment(100 * kMs) >= 0) continue;
        for (const bool retransmits : {false, false, true}) {
            EXPECT_EQ(sender.on_ack(200 * kMs, {sender.segments().number(0)}).progress,
                      Progress::dupack);
            const std::int64_t next = sender.next_segment(200 * kMs);
            EXPECT_EQ(next == 0 && sender.is_retransmission(), retransmits);
        }
    }
}

// An ACK that carries only its number takes the fast path while nothing is suspected or sent again.
TEST(Sender, TakesPlainAcksOnTheFastPathWhileNothingIsWrong) {
    for (const Recovery recovery : {Recovery::newreno, Recovery::sack}) {
        Flow flow;
        flow.recovery = recovery;
        flow.cc = ww_configure(WW_PROTOCOL_NEWRENO);
        Sender sender = connected(flow, 100 * kMs);
        const auto number = [&](std::int64_t segment) { return sender.segments().number(segment); };
        const auto send = [&](Time now) {
            while (sender.next_segment(now) >= 0) continue;
        };
        send(100 * kMs);
        EXPECT_TRUE(sender.take_fast_path<false>(200 * kMs, number(2)));
        send(200 * kMs);
        EXPECT_FALSE(sender.take_fast_path<false>(201 * kMs, number(2))) << "a duplicate";
        EXPECT_EQ(sender.una(), 2) << "it does nothing then";
        const SackBlocks late{1, {{number(3), number(6)}}};
        const SackBlocks* const sack = recovery == Recovery::sack ? &late : nullptr;
        sender.on_ack(202 * kMs, {number(2), sack});
        EXPECT_FALSE(sender.take_fast_path<false>(203 * kMs, number(3))) << "after a duplicate";
        for (int i = 0; i < 2; i++) sender.on_ack(204 * kMs, {number(2), sack});
        ASSERT_EQ(sender.phase(), WW_RECOVERY);
        send(204 * kMs);
        EXPECT_FALSE(sender.take_fast_path<false>(205 * kMs, number(3))) << "in recovery";
        const std::int64_t all = sender.una() + sender.in_flight();
        sender.on_ack(300 * kMs, {number(all)});
        ASSERT_EQ(sender.phase(), WW_OPEN);
        send(300 * kMs);
        EXPECT_TRUE(sender.take_fast_path<false>(400 * kMs, number(all + 1))) << "after recovery";
        sender.on_timer(2 * kSecond);
        send(2 * kSecond);
        EXPECT_FALSE(sender.take_fast_path<false>(2100 * kMs, number(all + 2)))
            << "after a timeout";
    }
}

// RFC 5682, 3.1: after a timeout with F-RTO has sent segment 0 again, an ACK at 1.1 s.
Sender after_timeout_with_frto(bool timestamps, bool advances) {
    Flow flow = with_sack();
    flow.frto = true;
    flow.timestamps = timestamps;
    flow.header_bytes = kStampedHeader;
    Sender sender = connected(flow, 100 * kMs);
    const auto number = [&](std::int64_t segment) { return sender.segments().number(segment); };
    while (sender.next_segment(100 * kMs) >= 0) continue;
    EXPECT_EQ(sender.on_timer(kSecond), Due::timeout);
    EXPECT_EQ(sender.next_segment(kSecond), 0);
    EXPECT_EQ(sender.next_segment(kSecond), -1);
    const SackBlocks fifth{1, {{number(5), number(6)}}};
    sender.on_ack(1100 * kMs, {number(advances ? 1 : 0), advances ? nullptr : &fifth, advances});
    return sender;
}

// Step 2: if the first ACK is a duplicate, no new data is sent, and the conventional recovery goes
// on.
TEST(Sender, ADuplicateAfterATimeoutEndsFrto) {
    Sender sender = after_timeout_with_frto(false, false);
    EXPECT_EQ(sent_by(sender, 1100 * kMs), std::vector<std::int64_t>{});
    sender.on_ack(1200 * kMs, {sender.segments().number(2)});
    EXPECT_EQ(sender.phase(), WW_LOSS);
    EXPECT_EQ(sender.next_segment(1200 * kMs), 2) << "the rest is sent again";
}

// Step 3: then an ACK of a segment that was not sent again proves the timeout spurious.
TEST(Sender, AnAckOfAnOriginalAfterATimeoutEndsItsRecovery) {
    for (const bool timestamps : {false, true}) {
        Sender sender = after_timeout_with_frto(timestamps, true);
        EXPECT_EQ(sent_by(sender, 1100 * kMs), (std::vector<std::int64_t>{10, 11}));
        sender.on_ack(1200 * kMs, {sender.segments().number(2)});
        EXPECT_EQ(sender.phase(), WW_OPEN);
    }
}

// Step 3: a duplicate, which new data has caused, does not prove it.
TEST(Sender, ADuplicateInTheLastStepOfFrtoProvesNothing) {
    Sender sender = after_timeout_with_frto(false, true);
    EXPECT_EQ(sent_by(sender, 1100 * kMs), (std::vector<std::int64_t>{10, 11}));
    const SackBlocks tenth{1, {{sender.segments().number(10), sender.segments().number(11)}}};
    sender.on_ack(1200 * kMs, {sender.segments().number(1), &tenth});
    EXPECT_EQ(sender.phase(), WW_LOSS);
    EXPECT_EQ(sender.next_segment(1200 * kMs), 1) << "the rest is sent again";
}

// RFC 2883, 4: a first block that lies above the ACK and not within the second one is no D-SACK:
// it reports news.
TEST(Sender, ReadsAFirstBlockOutsideTheSecondAsNews) {
    using Blocks = std::vector<std::pair<std::int64_t, std::int64_t>>;
    for (const Blocks& reported : {Blocks{{2, 3}}, {{2, 4}, {5, 7}}, {{6, 8}, {2, 4}}}) {
        Flow flow = with_sack();
        flow.rack = flow.undo = true;
        flow.random_isn = false;
        Sender sender = connected(flow, 100 * kMs);
        while (sender.next_segment(100 * kMs) >= 0) continue;
        const auto blocks_of = [&](const Blocks& ranges) {
            SackBlocks blocks;
            for (const auto& [start, end] : ranges)
                blocks.block[blocks.count++] = {sender.segments().number(start),
                                                sender.segments().number(end)};
            return blocks;
        };
        const auto take = [&](const Blocks& ranges) {
            const SackBlocks blocks = blocks_of(ranges);
            return sender.on_ack(200 * kMs, {sender.segments().number(0), &blocks}).progress;
        };
        EXPECT_EQ(take(reported), Progress::dupack);
        for (const auto& range : reported) EXPECT_EQ(take({range}), Progress::none) << "known";
    }
}

// RFC 3708, 2: only D-SACKs of what the episode sent again count, wherever the numbers begin.
TEST(Sender, ADSackFromBeforeTheEpisodeProvesNothing) {
    for (const std::uint32_t isn : {0u, 99u, UINT32_MAX - 5000}) {
        Flow flow = with_sack();
        flow.undo = true;
        flow.min_rto = kMs;
        Sender sender(settings_of(flow), flow, isn);
        sender.on_syn_sent(0);
        sender.on_syn_ack(100 * kMs);
        const auto number = [&](std::int64_t segment) { return sender.segments().number(segment); };
        const auto send = [&](Time now) {
            while (sender.next_segment(now) >= 0) continue;
        };
        send(100 * kMs);
        sender.on_ack(200 * kMs, {number(4)});
        const SackBlocks late{1, {{number(5), number(10)}}};  // segment 4 comes last
        sender.on_ack(201 * kMs, {number(4), &late});
        ASSERT_EQ(sender.phase(), WW_RECOVERY);
        send(201 * kMs);
        sender.on_ack(210 * kMs, {number(10)});
        ASSERT_EQ(sender.phase(), WW_OPEN);
        for (const std::int64_t twice : {1, 3, 4}) {
            const SackBlocks block{1, {{number(twice), number(twice + 1)}}};
            EXPECT_EQ(sender.on_ack(211 * kMs, {number(10), &block}).undone, twice == 4) << twice;
        }
    }
}

// RFC 6675, 5: the pipe limits what is sent also after recovery, while a later segment is SACKed.
TEST(Sender, SendsByThePipeWhileSomethingIsSacked) {
    const Flow flow = with_sack();
    Sender sender = connected(flow, 100 * kMs);
    const auto number = [&](std::int64_t segment) { return sender.segments().number(segment); };
    const auto send = [&](Time now) {
        while (sender.next_segment(now) >= 0) continue;
    };
    send(100 * kMs);
    const SackBlocks most{1, {{number(1), number(10)}}};
    sender.on_ack(200 * kMs, {number(0), &most});
    send(200 * kMs);  // segment 0 again, and new ones
    ASSERT_EQ(sender.una() + sender.in_flight(), 14);
    const SackBlocks more{1, {{number(12), number(13)}}};  // 10 and 11 are late
    sender.on_ack(290 * kMs, {number(0), &more});
    sender.on_ack(300 * kMs, {number(10), &more});
    ASSERT_EQ(sender.phase(), WW_OPEN);
    Sender::Burst burst{0, 0};
    EXPECT_FALSE(sender.take_burst<false>(300 * kMs, burst)) << "each segment is a decision";
    send(300 * kMs);
    EXPECT_EQ(sender.in_flight(), static_cast<std::int64_t>(sender.window().cwnd) + 1);
}

}  // namespace
}  // namespace ww::sim::test
