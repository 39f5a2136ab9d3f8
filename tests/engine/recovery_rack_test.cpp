// SPDX-License-Identifier: BSD-3-Clause
//
// RACK-TLP, F-RTO and undo on the wire, by RFC 8985, 5682, 3522, 3708 and 4015.
#include "scripted.hpp"

namespace ww::sim::test {
namespace {

// A run with RACK.
ScriptedRun racked(
    Recovery recovery, Script script, const std::function<void(Flow&)>& change = [](Flow&) {}) {
    const auto before = script.change;
    script.change = [&](Network& network) {
        network.flows[0].rack = true;
        before(network);
        change(network.flows[0]);
    };
    return ScriptedRun(recovery, script);
}

void has_room_for_one_segment(Flow& flow) { flow.receive_window_bytes = flow.mss(); }

void has_timestamps(Flow& flow) {
    flow.undo = flow.timestamps = true;
    flow.header_bytes = kStampedHeader;
}

// From 400 ms on, the link stalls for this long, then delivers what has queued: nothing is lost.
Script stalled(std::uint64_t for_ms, const std::function<void(Flow&)>& change) {
    Script script;
    script.change = [=](Network& network) {
        Direction& forward = network.links[0].forward;
        for (std::uint64_t ms = 1; ms < 400; ms++) forward.opportunities_ms.push_back(ms);
        for (std::uint64_t ms = 400 + for_ms; ms < 30'000; ms++)
            forward.opportunities_ms.push_back(ms);
        network.flows[0].size_bytes = 100 * network.flows[0].mss();
        change(network.flows[0]);
    };
    return script;
}

// RFC 8985, 6.2, step 5: a retransmission is lost too once something sent later has arrived.
TEST(RackRecovery, FindsALostRetransmissionWithoutATimeout) {
    for (const Recovery recovery : {Recovery::sack, Recovery::prr}) {
        const ScriptedRun run = racked(recovery, {{{4}, {4, 2}}});
        EXPECT_EQ(run.segments(EventKind::retransmit), (Segments{4, 4})) << run.table();
        EXPECT_EQ(run.flow().timeouts, 0u);
        EXPECT_EQ(run.count(EventKind::exit), 1);
    }
}

// RFC 5681, 4.3: a lost retransmission lowers cwnd and ssthresh again. Linux holds ssthresh.
TEST(RackRecovery, ALostRetransmissionReducesTheWindowAgain) {
    for (const bool holds : {false, true}) {
        const ScriptedRun run = racked(Recovery::prr, {{{4}, {4, 2}}},
                                       [=](Flow& flow) { flow.recovery_holds_ssthresh = holds; });
        EXPECT_EQ(run.count(EventKind::recovery), holds ? 1 : 2) << run.table();
        EXPECT_EQ(run.first(EventKind::recovery).ssthresh, 5u);
        EXPECT_EQ(run.first(EventKind::exit).ssthresh, holds ? 5u : 2u);
        EXPECT_EQ(run.first(EventKind::exit).cwnd, holds ? 5u : 2u);
    }
}

// RFC 5681, 4.3: one indication for all retransmissions of a window. Those of segments 4 and 6 are
// lost together, and a second one of segment 4 after the second reduction.
TEST(RackRecovery, TheLostRetransmissionsOfAWindowReduceItOnce) {
    const ScriptedRun together = racked(Recovery::prr, {{{4}, {6}, {4, 2}, {6, 2}}});
    EXPECT_EQ(together.count(EventKind::recovery), 2) << together.table();
    const ScriptedRun apart = racked(Recovery::prr, {{{4}, {6}, {4, 2}, {4, 3}}});
    EXPECT_EQ(apart.count(EventKind::recovery), 3) << apart.table();
}

// RFC 5681, 4.3; Linux, tcp_fastretrans_alert(): after a timeout, too, a lost retransmission lowers
// the window, and slow start does not go on.
TEST(RackRecovery, ALostRetransmissionAfterATimeoutBeginsRecovery) {
    Script script;  // segments 30 to 39, the probe and 31's repair after the timeout are lost
    for (std::int64_t segment = 30; segment < 40; segment++) script.lost.push_back({segment});
    script.lost.push_back({39, 2});  // the probe
    script.lost.push_back({31, 2});
    const ScriptedRun run = racked(Recovery::prr, script);
    const int timeout = run.find(EventKind::timeout);
    ASSERT_GE(timeout, 0) << run.table();
    EXPECT_EQ(run.flow().timeouts, 1u) << run.table();
    EXPECT_GE(run.find(EventKind::recovery, -1, timeout), 0) << run.table();
    EXPECT_EQ(run.flow().delivered_bytes, 40'000u);
}

// Step 5 counts from segment 38, sent 1 ms before 39; the smallest RTT is the handshake's.
constexpr double kReorderingWaitS = 0.1 / 4 - 0.001;

// RFC 8985, 6.2, step 4: with fewer than DupThresh segments SACKed, a quarter of min_RTT must pass
// first. Linux adds TCP_TIMEOUT_MIN_US in tcp_rack_mark_lost().
TEST(RackRecovery, WaitsForTheReorderingWindowWithFewSacks) {
    for (const Time slack : {Time{0}, 40 * kMs}) {
        const ScriptedRun run = racked(Recovery::sack, {{{38}}},  // only segment 39 follows
                                       [=](Flow& flow) { flow.rack_slack = slack; });
        const Event sack = run.first(EventKind::dupack, 38);
        const Event again = run.first(EventKind::retransmit, 38);
        EXPECT_NEAR(again.time_s - sack.time_s, kReorderingWaitS + seconds(slack), 0.0001)
            << run.table();
        EXPECT_EQ(run.flow().timeouts, 0u);
    }
}

// RFC 6675, 6: retransmissions of SND.UNA may restart the timer. Here the segment is lost three
// times, a round trip each; the timer would expire after two.
TEST(RackRecovery, ARetransmissionMayRestartTheTimer) {
    const auto timeouts = [](bool rearms) {
        const auto change = [=](Flow& flow) {
            flow.rearms_rto = rearms;
            flow.recovery_holds_ssthresh = true;  // there are enough ACKs to reveal each loss
            flow.min_rto = flow.clock_granularity = 130 * kMs;
            flow.size_bytes = kUnlimited;
        };
        return racked(Recovery::prr, {{{4}, {4, 2}, {4, 3}, {4, 4}}}, change).flow().timeouts;
    };
    EXPECT_GT(timeouts(false), 0u);
    EXPECT_EQ(timeouts(true), 0u);
}

// RFC 8985, 7.2 and 7.3: after two round trips the last segment is sent again.
TEST(RackRecovery, AProbeFindsALostTail) {
    const ScriptedRun run = racked(Recovery::prr, {{{39}}});
    const Event last = run.first(EventKind::ack, 39), probe = run.first(EventKind::probe);
    EXPECT_GT(probe.time_s - last.time_s,
              2 * 0.1 + 0.2);  // 7.2: the receiver may delay the only ACK
    EXPECT_LT(probe.time_s - last.time_s, 2 * 0.11 + 0.2);
    EXPECT_EQ(run.segments(EventKind::retransmit), Segments{39}) << run.table();
    EXPECT_EQ(run.flow().timeouts, 0u);
}

// RFC 8985, 7.3: in a lost tail of several segments, the probe's SACK reveals the others.
TEST(RackRecovery, TheSackOfAProbeRevealsTheOtherLossesOfATail) {
    const ScriptedRun run = racked(Recovery::prr, {{{37}, {38}, {39}}});
    EXPECT_EQ(run.segments(EventKind::retransmit), (Segments{39, 37, 38})) << run.table();
    EXPECT_EQ(run.flow().timeouts, 0u);
    EXPECT_EQ(run.flow().fast_recoveries, 1u);
}

// RFC 8985, 7.4.2: a probe that repaired a loss reduces the window once an ACK passes it.
TEST(RackRecovery, AProbeThatRepairedALossReducesTheWindow) {
    // The receiver's window has room for one segment, so no later segment can reveal the loss.
    const ScriptedRun lost = racked(Recovery::prr, {{{12}}}, has_room_for_one_segment);
    EXPECT_EQ(lost.count(EventKind::probe), 1) << lost.table();
    EXPECT_EQ(lost.segments(EventKind::retransmit), Segments{12});
    EXPECT_EQ(lost.flow().timeouts, 0u);
    EXPECT_LT(lost.events().back().ssthresh, 10u);
    const ScriptedRun whole = racked(Recovery::prr, {}, has_room_for_one_segment);
    EXPECT_EQ(whole.count(EventKind::probe), 0);
    EXPECT_EQ(whole.events().back().ssthresh, 10u);
}

// RFC 8985, 7.4.2, case 1; RFC 2883, 4: a probe arrived twice; the ACK covers its D-SACK.
TEST(RackRecovery, AProbeOfArrivedDataLeavesTheWindow) {
    // The ACK of segment 12 is lost; the SYN-ACK is the first.
    const ScriptedRun run = racked(Recovery::prr, {{}, {14}}, has_room_for_one_segment);
    EXPECT_EQ(run.segments(EventKind::retransmit), Segments{12}) << run.table();
    EXPECT_EQ(run.count(EventKind::probe), 1);
    EXPECT_EQ(run.events().back().ssthresh, 10u);
}

// RFC 8985, 7.1: fast recovery ends the probe, so that one lost tail reduces the window once.
TEST(RackRecovery, ATailThatAProbeRevealsReducesTheWindowOnce) {
    Script script;
    for (std::int64_t segment = 20; segment < 28; segment++) script.lost.push_back({segment});
    const ScriptedRun run = racked(Recovery::prr, script,
                                   [](Flow& flow) { flow.receive_window_bytes = 8 * flow.mss(); });
    EXPECT_EQ(run.count(EventKind::probe), 1) << run.table();
    EXPECT_EQ(run.flow().fast_recoveries, 1u);
    const Event exit = run.first(EventKind::exit);
    EXPECT_EQ(run.events().back().ssthresh, exit.ssthresh) << run.table();
}

// RFC 8985, 7.2: if the timeout would come before two round trips, the probe replaces it.
TEST(RackRecovery, AProbeComesNoLaterThanTheTimeout) {
    const auto slow = [](Network& network) { network.links[0].forward.delay = 600 * kMs; };
    const ScriptedRun run = racked(Recovery::prr, {{{37}, {38}, {39}}, {}, slow});
    const Event last = run.first(EventKind::ack, 37), probe = run.first(EventKind::probe);
    EXPECT_LT(probe.time_s - last.time_s, 2 * 0.65) << run.table();
    EXPECT_EQ(run.segments(EventKind::retransmit), (Segments{39, 37, 38})) << run.table();
    EXPECT_EQ(run.flow().timeouts, 0u);
}

// RFC 8985, 6.3: a timeout in recovery retransmits the first segment, but nothing that was SACKed.
TEST(RackRecovery, AfterATimeoutOnlyTheHolesAreSentAgain) {
    const ScriptedRun run = racked(Recovery::prr, {{{4}, {4, 2}, {4, 3}, {4, 4}}});
    for (const std::int64_t segment : run.segments(EventKind::retransmit)) EXPECT_EQ(segment, 4);
    EXPECT_EQ(run.flow().delivered_bytes, 40'000u) << run.table();
}

// RFC 5682, 3.1: after a spurious timeout only the first segment is sent again, then two new ones.
TEST(Frto, ASpuriousTimeoutSendsNewDataAndIsUndone) {
    const ScriptedRun run(Recovery::prr, stalled(1500, [](Flow& flow) { flow.frto = true; }));
    ASSERT_EQ(run.flow().timeouts, 1u) << run.table();
    EXPECT_EQ(run.segments(EventKind::retransmit).size(), 1u) << run.table();
    EXPECT_EQ(run.count(EventKind::undo), 1);
    const int timeout = run.find(EventKind::timeout), undo = run.find(EventKind::undo);
    EXPECT_EQ(run.at(undo).cwnd, run.at(timeout - 1).cwnd);
    EXPECT_EQ(run.at(undo).ssthresh, run.at(timeout - 1).ssthresh);
    EXPECT_EQ(run.segments(EventKind::send, timeout, undo).size(), 2u);
}

// Without F-RTO the same timeout retransmits everything that is only late (RFC 5682, 1).
TEST(Frto, WithoutFrtoASpuriousTimeoutRepeatsTheFlight) {
    const ScriptedRun run(Recovery::prr, stalled(1500, [](Flow&) {}));
    EXPECT_GT(run.segments(EventKind::retransmit).size(), 3u) << run.table();
    EXPECT_EQ(run.count(EventKind::undo), 0);
}

// RFC 5682, 3.1, step 3: nothing else arrives: the timeout was right, the rest is sent again.
TEST(Frto, ARealTimeoutIsRepairedConventionally) {
    for (const bool rack : {false, true}) {
        Script script;
        for (std::int64_t segment = 30; segment < 40; segment++) script.lost.push_back({segment});
        if (rack) script.lost.push_back({39, 2});  // the probe too
        const ScriptedRun run(Recovery::prr, script.lost, [=](Flow& flow) {
            flow.frto = true;
            flow.rack = rack;
        });
        EXPECT_EQ(run.flow().delivered_bytes, 40'000u) << run.table();
        EXPECT_EQ(run.flow().timeouts, 1u) << run.table();
        EXPECT_EQ(run.count(EventKind::undo), 0);
    }
}

// RFC 3522, 3.2: the first ACK after the timeout carries the timestamp of the first transmission.
TEST(Eifel, ATimestampProvesATimeoutSpurious) {
    const ScriptedRun run(Recovery::prr, stalled(1500, has_timestamps));
    ASSERT_EQ(run.flow().timeouts, 1u) << run.table();
    EXPECT_EQ(run.count(EventKind::undo), 1) << run.table();
    const int timeout = run.find(EventKind::timeout);
    EXPECT_EQ(run.at(run.find(EventKind::undo)).cwnd, run.at(timeout - 1).cwnd);
    EXPECT_EQ(run.segments(EventKind::retransmit).size(), 1u);
}

// RFC 3522, 3.2: an ACK that answers the retransmission proves nothing.
TEST(Eifel, ARealLossIsNotUndone) {
    const ScriptedRun run = racked(Recovery::prr, {{{4}, {9}}}, [](Flow& flow) {
        has_timestamps(flow);
        flow.frto = true;
    });
    EXPECT_EQ(run.flow().fast_recoveries, 1u);
    EXPECT_EQ(run.count(EventKind::undo), 0) << run.table();
}

// Some packets are held back by 20 ms, and twenty others overtake them; nothing is lost.
Script reordered(const std::function<void(Flow&)>& change, double rate = 0.01) {
    Script script;
    script.change = [=](Network& network) {
        network.links[0].forward.reorder_rate = rate;
        network.links[0].forward.reorder_delay = kSecond / 50;
        network.flows[0].size_bytes = 4000 * network.flows[0].mss();
        network.flows[0].initial_cwnd = network.flows[0].initial_ssthresh = 50;
        change(network.flows[0]);
    };
    return script;
}

// RFC 3522, 3.2: the first ACK of new data decides, even if it has SACK blocks. The D-SACK of the
// retransmission comes a round trip of 0.1 s after it.
TEST(Eifel, DecidesBeforeADSackDoes) {
    const ScriptedRun run(Recovery::sack, reordered(has_timestamps, 0.05));
    ASSERT_GT(run.count(EventKind::undo), 10);
    double begun_s = 0;
    for (const Event& event : run.events()) {
        if (event.kind == EventKind::recovery) begun_s = event.time_s;
        if (event.kind != EventKind::undo) continue;
        EXPECT_LT(event.time_s - begun_s, 0.05) << event.time_s;
    }
}

// RFC 8985, 6.2, steps 3 and 4: once there is reordering, the time window replaces DupThresh.
TEST(RackRecovery, LearnsThatThePathReorders) {
    const ScriptedRun counts(Recovery::sack, reordered([](Flow&) {}));
    const ScriptedRun times = racked(Recovery::sack, reordered([](Flow&) {}));
    EXPECT_GT(counts.flow().fast_recoveries, 10u);
    EXPECT_LT(4 * times.flow().fast_recoveries, counts.flow().fast_recoveries);
    EXPECT_LT(4 * times.flow().retransmitted, counts.flow().retransmitted);
}

// RFC 3708, 2: the reduction is undone when D-SACKs report every retransmission of the episode.
TEST(Undo, DSacksProveTheReductionSpurious) {
    const auto undoing = [](bool on) { return reordered([=](Flow& flow) { flow.undo = on; }); };
    const ScriptedRun without(Recovery::sack, undoing(false)), run(Recovery::sack, undoing(true));
    EXPECT_EQ(without.count(EventKind::undo), 0);
    EXPECT_GE(run.count(EventKind::undo), 5);
    EXPECT_GT(run.flow().mean_cwnd, 1.5 * without.flow().mean_cwnd);
    const int undo = run.find(EventKind::undo), recovery = run.find(EventKind::recovery);
    EXPECT_GE(run.at(undo).cwnd, run.at(recovery - 1).cwnd);
}

}  // namespace
}  // namespace ww::sim::test
