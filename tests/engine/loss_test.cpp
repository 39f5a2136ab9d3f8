// SPDX-License-Identifier: BSD-3-Clause
//
// Bit errors and the two-state model by theory. channel_test.cpp has uniform and scripted loss.

#include "engine/link/loss/process.hpp"
#include "one_link.hpp"
#include "statistics.hpp"

namespace ww::sim::test {
namespace {

LossProcess process_of(const Loss& loss, std::uint64_t seed,
                       Stream direction = Stream::loss_forward) {
    return LossProcess(loss, Random(seed, direction, 0), Random(seed, Stream::link_state, 0));
}

bool lost(LossProcess& process, Time now, std::uint32_t bytes = 1500) {
    process.set_size(bytes);
    return process.loses(now);
}

TEST(BitErrors, LoseAPacketByItsLength) {  // P(loss) = 1 - (1 - p)^(8 bytes)
    const Bits loss{1e-5};
    const std::uint32_t sizes[] = {40, 552, 1500, 9000};
    constexpr int kEach = 200000;
    LossProcess process = process_of(loss, 1);
    std::vector<double> seen, expected;
    for (const std::uint32_t bytes : sizes) {
        double count = 0;
        for (int i = 0; i < kEach; i++) count += lost(process, 0, bytes);
        const double p = 1 - std::pow(1 - loss.rate, 8.0 * bytes);
        seen.insert(seen.end(), {count, kEach - count});
        expected.insert(expected.end(), {kEach * p, kEach * (1 - p)});
    }
    expect_chi_square(seen, expected, "bit errors", 4);
}

TEST(BitErrors, AreTheSameWithMixedLengths) {
    const Bits loss{3e-5};
    LossProcess process = process_of(loss, 2);
    std::vector<double> seen(4), expected(4);
    for (int i = 0; i < 400000; i++) {
        const bool is_long = i % 3 == 0;
        const std::uint32_t bytes = is_long ? 1500 : 40;
        const double p = 1 - std::pow(1 - loss.rate, 8.0 * bytes);
        const std::size_t cell = is_long ? 0 : 2;
        seen[lost(process, 0, bytes) ? cell : cell + 1]++;
        expected[cell] += p;
        expected[cell + 1] += 1 - p;
    }
    expect_chi_square(seen, expected, "mixed lengths", 2);
}

TEST(RareLosses, AreAsRareAsTheirRateSays) {  // 1 - 1e-17 is 1 in a double
    for (const double rate :
         {0.5, 1e-3, 1e-7, 1e-8, 7e-9, 1e-12, 1e-15, 1e-16, 1e-17, 1e-30, 2e-308})
        EXPECT_NEAR(log_of_passing(rate) / std::log1p(-rate), 1, 1e-8) << rate;
}

TEST(RareLosses, NeverOverflowTheirCounter) {
    for (const double rate : {1e-30, 2.3e-308, 5e-324}) {
        for (const Loss& loss : {Loss(Uniform{rate}), Loss(Bits{rate})}) {
            LossProcess process = process_of(loss, 1);
            for (int i = 0; i < 1000; i++) ASSERT_FALSE(lost(process, 0, 65535)) << rate;
        }
    }
}

TEST(TwoStates, LastExponentialTimesOfTheirMeans) {  // rates 0 and 1 show the state
    LossProcess process = process_of(Markov{80 * kMs, 40 * kMs, 0, 1}, 3);
    std::vector<double> lengths[2];
    bool state = false;
    Time since = 0;
    constexpr Time kStep = kMs / 50;  // short compared with a mean of 40 ms
    for (Time now = 0; now < 3000 * kSecond; now += kStep) {
        const bool bad = lost(process, now);
        if (bad == state) continue;
        lengths[state].push_back(static_cast<double>(now - since) / static_cast<double>(kMs));
        state = bad;
        since = now;
    }
    EXPECT_NEAR(static_cast<double>(lengths[0].size()), 3e6 / 120, 600);
    expect_exponential(lengths[0], 80, "good");
    expect_exponential(lengths[1], 40, "bad");
}

// Numbers are drawn in advance, but each packet has its own.
TEST(TwoStates, TakeOneNumberPerPacket) {
    const double rate[] = {1e-5, 0.02};
    LossProcess process = process_of(Markov{80 * kMs, 40 * kMs, rate[0], rate[1]}, 5);
    LossProcess state = process_of(Markov{80 * kMs, 40 * kMs, 0, 1}, 5);
    Random numbers(5, Stream::loss_forward, 0);
    int losses = 0;
    for (Time now = 0; now < 100 * kSecond; now += kMs) {
        const bool is_lost = numbers.open_unit() < rate[lost(state, now) ? 1 : 0];
        ASSERT_EQ(lost(process, now), is_lost) << now;
        losses += is_lost;
    }
    EXPECT_GT(losses, 300);
    EXPECT_EQ(process.crossed(), 100'000u);
}

TEST(Blackouts, OfNoLengthLoseNothing) {
    EXPECT_TRUE(process_of(Blackout{kSecond, 0}, 1).loses_none());
}

// How long nothing is lost does not change what is lost later.
TEST(TwoStates, TakeNoNumberWhileNothingIsLost) {
    const Markov loss{kSecond, kSecond, 0, 0.5, kFixed};
    LossProcess process = process_of(loss, 8);
    Random numbers(8, Stream::loss_forward, 0);
    for (Time now = 0; now < 10 * kSecond; now += 10 * kMs) {
        const bool bad = now % (2 * kSecond) >= kSecond;
        ASSERT_EQ(lost(process, now), bad && numbers.open_unit() < 0.5) << now;
    }
}

TEST(TwoStates, LoseAtEachStatesRate) {  // seed 003, fading: 8 s and 4 s
    const double rate[] = {0.001, 0.2};
    LossProcess seen_process = process_of(Markov{8 * kSecond, 4 * kSecond, rate[0], rate[1]}, 4);
    LossProcess state = process_of(Markov{8 * kSecond, 4 * kSecond, 0, 1}, 4);
    std::vector<double> seen(4), expected(4);
    for (Time now = 0; now < 4000 * kSecond; now += 5 * kMs) {
        const std::size_t s = lost(state, now) ? 1 : 0;
        seen[2 * s + (lost(seen_process, now) ? 0 : 1)]++;
        expected[2 * s] += rate[s];
        expected[2 * s + 1] += 1 - rate[s];
    }
    expect_chi_square(seen, expected, "rates", 2);
    const double bad_share = (expected[2] + expected[3]) / 800000;
    EXPECT_NEAR(bad_share, 1.0 / 3, 0.03) << "4 s of 12";
}

TEST(TwoStates, AreTheSameInBothDirections) {
    const Markov loss{40 * kMs, 10 * kMs, 0, 1};
    LossProcess forward = process_of(loss, 5),
                backward = process_of(loss, 5, Stream::loss_backward);
    for (Time now = 0; now < 20 * kSecond; now += kMs / 3)
        ASSERT_EQ(lost(forward, now), lost(backward, now)) << "at " << now << " ps";
}

TEST(TwoStates,
     OfFixedTimesAlternateExactly) {  // seed 003, blackout: 4 s good, 0.5 s nothing passes
    LossProcess process = process_of(Blackout{4 * kSecond, kSecond / 2}, 6);
    for (Time now = 0; now < 100 * kSecond; now += 7 * kMs)
        ASSERT_EQ(lost(process, now), now % (kSecond * 9 / 2) >= 4 * kSecond) << now;
}

TEST(TwoStates, CatchUpAfterASilence) {
    const Markov loss{40 * kMs, 10 * kMs, 0, 1};
    LossProcess busy = process_of(loss, 7), idle = process_of(loss, 7);
    for (Time now = 0; now < 10 * kSecond; now += kMs) lost(busy, now);
    EXPECT_EQ(lost(busy, 10 * kSecond), lost(idle, 10 * kSecond));
}

}  // namespace
}  // namespace ww::sim::test
