// SPDX-License-Identifier: BSD-3-Clause
//
// Statistics of numbers. Every language computes them here, so that their last bits are the same everywhere.
#pragma once

#include <vector>

namespace ww::metrics {

// Returns Jain's fairness index, from 1/n (one has all) to 1 (all are equal); NaN if all are 0.
double jain(const std::vector<double>& rates);

// Returns the interpolated quantile for a share from 0 to 1; NaN without values.
double percentile(std::vector<double> values, double share);

}  // namespace ww::metrics
