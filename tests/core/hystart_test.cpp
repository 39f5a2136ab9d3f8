// SPDX-License-Identifier: BSD-3-Clause
//
// Compares HyStart++ with RFC 9406, and HyStart with Linux's tcp_cubic.c and ns-3's tcp-cubic.cc.
#include "rounds.hpp"

namespace {

using ww::test::Rounds;

class HyStartPlusPlus : public testing::Test {
  protected:
    HyStartPlusPlus() { c.config.slow_start = WW_HYSTART_PLUS_PLUS; }
    const ww_hystart_plus_plus_state& state() const { return c.state.cubic.plus_plus; }
    Rounds c{WW_PROTOCOL_CUBIC, 16};
};

TEST_F(HyStartPlusPlus, SteadyRoundTripsDoNotEndSlowStart) {
    for (int i = 0; i < 5; i++) c.round(40000);
    EXPECT_EQ(c.window.cwnd, 16u << 5);
    EXPECT_FALSE(ww_in_css(&state()));
}

TEST_F(HyStartPlusPlus, RisingRoundTripsSlowGrowthToAQuarterAndEndSlowStart) {  // 4.2
    c.round(40000);
    c.round(40000);
    const std::uint32_t before = c.window.cwnd;
    c.round(44900);  // RttThresh = clamp(40 / 8, 4, 16) = 5 ms
    EXPECT_EQ(c.window.cwnd, 2 * before) << "below the threshold";
    // The next minimum is compared with 44.9 ms: it must be 5.6 ms longer.
    const std::uint32_t cwnd = c.window.cwnd;
    for (int i = 0; i < 8; i++) c.ack(10, 50600);
    EXPECT_TRUE(ww_in_css(&state())) << "eight samples show it";
    EXPECT_LE(c.window.cwnd, cwnd + 8);
    const std::uint32_t css = c.window.cwnd;
    for (int i = 0; i < 40; i++) c.ack(10, 50600);
    EXPECT_EQ(c.window.cwnd, css + 10) << "a quarter of slow start's growth";
    for (int rounds = 0; rounds < 5; rounds++) c.round(50600);
    EXPECT_TRUE(state().done);
    EXPECT_LE(c.window.ssthresh, c.window.cwnd) << "CSS_ROUNDS rounds, then congestion avoidance";
    EXPECT_EQ(c.state.cubic.curve.k_ms, 0u) << "RFC 9438, 4.10";
    EXPECT_EQ(c.state.cubic.curve.w_max >> WW_CUBIC_FRACTION, c.window.ssthresh);
    EXPECT_EQ(c.state.cubic.curve.cwnd_prior, c.window.ssthresh);
}

TEST_F(HyStartPlusPlus, AFallingRoundTripShowsThatThereWasNoCongestion) {  // 4.2
    c.round(40000);
    c.round(40000);
    for (int i = 0; i < 8; i++) c.ack(10, 60000);
    // 8 samples of this round are below the threshold: the round began with 40 ms.
    c.round(60000);
    ASSERT_TRUE(ww_in_css(&state()));
    c.round(40000);
    c.round(40000);
    EXPECT_FALSE(ww_in_css(&state()));
    EXPECT_EQ(state().css_rounds, 0u) << "the next CSS has all of its rounds";
    EXPECT_FALSE(state().done);
    EXPECT_EQ(c.window.ssthresh, WW_SSTHRESH_INFINITE);
}

TEST_F(HyStartPlusPlus, IsForTheFirstSlowStartOnly) {  // RFC 9406, 4.3
    c.timeout();
    c.window.ssthresh = 1000;
    for (int i = 0; i < 5; i++) c.round(40000 + 20000 * static_cast<std::uint32_t>(i));
    EXPECT_FALSE(ww_in_css(&state()));
    EXPECT_EQ(c.window.ssthresh, 1000u);
}

class HyStart : public testing::Test {
  protected:
    explicit HyStart(std::uint8_t hystart = WW_HYSTART_LINUX) {
        c.config.slow_start = hystart;
        c.config.cubic_rules = WW_RULES_LINUX;
        c.before_sending = true;
    }

