// SPDX-License-Identifier: BSD-3-Clause
//
// Drives BBRv1's state machine sample by sample. The tests name sections of
// draft-cardwell-iccrg-bbr-congestion-control-00. tests/engine/bbr_test.cpp runs BBRv1 on a path.
#include "rounds.hpp"

namespace {

using ww::test::kMss;
constexpr std::uint32_t kRtt = 100000;

// Each round trip has one or several ACKs, each with the segments delivered and still in flight.
class Bbr : public ww::test::Host {
  public:
    Bbr() : Host(WW_PROTOCOL_BBR) {}

    void round(std::uint32_t segments, std::uint32_t pipe, std::uint32_t rtt_us = kRtt,
               ww_phase phase = WW_OPEN, std::uint32_t lost = 0) {
        ack(segments, segments, pipe, rtt_us, rtt_us, phase, lost);
    }

    // Gives that many of the round trip's segments their own ACK, evenly spread.
    void spread(std::uint32_t segments, std::uint32_t acks, std::uint32_t pipe) {
        for (std::uint32_t i = 0; i < acks; i++)
            ack(segments / acks, segments, pipe, kRtt / acks, kRtt, WW_OPEN, 0);
    }

    void ack(std::uint32_t segments, std::uint32_t rate_segments, std::uint32_t pipe,
             std::uint32_t after_us, std::uint32_t rtt_us, ww_phase phase, std::uint32_t lost) {
        ww_sample sample{};
        sample.acked_segments = segments;
        sample.rtt_us = rtt_us;
        sample.phase = static_cast<std::uint8_t>(phase);
        sample.is_app_limited = app_limited;
        sample.newly_delivered = segments;
        sample.newly_lost = lost;
        sample.pipe = pipe;
        sample.rate_segments = rate_segments;
        sample.rate_interval_us = rtt_us;
        sample.prior_delivered = delivered + segments - rate_segments;
        sample.delivered = delivered += segments;
        take(after_us, sample);
    }

    // 100 segments per round trip of 100 ms: 1 MB/s and a BDP of 100 segments.
    void fill_and_drain() {
        for (int i = 0; i < 5; i++) round(100, 250);
        round(100, 90);
    }

    double pacing() const {  // as a share of the bandwidth measured
        return static_cast<double>(window.pacing) / static_cast<double>(state.bbr.max_bw[0]);
    }

