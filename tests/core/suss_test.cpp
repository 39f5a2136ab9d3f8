// SPDX-License-Identifier: BSD-3-Clause
//
// Compares SUSS with the code of its authors: https://github.com/SUSSdeveloper/SUSS, linux-6.8/suss, blocks E7 to E12.
#include <gtest/gtest.h>

#include "rounds.hpp"

namespace {

using ww::test::Host;
using ww::test::kMss;

constexpr std::uint32_t kRtt = 100000;  // us

class Suss : public Host, public testing::Test {
  public:
    explicit Suss(ww_protocol id = WW_PROTOCOL_SACK) : Host(configured(id)) {}

  protected:
    static ww_config configured(ww_protocol id) {
        ww_config config = ww_configure(id);
        config.slow_start = WW_SUSS;
        return config;
    }
    const ww_suss_state& suss() const { return state.start.suss; }

    void ack(std::uint64_t after_us, std::uint32_t rtt_us = kRtt) {
        ww_sample sample{};
        sample.acked_segments = 1;
        sample.in_flight = --flight;
        sample.rtt_us = sample.srtt_us = rtt_us;
        sample.is_cwnd_limited = limited;
        take(after_us, sample);
        if (window.pacing == 0) flight = std::max(flight, window.cwnd);
    }
    // The flight's ACKs, one each `spacing_us`; what pacing held back is sent by then.
    void round(std::uint64_t spacing_us, std::uint32_t rtt_us = kRtt) {
        const std::uint32_t count = flight;
        for (std::uint32_t i = 0; i < count; i++) {
            ack(i == 0 ? kRtt : spacing_us, rtt_us);
            if (window.pacing != 0 && i + 1 == count) flight = std::max(flight, window.cwnd);
        }
    }
    double paced_segments_per_rtt() const {
        return ww::test::bytes_per_second(window.pacing) / 10 / kMss;
    }