    void restart() {
        const ww_config config = c.config;
        c = Rounds(WW_PROTOCOL_CUBIC, 16);
        c.config = config;
        c.before_sending = true;
    }

    // A round whose ACKs are `apart_us` apart; the path is idle for the rest of it.
    void train(std::uint32_t rtt_us, std::uint32_t apart_us) {
        const std::uint32_t count = c.window.cwnd;
        for (std::uint32_t i = 0; i < count; i++) c.ack(i == 0 ? 0 : apart_us, rtt_us);
        const std::uint32_t busy_us = (count - 1) * apart_us;
        c.now_us += rtt_us > busy_us ? rtt_us - busy_us : 0;
    }
    bool in_slow_start() const { return c.window.ssthresh == WW_SSTHRESH_INFINITE; }
    Rounds c{WW_PROTOCOL_CUBIC, 16};
};

TEST_F(HyStart, ATrainOfHalfTheRoundTripEndsSlowStart) {  // longest = (100 ms + 1 ms) / 2
    for (int i = 0; i < 3; i++) train(100000, 400);
    for (int i = 0; i < 127; i++) c.ack(i == 0 ? 0 : 400, 100000);
    EXPECT_TRUE(in_slow_start()) << "126 gaps of 0.4 ms last 50.4 ms";
    c.ack(400, 100000);
    EXPECT_EQ(c.window.ssthresh, 128u + 127);
}

TEST_F(HyStart, ADelayOfAnEighthOfTheSmallestRoundTripEndsSlowStart) {  // threshold = 90 ms / 8
    for (const std::uint32_t delayed_us : {101250u, 101251u}) {
        train(90000, 2001);
        for (int i = 0; i < 8; i++) c.ack(2001, delayed_us);
        ASSERT_TRUE(in_slow_start()) << "the ninth sample of the round decides";
        c.ack(2001, delayed_us);
        EXPECT_EQ(in_slow_start(), delayed_us == 101250);
        restart();
    }
}

TEST_F(HyStart, EveryRoundIsOneFlightFromTheFirstOn) {  // tcp_cubic.c since 6.14
    c.window.cwnd = 10;
    for (int i = 0; i < 3; i++) train(100000, 1000);
    ASSERT_TRUE(in_slow_start());
    ASSERT_EQ(c.window.cwnd, 80u);
    train(100000, 1000);
    EXPECT_EQ(c.window.ssthresh, 80u + 51)
        << "51 gaps of 1 ms, though 16 came amid the first flight";
}

class HyStartOfNs3 : public HyStart {
  protected:
    HyStartOfNs3() : HyStart(WW_HYSTART_NS3) {}
};

TEST_F(HyStartOfNs3, ATrainOfAWholeRoundTripEndsSlowStart) {
    for (int i = 0; i < 4; i++) train(100000, 500);
    EXPECT_TRUE(in_slow_start()) << "where Linux has left: 127 gaps last 63.5 ms";
    train(100000, 500);
    EXPECT_EQ(c.window.ssthresh, 256u + 201) << "201 gaps of 0.5 ms are the first beyond 100 ms";
}

// tcp-cubic.cc: PktsAcked() takes m_srtt, which TcpSocketBase begins with the handshake's round trip.
TEST_F(HyStartOfNs3, TheSmoothedRoundTripBeginsWithTheHandshake) {
    c.srtt_us = 44540;
    c.ack(2001, 65580);
    EXPECT_EQ(c.state.cubic.delay_min_us, 44540u + (65580 - 44540) / 8);
}

TEST_F(HyStartOfNs3, SmoothedRoundTripsMustDouble) {
    train(90000, 2001);
    for (int i = 0; i < 4; i++) train(170000, 2001);
    EXPECT_TRUE(in_slow_start()) << "delay_min and as much again is 180 ms";
    train(200000, 2001);
    train(200000, 2001);
    EXPECT_FALSE(in_slow_start());
}

}  // namespace
