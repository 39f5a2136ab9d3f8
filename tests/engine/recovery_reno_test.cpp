// SPDX-License-Identifier: BSD-3-Clause
//
// Fast retransmit and fast recovery of tahoe and reno, and their limits (RFC 5681, 3.2; Fall &
// Floyd 1996). tests/golden/engine has the whole sequences.
#include "engine/recovery.hpp"
#include "scripted.hpp"

namespace ww::sim::test {
namespace {

// RFC 3042: each of the first two duplicate ACKs sends one new segment, and leaves cwnd unchanged.
TEST(Reno, LimitedTransmitSendsASegmentForEachOfTheFirstTwoDuplicateAcks) {
    for (const Recovery recovery : {Recovery::tahoe, Recovery::reno, Recovery::newreno}) {
        const ScriptedRun run(recovery, {{{4}}});
        const int first = run.find(EventKind::dupack),
                  retransmitted = run.find(EventKind::retransmit);
        EXPECT_EQ(run.segments(EventKind::dupack, first, retransmitted), (Segments{4, 4, 4}));
        EXPECT_EQ(run.segments(EventKind::send, first, retransmitted), (Segments{14, 15}));
        EXPECT_EQ(run.at(first).cwnd, 10u);
    }
}

TEST(Reno, WithoutLimitedTransmitTheFirstTwoDuplicateAcksSendNothing) {
    const ScriptedRun run(Recovery::reno, {{4}}, [](Flow& flow) { flow.limited_transmit = false; });
    const int first = run.find(EventKind::dupack), retransmitted = run.find(EventKind::retransmit);
    EXPECT_EQ(run.segments(EventKind::send, first, retransmitted), Segments{});
    EXPECT_EQ(run.first(EventKind::recovery).ssthresh, 5u);  // the same FlightSize as with it
}

// RFC 5681, 3.2, step 2: segments of limited transmit MUST NOT be included in FlightSize.
TEST(Reno, SsthreshIsHalfTheFlightWithoutWhatLimitedTransmitSent) {
    for (const Recovery recovery : {Recovery::reno, Recovery::newreno, Recovery::sack})
        EXPECT_EQ(ScriptedRun(recovery, {{{4}}}).first(EventKind::recovery).ssthresh, 5u);
    EXPECT_EQ(ScriptedRun(Recovery::tahoe, {{{4}}}).first(EventKind::retransmit).ssthresh, 5u);
}

// RFC 5681, 3.2, steps 2 and 3: the third duplicate ACK retransmits, cwnd = ssthresh + 3.
TEST(Reno, TheThirdDuplicateAckRetransmitsAndInflates) {
    const ScriptedRun run(Recovery::reno, {{{4}}});
    const int recovery = run.find(EventKind::recovery);
    EXPECT_EQ(run.segments(EventKind::dupack, 0, recovery).size(), 3u);
    EXPECT_EQ(run.at(recovery).cwnd, 8u);
    EXPECT_EQ(run.at(recovery + 1).kind, EventKind::retransmit);
    EXPECT_EQ(run.at(recovery + 1).segment, 4);
    EXPECT_EQ(run.flow().fast_recoveries, 1u);
    EXPECT_EQ(run.flow().timeouts, 0u);
}

// RFC 5681, 3.2, steps 4 and 5: each duplicate ACK adds a segment, which allows new data.
TEST(Reno, EveryFurtherDuplicateAckInflatesByASegment) {
    const ScriptedRun run(Recovery::reno, {{{4}}});
    std::uint32_t cwnd = 8;
    const int exit = run.find(EventKind::exit);
    for (int i = run.find(EventKind::recovery); i < exit; i++) {
        if (run.at(i).kind == EventKind::dupack) {
            EXPECT_EQ(run.at(i).cwnd, ++cwnd);
        } else if (run.at(i).kind == EventKind::send) {
            EXPECT_LE(run.at(i).segment + 1 - 4, cwnd);  // in flight
        }
    }
    EXPECT_GT(cwnd, 12u);
}

// RFC 5681, 3.2, step 6: the next ACK for new data deflates to ssthresh.
TEST(Reno, TheAckForNewDataDeflatesToSsthresh) {
    const ScriptedRun run(Recovery::reno, {{{4}}});
    EXPECT_EQ(run.first(EventKind::exit).segment, 16);
    EXPECT_EQ(run.first(EventKind::exit).cwnd, 5u);
    EXPECT_EQ(run.flow().retransmitted, 1u);
}

TEST(Reno, LeavesOnAPartialAck) {  // Fall & Floyd 1996, 2.2
    const ScriptedRun run(Recovery::reno, {{{4}, {7}}});
    const Event exit = run.first(EventKind::exit);
    EXPECT_EQ(exit.segment, 7);
    EXPECT_EQ(exit.cwnd, 5u);
    const int place = run.find(EventKind::exit);
    EXPECT_NE(run.at(place + 1).kind, EventKind::retransmit);
}

TEST(Reno, TheSecondHoleNeedsThreeMoreDuplicateAcks) {
    const ScriptedRun run(Recovery::reno, {{{4}, {7}}});
    const int exit = run.find(EventKind::exit);
    const int second = run.find(EventKind::recovery, 7, exit);
    ASSERT_GT(second, exit);
    EXPECT_EQ(run.segments(EventKind::dupack, exit, second), (Segments{7, 7, 7}));
    EXPECT_EQ(run.at(second).ssthresh,
              6u);  // half of the 12 in flight: two reductions for one window
    EXPECT_EQ(run.flow().fast_recoveries, 2u);
}

// ns-2's bugFix_: a window is reduced once, and its second hole waits for the timer.
TEST(Reno, MayIgnoreDuplicatesOfDataSentBeforeTheLastReduction) {
    for (const Recovery recovery : {Recovery::reno, Recovery::tahoe}) {
        const ScriptedRun run(recovery, {{4}, {7}},
                              [](Flow& flow) { flow.guards_recovery = true; });
        EXPECT_EQ(run.flow().fast_recoveries, 1u);
        if (recovery == Recovery::tahoe) continue;
        EXPECT_EQ(run.flow().timeouts, 1u);
        EXPECT_EQ(run.first(EventKind::timeout).segment, 7);
        EXPECT_GE(run.count(EventKind::dupack, 7), 3) << "there were enough to tell it";
    }
}

// ns-2's recv_newack_helper() also opens cwnd for the ACK that ends recovery; Sack1 does not.
TEST(Reno, MayGrowByTheAckThatEndsRecovery) {
    for (const Recovery recovery : {Recovery::reno, Recovery::newreno, Recovery::sack}) {
        std::int64_t grown_by[2];  // the segment whose ACK makes cwnd six
        for (const bool grows : {false, true}) {
            const ScriptedRun run(recovery, {{4}}, [=](Flow& flow) {
                flow.grows_at_exit = grows;
                flow.full_ack_to_ssthresh = true;
            });
            int place = run.find(EventKind::exit);
            EXPECT_EQ(run.at(place).cwnd, 5u);
            while (run.at(place).cwnd != 6) place++;
            grown_by[grows] = run.at(place).segment;
        }
        EXPECT_EQ(grown_by[false] - grown_by[true], uses_sack(recovery) ? 0 : 1);
    }
}

// ns-2's reset_rtx_timer() in dupack_action(): the retransmission gets a full timeout.
TEST(Reno, MayRestartTheTimerWhenItEntersRecovery) {
    for (const Recovery recovery : {Recovery::reno, Recovery::newreno, Recovery::sack}) {
        double wait_s[2];
        for (const bool restarts : {false, true}) {
            const ScriptedRun run(recovery, {{4}, {4, 2}},  // the retransmission is lost too
                                  [=](Flow& flow) { flow.recovery_restarts_rto = restarts; });
            wait_s[restarts] =
                run.first(EventKind::timeout).time_s - run.first(EventKind::retransmit).time_s;
        }
        EXPECT_NEAR(wait_s[true], 1.0, 1e-9);
        EXPECT_LT(wait_s[false], 0.999);
    }
}

// Fall & Floyd 1996, 2.2: three losses in a window leave too few duplicate ACKs.
TEST(Reno, ThreeLossesInAWindowWaitForATimeout) {
    const ScriptedRun run(Recovery::reno, {{{4}, {6}, {8}}});
    EXPECT_EQ(run.flow().fast_recoveries, 1u);
    EXPECT_EQ(run.flow().timeouts, 1u);
    const Event ack = run.first(EventKind::ack, 6), timeout = run.first(EventKind::timeout);
    EXPECT_EQ(timeout.segment, 6);
    EXPECT_NEAR(timeout.time_s - ack.time_s, 1.0, 1e-9);  // RFC 6298, 5.3: restarted by that ACK
}

// Jacobson 1988; Fall & Floyd 1996, 2.1: slow start begins from the hole.
TEST(Tahoe, TheThirdDuplicateAckIsSlowStartFromTheHole) {
    const ScriptedRun run(Recovery::tahoe, {{{4}}});
    const int place = run.find(EventKind::retransmit);
    EXPECT_EQ(run.at(place).segment, 4);
    EXPECT_EQ(run.at(place).cwnd, 1u);
    EXPECT_EQ(run.at(place).ssthresh, 5u);
    EXPECT_EQ(run.segments(EventKind::dupack, 0, place).size(), 3u);
    EXPECT_EQ(run.find(EventKind::recovery), -1);
    EXPECT_EQ(run.flow().timeouts, 0u);
    EXPECT_EQ(run.flow().fast_recoveries, 1u);
}

TEST(Tahoe, DuplicateAcksDoNotInflate) {
    const ScriptedRun run(Recovery::tahoe, {{{4}}});
    const int place = run.find(EventKind::retransmit), repaired = run.find(EventKind::ack, 16);
    ASSERT_GT(repaired, place);
    for (int i = place; i < repaired; i++) EXPECT_EQ(run.at(i).cwnd, 1u);
    EXPECT_EQ(run.segments(EventKind::send, place, repaired), Segments{});
}

// Fall & Floyd 1996, 2.1: Tahoe retransmits packets that have already been delivered.
TEST(Tahoe, RetransmitsDataThatHasArrived) {
    const ScriptedRun run(Recovery::tahoe, {{{4}, {7}}});
    EXPECT_EQ(run.segments(EventKind::retransmit), (Segments{4, 7, 8}));
    EXPECT_EQ(run.flow().delivered_bytes, 40000u);
    EXPECT_EQ(run.flow().ip_bytes_at_sink, 41u * 1040u);  // one of them a duplicate
}

// Fall & Floyd 1996, 2.1: slow start also repairs further losses of the window.
TEST(Tahoe, ThreeLossesNeedNoTimeout) {
    const ScriptedRun run(Recovery::tahoe, {{{4}, {6}, {8}}});
    EXPECT_EQ(run.flow().timeouts, 0u);
    EXPECT_EQ(run.segments(EventKind::retransmit), (Segments{4, 6, 7, 8, 9, 10}));
}

}  // namespace
}  // namespace ww::sim::test
