// SPDX-License-Identifier: BSD-3-Clause
//
// core/westwood_cubic_evidence.h: are packets lost where round trips are long?
#include <random>

#include "westwood_cubic.hpp"

namespace ww::test::westwood_cubic {
namespace {

constexpr std::uint32_t kZero = 128 << 8;  // evidence 0

// ---- scores

// A connection with this mean and deviation, and an SRTT this far above the mean.
WestwoodCubic at(std::int32_t above_us, std::uint32_t dev_us) {
    WestwoodCubic c = settled(100);
    c.state.westwood_cubic.mean_us = 2 * kRtt;
    c.state.westwood_cubic.dev_us = dev_us;
    c.state.westwood_cubic.srtt_us = 2 * kRtt + static_cast<std::uint32_t>(above_us);
    return c;
}
std::uint32_t score_at(std::int32_t above_us, std::uint32_t dev_us) {
    return ww_wc_score(&at(above_us, dev_us).wc());
}

TEST(WestwoodCubicEvidence, AScoreIsTheDistanceFromTheMeanInDeviations) {
    EXPECT_EQ(score_at(0, 1000), 128u);
    EXPECT_EQ(score_at(1000, 1000), 192u) << "dev above the mean are 1/2";
    EXPECT_EQ(score_at(-1000, 1000), 64u);
    EXPECT_EQ(score_at(2, 128), 129u);
    EXPECT_EQ(score_at(-2, 128), 127u);
    EXPECT_EQ(score_at(-2, 129), 128u) << "towards 0";
    EXPECT_EQ(score_at(2, 129), 128u);
}

TEST(WestwoodCubicEvidence, AScoreIsBetweenMinusOneAndOne) {
    EXPECT_EQ(score_at(1984, 1000), 254u);
    EXPECT_EQ(score_at(2000, 1000), 255u);
    EXPECT_EQ(score_at(100000, 1000), 255u);
    EXPECT_EQ(score_at(-1984, 1000), 2u);
    EXPECT_EQ(score_at(-2000, 1000), 0u);
    EXPECT_EQ(score_at(-100000, 1000), 0u);
}

TEST(WestwoodCubicEvidence, DistancesBelowAFractionOfTheRoundTripAreNoise) {
    EXPECT_EQ(score_at(28, 0), 192u) << "100000 / 8192 + 16 us = 28 us";
    EXPECT_EQ(score_at(28, 28), 192u);
    EXPECT_EQ(score_at(29, 29), 192u);
    EXPECT_EQ(score_at(28, 29), 189u);
}

// ---- what scores lead to

// Begins a round with an ACK whose first loss has score 1.
void lose_at_the_top(WestwoodCubic& c, ww_phase phase = WW_OPEN) {
    c.ack({.rtt_us = 0, .phase = phase, .ends_round = true});
    c.state.westwood_cubic.dev_us = 1000;
    c.state.westwood_cubic.srtt_us = c.wc().mean_us + 2000;
    c.ack({.rtt_us = 0, .lost = 1, .phase = phase});
}

TEST(WestwoodCubicEvidence, TheFirstScoresWeighAQuarterAndTheLastsAThirtySecond) {
    WestwoodCubic c(100, 100);
    c.ack({});
    c.ack({.ends_round = true});
    EXPECT_EQ(c.wc().evidence, kZero + kZero / 4) << "the start";
    std::uint32_t evidence = c.wc().evidence;
    for (std::uint32_t scores = 1; scores <= 100; scores++) {
        lose_at_the_top(c);
        const std::uint32_t weight = std::clamp(scores, 4u, 32u);
        evidence = (evidence * (weight - 1) + (255u << 8)) / weight;
        ASSERT_EQ(c.wc().evidence, evidence) << scores;
    }
    EXPECT_GT(c.evidence(), 0.9);
}

// ---- mean and deviation

// Ends a round of ACKs with this SRTT, which enters mean_us and dev_us.
void go_through(WestwoodCubic& c, std::uint32_t srtt_us) {
    for (int i = 0; i < 3; i++) {
        c.state.westwood_cubic.srtt_us = srtt_us;
        c.ack({.rtt_us = srtt_us / 8 * 8});  // SRTT - SRTT / 8 + RTT / 8 = SRTT
    }
    c.ack({.rtt_us = 0, .ends_round = true});
}

TEST(WestwoodCubicEvidence, TheFirstRoundsWeighTheSame) {
    WestwoodCubic c(100, 100);
    std::uint32_t sum_us = 0;
    for (std::uint32_t rounds = 1; rounds <= 16; rounds++) {
        const std::uint32_t srtt_us = 80000 + rounds * 8000;
        go_through(c, srtt_us);
        sum_us += srtt_us;
        EXPECT_NEAR(c.wc().mean_us, sum_us / rounds, rounds) << rounds;
    }
    const std::uint32_t mean_us = c.wc().mean_us;
    go_through(c, 800000);
    EXPECT_NEAR(c.wc().mean_us, (mean_us * 15 + 800000) / 16, 1) << "a sixteenth from then on";
    go_through(c, 800000);
    EXPECT_NEAR(c.wc().mean_us, ((mean_us * 15 + 800000) / 16 * 15 + 800000) / 16, 2);
}

TEST(WestwoodCubicEvidence, TheSumsOfARoundAreBounded) {
    WestwoodCubic c(100, 100);
    c.ack({});
    c.acks(10000, {.rtt_us = 20 * kRtt});  // a queue of 1.9 s counts as 1.05 s
    EXPECT_EQ(c.wc().samples, 4095u);
    EXPECT_GT(c.wc().delay_sum_us, 4000u << 20);
    c.ack({.rtt_us = 0, .ends_round = true});
    EXPECT_EQ(c.wc().samples, 0u);
    EXPECT_NEAR(c.wc().mean_us, kRtt + (1 << 20), 0.01 * (1 << 20));
    c.acks(10000, {.rtt_us = 40 * kRtt});
    EXPECT_GT(c.wc().away_sum_us, 4000u << 20);
    EXPECT_LE(c.wc().away_sum_us, 4095u * ((1u << 20) - 1));
}

// ---- what the evidence says of a path

// How a path loses packets, whose queue fills completely within 20 rounds and then is empty.
struct Path {
    const char* why;
    std::uint32_t queue_us, jitter_us;
    double loss;  // of the link
    bool is_full_queues = false;
    bool is_reds = false;  // which drops more packets when the queue is longer

