// SPDX-License-Identifier: BSD-3-Clause
//
// Random numbers from xoshiro256++ (Blackman & Vigna 2018), seeded by SplitMix64. Each purpose and
// place has an independent stream, so a change of one model does not alter the draws of the others.
// Only IEEE basic operations on doubles are used (no libm), so every machine draws the same
// numbers.
#pragma once

#include <cstdint>

#include "../settings.hpp"

namespace ww::sim {

// Also ns-3's runner reads this, as C++17, which lacks std::rotl and std::bit_cast.
inline std::uint64_t rotated(std::uint64_t bits, int by) { return bits << by | bits >> (64 - by); }

inline std::uint64_t split_mix(std::uint64_t& state) {
    state += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Each purpose has one stream per place. Connections, flows and links have their index as place;
// directions have 2 i (forward) and 2 i + 1 (backward).
enum class Stream : std::uint64_t {
    loss_forward = 1,
    loss_backward = 2,
    isn = 3,
    link_state = 4,   // place: link
    queue = 5,        // place: direction
    jitter = 6,       // place: direction
    reordering = 7,   // place: direction
    datagrams = 8,    // place: connection
    arrivals = 9,     // place: flow
    sizes = 10,       // place: flow
    start = 11,       // place: flow
    spacing = 12,     // place: connection
    impairment = 13,  // place: direction + 2^32 x kind
    responses = 14,   // place: connection
    thinks = 15,      // place: connection
};

class Random {
  public:
    Random(std::uint64_t seed, Stream purpose, std::uint64_t place) {
        std::uint64_t state = seed;
        state = split_mix(state) ^ (static_cast<std::uint64_t>(purpose) * 0xd1342543de82ef95u);
        state = split_mix(state) ^ place;
        for (auto& word : words_) word = split_mix(state);
    }

    std::uint64_t bits() {
        const std::uint64_t result = rotated(words_[0] + words_[3], 23) + words_[0];
        const std::uint64_t shifted = words_[1] << 17;
        words_[2] ^= words_[0];
        words_[3] ^= words_[1];
        words_[1] ^= words_[2];
        words_[0] ^= words_[3];
        words_[2] ^= shifted;
        words_[3] = rotated(words_[3], 45);
        return result;
    }

    // Returns a uniform number in (0, 1). It is never 0, so its logarithm is finite.
    double open_unit() { return (static_cast<double>(bits() >> 12) + 0.5) * 0x1p-52; }

    // Draws uniform numbers until one is below `bound`, at most `most`. Sets `last` to that number
    // and returns how many were drawn.
    std::uint32_t draw_until(double bound, std::uint32_t most, double& last) {
        Random random = *this;  // a copy stays in registers
        std::uint32_t count = 1;
        while ((last = random.open_unit()) >= bound && count < most) count++;
        *this = random;
        return count;
    }

  private:
    std::uint64_t words_[4];
};

// Returns the natural logarithm of a normal x > 0: ln x = e ln 2 + 2 atanh((m - 1) / (m + 1)), m in
// [0.7, 1.42). It sums twelve terms; the first one left out is below 1e-19.
inline double natural_log(double x) {
    const std::uint64_t pattern = __builtin_bit_cast(std::uint64_t, x);
    int exponent = static_cast<int>(pattern >> 52) - 1023;
    double mantissa =
        __builtin_bit_cast(double, (pattern & 0x000fffffffffffffu) | 0x3ff0000000000000u);
    if (mantissa > 1.4142135623730951) {
        mantissa *= 0.5;
        exponent++;
    }
    const double t = (mantissa - 1.0) / (mantissa + 1.0);
    const double square = t * t;
    double sum = 0.0;
    for (int k = 23; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
    return static_cast<double>(exponent) * 0.6931471805599453 + 2.0 * t * sum;
}

// Draws an exponentially distributed time with this mean, at least 1 ps.
inline Time exponential(Random& random, Time mean) {
    const double t = -natural_log(random.open_unit()) * static_cast<double>(mean);
    return t < 1.0 ? 1 : t < 0x1p61 ? static_cast<Time>(t) : Time{1} << 61;
}

}  // namespace ww::sim
