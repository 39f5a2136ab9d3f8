// SPDX-License-Identifier: BSD-3-Clause
//
// Settings of the fast recovery of tahoe and reno. tests/golden/engine has RFC 5681, 3.2, and
// Fall & Floyd 1996 in whole sequences.
#include "engine/recovery.hpp"
#include "scripted.hpp"

namespace ww::sim::test {
namespace {

TEST(Reno, WithoutLimitedTransmitTheFirstTwoDuplicateAcksSendNothing) {
    const ScriptedRun run(Recovery::reno, {{4}}, [](Flow& flow) { flow.limited_transmit = false; });
    const int first = run.find(EventKind::dupack), retransmitted = run.find(EventKind::retransmit);
    EXPECT_EQ(run.segments(EventKind::send, first, retransmitted), Segments{});
    EXPECT_EQ(run.first(EventKind::recovery).ssthresh, 5u);  // the same FlightSize as with it
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

// Fall & Floyd 1996, 2.1: Tahoe retransmits packets that have already been delivered.
TEST(Tahoe, RetransmitsDataThatHasArrived) {
    const ScriptedRun run(Recovery::tahoe, {{{4}, {7}}});
    EXPECT_EQ(run.segments(EventKind::retransmit), (Segments{4, 7, 8}));
    EXPECT_EQ(run.flow().delivered_bytes, 40000u);
    EXPECT_EQ(run.flow().ip_bytes_at_sink, 41u * 1040u);  // one of them a duplicate
}

}  // namespace
}  // namespace ww::sim::test
