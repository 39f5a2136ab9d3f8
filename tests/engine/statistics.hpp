// SPDX-License-Identifier: BSD-3-Clause
//
// Chi-square tests with fixed seeds, so that they are deterministic. At the chosen level a right
// model fails once in ten thousand times, a wrong one nearly always.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace ww::sim::test {

// Returns the 99.99 % quantile, in the approximation of Wilson and Hilferty 1931.
inline double chi_square_limit(double degrees) {
    constexpr double kZ = 3.719;
    const double a = 2.0 / (9.0 * degrees);
    return degrees * std::pow(1.0 - a + kZ * std::sqrt(a), 3);
}

// Expects these counts, apart from chance. No cell may expect fewer than 5.
inline void expect_chi_square(const std::vector<double>& seen, const std::vector<double>& expected,
                              const std::string& what, double constraints = 1) {
    ASSERT_EQ(seen.size(), expected.size());
    double sum = 0;
    for (std::size_t i = 0; i < seen.size(); i++) {
        ASSERT_GE(expected[i], 5) << what << ", cell " << i;
        sum += (seen[i] - expected[i]) * (seen[i] - expected[i]) / expected[i];
    }
    EXPECT_LT(sum, chi_square_limit(static_cast<double>(seen.size()) - constraints)) << what;
}

// Expects values that each of 20 equally probable cells of a distribution has as often.
template <class Share>
void expect_even(const std::vector<double>& values, const std::string& what, const Share& below) {
    constexpr std::size_t kCells = 20;
    std::vector<double> seen(kCells),
        expected(kCells, static_cast<double>(values.size()) / static_cast<double>(kCells));
    for (const double value : values)
        seen[std::min(static_cast<std::size_t>(std::max(below(value), 0.0) * kCells),
                      kCells - 1)]++;
    expect_chi_square(seen, expected, what);
}

inline void expect_exponential(const std::vector<double>& values, double mean,
                               const std::string& what) {
    expect_even(values, what, [=](double value) { return 1 - std::exp(-value / mean); });
}

// Between 0 and `most`.
inline void expect_uniform(const std::vector<double>& values, double most,
                           const std::string& what) {
    expect_even(values, what, [=](double value) { return value / most; });
}

}  // namespace ww::sim::test
