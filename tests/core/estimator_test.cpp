// SPDX-License-Identifier: BSD-3-Clause
//
// The estimator: silences, impossible samples, and when each sampler takes a sample.
#include "rounds.hpp"

namespace {

using ww::test::bytes_per_second;

// ---- Virtual null samples (Mascolo et al. 2001)

class Westwood : public ww::test::Host {  // tau 500 ms, m = 10
  public:
    explicit Westwood(ww_protocol id = WW_PROTOCOL_WESTWOOD) : Host(id) { now_us = 0; }
    void ack(std::uint64_t at_us, std::uint32_t segments = 1) {
        ww_sample sample{};
        sample.acked_segments = segments;
        sample.in_flight = in_flight;
        sample.rtt_us = rtt_us;
        take(at_us - now_us, sample);
    }
    double estimate(std::uint64_t at_us) const {
        return bytes_per_second(seen(at_us - now_us).bandwidth);
    }
    // Returns the mean ratio of the estimate to the true rate, with an ACK every period_us.
    double regular(std::uint64_t period_us) {
        double sum = 0;
        for (std::uint64_t i = 1; i <= 4000; i++) {
            ack(i * period_us);
            if (i > 2000) sum += bytes_per_second(state.westwood.bandwidth);
        }
        return sum / 2000 / (1000 / (static_cast<double>(period_us) / 1e6));
    }
    std::uint32_t in_flight = 1000000, rtt_us = 90000;
};

// Valla 2002: bwe_computation() runs in recv() only, so a timeout reads the estimate of the last ACK.
TEST(VirtualSamples, EnterWithTheAckThatEndsTheSilence) {
    Westwood westwood;
    for (std::uint64_t i = 1; i <= 9000; i++) westwood.ack(i * 1000);
    const double before = westwood.estimate(9000000);
    EXPECT_EQ(westwood.estimate(19000000), before);
    westwood.ack(9000000 + 1020000);  // 20 null samples, then 1000 bytes over 20 ms
    const double quiet = before * std::pow(19.0 / 21.0, 20);
    EXPECT_NEAR(westwood.estimate(10020000) / ((49 * quiet + 50000) / 51), 1, 1e-4);
}

TEST(VirtualSamples, DecayTheEstimateByTheirFactorPerStep) {
    Westwood westwood;
    westwood.config.null_at_timeout = true;
    for (std::uint64_t i = 1; i <= 9000; i++) westwood.ack(i * 1000);
    const double before = westwood.estimate(9000000);
    EXPECT_NEAR(before, 1e6, 1);
    for (const int steps : {1, 2, 5, 20})
        EXPECT_NEAR(westwood.estimate(9000000 + static_cast<std::uint64_t>(steps) * 50000) /
                        (before * std::pow(19.0 / 21.0, steps)),
                    1.0, 1e-6);
}

TEST(VirtualSamples, RegularAcksWithoutSilenceAreUnbiased) {
    EXPECT_NEAR(Westwood().regular(10000), 1.0, 1e-3);
    EXPECT_NEAR(Westwood().regular(50000), 1.0, 1e-3);
}

double sample_after(std::uint64_t silence_us, Westwood westwood = Westwood()) {
    for (std::uint64_t i = 1; i <= 2000; i++) westwood.ack(i * 1000);
    westwood.ack(2000000 + silence_us);
    return bytes_per_second(westwood.state.westwood.raw);
}

// The ns-2 module of 2002 (tcp-westwood-nr.cc 1.3, filter type 3): idle intervals, then the remainder.
TEST(VirtualSamples, TheRemainderOfASilenceDividesTheRealSample) {
    EXPECT_NEAR(sample_after(75000), 1000 / 0.025, 1);
    EXPECT_NEAR(sample_after(110000), 1000 / 0.010, 1);
    Westwood of_2002;  // tau_ = 1.0 there: idle intervals of tau / 2
    of_2002.config.tau_us = 1000000;
    of_2002.config.m = 2;
    EXPECT_NEAR(sample_after(1200000, of_2002), 1000 / 0.2, 1);
}

TEST(VirtualSamples, ARemainderBelow10msIsReplacedByAWholeInterval) {
    for (const std::uint64_t silence_us : {50000u, 50001u, 59999u, 100000u, 109999u})
        EXPECT_NEAR(sample_after(silence_us), 1000 / 0.05, 1);
    EXPECT_NEAR(sample_after(60000), 1000 / 0.01, 1);
}

// docs/decisions.md, 2: by the letter of the paper some paths measure half or double their rate.
TEST(VirtualSamples, ByTheLetterAPathWithASilencePerAckIsMismeasured) {
    for (const auto& [period_us, mean] : {std::pair{51000, 1.02}, {75000, 0.54}, {125000, 0.55}}) {
        Westwood westwood;
        westwood.config.bound_samples = false;
        EXPECT_NEAR(westwood.regular(static_cast<std::uint64_t>(period_us)), mean, 0.05);
    }
}

// ---- Bounded samples: the data in flight over the smallest RTT

TEST(BoundedSamples, AreAtMostTheFlightOverTheSmallestRtt) {
    Westwood westwood;
    for (std::uint64_t i = 1; i <= 3000; i++) {
        westwood.in_flight = 8;
        westwood.ack(i * 90000 + i % 7);  // 9 segments in flight: at most 100 kB/s
        westwood.in_flight = 0;
        westwood.ack(i * 90000 + 10, 8);
        EXPECT_LE(bytes_per_second(westwood.state.westwood.raw), 1e5);
        EXPECT_LE(bytes_per_second(westwood.state.westwood.bandwidth), 1e5);
    }
}

// A flow limited by its window sends 9 segments per round trip, and is acknowledged in a burst.
TEST(BoundedSamples, LoseNoDataOfAWindowAcknowledgedAtOnce) {
    Westwood westwood;
    westwood.in_flight = 8;
    double sum = 0;
    for (std::uint64_t i = 1; i <= 2000; i++) {
        for (std::uint64_t k = 0; k < 9; k++) westwood.ack(i * 90000 + k * 100);
        if (i > 1000) sum += bytes_per_second(westwood.state.westwood.bandwidth);
    }
    EXPECT_NEAR(sum / 1000 / 1e5, 1, 0.02);
}

TEST(BoundedSamples, MeasureASlowPathWithASilencePerAck) {  // 1 kb/s: a full segment takes 12 s
    for (const std::uint64_t period_us : {51000u, 75000u, 125000u, 12000000u}) {
        Westwood westwood;
        westwood.in_flight = 0;
        westwood.rtt_us = static_cast<std::uint32_t>(period_us);
        EXPECT_NEAR(westwood.regular(period_us), 1, 0.01) << period_us;
    }
}

TEST(BoundedSamples, ASilenceBeginsWhenTheDataThatWaitsHasEntered) {
    Westwood westwood;
    westwood.config.null_at_timeout = true;
    westwood.rtt_us = 100000;
    for (std::uint64_t i = 1; i <= 10000; i++) westwood.ack(i * 1000);
    westwood.in_flight = 0;
    westwood.ack(10050000, 10);  // 100 kB/s for 50 ms: 5 of the 10 segments wait for another 50 ms
    EXPECT_EQ(westwood.state.westwood.pending_bytes, 5000u);
    const double before = westwood.estimate(10050000);
    EXPECT_EQ(westwood.estimate(10050000 + 99999), before);
    const double entered = (19 * before + 2 * 1e5) / 21;  // a step of 50 ms
    EXPECT_NEAR(westwood.estimate(10050000 + 100000) / (entered * 19 / 21), 1, 1e-4);
    EXPECT_NEAR(westwood.estimate(10050000 + 150000) / (entered * 19 * 19 / 21 / 21), 1, 1e-4);
}

TEST(Tustin, EquationOneIsASumSoThatAConstantInputPasses) {
    // Gangadhar et al. 2013: equation 4 prints a product, whose unit is a bandwidth squared.
    std::uint64_t b = 0;
    for (int i = 0; i < 500; i++) b = ww_filter_tustin_constant(b, 256000, 256000, 900);
    EXPECT_NEAR(static_cast<double>(b), 256000, 10);
}

// tcp_westwood.c: usecs_to_jiffies() rounds up, and a window has to last longer than the RTT in jiffies.
TEST(Estimator, InTicksRttsAreRoundedUpAndWindowsLonger) {
    Westwood linux_like(WW_PROTOCOL_WESTWOOD_PLUS_LINUX);
    linux_like.rtt_us = 90400;
    linux_like.ack(1000000);
    EXPECT_EQ(linux_like.state.westwood.rtt_min_us, 92000u) << "23 jiffies of 4 ms";
    linux_like.ack(1092000);
    EXPECT_EQ(linux_like.state.westwood.samples, 0u) << "23 jiffies later";
    linux_like.ack(1096000);
    EXPECT_EQ(linux_like.state.westwood.samples, 1u) << "24";
    linux_like.config.rtt_tick_us = 1;
    linux_like.ack(1187000);
    EXPECT_EQ(linux_like.state.westwood.rtt_min_us, 90400u);
    EXPECT_EQ(linux_like.state.westwood.samples, 2u) << "90.4 ms are enough";
}

TEST(Estimator, AcksInTheSameMicrosecondJoinTheNextSample) {
    Westwood westwood;
    westwood.config.filter = WW_FILTER_NONE;
    westwood.ack(1000);
    westwood.ack(2000);
    westwood.ack(2000, 3);
    westwood.ack(3000);
    EXPECT_EQ(bytes_per_second(westwood.state.westwood.bandwidth), 4000 / 0.001);
}

TEST(Estimator,
     WestwoodPlusDividesByTheTimeElapsedAndCountsAfterOpening) {  // Dell'Aera et al. 2003, 2.2
    Westwood plus(WW_PROTOCOL_WESTWOOD_PLUS);
    for (std::uint64_t i = 0; i <= 10; i++)
        plus.ack(1000000 + i * 10000);  // RTT 90 ms: closes at 90 ms
    EXPECT_EQ(plus.state.westwood.samples, 1u);
    EXPECT_EQ(bytes_per_second(plus.state.westwood.bandwidth), 9 * 1000 / 0.09);
}

TEST(Estimator, TheTimerOfThe2013CodeCountsTheOpeningAckToo) {  // Gangadhar et al. 2013, equation 3
    Westwood plus(WW_PROTOCOL_WESTWOOD_PLUS_NS3);
    for (std::uint64_t i = 0; i <= 9; i++) plus.ack(1000000 + i * 10000);
    EXPECT_EQ(plus.state.westwood.samples, 1u);
    EXPECT_NEAR(bytes_per_second(plus.state.westwood.bandwidth), 9 * 1000 / 0.09, 1)
        << "ACKs at 0..80 ms";
}

}  // namespace
