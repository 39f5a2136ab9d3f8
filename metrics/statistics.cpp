// SPDX-License-Identifier: BSD-3-Clause
#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace ww::metrics {
namespace {

// Returns the standard deviation of a sample with this mean.
double deviation(const std::vector<double>& values, double mean) {
    if (values.size() < 2) return std::nan("");
    std::vector<double> squares;
    squares.reserve(values.size());
    for (const double value : values) squares.push_back((value - mean) * (value - mean));
    return std::sqrt(exact_sum(squares) / static_cast<double>(values.size() - 1));
}

// Adds numbers of descending size, each below the last bit of the one before, and rounds half to even.
double rounded_sum(std::vector<double> parts) {
    double sum = 0, left = 0;
    while (!parts.empty() && left == 0) {
        const double before = sum, part = parts.back();
        parts.pop_back();
        sum = before + part;
        left = part - (sum - before);
    }
    const bool is_beyond_half =
        !parts.empty() && ((left < 0 && parts.back() < 0) || (left > 0 && parts.back() > 0));
    const double above = sum + 2 * left;
    return is_beyond_half && above - sum == 2 * left ? above : sum;
}

// Returns the value above 0 at which a rising function reaches the level.
template <class Function>
double inverse(Function function, double level) {
    double low = 0, high = 1;
    while (function(high) < level) high *= 2;
    while (high - low > 1e-12 * high) {
        const double middle = (low + high) / 2;
        (function(middle) < level ? low : high) = middle;
    }
    return (low + high) / 2;
}

// Returns the quantile for many degrees of freedom, by Cornish and Fisher's expansion (Abramowitz and Stegun,
// 26.7.5). Above 1000 the error is below 1e-9 up to a level of 99.9 %.
double t_quantile_of_many(double dof, double level) {
    const double z = inverse([](double x) { return std::erf(x / std::sqrt(2.0)); }, level);
    const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    return z + (z3 + z) / (4 * dof) + (5 * z5 + 16 * z3 + 3 * z) / (96 * dof * dof) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * dof * dof * dof);
}

}  // namespace

// Abramowitz and Stegun, 26.7.3 and 26.7.4: a finite sum, exact for integer degrees of freedom.
double t_probability(double t, std::size_t dof) {
    const double theta = std::atan2(t, std::sqrt(static_cast<double>(dof)));
    const double cos2 = std::cos(theta) * std::cos(theta);
    const std::size_t odd = dof % 2;
    double term = odd ? std::cos(theta) : 1, total = 0;
    for (std::size_t k = 2 + odd; k < dof + 2; k += 2) {  // the term in cos^(k-2)
        total += term;
        term *= cos2 * static_cast<double>(k - 1) / static_cast<double>(k);
    }
    return odd ? 2 / std::numbers::pi * (theta + std::sin(theta) * total) : std::sin(theta) * total;
}

double t_quantile(std::size_t dof, double level) {
    if (dof > 1000) return t_quantile_of_many(static_cast<double>(dof), level);
    return inverse([&](double t) { return t_probability(t, dof); }, level);
}

double half_width(double deviation, std::size_t runs, double level) {
    if (runs < 2) return std::nan("");
    return t_quantile(runs - 1, level) * deviation / std::sqrt(static_cast<double>(runs));
}

double exact_sum(const std::vector<double>& values) {
    std::vector<double> parts;  // of ascending size, without a common bit
    for (double sum : values) {
        std::size_t kept = 0;
        for (double part : parts) {
            if (std::abs(sum) < std::abs(part)) std::swap(sum, part);
            const double whole = sum + part;
            if (const double left = part - (whole - sum); left != 0) parts[kept++] = left;
            sum = whole;
        }
        parts.resize(kept);
        parts.push_back(sum);
    }
    return rounded_sum(std::move(parts));
}

Spread spread(const std::vector<double>& values) {
    std::vector<double> known;
    for (const double value : values)
        if (!std::isnan(value)) known.push_back(value);
    if (known.empty()) return {};
    const double mean = exact_sum(known) / static_cast<double>(known.size());
    return {mean, deviation(known, mean), known.size()};
}

Comparison compare(const std::vector<std::pair<double, double>>& pairs) {
    std::vector<double> first, second, differences, residuals;
    for (const auto& [left, right] : pairs) {
        if (std::isnan(left) || std::isnan(right)) continue;
        first.push_back(left);
        second.push_back(right);
        differences.push_back(left - right);
    }
    Comparison comparison;
    comparison.difference = spread(differences);
    comparison.second = spread(second).mean;
    if (first.empty() || comparison.second == 0) return comparison;
    comparison.ratio = spread(first).mean / comparison.second;
    for (std::size_t i = 0; i < first.size(); i++)
        residuals.push_back(first[i] - comparison.ratio * second[i]);
    comparison.residual = deviation(residuals, 0);
    return comparison;
}

double jain(const std::vector<double>& rates) {
    double total = 0, squares = 0;
    for (const double rate : rates) {
        total += rate;
        squares += rate * rate;
    }
    const auto count = static_cast<double>(rates.size());
    return squares == 0 ? std::nan("") : total * total / (count * squares);
}

double percentile(std::vector<double> values, double share) {
    if (values.empty()) return std::nan("");
    std::sort(values.begin(), values.end());
    const double place = share * static_cast<double>(values.size() - 1);
    const double low = values[static_cast<std::size_t>(std::floor(place))];
    const double high = values[static_cast<std::size_t>(std::ceil(place))];
    return low + (place - std::floor(place)) * (high - low);
}

}  // namespace ww::metrics
