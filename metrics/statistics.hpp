// SPDX-License-Identifier: BSD-3-Clause
//
// Statistics of numbers. Every language computes them here, so that their last bits are the same everywhere.
#pragma once

#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace ww::metrics {

// Returns Jain's fairness index, from 1/n (one has all) to 1 (all are equal); NaN if all are 0.
double jain(const std::vector<double>& rates);

// Returns the interpolated quantile for a share from 0 to 1; NaN without values.
double percentile(std::vector<double> values, double share);

// Adds numbers exactly and rounds once (Shewchuk 1997), as Python's math.fsum does.
double exact_sum(const std::vector<double>& values);

inline constexpr double kLevel = 0.95;  // of all confidence intervals

// Returns P(|T| < t) for Student's t with `dof` degrees of freedom.
double t_probability(double t, std::size_t dof);

// Returns the t with P(|T| < t) = level: 12.706 for one degree of freedom at 95 %.
double t_quantile(std::size_t dof, double level);

// Returns half the width of a mean's confidence interval; NaN for one run.
double half_width(double deviation, std::size_t runs, double level = kLevel);

// The mean of the values that are not NaN, and their standard deviation. What the values do not tell is NaN.
struct Spread {
    double mean = std::numeric_limits<double>::quiet_NaN();
    double deviation = std::numeric_limits<double>::quiet_NaN();
    std::size_t runs = 0;
};
Spread spread(const std::vector<double>& values);

// Compares the first of each pair with the second; pairs with a NaN do not count. The ratio is that of the means. Its
// interval is the ratio estimator's: the spread of first - ratio * second, over the mean of the second (Cochran,
// Sampling Techniques, 1977, chapter 6).
struct Comparison {
    Spread difference;
    double second = std::numeric_limits<double>::quiet_NaN();  // its mean
    double ratio = std::numeric_limits<double>::quiet_NaN();
    double residual = std::numeric_limits<double>::quiet_NaN();  // the spread's deviation
};
Comparison compare(const std::vector<std::pair<double, double>>& pairs);

}  // namespace ww::metrics