    std::uint32_t flight = 10;
    bool limited = true;
};

TEST_F(Suss, QuadruplesTheWindowInThreeRounds) {  // suss_max = 3
    for (const std::uint32_t expected : {40u, 160u, 640u, 1280u}) {
        round(1);
        EXPECT_EQ(window.cwnd, expected);
    }
    EXPECT_EQ(suss().jumps, 3);
    EXPECT_EQ(window.ssthresh, WW_SSTHRESH_INFINITE);
}

// E7, round 2: delay_min above 10 ms, and the blue ACKs within a quarter of it.
TEST_F(Suss, JudgesTheFirstRoundByAQuarterOfTheLeastRtt) {
    for (const auto& [spacing_us, rtt_us, expected] :
         {std::tuple{2490u, kRtt, 40u}, {2500u, kRtt, 20u}, {1u, 10001u, 40u}, {1u, 10000u, 20u}}) {
        *static_cast<Host*>(this) = Host(configured(WW_PROTOCOL_SACK));
        flight = 10;
        round(spacing_us, rtt_us);
        EXPECT_EQ(window.cwnd, expected) << spacing_us << " " << rtt_us;
    }
}

// E7, condition 1: with the growth mu of the train, mu dt_at <= minRTT / 2. Here mu is 2 for each doubling.
TEST_F(Suss, CarriesTheTrainOnByARound) {
    for (const auto& [spacing_us, expected] : {std::pair{600u, 160u}, {700u, 80u}}) {
        *static_cast<Host*>(this) = Host(configured(WW_PROTOCOL_SACK));
        flight = 10;
        round(spacing_us);  // 40 ACKs will last 24 ms, or 28
        round(spacing_us);
        EXPECT_EQ(window.cwnd, expected) << spacing_us;
        EXPECT_EQ(suss().slowed, expected == 80);
    }
}

// E7, condition 2: (k + 1) moRTT <= (k + 1) minRTT + k minRTT / 8, k = 2 rounds after the first ACK.
TEST_F(Suss, CarriesTheDelayOnByARound) {
    for (const auto& [rtt_us, expected] : {std::pair{108333u, 160u}, {108334u, 80u}}) {
        *static_cast<Host*>(this) = Host(configured(WW_PROTOCOL_SACK));
        flight = 10;
        round(1);
        round(1, rtt_us);
        EXPECT_EQ(window.cwnd, expected) << rtt_us;
    }
}

// E11: red_pkt over minRTT - minRTT / 2^(i - 1), after a guard of half of what the blue ACKs leave of the rest.
TEST_F(Suss, PacesWhatIsRedUntilItsSlotEnds) {
    for (int i = 0; i < 10; i++) ack(i == 0 ? 0 : 9000 / 9);
    EXPECT_EQ(window.cwnd, 40u) << "at once, where the authors' kernel adds two at a time";
    EXPECT_NEAR(paced_segments_per_rtt(), 21 / (0.5 + (0.5 - 0.1) / 2), 0.01)
        << "and one that is blue";
    flight = 40;
    ack(kRtt);
    EXPECT_EQ(window.pacing, 0u) << "a round begins with its ACK clock";
}

TEST_F(Suss, DoesNotGrowByTheAcksOfRedSegments) {  // E11: snd_cwnd -= acked
    round(1);
    for (int i = 0; i < 20; i++) ack(1);
    EXPECT_EQ(window.cwnd, 40u + 20 + 120 - 20) << "suss_limit";
    for (int i = 0; i < 20; i++) ack(1);
    EXPECT_EQ(window.cwnd, 160u);
}

// E12: a blue train of 2^-j (minRTT + cushion) / 2 sets a cap where the red ACKs would have come.
TEST_F(Suss, EndsWhereTheWholeTrainWouldHave) {
    round(600);  // 40 in flight, of which 20 are blue; j = 1
    std::uint32_t acks = 0;
    for (; acks < 40 && suss().cap == 0; acks++) ack(acks == 0 ? kRtt : 1500);
    EXPECT_EQ(acks, 18u) << "17 intervals of 1.5 ms last longer than half of 50.5 ms";
    EXPECT_EQ(suss().cap, 57u + 17) << "the blue ACKs before, once more";
    for (; window.ssthresh == WW_SSTHRESH_INFINITE && acks < 60; acks++) ack(1500);
    EXPECT_EQ(acks, 36u) << "as many ACKs again, and one";
    EXPECT_EQ(window.ssthresh, window.cwnd);
    EXPECT_EQ(window.pacing, 0u);
}

TEST_F(Suss, EndsWithWhatIsInFlightWhenADelayShows) {  // E9: suss_state = 4
    round(1);
    for (int i = 0; i < 9; i++) ack(i == 0 ? kRtt : 1, kRtt + 12500);
    flight = 45;
    ack(1, kRtt + 12501);
    EXPECT_EQ(window.ssthresh, WW_SSTHRESH_INFINITE) << "the round's smallest RTT counts";
    round(1, kRtt + 12501);
    EXPECT_NE(window.ssthresh, WW_SSTHRESH_INFINITE);
    EXPECT_LT(window.cwnd, 100u);
}

TEST_F(Suss, LosesWhatItsJumpHasNotSent) {  // C3: snd_cwnd = tcp_packets_in_flight()
    for (const bool marked : {false, true}) {
        *static_cast<Host*>(this) = Host(configured(WW_PROTOCOL_CUBIC));
        flight = 10;
        round(1);
        if (marked)
            mark(30);
        else
            loss(30);
        EXPECT_EQ(window.cwnd, 21u) << "seven tenths of what is in flight";
        EXPECT_EQ(window.pacing, 0u);
        undo();
        EXPECT_TRUE(suss().slowed) << "an undo does not bring the acceleration back";
    }
}

TEST_F(Suss, NeedsAFullWindowAndTheTimeOfItsAcks) {
    limited = false;
    round(1);
    EXPECT_FALSE(suss().jumps) << "RFC 7661";
    *static_cast<Host*>(this) = Host(configured(WW_PROTOCOL_SACK));
    ww_sample sample{};
    sample.acked_segments = 10;
    sample.rtt_us = sample.srtt_us = kRtt;
    sample.is_cwnd_limited = true;
    take(kRtt, sample);
    EXPECT_TRUE(suss().slowed) << "an ACK for the whole flight";
}

}  // namespace
