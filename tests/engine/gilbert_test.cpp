// SPDX-License-Identifier: BSD-3-Clause
//
// Compares the Gilbert-Elliott model with its theory: a Markov chain of two states, which changes after a packet
// with probability p or r, and its stationary shares.

#include "engine/link/loss/process.hpp"
#include "one_link.hpp"
#include "statistics.hpp"

namespace ww::sim::test {
namespace {

constexpr int kPackets = 2'000'000;

LossProcess gilbert(const Gilbert& loss, std::uint64_t seed) {
    return LossProcess(loss, Random(seed, Stream::loss_forward, 0),
                       Random(seed, Stream::link_state, 0));
}

TEST(Gilbert, BurstsAndGapsAreGeometric) {  // the bad state loses everything
    const Gilbert loss{0.02, 0.3, 0, 1};
    LossProcess process = gilbert(loss, 1);
    constexpr std::size_t kLongest = 12;
    std::vector<double> bursts(kLongest + 1), expected(kLongest + 1);
    std::size_t length = 0;
    double count = 0, passed = 0;
    for (int i = 0; i < kPackets; i++) {
        if (process.loses(0)) {
            length++;
            continue;
        }
        passed++;
        if (length == 0) continue;
        bursts[std::min(length, kLongest + 1) - 1]++;
        count++;
        length = 0;
    }
    double rest = 1;
    for (std::size_t n = 0; n < kLongest; n++) {
        expected[n] = count * rest * loss.r;
        rest *= 1 - loss.r;
    }
    expected[kLongest] = count * rest;
    expect_chi_square(bursts, expected, "burst lengths", kLongest);
    EXPECT_NEAR(count / passed, loss.p, 4 * std::sqrt(loss.p / passed)) << "bursts a good packet";
}

// With four parameters a loss does not show the state, but pairs of packets show both chances.
TEST(Gilbert, PacketsAndPairsAreLostAsOftenAsTheChainSays) {
    const Gilbert loss{0.05, 0.2, 0.03, 0.6};
    LossProcess process = gilbert(loss, 2);
    const double bad = loss.p / (loss.p + loss.r), good = 1 - bad;
    const double after_good = (1 - loss.p) * loss.good_rate + loss.p * loss.bad_rate;
    const double after_bad = loss.r * loss.good_rate + (1 - loss.r) * loss.bad_rate;
    const double single = good * loss.good_rate + bad * loss.bad_rate;
    const double pair = good * loss.good_rate * after_good + bad * loss.bad_rate * after_bad;
    double singles = 0, pairs = 0;
    bool was_lost = false;
    for (int i = 0; i < kPackets; i++) {
        const bool is_lost = process.loses(0);
        singles += is_lost;
        pairs += is_lost && was_lost;
        was_lost = is_lost;
    }
    EXPECT_NEAR(singles / kPackets, single, 0.01 * single);
    EXPECT_NEAR(pairs / kPackets, pair, 0.015 * pair);
}

TEST(Gilbert, TheSureProbabilitiesGiveSurePatterns) {
    LossProcess none = gilbert({0, 0.5, 0, 1}, 3), turns = gilbert({1, 1, 0, 1}, 3),
                stuck = gilbert({1, 0, 0, 1}, 3), all = gilbert({0, 1, 1, 0}, 3);
    EXPECT_TRUE(none.loses_none());
    for (int i = 0; i < 100; i++) {
        ASSERT_EQ(turns.loses(0), i % 2 == 1) << i;
        ASSERT_EQ(stuck.loses(0), i > 0) << i;
        ASSERT_TRUE(all.loses(0)) << i;
    }
}

TEST(Gilbert, WithEqualRatesIsUniformLoss) {
    LossProcess process = gilbert({0.1, 0.4, 0.02, 0.02}, 4);
    std::vector<double> gaps;
    double gap = 0;
    for (int i = 0; i < kPackets; i++, gap++) {
        if (!process.loses(0)) continue;
        gaps.push_back(gap);
        gap = -1;
    }
    const double count = static_cast<double>(gaps.size());
    EXPECT_NEAR(count / kPackets, 0.02, 0.0005);
    const auto shorter =
        std::count_if(gaps.begin(), gaps.end(), [](double length) { return length < 34; });
    EXPECT_NEAR(static_cast<double>(shorter) / count, 1 - std::pow(0.98, 34), 0.012);
}

}  // namespace
}  // namespace ww::sim::test
