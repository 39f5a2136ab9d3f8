// SPDX-License-Identifier: BSD-3-Clause
//
// newreno follows RFC 6582 beyond the sequences of tests/golden/engine.
#include "scripted.hpp"

namespace ww::sim::test {
namespace {

const std::vector<Transmission> kThreeDrops{{4}, {6}, {8}};
// What was sent before the first timeout brings three duplicates of segment 8.
const std::vector<Transmission> kTwoTimeouts{{4}, {5}, {6}, {8}, {4, 2}, {8, 2}};

// 3.2, step 3, full ACK, option 1: cwnd = min(ssthresh, max(FlightSize, SMSS) + SMSS).
TEST(NewReno, TheExitWindowIsBoundedByTheFlight) {
    const ScriptedRun drained(Recovery::newreno, {{4}},
                              [](Flow& flow) { flow.size_bytes = 16'000; });  // nothing beyond
    EXPECT_EQ(drained.first(EventKind::exit).segment, 16);
    EXPECT_EQ(drained.first(EventKind::exit).ssthresh, 5u);
    EXPECT_EQ(drained.first(EventKind::exit).cwnd, 2u);  // nothing is in flight: max(0, 1) + 1
}

// Option 2, as in ns-3: cwnd = ssthresh, although much less is in flight.
TEST(NewReno, TheExitWindowMayBeSsthresh) {
    const ScriptedRun run(Recovery::newreno, {{4}}, [](Flow& flow) {
        flow.size_bytes = 16'000;
        flow.full_ack_to_ssthresh = true;
    });
    EXPECT_EQ(run.first(EventKind::exit).cwnd, 5u);
}

// 3.2, step 3: the "impatient" variant restarts the timer only on the first partial ACK.
TEST(NewReno, OnlyTheFirstPartialAckRestartsTheTimer) {
    const ScriptedRun run(Recovery::newreno, {{{4}, {6}, {8}, {10}, {10, 2}}});
    const double first = run.first(EventKind::ack, 6).time_s;
    const Event timeout = run.first(EventKind::timeout);
    EXPECT_EQ(timeout.segment, 10);
    EXPECT_NEAR(timeout.time_s - first, 1.0, 1e-9);
}

// ns-2 before May 2003, newreno_changes1_ = 0: "slow but steady".
TEST(NewReno, EachPartialAckMayRestartTheTimer) {
    const ScriptedRun run(Recovery::newreno, {{4}, {6}, {8}, {10}, {10, 2}},
                          [](Flow& flow) { flow.partial_acks_restart_rto = true; });
    const Event timeout = run.first(EventKind::timeout);
    EXPECT_EQ(timeout.segment, 10);
    EXPECT_NEAR(timeout.time_s - run.first(EventKind::ack, 10).time_s, 1.0, 1e-9);
}

// ns-2 before May 2003, partial_window_deflation_ = 0.
TEST(NewReno, APartialAckMayEndTheInflation) {
    const ScriptedRun run(Recovery::newreno, kThreeDrops,
                          [](Flow& flow) { flow.partial_acks_end_inflation = true; });
    for (const std::int64_t hole : {6, 8}) EXPECT_EQ(run.first(EventKind::ack, hole).cwnd, 5u);
    EXPECT_EQ(run.segments(EventKind::retransmit), (Segments{4, 6, 8}));
}

// ns-2 before July 2003, exitFastRetrans_ = false: it retransmits what arrived before the timeout.
TEST(NewReno, IgnoredDuplicatesMayInflateTheWindow) {
    const auto most_after_timeout = [](bool inflate) {
        const ScriptedRun run(Recovery::newreno, kTwoTimeouts,
                              [=](Flow& flow) { flow.guarded_duplicates_inflate = inflate; });
        const int timeout = run.find(EventKind::timeout, 4);
        std::uint32_t most = 0;
        for (int i = timeout + 1; i < run.find(EventKind::timeout, 8); i++)
            if (run.at(i).kind == EventKind::dupack) most = std::max(most, run.at(i).cwnd);
        return most;
    };
    EXPECT_GT(most_after_timeout(true), most_after_timeout(false) + 2);
}

// send_one() of ns-2: with limited transmit the first two duplicates count too.
TEST(NewReno, IgnoredDuplicatesInflateFromTheFirstWithLimitedTransmit) {
    for (const bool limited : {false, true}) {
        const ScriptedRun run(Recovery::newreno, kTwoTimeouts, [=](Flow& flow) {
            flow.guarded_duplicates_inflate = true;
            flow.limited_transmit = limited;
        });
        const int first = run.find(EventKind::dupack, -1, run.find(EventKind::timeout, 4));
        ASSERT_GT(first, 0);
        EXPECT_EQ(run.at(first).cwnd, run.at(first - 1).cwnd + (limited ? 1 : 0)) << run.table();
    }
}

// 3.2, steps 2 and 4: after a timeout, three duplicate ACKs below recover do not start fast retransmit.
TEST(NewReno, NoFastRetransmitForDataSentBeforeATimeout) {
    const ScriptedRun run(Recovery::newreno, {kTwoTimeouts});
    const int timeout = run.find(EventKind::timeout, 4), again = run.find(EventKind::timeout, 8);
    ASSERT_GT(again, timeout);
    const Segments dupacks = run.segments(EventKind::dupack, timeout, again);
    EXPECT_GE(std::count(dupacks.begin(), dupacks.end(), 8), 3);
    EXPECT_EQ(run.find(EventKind::recovery, 8), -1);

    const ScriptedRun reno(Recovery::reno, {kTwoTimeouts});  // reno has no guard
    EXPECT_GE(reno.find(EventKind::recovery, 8), 0);
}

// RFC 6582, 3.2, step 2: "covers more than recover". Spurious retransmissions after the timeout
// bring three duplicate ACKs for recover + 1, although nothing is lost.
TEST(NewReno, NoFastRetransmitIfTheAckOnlyReachesRecover) {
    const ScriptedRun run(Recovery::newreno, {{4}, {5}, {6}, {8}, {4, 2}}, [](Flow& flow) {
        flow.initial_cwnd = flow.initial_ssthresh = 20;
        flow.size_bytes *= 5;
    });
    const int timeout = run.find(EventKind::timeout), exit = run.find(EventKind::exit, -1, timeout);
    ASSERT_GT(exit, timeout);
    const std::int64_t beyond = run.at(exit).segment;
    EXPECT_GE(run.count(EventKind::dupack, beyond), 3) << run.table();
    EXPECT_EQ(run.find(EventKind::recovery, -1, timeout), -1) << run.table();
    EXPECT_EQ(run.count(EventKind::retransmit, beyond), 0);
}

// RFC 5681, 3.2, step 4: each duplicate ACK means that a segment has left the network. So segments
// sent on duplicate ACKs must not raise ssthresh when the retransmission is lost as well.
TEST(NewReno, ATimeoutInRecoveryHalvesTheFlightInTheNetwork) {
    const ScriptedRun run(Recovery::newreno, {{4}, {4, 2}},
                          [](Flow& flow) { flow.size_bytes *= 5; });
    const int recovery = run.find(EventKind::recovery);
    const int timeout = run.find(EventKind::timeout, -1, recovery);
    ASSERT_GT(timeout, recovery);
    EXPECT_EQ(run.at(recovery).ssthresh, 5u);
    EXPECT_EQ(run.at(timeout).ssthresh, 2u) << run.table();
}

}  // namespace
}  // namespace ww::sim::test
