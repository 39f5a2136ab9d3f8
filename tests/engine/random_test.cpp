// SPDX-License-Identifier: BSD-3-Clause
//
// The random numbers are those of the published generators, so results are the same on every
// machine and in every version. Exact sums of times, too.
#include "engine/base/random.hpp"

#include <array>
#include <set>

#include "engine/base/time_sum.hpp"
#include "one_link.hpp"

namespace ww::sim::test {
namespace {

// SplitMix64 as Vigna publishes it, prng.di.unimi.it/splitmix64.c.
TEST(RandomNumbers, AreSeededBySplitMix64) {
    std::uint64_t state = 1234567;
    for (const std::uint64_t next : {UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
                                     UINT64_C(9817491932198370423), UINT64_C(4593380528125082431),
                                     UINT64_C(16408922859458223821)})
        EXPECT_EQ(split_mix(state), next);
}

// xoshiro256++ 1.0 as Blackman and Vigna publish it, prng.di.unimi.it/xoshiro256plusplus.c.
class Xoshiro256 {
  public:
    explicit Xoshiro256(std::array<std::uint64_t, 4> words) : s_(words) {}
    std::uint64_t next() {
        const std::uint64_t result = rotated(s_[0] + s_[3], 23) + s_[0], t = s_[1] << 17;
        s_[2] ^= s_[0];
        s_[3] ^= s_[1];
        s_[1] ^= s_[2];
        s_[0] ^= s_[3];
        s_[2] ^= t;
        s_[3] = rotated(s_[3], 45);
        return result;
    }

  private:
    static std::uint64_t rotated(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
    std::array<std::uint64_t, 4> s_;
};

// The stream of a purpose at a place: both are mixed into the seed, and four words follow.
Xoshiro256 published(std::uint64_t seed, Stream purpose, std::uint64_t place) {
    std::uint64_t state = seed;
    state = split_mix(state) ^ (static_cast<std::uint64_t>(purpose) * 0xd1342543de82ef95u);
    state = split_mix(state) ^ place;
    std::array<std::uint64_t, 4> words{};
    for (std::uint64_t& word : words) word = split_mix(state);
    return Xoshiro256(words);
}

TEST(RandomNumbers, AreThoseOfXoshiro256) {
    Xoshiro256 known({1, 2, 3, 4});
    for (const std::uint64_t next :
         {UINT64_C(41943041), UINT64_C(58720359), UINT64_C(3588806011781223),
          UINT64_C(3591011842654386), UINT64_C(9228616714210784205)})
        ASSERT_EQ(known.next(), next) << "the test's own copy";
    for (const std::uint64_t seed : {UINT64_C(0), UINT64_C(1), UINT64_MAX})
        for (const Stream purpose : {Stream::loss_forward, Stream::isn, Stream::spacing})
            for (const std::uint64_t place : {0u, 1u, 1u << 20}) {
                Random random(seed, purpose, place);
                Xoshiro256 same = published(seed, purpose, place);
                for (int i = 0; i < 100; i++) ASSERT_EQ(random.bits(), same.next());
            }
}

// Computed apart from this code: a change of these numbers changes the results of all users.
TEST(RandomNumbers, StayTheSameInEveryVersion) {
    EXPECT_EQ(Random(0, Stream::loss_forward, 0).bits(), 0xa4b106497d5fd8b7u);
    EXPECT_EQ(Random(1, Stream::loss_forward, 0).bits(), 0x2f322969100a1679u);
    EXPECT_EQ(Random(1, Stream::loss_backward, 0).bits(), 0x2d7d3297c6327feeu);
    EXPECT_EQ(Random(1, Stream::loss_forward, 1).bits(), 0xb22c328667342813u);
    EXPECT_EQ(Random(UINT64_MAX, Stream::spacing, 1 << 20).bits(), 0xda95fe7ab5b5ab57u);
}

TEST(RandomNumbers, DifferBetweenSeedsPurposesAndPlaces) {
    std::set<std::uint64_t> first;
    for (std::uint64_t seed = 0; seed < 20; seed++)
        for (std::uint64_t purpose = 1; purpose <= 12; purpose++)
            for (std::uint64_t place = 0; place < 100; place++)
                first.insert(Random(seed, static_cast<Stream>(purpose), place).bits());
    EXPECT_EQ(first.size(), 20u * 12 * 100);
}

// Multiples of 2^-52, moved into the middle of their cells, so neither 0 nor 1 occurs.
TEST(RandomNumbers, OfTheUnitIntervalTakeTheUpper52Bits) {
    Random random(7, Stream::jitter, 3), same = random;
    for (int i = 0; i < 1000; i++) {
        const double cell = static_cast<double>(same.bits() / 4096);
        ASSERT_EQ(random.open_unit(), (2 * cell + 1) / 9007199254740992.0);
    }
}

TEST(RandomNumbers, AreDrawnUntilOneIsBelowABound) {
    for (const std::uint32_t most : {1u, 3u, 1000u}) {
        Random random(1, Stream::loss_forward, 0), same = random;
        for (int i = 0; i < 300; i++) {
            double last = -1, number = 1;
            const std::uint32_t count = random.draw_until(0.05, most, last);
            std::uint32_t drawn = 0;
            while (number >= 0.05 && drawn < most) {
                number = same.open_unit();
                drawn++;
            }
            ASSERT_EQ(count, drawn);
            ASSERT_EQ(last, number);
        }
        EXPECT_EQ(random.bits(), same.bits()) << "both drew as many";
    }
}

// t = -mean ln u, cut to whole picoseconds: at least 1, and never beyond what a clock can add.
TEST(RandomNumbers, OfAnExponentialDistributionFollowItsInverse) {
    for (const Time mean : {Time{1}, kMs, kHour, INT64_MAX}) {
        Random random(3, Stream::arrivals, 1), same = random;
        for (int i = 0; i < 1000; i++) {
            const double exact = -natural_log(same.open_unit()) * static_cast<double>(mean);
            const Time drawn = exponential(random, mean);
            const double inside = std::clamp(std::floor(exact), 1.0, 0x1p61);
            ASSERT_EQ(static_cast<double>(drawn), inside);
        }
    }
}

// A mean of n times is exact and rounded down, also where their sum exceeds one word.
TEST(SumOfTimes, HasAnExactMean) {
    for (const Time time : {Time{0}, Time{1}, Time{999}, Time{1} << 40, kLongest, Time{1} << 61}) {
        for (const std::uint64_t count : {1u, 2u, 3u, 7u, 1000u}) {
            TimeSum sum;
            for (std::uint64_t i = 0; i < count; i++) sum.add(time);
            EXPECT_EQ(sum.mean(count), time) << count;
            EXPECT_NEAR(sum.seconds() * 1e12,
                        static_cast<double>(time) * static_cast<double>(count),
                        1e-15 * static_cast<double>(time) * static_cast<double>(count));
            sum.add(static_cast<Time>(count) - 1);
            EXPECT_EQ(sum.mean(count), time) << "rounded down";
            sum.add(1);
            EXPECT_EQ(sum.mean(count), time + 1) << "a whole picosecond more each";
        }
    }
}

}  // namespace
}  // namespace ww::sim::test
