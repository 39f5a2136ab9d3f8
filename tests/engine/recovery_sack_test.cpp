// SPDX-License-Identifier: BSD-3-Clause
//
// sack follows RFC 6675 on the wire beyond the sequences of tests/golden/engine.
// scoreboard_test.cpp tests the scoreboard alone.
#include "scripted.hpp"

namespace ww::sim::test {
namespace {

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
