// SPDX-License-Identifier: BSD-3-Clause
//
// The retransmission timer (RFC 6298), seen from outside.
#include "scripted.hpp"

namespace ww::sim::test {
namespace {

// Only one segment at a time is in flight: the next waits for the ACK or the timer.
ScriptedRun stop_and_wait(
    Recovery recovery, const std::vector<Transmission>& lost,
    const std::function<void(Network&)>& change = [](Network&) {}) {
    const auto wait = [&](Network& network) {
        network.flows[0].receive_window_bytes = network.flows[0].mss();
        network.duration = 1000 * kSecond;
        change(network);
    };
    return ScriptedRun(recovery, {lost, {}, wait});
}

// Lists the times from a transmission of `segment` to the timeout that follows it.
std::vector<double> waits(const ScriptedRun& run, std::int64_t segment) {
    std::vector<double> waits_s;
    double sent = 0;
    for (const Event& event : run.events()) {
        if (event.segment != segment) continue;
        if (event.kind == EventKind::timeout) waits_s.push_back(event.time_s - sent);
        if (event.kind == EventKind::send || event.kind == EventKind::retransmit)
            sent = event.time_s;
    }
    return waits_s;
}

// The same for a changed flow of NewReno, which loses only copies of one segment.
std::vector<double> waits(const std::vector<Transmission>& lost, void (*change)(Flow&)) {
    const auto change_flow = [=](Network& network) { change(network.flows[0]); };
    return waits(stop_and_wait(Recovery::newreno, lost, change_flow), lost[0].segment);
}

constexpr double kSynRtt = 0.1 + 2 * 40 * 8 / 8.32e6;
constexpr double kDataRtt = 0.1 + 1080 * 8 / 8.32e6;
constexpr double kFirstRtt = kDataRtt + 40 * 8 / 8.32e6;  // after the handshake's ACK

// 5.5: RTO doubles; 2.5 and 5.5: it is clamped to the maximum.
TEST(Timer, DoublesAndIsClampedToTheMaximum) {
    const std::vector<Transmission> lost{{1}, {1, 2}, {1, 3}, {1, 4}, {1, 5}};
    expect_near(waits(lost, [](Flow&) {}), {1, 2, 4, 8, 16});
    expect_near(waits(lost, [](Flow& flow) { flow.max_rto = 5 * kSecond; }), {1, 2, 4, 5, 5});
}

// 3 and 5.7: a retransmitted segment gives no sample (Karn), and the backoff stays until the next one.
TEST(Timer, TheBackoffStaysUntilASampleOfASegmentSentOnce) {
    const ScriptedRun run = stop_and_wait(Recovery::newreno, {{1}, {1, 2}, {2}, {4}});
    expect_near(waits(run, 1), {1, 2});
    expect_near(waits(run, 2), {4});  // segment 1 gave no sample
    expect_near(waits(run, 4), {1});  // segment 3 did
}

// ns-3 recomputes the timer on every ACK for new data (NewAck), also without a sample.
TEST(Timer, AnyAckForNewDataMayEndTheBackoff) {
    const ScriptedRun run =
        stop_and_wait(Recovery::newreno, {{1}, {1, 2}, {2}},
                      [](Network& network) { network.flows[0].any_ack_ends_backoff = true; });
    expect_near(waits(run, 1), {1, 2});
    expect_near(waits(run, 2), {1});
}

// RFC 5681, 3.1: slow start grows on each ACK for new data, including the one for the last data
// sent before the timeout. ns-3 grows only by what that ACK covers beyond it, here nothing.
TEST(Timer, TheAckThatEndsTheRecoveryFromATimeoutMayNotGrowTheWindow) {
    const auto cwnd_after = [](bool stands) {
        const ScriptedRun run = stop_and_wait(Recovery::sack, {{1}}, [=](Network& network) {
            network.flows[0].stands_after_timeout = stands;
            network.trace.windows = true;
        });
        const auto& trace = run.flow().trace;
        for (std::size_t i = 1; i < trace.phase.size(); i++)
            if (trace.phase[i - 1] == WW_LOSS && trace.phase[i] == WW_OPEN) return trace.cwnd[i];
        return 0.0;
    };
    EXPECT_EQ(cwnd_after(false), 2);
    EXPECT_EQ(cwnd_after(true), 1);
}

// Returns ssthresh after each timeout of a run in which a segment and its retransmissions are lost.
std::vector<double> ssthresh_of_timeouts(void (*settings)(Flow&)) {
    const ScriptedRun run(Recovery::sack, {{4}, {4, 2}, {4, 3}}, [=](Flow& flow) {
        flow.initial_cwnd = 12;
        flow.size_bytes = 400 * flow.mss();  // there is always new data
        settings(flow);
    });
    std::vector<double> thresholds;
    for (const Event& event : run.events())
        if (event.kind == EventKind::timeout) thresholds.push_back(event.ssthresh);
    return thresholds;
}

// ns-3 reduces ssthresh again, from what is in flight then: the segment itself.
TEST(Timer, ASecondTimeoutOfASegmentMayReduceSsthresh) {
    const auto again = ssthresh_of_timeouts(
        [](Flow& flow) { flow.repeated_timeouts_reduce = flow.flight_excludes_sacked = true; });
    ASSERT_EQ(again.size(), 2u);
    EXPECT_EQ(again[1], 2);
}

// Linux: tcp_enter_loss() does not set ssthresh again in recovery.
TEST(Timer, ATimeoutInRecoveryMayLeaveSsthresh) {
    const auto once = ssthresh_of_timeouts(
        [](Flow& flow) { flow.ssthresh_from_cwnd = flow.recovery_holds_ssthresh = true; });
    const auto twice = ssthresh_of_timeouts([](Flow& flow) { flow.ssthresh_from_cwnd = true; });
    ASSERT_FALSE(once.empty() || twice.empty());
    EXPECT_EQ(once[0], 6);   // half of 12
    EXPECT_EQ(twice[0], 3);  // and half of it again
}

TEST(Timer, RttSamplesNeverComeFromRetransmittedSegments) {
    for (const Recovery r : {Recovery::tahoe, Recovery::reno, Recovery::newreno, Recovery::sack}) {
        Script script{{{4}, {7}, {4, 2}, {20}}};
        script.change = [](Network& network) { network.trace.windows = true; };
        const ScriptedRun run(r, script);
        EXPECT_NEAR(run.flow().min_rtt_s, kSynRtt, 1e-9);
        for (const double rtt : run.flow().trace.rtt_s)
            if (!std::isnan(rtt)) {
                EXPECT_LT(rtt, 0.112);  // ten segments of queue
            }
    }
}

// 2.2: RTO = R + max(G, 4 R / 2) after the first measurement, the handshake's.
TEST(Timer, TheFirstMeasurementSetsThreeTimesTheRoundTrip) {
    expect_near(waits({{0}}, [](Flow& flow) { flow.min_rto = kMicrosecond; }), {3 * kSynRtt});
}

// 2.3: RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R'|, then SRTT = 7/8 SRTT + 1/8 R'.
TEST(Timer, LaterMeasurementsAreSmoothed) {
    const double variation = 0.75 * kSynRtt / 2 + 0.25 * (kFirstRtt - kSynRtt);
    const double smoothed = 0.875 * kSynRtt + 0.125 * kFirstRtt;
    expect_near(waits({{1}}, [](Flow& flow) { flow.min_rto = kMicrosecond; }),
                {smoothed + 4 * variation});
}

// 2: max(G, K RTTVAR) makes the RTO include at least the granularity.
TEST(Timer, TheClockGranularityBoundsTheVariation) {
    const auto change = [](Flow& flow) {
        flow.min_rto = kMicrosecond;
        flow.clock_granularity = kSecond / 2;
    };
    expect_near(waits({{0}}, change), {kSynRtt + 0.5});
}

// 2.1 holds until data is acknowledged if a profile takes no sample from the handshake.
TEST(Timer, WithoutTheHandshakesSampleTheInitialRtoHolds) {
    const auto change = [](Flow& flow) {
        flow.handshake_rtt = false;
        flow.initial_rto = 5 * kSecond / 2;
    };
    expect_near(waits({{0}}, change), {2.5});
}

TEST(Timer, AnAckOfNewDataRestartsTheTimer) {  // 5.3
    const ScriptedRun run(Recovery::newreno, {{{4}, {4, 2}}});
    EXPECT_NEAR(run.first(EventKind::timeout).time_s - run.first(EventKind::ack, 4).time_s, 1.0,
                1e-9);
}

// RFC 5681, 3.1: ssthresh is kept on the second timeout of a segment.
TEST(Timer, ASecondTimeoutOfASegmentHoldsSsthresh) {
    for (const Recovery r : {Recovery::tahoe, Recovery::reno, Recovery::newreno, Recovery::sack}) {
        std::vector<Transmission> lost;
        for (std::int64_t segment = 4; segment < 14; segment++) lost.push_back({segment});
        lost.insert(lost.end(), {{4, 2}, {4, 3}});
        const ScriptedRun run(r, {lost});
        const int first = run.find(EventKind::timeout);
        const int second = run.find(EventKind::timeout, 4, first + 1);
        ASSERT_GT(second, first) << name_of(r);
        EXPECT_EQ(run.at(second).ssthresh, run.at(first).ssthresh);
        EXPECT_GT(run.at(first).ssthresh, 4u);
        EXPECT_EQ(run.at(second).cwnd, 1u);
    }
}

// network.hpp, Flow::stop: no new data from then on, even if the window reaches the transfer's end.
TEST(Stop, NothingNewIsSentAfterStop) {
    for (const Recovery r : {Recovery::newreno, Recovery::sack}) {
        Network network = scripted_network(r);
        network.flows[0].size_bytes = 25'000;
        network.flows[0].stop = kSecond / 4;  // 21 of 25 segments are out
        const FlowResult flow = simulate(network, 1).flows[0];
        EXPECT_EQ(flow.sent, 21u);
        EXPECT_EQ(flow.delivered_bytes, 21'000u);
    }
}

TEST(Stop, WhatWasLostIsStillRepaired) {
    for (const Recovery r : {Recovery::tahoe, Recovery::reno, Recovery::newreno, Recovery::sack}) {
        const ScriptedRun run(r, {{4}, {7}, {12}}, [](Flow& flow) { flow.stop = kSecond / 4; });
        EXPECT_EQ(run.flow().delivered_bytes, 1000u * (run.flow().sent - run.flow().retransmitted));
        EXPECT_LT(times_s(run.flow(), EventKind::send).back(), 0.25);
    }
}

// Karn: a repeated SYN gives no sample, so the trace begins without a smoothed RTT.
TEST(Trace, HasNoSmoothedRttBeforeTheFirstSample) {
    Network network = scripted_network(Recovery::newreno);
    network.links[0].forward.loss = LossList{{1}};  // the SYN
    network.trace.windows = true;
    const WindowTrace trace = simulate(network, 1).flows[0].trace;
    EXPECT_TRUE(std::isnan(trace.srtt_s.front()));
    EXPECT_GT(trace.srtt_s.back(), 0);
}

}  // namespace
}  // namespace ww::sim::test