    std::uint32_t delivered = 0;
    bool app_limited = false;
};

TEST(Bbr, StartupPacesAtTwoOverLnTwo) {  // 4.3.2
    Bbr bbr;
    bbr.round(10, 10);
    EXPECT_EQ(bbr.state.bbr.mode, WW_BBR_STARTUP);
    EXPECT_NEAR(bbr.pacing(), 2.885 * 0.99, 0.01);
    EXPECT_NEAR(static_cast<double>(bbr.state.bbr.max_bw[0]) / 256, 10 * kMss / 0.1, 10);
}

TEST(Bbr, ThreeRoundsWithoutGrowthMeanThePipeIsFull) {
    Bbr bbr;
    bbr.round(100, 250);
    for (int i = 0; i < 2; i++) bbr.round(110, 250);
    EXPECT_EQ(bbr.state.bbr.mode, WW_BBR_STARTUP);
    bbr.round(110, 250);
    EXPECT_EQ(bbr.state.bbr.mode, WW_BBR_DRAIN);
    EXPECT_NEAR(bbr.pacing(), 0.99 / 2.885, 0.01) << "4.3.3";
}

TEST(Bbr, DrainEndsAtTheBdpAndThreeQuanta) {  // 4.3.3, 4.2.3.2
    Bbr bbr;
    for (int i = 0; i < 5; i++) bbr.round(100, 250);
    bbr.round(100, 107);
    EXPECT_EQ(bbr.state.bbr.mode, WW_BBR_DRAIN);
    bbr.round(100, 100 + 3 * 2);
    EXPECT_EQ(bbr.state.bbr.mode, WW_BBR_PROBE_BW);
}

// Goes to this phase of PROBE_BW, with the BDP and `queued` more segments in flight.
Bbr in_phase(std::uint8_t phase, std::uint32_t queued) {
    Bbr bbr;
    bbr.fill_and_drain();
    while (bbr.state.bbr.cycle != phase) bbr.round(100, queued + 50, kRtt + 1);
    return bbr;
}

// The rule uses the segments in flight before the ACK: here 100 more than after it.
TEST(Bbr, TheDrainingPhaseEndsEarlyAtTheBdpAndThreeQuanta) {  // 4.3.4.3: BBRIsNextCyclePhase
    const auto phase_after = [](std::uint32_t pipe) {
        Bbr bbr = in_phase(1, 200);
        bbr.round(100, pipe);
        return bbr.state.bbr.cycle;
    };
    EXPECT_EQ(phase_after(7), 1) << "107";
    EXPECT_EQ(phase_after(6), 2) << "106";
}

TEST(Bbr, ProbeBwCyclesThroughItsGains) {  // 4.3.4
    Bbr bbr;
    bbr.fill_and_drain();
    ASSERT_EQ(bbr.state.bbr.mode, WW_BBR_PROBE_BW);
    EXPECT_NE(bbr.state.bbr.cycle, 1) << "begins with any phase but 3/4";
    int up = 0, down = 0, cruise = 0;
    for (int i = 0; i < 80; i++) {
        bbr.round(100, 125, kRtt + 1);
        const double gain = bbr.pacing() / 0.99;
        up += std::abs(gain - 1.25) < 0.01;
        down += std::abs(gain - 0.75) < 0.01;
        cruise += std::abs(gain - 1) < 0.01;
    }
    EXPECT_NEAR(up, 10, 1);
    EXPECT_NEAR(down, 10, 1);
    EXPECT_NEAR(cruise, 60, 2);
}

// Goes through PROBE_BW with this many ACKs per round trip. Returns cwnd without what probing adds.
std::uint32_t cwnd_with(std::uint32_t acks) {
    Bbr bbr;
    for (int i = 0; i < 5; i++) bbr.spread(100, acks, 250);
    for (int i = 0; i < 20; i++) bbr.spread(100, acks, i == 0 ? 90 : 125);
    return bbr.window.cwnd - (bbr.state.bbr.cycle == 0 ? 2 : 0);
}

// 4.2.3.2: two for the gain, and three quanta of two. An ACK of two segments is ahead by two.
TEST(Bbr, CwndIsTwiceTheBdp) { EXPECT_EQ(cwnd_with(50), 200u + 3 * 2 + 2); }

TEST(Bbr, CwndHasRoomForAggregatedAcks) {  // Linux: bbr_ack_aggregation_cwnd
    EXPECT_EQ(cwnd_with(10), 200u + 3 * 2 + 10);
    EXPECT_EQ(cwnd_with(1), 200u + 3 * 2 + 100);
}

TEST(Bbr, ProbeRttAfterTenSecondsWithoutAShorterOne) {  // 4.3.5
    Bbr bbr;
    bbr.fill_and_drain();
    const std::uint64_t since = bbr.now_us;
    while (bbr.state.bbr.mode != WW_BBR_PROBE_RTT && bbr.now_us < since + 12000000)
        bbr.round(100, 125, kRtt + 100);
    EXPECT_NEAR(static_cast<double>(bbr.now_us - since) / 1e6, 10.0, 0.3);
    EXPECT_EQ(bbr.window.cwnd, 4u);
    bbr.round(100, 4);  // down to four segments; it stays for 200 ms and a round
    const std::uint64_t at_floor = bbr.now_us;
    while (bbr.state.bbr.mode == WW_BBR_PROBE_RTT) {
        EXPECT_EQ(bbr.window.cwnd, 4u);
        bbr.round(4, 4);
    }
    EXPECT_NEAR(static_cast<double>(bbr.now_us - at_floor) / 1e6, 0.2, 0.11);
    EXPECT_EQ(bbr.state.bbr.mode, WW_BBR_PROBE_BW);
    EXPECT_GE(bbr.window.cwnd, 200u) << "the cwnd before it";
}

TEST(Bbr, FastRecoveryConservesPacketsForARound) {  // 4.2.3.4
    Bbr bbr;
    bbr.fill_and_drain();
    for (int i = 0; i < 10; i++) bbr.round(100, 125);
    const std::uint32_t before = bbr.window.cwnd;
    bbr.loss(125);
    EXPECT_EQ(bbr.window.cwnd, 125u + 100) << "no more than what was in flight and arrived";
    EXPECT_EQ(bbr.window.ssthresh, WW_SSTHRESH_INFINITE);
    bbr.round(10, 100, kRtt, WW_RECOVERY, 20);
    bbr.leave_recovery();
    EXPECT_EQ(bbr.window.cwnd, before) << "restored";
}

TEST(Bbr, ATimeoutStartsFromOneSegmentAndRemembers) {  // 4.2.3.4
    Bbr bbr;
    bbr.fill_and_drain();
    for (int i = 0; i < 10; i++) bbr.round(100, 125);
    const std::uint32_t before = bbr.window.cwnd;
    bbr.timeout(125);
    EXPECT_EQ(bbr.window.cwnd, 1u);
    bbr.round(1, 1, kRtt, WW_LOSS);
    EXPECT_LT(bbr.window.cwnd, 10u);
    bbr.round(4, 4, kRtt, WW_OPEN);
    EXPECT_EQ(bbr.window.cwnd, before);
}

}  // namespace