    bool loses(std::uint32_t place, std::mt19937& random) const {
        const double share = is_reds ? place / 1000.0 : 1;
        return std::bernoulli_distribution(loss * share)(random) ||
               (is_full_queues && place >= 990);
    }
};

// Returns the evidence's mean over 4000 rounds of 50 ACKs, after 200.
double evidence_on(const Path& path) {
    WestwoodCubic c(1000, 1000);
    std::mt19937 random(1);
    std::uniform_int_distribution<std::uint32_t> jitter_us(0, path.jitter_us);
    double sum = 0;
    for (std::uint32_t ack = 0; ack < 4200 * 50; ack++) {
        const std::uint32_t rtt_us = kRtt + ack % 1000 * path.queue_us / 1000 + jitter_us(random);
        const bool lost = path.loses(ack % 1000, random);
        c.ack({.rtt_us = rtt_us, .lost = lost, .ends_round = ack % 50 == 0});
        if (ack >= 200 * 50) sum += c.evidence();
    }
    return sum / (4000 * 50);
}

TEST(WestwoodCubicEvidence, TellsLossesOfAFullQueueFromThoseOfALink) {
    struct Row {
        Path path;
        double least, most;
    };
    std::vector<Row> rows = {
        {{"losses on a steady path", 0, 0, 0.01}, -1e-3, 1e-3},
        {{"jitter does not hide a full queue", 20000, 20000, 0, true}, 0.7, 1},
        {{"losses of both", 50000, 0, 0.001, true}, 0.3, 0.8},
        {{"RED's are above the threshold", 20000, 0, 0.01, false, true}, 0.25, 1},
    };
    for (const std::uint32_t queue_us : {1000u, 50000u, 400000u})
        rows.push_back({{"a link's, whatever the queue does", queue_us, 0, 0.005}, -0.12, 0.12});
    for (const std::uint32_t jitter_us : {20u, 100u, 1000u, 30000u, 200000u})
        rows.push_back({{"a link's, with jitter", 0, jitter_us, 0.01}, -0.06, 0.06});
    for (const std::uint32_t queue_us : {500u, 5000u, 50000u, 400000u})
        rows.push_back({{"a full queue's, however short it is", queue_us, 0, 0, true}, 0.75, 1});
    for (const auto& [path, least, most] : rows) {
        const double evidence = evidence_on(path);
        EXPECT_TRUE(evidence > least && evidence < most)
            << path.why << ": " << evidence << ", queue " << path.queue_us;
    }
}

}  // namespace
}  // namespace ww::test::westwood_cubic
