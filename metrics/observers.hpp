// SPDX-License-Identifier: BSD-3-Clause
//
// Columns that some claims are about and that only a trace has. They are those of a run's first flow.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "numbers.hpp"

namespace ww::metrics {

// The windows of the flow's connection.
struct Windows {
    std::size_t count = 0;
    Numbers time_s, cwnd, ssthresh, estimate_bps;
};

// What the columns depend on besides. Without on and off times of a UDP source its shares are NaN.
struct Surroundings {
    double duration_s = 0, min_rtt_s = 0;
    double packet_bytes = 0, payload_bytes = 0;
    double slowest_bps = 0;  // of all links
    double link_bps = 0, overhead_bytes = 0;
    double udp_bps = 0, udp_start_s = 0, udp_on_s = 0, udp_off_s = 0;
};

// The names of these columns.
const std::vector<std::string_view>& observed();

// Returns one of these columns; NaN if nothing tells it.
double observe(std::string_view column, const Windows& windows, const Surroundings& run);

}  // namespace ww::metrics
