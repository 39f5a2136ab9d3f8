// SPDX-License-Identifier: BSD-3-Clause
#include "statistics.hpp"

#include <algorithm>
#include <cmath>
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

}  // namespace

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
    for (const auto& [one, two] : pairs) {
        if (std::isnan(one) || std::isnan(two)) continue;
        first.push_back(one);
        second.push_back(two);
        differences.push_back(one - two);
    }
    Comparison made;
    made.difference = spread(differences);
    made.second = spread(second).mean;
    if (first.empty() || made.second == 0) return made;
    made.ratio = spread(first).mean / made.second;
    for (std::size_t i = 0; i < first.size(); i++)
        residuals.push_back(first[i] - made.ratio * second[i]);
    made.residual = deviation(residuals, 0);
    return made;
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
