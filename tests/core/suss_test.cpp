// SPDX-License-Identifier: BSD-3-Clause
//
// Compares SUSS with the code of its authors: https://github.com/SUSSdeveloper/SUSS, linux-6.8/suss, blocks E7 to E12.
#include <gtest/gtest.h>

#include "rounds.hpp"

namespace {

constexpr std::uint32_t kRtt = 100000;  // us

class Suss : public ww::test::Start {
  public:
    explicit Suss(ww_protocol id = WW_PROTOCOL_SACK) : Start(WW_SUSS, id) {}

    void ack(std::uint64_t after_us, std::uint32_t rtt_us = kRtt) {
        arrive(after_us, rtt_us, --flight);
        if (window.pacing == 0) flight = std::max(flight, window.cwnd);
    }
    // The flight's ACKs, one each `spacing_us`; what pacing held back has been sent by then.
    void round(std::uint64_t spacing_us, std::uint32_t rtt_us = kRtt) {
        const std::uint32_t count = flight;
        for (std::uint32_t i = 0; i < count; i++) ack(i == 0 ? kRtt : spacing_us, rtt_us);
        flight = std::max(flight, window.cwnd);
    }
    const ww_suss_state& suss() const { return state.start.suss; }

    std::uint32_t flight = 10;
};

TEST(Suss, QuadruplesTheWindowInThreeRounds) {  // suss_max = 3
    Suss c;
    for (const std::uint32_t expected : {40u, 160u, 640u, 1280u}) {
        c.round(1);
        EXPECT_EQ(c.window.cwnd, expected);
    }
    EXPECT_EQ(c.window.ssthresh, WW_SSTHRESH_INFINITE);
}

TEST(Suss, QuadruplesWhereBothSignsAllowIt) {  // E7
    const struct {
        std::uint32_t spacing_us, rtt_us, later_us, expected;
    } rows[] = {
        {2490, kRtt, 0, 40},  // first: the blue ACKs within a quarter of minRTT
        {2500, kRtt, 0, 20},  //
        {1, 10001, 0, 40},    // first: minRTT above 10 ms
        {1, 10000, 0, 20},    //
        {600, kRtt, kRtt,
         160},  // condition 1: 40 ACKs will last 24 ms, and 4 times as many twice that
        {700, kRtt, kRtt, 80},   // 28 ms
        {1, kRtt, 108333, 160},  // condition 2: 3 moRTT <= 3 minRTT + 2 minRTT / 8
        {1, kRtt, 108334, 80},
    };
    for (const auto& row : rows) {
        Suss c;
        c.round(row.spacing_us, row.rtt_us);
        if (row.later_us != 0) c.round(row.spacing_us, row.later_us);
        EXPECT_EQ(c.window.cwnd, row.expected) << row.spacing_us << " " << row.later_us;
    }
}

// E11: red_pkt over minRTT - minRTT / 2^(i - 1), after a guard of half of what the blue ACKs leave of the rest.
TEST(Suss, PacesWhatIsRedAndDoesNotGrowByItsAcks) {
    Suss c;
    for (int i = 0; i < 10; i++) c.ack(i == 0 ? 0 : 1000);
    EXPECT_EQ(c.window.cwnd, 40u);
    EXPECT_NEAR(ww::test::bytes_per_second(c.window.pacing) / 10 / ww::test::kMss,
                21 / (0.5 + (0.5 - 0.1) / 2), 0.01)
        << "and one that is blue";
    c.flight = 40;
    c.ack(kRtt);
    EXPECT_EQ(c.window.pacing, 0u) << "a round begins with its ACK clock";
    for (int i = 0; i < 19; i++) c.ack(1);
    EXPECT_EQ(c.window.cwnd, 40u + 20 + 120 - 20) << "suss_limit";
    for (int i = 0; i < 20; i++) c.ack(1);
    EXPECT_EQ(c.window.cwnd, 160u);
}

TEST(Suss, EndsWhereTheWholeTrainWouldHave) {  // E12
    Suss c;
    c.round(600);  // 40 in flight, of which 20 are blue
    std::uint32_t acks = 0;
    for (; acks < 40 && c.suss().cap == 0; acks++) c.ack(acks == 0 ? kRtt : 1500);
    EXPECT_EQ(acks, 18u) << "17 intervals of 1.5 ms last longer than half of 50.5 ms";
    EXPECT_EQ(c.suss().cap, 57u + 17) << "the blue ACKs before, once more";
    for (; c.window.ssthresh == WW_SSTHRESH_INFINITE && acks < 60; acks++) c.ack(1500);
    EXPECT_EQ(acks, 36u);
    EXPECT_EQ(c.window.ssthresh, c.window.cwnd);
}

TEST(Suss, KeepsWhatIsInFlightAfterADelayOrALoss) {  // E9 and C3: cwnd = tcp_packets_in_flight()
    for (const int event : {0, 1, 2}) {
        Suss c(WW_PROTOCOL_CUBIC);
        c.round(1);
        for (int i = 0; event == 0 && i < 9; i++) {
            c.flight = 30;
            c.ack(i == 0 ? kRtt : 1, kRtt + 12501);
        }
        if (event == 1) c.mark(30);
        if (event == 2) c.loss(30);
        EXPECT_EQ(c.window.ssthresh, event == 0 ? 29u : 21u) << "all, or seven tenths";
        EXPECT_EQ(c.window.pacing, 0u);
        c.undo();
        EXPECT_TRUE(c.suss().slowed) << "an undo does not bring the acceleration back";
    }
}

TEST(Suss, NeedsAFullWindowAndTheTimeOfItsAcks) {
    Suss idle, merged;
    idle.limited = false;
    idle.round(1);
    EXPECT_EQ(idle.suss().jumps, 0) << "RFC 7661";
    merged.flight = 1;
    merged.ack(kRtt);
    EXPECT_TRUE(merged.suss().slowed) << "an ACK for the whole flight";
}

}  // namespace
