// SPDX-License-Identifier: BSD-3-Clause
//
// The facts that decide between the recoveries, clause by clause. The scripted path is described in
// scripted.hpp, the whole sequences in tests/golden/engine/.
#include <gtest/gtest.h>

#include "scripted.hpp"

namespace ww::sim::test {
namespace {

using Segments = std::vector<std::int64_t>;

Script losing(std::vector<Transmission> lost) {
    return {std::move(lost), {}, [](Network&) {}};
}

TEST(FastRetransmit, HalvesTheFlightWithoutWhatLimitedTransmitSent) {  // RFC 5681, 3.2, step 2
    const ScriptedRun run(Recovery::reno, losing({{4}}));
    const Event entry = run.first(EventKind::recovery);
    EXPECT_EQ(entry.ssthresh, 5u) << "ten in flight when the first duplicate came, twelve now";
    EXPECT_EQ(entry.cwnd, 8u) << "step 3: ssthresh and the three segments that left";
}

TEST(FastRetransmit, InflatesADuplicateAndDeflatesOnNewData) {  // RFC 5681, 3.2, steps 4 and 6
    const ScriptedRun run(Recovery::reno, losing({{4}}));
    const int entry = run.find(EventKind::recovery);
    EXPECT_EQ(run.at(run.find(EventKind::dupack, 4, entry)).cwnd, 9u);
    EXPECT_EQ(run.first(EventKind::exit).cwnd, 5u);
}

TEST(LimitedTransmit, SendsASegmentForEachOfTheFirstTwoDuplicates) {  // RFC 3042
    const ScriptedRun with(Recovery::newreno, losing({{4}}));
    const int first = with.find(EventKind::dupack);
    EXPECT_EQ(with.segments(EventKind::send, first, with.find(EventKind::recovery)),
              (Segments{14, 15}));
    Script script = losing({{4}});
    script.change = [](Network& network) { network.flows[0].limited_transmit = false; };
    const ScriptedRun without(Recovery::newreno, script);
    EXPECT_EQ(without.segments(EventKind::send, without.find(EventKind::dupack),
                               without.find(EventKind::recovery)),
              Segments{});
}

TEST(Tahoe, StartsSlowlyFromTheHole) {  // Jacobson 1988
    const ScriptedRun run(Recovery::tahoe, losing({{4}}));
    const Event again = run.first(EventKind::retransmit);
    EXPECT_EQ(again.segment, 4);
    EXPECT_EQ(again.cwnd, 1u);
    EXPECT_EQ(again.ssthresh, 5u);
    EXPECT_EQ(run.flow().timeouts, 0u);
    EXPECT_EQ(run.find(EventKind::recovery), -1);
}

TEST(Reno,
     LeavesOnAPartialAckAndWaitsForTheTimerWithThreeLosses) {  // RFC 5681, 3.2; Fall & Floyd 1996
    const ScriptedRun run(Recovery::reno, losing({{4}, {6}, {8}}));
    EXPECT_EQ(run.first(EventKind::exit).segment, 6) << "segments 6 and 8 are still missing";
    EXPECT_EQ(run.flow().timeouts, 1u);
}

TEST(NewReno, RetransmitsTheNextHoleOnAPartialAckAndDeflates) {  // RFC 6582, 3.2, step 3
    const ScriptedRun run(Recovery::newreno, losing({{4}, {7}}));
    EXPECT_EQ(run.segments(EventKind::retransmit), (Segments{4, 7}));
    EXPECT_EQ(run.flow().timeouts, 0u);
    EXPECT_EQ(run.flow().fast_recoveries, 1u);
    const int partial = run.find(EventKind::ack, 7);
    EXPECT_EQ(run.at(partial).cwnd, run.at(partial - 2).cwnd - 3 + 1)
        << "three acknowledged, one back";
}

TEST(NewReno,
     EndsWithAWindowThatSendsNoBurst) {  // RFC 6582, 3.2, step 3: min(ssthresh, flight + 1)
    Script script = losing({{4}});
    script.change = [](Network& network) { network.flows[0].size_bytes = 15 * 1000; };
    const ScriptedRun run(Recovery::newreno, script);
    EXPECT_EQ(run.first(EventKind::exit).cwnd, 2u) << "nothing is in flight any more";
}

TEST(NewReno,
     TheTimerIsImpatient) {  // RFC 6582, 3.2, step 3: restarted by the first partial ACK only
    const ScriptedRun run(Recovery::newreno, losing({{4}, {6}, {8}, {8, 2}}));
    const double first_partial = run.first(EventKind::ack, 6).time_s;
    EXPECT_GT(run.first(EventKind::ack, 8).time_s, first_partial);
    EXPECT_NEAR(run.first(EventKind::timeout).time_s, first_partial + 1.0, 1e-9);
}

TEST(NewReno, DataSentBeforeATimeoutStartsNoFastRetransmit) {  // RFC 6582, 3.2, step 4, and 4
    Script script = losing({{4}, {4, 2}});
    const ScriptedRun newreno(Recovery::newreno, script);
    EXPECT_EQ(newreno.flow().fast_recoveries, 1u);
    const int timeout = newreno.find(EventKind::timeout);
    EXPECT_EQ(newreno.find(EventKind::recovery, -1, timeout), -1);
}

TEST(Sack, RepairsAllHolesInOneRoundTrip) {  // RFC 6675, 5
    const ScriptedRun run(Recovery::sack, losing({{4}, {6}, {8}}));
    EXPECT_EQ(run.segments(EventKind::retransmit), (Segments{4, 6, 8}));
    const double first = run.first(EventKind::retransmit, 4).time_s;
    EXPECT_LT(run.first(EventKind::retransmit, 8).time_s - first, 0.1)
        << "less than the round trip";
    EXPECT_EQ(run.first(EventKind::recovery).cwnd, 5u) << "no inflation";
}

TEST(Sack, SendsOneRescueRetransmissionARecovery) {  // RFC 6675, 4, NextSeg rule 4
    const ScriptedRun run(Recovery::sack, losing({{4}, {7}, {7, 2}}));
    EXPECT_EQ(run.count(EventKind::retransmit, 39), 1) << "the highest outstanding segment, once";
}

TEST(Sack, DoesNotSendAgainAfterATimeoutWhatWasReported) {  // RFC 6675, 5.1
    const ScriptedRun run(Recovery::sack, losing({{4}, {4, 2}}));
    EXPECT_EQ(run.flow().timeouts, 1u);
    EXPECT_EQ(run.segments(EventKind::retransmit, run.find(EventKind::timeout)), Segments{4});
}

TEST(Timer, DoublesAndIsBounded) {  // RFC 6298, 5.5 and 2.5
    Script script = losing({{4}, {4, 2}, {4, 3}, {4, 4}});
    script.change = [](Network& network) {
        network.flows[0].dupack_threshold = 100;
        network.flows[0].max_rto = 3 * kSecond;
    };
    const ScriptedRun run(Recovery::newreno, script);
    Segments milliseconds;
    for (const Event& event : run.events())
        if (event.kind == EventKind::timeout)
            milliseconds.push_back(static_cast<std::int64_t>(event.time_s * 1e3 + 0.5));
    ASSERT_EQ(milliseconds.size(), 4u);
    EXPECT_EQ(milliseconds[1] - milliseconds[0], 2000);
    EXPECT_EQ(milliseconds[2] - milliseconds[1], 3000) << "not 4000";
}

TEST(Timer, ASecondTimeoutOfOneSegmentHoldsSsthresh) {  // RFC 5681, 3.1
    const ScriptedRun run(Recovery::newreno, losing({{4}, {4, 2}, {4, 3}}));
    const int first = run.find(EventKind::timeout);
    const int second = run.find(EventKind::timeout, 4, first + 1);
    ASSERT_GT(second, first);
    EXPECT_EQ(run.at(second).ssthresh, run.at(first).ssthresh);
}

TEST(Timer, ALostSynMakesItThreeSecondsAndTheWindowOne) {  // RFC 6298, 5.7; RFC 5681, 3.1
    Script script;
    script.change = [](Network& network) {
        network.links[0].forward.loss = {LossKind::script, 0, {1}};
    };
    const ScriptedRun run(Recovery::newreno, script);
    EXPECT_NEAR(run.flow().established_s, 1.100077, 1e-6) << "a second, then the handshake";
    EXPECT_EQ(run.first(EventKind::send).cwnd, 1u);
}

TEST(Timer, ARetransmittedSegmentGivesNoSample) {  // Karn's rule, RFC 6298, 3
    const ScriptedRun run(Recovery::newreno, losing({{4}}));
    EXPECT_NEAR(run.flow().min_rtt_s, 0.1010385, 1e-6) << "no time from the second transmission";
    EXPECT_LT(run.flow().mean_srtt_s, 0.12) << "and none from the first";
}

}  // namespace
}  // namespace ww::sim::test
