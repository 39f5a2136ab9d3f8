// SPDX-License-Identifier: BSD-3-Clause
#include "statistics.hpp"

#include <algorithm>
#include <cmath>

namespace ww::metrics {

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
