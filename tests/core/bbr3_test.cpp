// SPDX-License-Identifier: BSD-3-Clause
//
// BBRv3 on a path of one bottleneck (packet_path.hpp): 10 Mb/s and 40 ms, a BDP of 40 packets, unless a test
// changes it. The tests name the cases of the draft's appendix "BBR Example Test Cases".
#include "packet_path.hpp"

namespace {

using ww::test::PacketPath;
constexpr std::uint64_t kBbr3Second = 1000000;

class Bbr3Path : public PacketPath {
  public:
    Bbr3Path() : PacketPath(WW_PROTOCOL_BBR3) {}
    // Has just reached this mode.
    explicit Bbr3Path(ww_bbr3_mode mode) : Bbr3Path() { EXPECT_TRUE(reach(mode)); }

    const ww_bbr3_state& bbr() const { return state.bbr3; }
    bool is(ww_bbr3_mode mode) const { return bbr().mode == mode; }
    bool has(ww_bbr3_flag flag) const { return ww_bbr3_is(&bbr(), flag); }
    // Goes on until this mode begins. Returns false if it does not within the time.
    bool reach(ww_bbr3_mode mode, std::uint64_t us = 30 * kBbr3Second) {
        return run_until([&] { return is(mode); }, us);
    }
    bool leave(ww_bbr3_mode mode, std::uint64_t us = 30 * kBbr3Second) {
        return run_until([&] { return !is(mode); }, us);
    }
    double max_bw() const { return static_cast<double>(ww_bbr3_max_bw(&bbr())) / 256; }
    double gain() const {
        return static_cast<double>(window.pacing) / static_cast<double>(bbr().bw);
    }
};

TEST(Bbr3, StartupEndsOnABandwidthPlateau) {  // case 1
    Bbr3Path path(WW_BBR3_DRAIN);
    EXPECT_NEAR(path.max_bw(), path.rate, 0.02 * path.rate);
    EXPECT_EQ(path.bbr().full_bw_count, 3);
    EXPECT_TRUE(path.has(WW_BBR3_FULL_NOW));
    EXPECT_TRUE(path.has(WW_BBR3_FULL_REACHED));
    EXPECT_EQ(path.lost, 0u);
}

TEST(Bbr3, StartupEndsOnLossAlthoughTheApplicationIsTheLimit) {  // case 2
    Bbr3Path path;
    path.app_rate = 0.8e6;
    path.run(2 * kBbr3Second);
    ASSERT_TRUE(path.is(WW_BBR3_STARTUP));
    path.drops = [](std::uint64_t number) { return number % 4 == 0; };
    ASSERT_TRUE(path.leave(WW_BBR3_STARTUP, 2 * kBbr3Second));
    EXPECT_TRUE(path.has(WW_BBR3_FULL_NOW));
    EXPECT_TRUE(path.has(WW_BBR3_FULL_REACHED));
    EXPECT_TRUE(path.is(WW_BBR3_DRAIN) || path.is(WW_BBR3_DOWN));
}

TEST(Bbr3, DrainEndsWhenTheFlightIsTheBdp) {  // case 3
    Bbr3Path path(WW_BBR3_DRAIN);
    EXPECT_NEAR(path.gain(), 0.5 * 0.99, 0.001);
    EXPECT_GT(path.pipe, 50u);
    ASSERT_TRUE(path.leave(WW_BBR3_DRAIN));
    EXPECT_TRUE(ww_bbr3_in_probe_bw(&path.bbr()));
    EXPECT_LE(path.pipe, 41u) << "10 Mb/s * 40 ms, and a packet's own time";
}

TEST(Bbr3, DrainEndsAfterThreeRounds) {  // case 4
    Bbr3Path path(WW_BBR3_DRAIN);
    const std::uint32_t round = path.bbr().drain_start_round;
    path.rate *= 0.4;
    ASSERT_TRUE(path.leave(WW_BBR3_DRAIN));
    EXPECT_EQ(path.bbr().round_count - round, 4u) << "round_count > drain_start_round + 3";
    EXPECT_GT(path.pipe, 41u);
    EXPECT_TRUE(ww_bbr3_in_probe_bw(&path.bbr()));
}

TEST(Bbr3, UpEndsOnABandwidthPlateau) {  // case 5
    Bbr3Path path(WW_BBR3_UP);
    const std::uint32_t round = path.bbr().round_count;
    ASSERT_TRUE(path.leave(WW_BBR3_UP));
    EXPECT_TRUE(path.is(WW_BBR3_DOWN));
    EXPECT_EQ(path.lost, 0u);
    EXPECT_TRUE(path.has(WW_BBR3_FULL_NOW));
    EXPECT_GE(path.bbr().round_count - round, 3u);
}

TEST(Bbr3, UpEndsOnLoss) {  // case 6, and the same loss for a flow that has data
    for (const bool limited : {false, true}) {
        Bbr3Path path(WW_BBR3_UP);
        if (limited) {
            path.app_rate = 0.9 * path.rate;
            path.run(100000);
        }
        ASSERT_TRUE(path.is(WW_BBR3_UP));
        path.drops = [](std::uint64_t number) { return number % 10 == 0; };
        ASSERT_TRUE(path.leave(WW_BBR3_UP, kBbr3Second)) << limited;
        EXPECT_TRUE(path.is(WW_BBR3_DOWN) || (limited && path.is(WW_BBR3_CRUISE)));
        EXPECT_TRUE(path.has(WW_BBR3_TOO_HIGH));
        EXPECT_EQ(path.bbr().inflight_longterm == WW_BBR3_ANY_VOLUME, limited)
            << "5.5.10.2: only if RS.is_app_limited is false";
    }
}

TEST(Bbr3, AnApplicationLimitWithoutLossNeverEndsStartupOrUp) {  // case 7
    for (const ww_bbr3_mode mode : {WW_BBR3_STARTUP, WW_BBR3_UP}) {
        Bbr3Path path;
        path.config.bbr3_probe_rtt_us = 3600000000u;
        ASSERT_TRUE(path.reach(mode));
        path.app_rate = 0.5 * path.rate;
        path.run(60 * kBbr3Second);
        EXPECT_TRUE(path.is(mode)) << mode;
    }
}

TEST(Bbr3, DownEndsWhenTheQueueIsEmpty) {  // case 8
    Bbr3Path path(WW_BBR3_UP);
    ASSERT_TRUE(path.reach(WW_BBR3_DOWN));
    EXPECT_NEAR(path.gain(), 0.9 * 0.99, 0.001);
    EXPECT_GT(path.pipe, 42u);
    ASSERT_TRUE(path.leave(WW_BBR3_DOWN));
    EXPECT_TRUE(path.is(WW_BBR3_CRUISE));
    EXPECT_LE(path.pipe, 42u);
}

TEST(Bbr3, DownEndsAfterItsTime) {  // case 9
    Bbr3Path path;
    path.rate = 1.25e7;  // 400 packets: the time ends before 62 rounds
    path.rtt_us = 100000;
    path.queue = 100000;
    path.config.bbr3_probe_rtt_us = 3600000000u;
    ASSERT_TRUE(path.reach(WW_BBR3_UP) && path.reach(WW_BBR3_DOWN));
    path.rate *= 0.85;
    const std::uint64_t began = path.now_us;
    const std::uint32_t wait = path.bbr().bw_probe_wait_us;
    ASSERT_TRUE(path.leave(WW_BBR3_DOWN));
    EXPECT_TRUE(path.is(WW_BBR3_REFILL));
    EXPECT_NEAR(static_cast<double>(path.now_us - began), wait, 5000);
    EXPECT_GE(wait, 2 * kBbr3Second);
    EXPECT_LE(wait, 3 * kBbr3Second);
}

TEST(Bbr3, ProbeRttHalvesTheFlightForItsTimeAndARound) {  // case 10
    Bbr3Path path(WW_BBR3_CRUISE);
    ASSERT_TRUE(path.reach(WW_BBR3_PROBE_RTT, 11 * kBbr3Second));
    const std::uint64_t began = path.now_us;
    ASSERT_TRUE(path.run_until([&] { return path.has(WW_BBR3_PROBE_RTT_TIMED); }, kBbr3Second));
    EXPECT_LE(path.pipe, 21u);
    EXPECT_LE(path.window.cwnd, 21u);
    ASSERT_TRUE(path.leave(WW_BBR3_PROBE_RTT));
    EXPECT_GE(path.now_us - began, 200000u);
    EXPECT_LE(path.now_us - began, 400000u);
    EXPECT_TRUE(path.is(WW_BBR3_CRUISE));
    EXPECT_GT(path.window.cwnd, 60u);
}

// ProbeRTT's cwnd over half a BDP of the first min_rtt. A standing queue of others has tripled the round trip since.
double probe_rtt_excess(std::uint32_t filter_s, bool prior) {
    Bbr3Path path;
    path.config.bbr3_probe_rtt_us = 10 * kBbr3Second;
    path.config.bbr3_min_rtt_us = filter_s * kBbr3Second;
    path.config.bbr3_prior_rtt = prior;
    EXPECT_TRUE(path.reach(WW_BBR3_CRUISE));
    const double min_rtt_s = path.bbr().min_rtt_us * 1e-6;
    path.rtt_us *= 3;
    EXPECT_TRUE(path.reach(WW_BBR3_PROBE_RTT));
    const double half_bdp = static_cast<double>(path.bbr().bw) / 256 * min_rtt_s / 2 / path.mss;
    return ww_bbr3_probe_rtt_cwnd(&path.bbr(), path.mss) / half_bdp;
}
TEST(Bbr3, ProbeRttRemembersTheRttThatExpiresWithIt) {
    EXPECT_NEAR(probe_rtt_excess(10, false), 2.9, 0.1) << "issue 109: an inflated min_rtt";
    EXPECT_NEAR(probe_rtt_excess(20, false), 1, 0.1) << "a filter of two intervals";
    EXPECT_NEAR(probe_rtt_excess(10, true), 1, 0.1) << "the window from before it expires";
}

TEST(Bbr3, IdlenessReplacesProbeRtt) {  // case 11
    Bbr3Path path(WW_BBR3_CRUISE);
    path.app_pauses = true;
    path.run(6 * kBbr3Second);
    ASSERT_EQ(path.pipe, 0u);
    path.app_pauses = false;
    bool probed = false;
    path.look = [&](const ww_sample&) { probed |= path.is(WW_BBR3_PROBE_RTT); };
    path.run(1000);
    EXPECT_TRUE(path.has(WW_BBR3_IDLE_RESTART));
    EXPECT_NEAR(path.gain(), 0.99, 0.001) << "5.4.1: exactly BBR.bw";
    path.run(kBbr3Second);
    EXPECT_FALSE(path.has(WW_BBR3_IDLE_RESTART));
    EXPECT_FALSE(probed);
}

TEST(Bbr3, AggregatedAcksAddToTheWindow) {  // cases 12 and 13
    Bbr3Path path;
    path.aggregate_us = 20000;
    ASSERT_TRUE(path.reach(WW_BBR3_CRUISE));
    EXPECT_NEAR(path.max_bw(), path.rate, 0.25 * path.rate);
    path.run(2 * kBbr3Second);
    const std::uint32_t before = path.delivered;
    EXPECT_GT(path.bbr().extra_acked[0], 10u);
    path.run(4 * kBbr3Second);
    EXPECT_GT((path.delivered - before) * path.mss, 0.9 * 4 * path.rate);
}

TEST(Bbr3, ABdpBelowAPacketKeepsFourInFlight) {  // case 14
    Bbr3Path path;
    path.rate = 12500;  // 100 kb/s: a packet takes 100 ms
    ASSERT_TRUE(path.reach(WW_BBR3_CRUISE));
    EXPECT_GE(path.window.cwnd, 4u);
    EXPECT_NEAR(static_cast<double>(path.bbr().bw) / 256, path.rate, 0.1 * path.rate);
    const std::uint32_t before = path.delivered;
    path.run(20 * kBbr3Second);
    EXPECT_GT(path.delivered - before, 180u);
}

TEST(Bbr3, TenTimesTheBandwidthIsFound) {  // case 15
    Bbr3Path path(WW_BBR3_CRUISE);
    path.rate *= 10;
    EXPECT_TRUE(path.run_until([&] { return path.max_bw() > 0.9 * path.rate; }, 30 * kBbr3Second));
}

TEST(Bbr3, ATenthOfTheBandwidthIsFound) {  // case 16
    Bbr3Path path;
    path.rate = 1.25e7;
    path.queue = 200;
    ASSERT_TRUE(path.reach(WW_BBR3_CRUISE));
    path.rate /= 10;
    path.run(2 * kBbr3Second);
    EXPECT_LT(static_cast<double>(path.bbr().bw) / 256, 3 * path.rate) << "bw_shortterm";
    EXPECT_TRUE(path.run_until([&] { return path.max_bw() < 1.1 * path.rate; }, 30 * kBbr3Second));
}

TEST(Bbr3, ProbeRttInStartupReturnsToStartup) {  // case 20
    Bbr3Path path;
    path.app_rate = 0.3 * path.rate;
    path.rtt_us = 30000;
    path.run(2 * kBbr3Second);
    path.rtt_us = 40000;
    ASSERT_TRUE(path.is(WW_BBR3_STARTUP));
    ASSERT_TRUE(path.reach(WW_BBR3_PROBE_RTT, 6 * kBbr3Second));
    ASSERT_TRUE(path.leave(WW_BBR3_PROBE_RTT));
    EXPECT_TRUE(path.is(WW_BBR3_STARTUP));
}

TEST(Bbr3, APauseInRefillDoesNotLowerTheBandwidth) {  // case 22
    Bbr3Path path(WW_BBR3_REFILL);
    const double before = path.max_bw();
    path.app_rate = 0.3 * path.rate;
    ASSERT_TRUE(path.leave(WW_BBR3_REFILL));
    EXPECT_TRUE(path.is(WW_BBR3_UP));
    EXPECT_EQ(path.max_bw(), before);
}

TEST(Bbr3, AnUndoRestoresTheModelAndTheProbe) {  // 5.5.11.2; cases 18 and 19
    Bbr3Path path(WW_BBR3_UP);
    const std::uint32_t cwnd = path.window.cwnd;
    path.drops = [](std::uint64_t number) { return number % 10 == 0; };
    ASSERT_TRUE(path.reach(WW_BBR3_DOWN, kBbr3Second));
    EXPECT_LT(path.bbr().inflight_longterm, WW_BBR3_ANY_VOLUME);
    path.undo();
    EXPECT_TRUE(path.is(WW_BBR3_REFILL));
    EXPECT_EQ(path.bbr().inflight_longterm, WW_BBR3_ANY_VOLUME);
    EXPECT_GE(path.window.cwnd, cwnd);
}

// 5.5.11.1: the state is saved when "a loss recovery episode" starts; cases 18 and 19.
TEST(Bbr3, LaterLossesOfAnEpisodeDoNotReplaceWhatAnUndoRestores) {
    Bbr3Path path(WW_BBR3_UP);
    path.drops = [](std::uint64_t number) { return number % 10 == 0; };
    ASSERT_TRUE(path.reach(WW_BBR3_DOWN, kBbr3Second));
    const std::uint32_t lost = path.lost;
    path.run(20000);
    ASSERT_GT(path.lost, lost);
    path.undo();
    EXPECT_TRUE(path.is(WW_BBR3_REFILL));
    EXPECT_EQ(path.bbr().inflight_longterm, WW_BBR3_ANY_VOLUME);
}

TEST(Bbr3, ATimeoutLeavesOneMoreThanWhatIsInFlight) {  // 5.6.4.4
    Bbr3Path path(WW_BBR3_CRUISE);
    const std::uint32_t before = path.window.cwnd;
    path.timeout(40);
    EXPECT_EQ(path.window.cwnd, 1u);
    ww_lost lost{};
    lost.now_us = path.now_us;
    lost.mss = 1250;
    lost.pipe = 7;
    lost.delivered = path.delivered;
    ww_on_packet_lost(&path.config, &path.state, &path.window, &lost);
    EXPECT_EQ(path.window.cwnd, 8u);
    path.run(200000);
    EXPECT_GE(path.window.cwnd, before * 9 / 10) << "when recovery ends, within the model";
}

TEST(Bbr3, ATimeoutAtTheLargestFlightStaysWithinTheLargestWindow) {
    Bbr3Path path;
    path.timeout(50);
    ww_lost lost{};
    lost.mss = 1250;
    lost.pipe = UINT32_MAX;
    ww_on_packet_lost(&path.config, &path.state, &path.window, &lost);
    EXPECT_EQ(path.window.cwnd, WW_CWND_MAX);
}

TEST(Bbr3, TheSendQuantumIsAMillisecondWithinTwoSegmentsAnd64Kilobytes) {  // 5.6.3
    const ww_config config = ww_configure(WW_PROTOCOL_BBR3);
    const auto quantum = [&](std::uint64_t bytes_per_s) {
        const ww_window window{10, WW_SSTHRESH_INFINITE, bytes_per_s << WW_BW_FRACTION};
        return ww_quantum(&config, &window, 1000);
    };
    const ww_window fast{10, WW_SSTHRESH_INFINITE, WW_BW_MAX};
    EXPECT_EQ(quantum(100000), 2u);
    EXPECT_EQ(quantum(30000000), 30u);
    EXPECT_EQ(quantum(1000000000), 65u);
    EXPECT_EQ(ww_quantum(&config, &fast, 1), 65536u);
}

TEST(Bbr3, TheFirstFlightIsPaced) {  // 5.6.2: InitPacingRate()
    Bbr3Path path;
    path.srtt_us = 40000;
    path.run(10);
    EXPECT_NEAR(static_cast<double>(path.window.pacing) / 256, 2.773 * 10 * 1250 / 0.04, 1000);
    EXPECT_EQ(path.pipe, 1u);
}

TEST(Bbr3, AGuessOfAMillisecondEndsWithTheFirstRtt) {
    Bbr3Path path;
    path.run(10000);
    EXPECT_GT(static_cast<double>(path.window.pacing) / 256, 30e6);
    path.run(40000);
    EXPECT_LT(static_cast<double>(path.window.pacing) / 256, 4e6);
}

TEST(Bbr3, AMarkCountsAsCongestion) {  // 3.7
    Bbr3Path path(WW_BBR3_UP);
    path.mark(path.pipe);
    EXPECT_TRUE(path.is(WW_BBR3_DOWN));
    EXPECT_LT(path.bbr().inflight_longterm, 100u);
}

}  // namespace
