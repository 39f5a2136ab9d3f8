// SPDX-License-Identifier: BSD-3-Clause
//
// sack follows RFC 6675 on the wire. scoreboard_test.cpp tests the scoreboard alone.
#include "scripted.hpp"

namespace ww::sim::test {
namespace {

// 5, step 4.2: cwnd = ssthresh = FlightSize / 2, and nothing inflates it.
TEST(SackRecovery, HalvesTheWindowAndDoesNotInflate) {
    const ScriptedRun run(Recovery::sack, {{{4}}});
    const int recovery = run.find(EventKind::recovery), exit = run.find(EventKind::exit);
    for (int i = recovery; i <= exit; i++) {
        EXPECT_EQ(run.at(i).cwnd, 5u);
        EXPECT_EQ(run.at(i).ssthresh, 5u);
    }
}

// 5, step 4.3: the first segment presumed lost is sent at once, whatever the pipe is.
TEST(SackRecovery, TheThirdDuplicateAckRetransmitsAtOnce) {
    const ScriptedRun run(Recovery::sack, {{{4}}});
    const int recovery = run.find(EventKind::recovery);
    EXPECT_EQ(run.segments(EventKind::dupack, 0, recovery).size(), 3u);
    EXPECT_EQ(run.at(recovery + 1).kind, EventKind::retransmit);
    EXPECT_EQ(run.at(recovery + 1).segment, 4);
}

// 5, step (C): segments go out while cwnd - pipe >= 1, lost ones first (NextSeg, rule 1).
TEST(SackRecovery, AllHolesAreRepairedInOneRoundTrip) {
    const ScriptedRun run(Recovery::sack, {{{4}, {6}, {8}}});
    EXPECT_EQ(run.segments(EventKind::retransmit), (Segments{4, 6, 8}));
    const double began = run.first(EventKind::retransmit, 4).time_s;
    EXPECT_LT(run.first(EventKind::retransmit, 8).time_s - began, 0.101);
    EXPECT_LT(run.find(EventKind::retransmit, 8), run.find(EventKind::ack, 6));
    EXPECT_EQ(run.flow().fast_recoveries, 1u);
    EXPECT_EQ(run.flow().timeouts, 0u);
}

// 5, step 3: before recovery, SACKed segments make room for new ones; RFC 3042 may be switched off.
TEST(SackRecovery, LimitedTransmitSendsASegmentForEachOfTheFirstTwoDuplicateAcks) {
    for (const bool limited_transmit : {true, false}) {
        const ScriptedRun run(Recovery::sack, {{4}},
                              [=](Flow& flow) { flow.limited_transmit = limited_transmit; });
        const int first = run.find(EventKind::dupack), recovery = run.find(EventKind::recovery);
        EXPECT_EQ(run.segments(EventKind::send, first, recovery),
                  limited_transmit ? (Segments{14, 15}) : Segments{});
    }
}

// 4, SetPipe: of 12 outstanding, 3 are SACKed and one is lost; the pipe must first fall below 5.
TEST(SackRecovery, SendsOnlyWhenThePipeIsBelowTheWindow) {
    const ScriptedRun run(Recovery::sack, {{{4}}});
    const int first = run.find(EventKind::retransmit);
    const int next = run.find(EventKind::send, 16);
    // 12 - 3 SACKed - 1 lost + 1 retransmitted = 9; five more SACKs make it 4.
    EXPECT_EQ(run.segments(EventKind::dupack, first, next).size(), 5u);
}

// 5, step (A): recovery ends when everything outstanding at its start is acknowledged.
TEST(SackRecovery, EndsAtTheRecoveryPoint) {
    const ScriptedRun run(Recovery::sack, {{{4}, {7}}});
    EXPECT_EQ(run.count(EventKind::exit), 1);
    EXPECT_EQ(run.first(EventKind::exit).segment, 16);
}

// 5.1: a timeout ends recovery; SACKed segments are not sent again.
TEST(SackRecovery, AfterATimeoutOnlyTheHolesAreSentAgain) {
    const ScriptedRun run(Recovery::sack, {{{4}, {7}, {7, 2}}});
    EXPECT_EQ(run.flow().timeouts, 1u);
    EXPECT_EQ(run.first(EventKind::timeout).segment, 7);
    EXPECT_EQ(run.segments(EventKind::retransmit, run.find(EventKind::timeout)), Segments{7});
}

// 5.1: no new recovery until HighACK reaches the RecoveryPoint of the timeout. The whole window is
// lost, then segment 7 again in slow start: three duplicate ACKs with SACK news follow.
TEST(SackRecovery, NoFastRetransmitForDataSentBeforeATimeout) {
    Script script;
    for (std::int64_t segment = 4; segment <= 13; segment++) script.lost.push_back({segment});
    script.lost.push_back({7, 2});
    const ScriptedRun run(Recovery::sack, script);
    const int first = run.find(EventKind::timeout, 4), again = run.find(EventKind::timeout, 7);
    ASSERT_GE(first, 0);
    ASSERT_GT(again, first);
    EXPECT_GE(run.segments(EventKind::dupack, first, again).size(), 3u);
    EXPECT_EQ(run.flow().fast_recoveries, 0u) << run.table();
}

// NextSeg, rule 4: with nothing else to send, the highest outstanding segment goes out once.
TEST(SackRecovery, TheRescueRetransmissionFindsALostTail) {
    const ScriptedRun run(Recovery::sack, {{4}, {14}, {15}},
                          [](Flow& flow) { flow.size_bytes = 16'000; });
    // Nothing above the last segments is SACKed, so only the rescue can find them.
    const Segments sent = run.segments(EventKind::retransmit);
    ASSERT_GE(sent.size(), 2u);
    EXPECT_EQ(sent[0], 4);
    EXPECT_EQ(sent[1], 15);
    EXPECT_EQ(run.flow().delivered_bytes, 16'000u);
}

// 5: an ACK that advances and brings SACK news counts, and IsLost decides. All ACKs between the
// hole and the last segment are lost, so no other duplicate ACK will come.
TEST(SackRecovery, AnAdvancingAckWithSackNewsStartsRecovery) {
    Script script{{{4}}};
    script.change = [](Network& network) { network.flows[0].size_bytes = 10'000; };
    for (std::uint64_t ack = 2; ack <= 9; ack++) script.lost_acks.push_back(ack);
    const ScriptedRun run(Recovery::sack, script);
    EXPECT_EQ(run.flow().timeouts, 0u) << run.table();
    EXPECT_EQ(run.flow().fast_recoveries, 1u);
}

// ns-3 halves the pipe (RFC 6675, 4), which excludes SACKed and lost segments.
TEST(SackRecovery, SsthreshMayComeFromThePipe) {
    const ScriptedRun run(Recovery::sack, {{4}}, [](Flow& flow) {
        flow.flight_excludes_sacked = true;
        flow.initial_cwnd = flow.initial_ssthresh = 11;
    });
    EXPECT_EQ(run.first(EventKind::recovery).ssthresh, 4u);  // (13 - 3 - 1) / 2
}

// Linux halves cwnd, whatever was SACKed or sent beyond it: tcp_reno_ssthresh().
TEST(SackRecovery, SsthreshMayComeFromCwnd) {
    const ScriptedRun run(Recovery::sack, {{4}},
                          [](Flow& flow) { flow.ssthresh_from_cwnd = true; });
    EXPECT_EQ(run.first(EventKind::recovery).ssthresh, 5u) << run.table();  // 10 / 2
}

}  // namespace
}  // namespace ww::sim::test
