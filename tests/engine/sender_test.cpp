// SPDX-License-Identifier: BSD-3-Clause
//
// Calls the sender directly, for what the wire alone cannot show.
#include <deque>

#include "connected.hpp"

namespace ww::sim::test {
namespace {

// contract.h: the RTT is that of the newest acknowledged segment. RFC 6298, 4: the timer's sample
// includes the receiver's delay, so it is that of the oldest.
TEST(Sender, MeasuresTheNewestSegmentAndTimesTheOldest) {
    Connected sender;
    EXPECT_EQ(sender.rtt().rto(), 300 * kMs);
    EXPECT_EQ(sender.next(100), 0);
    EXPECT_EQ(sender.next(160), 1);
    EXPECT_EQ(sender.ack(260, 2).progress, Progress::advanced);
    EXPECT_EQ(sender.rtt().last(), 100 * kMs);
    // R' = 160: RTTVAR = 3/4 50 + 1/4 60 = 52.5, SRTT = 7/8 100 + 1/8 160 = 107.5
    EXPECT_EQ(sender.rtt().rto(), (107'500 + 4 * 52'500) * kMicrosecond);
}

TEST(Sender, IgnoresOldAcksAndThoseForNothing) {
    Connected sender;
    EXPECT_EQ(sender.ack(100, 0).progress, Progress::none) << "nothing is out";
    EXPECT_EQ(sender.sends(100).size(), 10u);
    EXPECT_EQ(sender.ack(200, 4).progress, Progress::advanced);
    EXPECT_EQ(sender.ack(201, 2).progress, Progress::old);
    EXPECT_EQ(sender.ack(202, 4).progress, Progress::dupack);
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
    Connected sender(flow);
    sender.sends(100);
    EXPECT_EQ(sender.deadline(), 400 * kMs);
    sender.ack(200, 1);
    EXPECT_EQ(sender.deadline(), 200 * kMs + sender.rtt().rto());
    sender.ack(201, 2);
    EXPECT_EQ(sender.deadline(), kNever);
}

// RFC 6298, 5.3: an ACK of new data restarts the timer, also while other segments are missing.
TEST(Sender, RestartsItsTimerWhileSegmentsAreMissing) {
    Connected sender(with_sack());
    sender.sends(100);
    sender.ack(200, 1, {.sacked = {{5, 6}}});
    sender.ack(250, 2, {.sacked = {{5, 6}}});
    EXPECT_EQ(sender.deadline(), 250 * kMs + sender.rtt().rto());
}

// settings.hpp, stop: the time after which there is no new data, to the picosecond.
TEST(Sender, SendsNothingNewFromStopOn) {
    Flow flow;
    flow.stop = 150 * kMs;
    for (const auto& [last, sent] : {std::pair{flow.stop - 1, 10}, {flow.stop, 0}}) {
        EXPECT_EQ(Connected(flow).sends_at(last).size(), sent) << last;
        Sender::Burst burst{0, 0};
        EXPECT_TRUE(Connected(flow).take_burst<false>(last, burst));
        EXPECT_EQ(burst.end - burst.first, sent) << last;
    }
}

// RFC 8985, 7.2: PTO = 2 SRTT, for one segment plus the longest ACK delay; at most the RTO.
TEST(Sender, AProbeIsDueAfterTwoRoundTrips) {
    for (const Time slack : {Time{0}, 2 * kMs}) {
        Flow flow = with_sack();
        flow.rack = true;
        flow.rack_slack = slack;
        flow.size_bytes = 10 * flow.mss();
        Connected sender(flow, 99, kSecond);
        sender.sends(100);
        sender.ack(200, 8);
        EXPECT_EQ(sender.deadline(), 400 * kMs + slack) << "two in flight";
        sender.ack(200, 9);
        EXPECT_EQ(sender.deadline(), 400 * kMs + 200 * kMs) << "one in flight";
        EXPECT_EQ(sender.on_timer(600 * kMs), Due::probe);
        EXPECT_EQ(sender.deadline(), 600 * kMs + sender.rtt().rto()) << "then the timeout";
        EXPECT_EQ(sender.next(600), 9);
        EXPECT_TRUE(sender.is_retransmission()) << "there is no new data";
        EXPECT_EQ(sender.next(600), -1);
    }
}

// contract.h, is_cwnd_limited: cwnd counts as full up to the receiver's window, but not beyond it.
TEST(Sender, CwndGrowsToOneAboveTheReceiversWindow) {
    Flow flow;
    flow.cc.validate_cwnd = true;
    flow.receive_window_bytes = 10 * flow.mss();
    Connected sender(flow);
    EXPECT_EQ(sender.sends(100).size(), 10u);
    for (const std::int64_t acked : {1, 2}) {
        sender.ack(200, acked);
        EXPECT_EQ(sender.window().cwnd, 11u);
        EXPECT_EQ(sender.sends(200).size(), 1u);
    }
}

// draft-cheng-iccrg-delivery-rate-estimation, 3.4: a sender is limited by its application only while
// it has no data to send. So BBRv1 ends its startup if the receiver's window limits it.
TEST(Sender, TheReceiversWindowIsNoLimitOfTheApplication) {
    Flow flow = with_sack();
    flow.cc = ww_configure(WW_PROTOCOL_BBR);
    flow.receive_window_bytes = 4 * flow.mss();
    Connected sender(flow);
    std::deque<int> in_flight;  // when each segment was sent
    for (int ms = 100; ms < 3000; ms += 5) {
        for (; !in_flight.empty() && ms - in_flight.front() == 100; in_flight.pop_front())
            sender.ack(ms, sender.una() + 1);
        in_flight.resize(in_flight.size() + sender.sends(ms).size(), ms);
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
        Connected sender(flow);
        sender.sends(100);
        for (const bool retransmits : {false, false, true}) {
            EXPECT_EQ(sender.ack(200, 0).progress, Progress::dupack);
            EXPECT_EQ(sender.next(200) == 0 && sender.is_retransmission(), retransmits);
        }
    }
}

TEST(Sender, TakesPlainAcksOnTheFastPathWhileNothingIsWrong) {
    for (const Recovery recovery : {Recovery::newreno, Recovery::sack}) {
        Flow flow;
        flow.recovery = recovery;
        flow.cc = ww_configure(WW_PROTOCOL_NEWRENO);
        Connected sender(flow);
        sender.sends(100);
        EXPECT_TRUE(sender.takes_fast_path(200, 2));
        sender.sends(200);
        EXPECT_FALSE(sender.takes_fast_path(201, 2)) << "a duplicate";
        EXPECT_EQ(sender.una(), 2) << "it does nothing then";
        const Told late{.sacked = recovery == Recovery::sack ? Blocks{{3, 6}} : Blocks{}};
        sender.ack(202, 2, late);
        EXPECT_FALSE(sender.takes_fast_path(203, 3)) << "after a duplicate";
        for (int i = 0; i < 2; i++) sender.ack(204, 2, late);
        ASSERT_EQ(sender.phase(), WW_RECOVERY);
        sender.sends(204);
        EXPECT_FALSE(sender.takes_fast_path(205, 3)) << "in recovery";
        const std::int64_t all = sender.una() + sender.in_flight();
        sender.ack(300, all);
        ASSERT_EQ(sender.phase(), WW_OPEN);
        sender.sends(300);
        EXPECT_TRUE(sender.takes_fast_path(400, all + 1)) << "after recovery";
        sender.on_timer(2 * kSecond);
        sender.sends(2000);
        EXPECT_FALSE(sender.takes_fast_path(2100, all + 2)) << "after a timeout";
    }
}

// RFC 5682, 3.1: after a timeout with F-RTO has sent segment 0 again, an ACK at 1.1 s.
Connected after_timeout_with_frto(bool timestamps, bool advances) {
    Flow flow = with_sack();
    flow.frto = true;
    flow.timestamps = timestamps;
    flow.header_bytes = kStampedHeader;
    Connected sender(flow);
    sender.sends(100);
    EXPECT_EQ(sender.on_timer(kSecond), Due::timeout);
    EXPECT_EQ(sender.sends(1000), Segments{0});
    if (advances)
        sender.ack(1100, 1, {.again = true});
    else
        sender.ack(1100, 0, {.sacked = {{5, 6}}});
    return sender;
}

// Step 2: after a duplicate no new data is sent; the conventional recovery goes on.
TEST(Sender, ADuplicateAfterATimeoutEndsFrto) {
    Connected sender = after_timeout_with_frto(false, false);
    EXPECT_EQ(sender.sends(1100), Segments{});
    sender.ack(1200, 2);
    EXPECT_EQ(sender.phase(), WW_LOSS);
    EXPECT_EQ(sender.next(1200), 2) << "the rest is sent again";
}

// Step 3: then an ACK of a segment that was not sent again proves the timeout spurious.
TEST(Sender, AnAckOfAnOriginalAfterATimeoutEndsItsRecovery) {
    for (const bool timestamps : {false, true}) {
        Connected sender = after_timeout_with_frto(timestamps, true);
        EXPECT_EQ(sender.sends(1100), (Segments{10, 11}));
        sender.ack(1200, 2);
        EXPECT_EQ(sender.phase(), WW_OPEN);
    }
}

// Step 3: a duplicate, which new data has caused, does not prove it.
TEST(Sender, ADuplicateInTheLastStepOfFrtoProvesNothing) {
    Connected sender = after_timeout_with_frto(false, true);
    EXPECT_EQ(sender.sends(1100), (Segments{10, 11}));
    sender.ack(1200, 1, {.sacked = {{10, 11}}});
    EXPECT_EQ(sender.phase(), WW_LOSS);
    EXPECT_EQ(sender.next(1200), 1) << "the rest is sent again";
}

// RFC 2883, 4: a first block above the ACK and not in the second is news, not a D-SACK.
TEST(Sender, ReadsAFirstBlockOutsideTheSecondAsNews) {
    for (const Blocks& reported : {Blocks{{2, 3}}, {{2, 4}, {5, 7}}, {{6, 8}, {2, 4}}}) {
        Flow flow = with_sack();
        flow.rack = flow.undo = true;
        flow.random_isn = false;
        Connected sender(flow);
        sender.sends(100);
        EXPECT_EQ(sender.ack(200, 0, {.sacked = reported}).progress, Progress::dupack);
        for (const auto& block : reported)
            EXPECT_EQ(sender.ack(200, 0, {.sacked = {block}}).progress, Progress::none) << "known";
    }
}

// RFC 3708, 2: only D-SACKs of what the episode sent again count, wherever the numbers begin.
TEST(Sender, ADSackFromBeforeTheEpisodeProvesNothing) {
    for (const std::uint32_t isn : {0u, 99u, UINT32_MAX - 5000}) {
        Flow flow = with_sack();
        flow.undo = true;
        Connected sender(flow, isn);
        sender.sends(100);
        sender.ack(200, 4);
        sender.ack(201, 4, {.sacked = {{5, 10}}});  // segment 4 comes last
        ASSERT_EQ(sender.phase(), WW_RECOVERY);
        sender.sends(201);
        sender.ack(210, 10);
        ASSERT_EQ(sender.phase(), WW_OPEN);
        for (const std::int64_t twice : {1, 3, 4})
            EXPECT_EQ(sender.ack(211, 10, {.sacked = {{twice, twice + 1}}}).undone, twice == 4)
                << twice;
    }
}

// RFC 6675, 5: the pipe limits what is sent also after recovery, while a later segment is SACKed.
TEST(Sender, SendsByThePipeWhileSomethingIsSacked) {
    Connected sender(with_sack());
    sender.sends(100);
    sender.ack(200, 0, {.sacked = {{1, 10}}});
    sender.sends(200);  // segment 0 again, and new ones
    ASSERT_EQ(sender.una() + sender.in_flight(), 14);
    sender.ack(290, 0, {.sacked = {{12, 13}}});  // 10 and 11 are late
    sender.ack(300, 10, {.sacked = {{12, 13}}});
    ASSERT_EQ(sender.phase(), WW_OPEN);
    Sender::Burst burst{0, 0};
    EXPECT_FALSE(sender.take_burst<false>(300 * kMs, burst)) << "each segment is a decision";
    sender.sends(300);
    EXPECT_EQ(sender.in_flight(), static_cast<std::int64_t>(sender.window().cwnd) + 1);
}

// RFC 5681, 2 (a): after a timeout all is still outstanding: an ACK of nothing new is a duplicate.
TEST(Sender, CountsDuplicatesBetweenATimeoutAndItsRetransmission) {
    Connected sender;
    ASSERT_EQ(sender.sends(100).size(), 10u);
    ASSERT_EQ(sender.on_timer(400 * kMs), Due::timeout);
    EXPECT_EQ(sender.ack(400, 0).progress, Progress::dupack);
}

// RFC 9937, 6: below ssthresh an ACK lets as many segments leave as it delivers, or as are owed. It
// lets one more leave if it is safe: it acknowledges new data and reports no further loss.
TEST(Sender, PrrSendsOneMoreOnASafeAckOnly) {
    for (const bool reports_loss : {false, true}) {
        Flow flow = with_sack();
        flow.recovery = Recovery::prr;
        flow.initial_cwnd = 20;
        Connected sender(flow);
        ASSERT_EQ(sender.sends(100).size(), 20u);
        const std::int64_t first = reports_loss ? 5 : 17;
        sender.ack(200, 0, {.sacked = {{first, first + 3}}});
        // Above ssthresh, 10, one leaves for two delivered (3 x 10 / 20, rounded up); below it, three.
        ASSERT_EQ(sender.sends(200).size(), reports_loss ? 2u : 3u);
        sender.ack(300, 1, {.sacked = {{17, 20}}});
        // It delivers 4, and 7 - 2 are owed; or it delivers 1, and 4 - 3 is owed.
        EXPECT_EQ(sender.sends(300).size(), reports_loss ? 5u : 1u + 1u);
    }
}

}  // namespace
}  // namespace ww::sim::test
