// SPDX-License-Identifier: BSD-3-Clause
#include "observers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "statistics.hpp"

namespace ww::metrics {
namespace {

constexpr double kGrid_s = 0.1;
constexpr double kFluctuation_s[] = {8, 14};  // in Figure 11 of the 2013 ns-3 paper
constexpr double kSamples_s = 3;              // Figure 10 of that paper

// Calls use(time, value) for a column's values in force at multiples of `every_s`, from its first row on.
template <class Use>
void sample(const Windows& windows, const Numbers& column, double every_s, double whole_s,
            Use use) {
    const auto samples = static_cast<std::size_t>(whole_s / every_s + 1e-9) + 1;
    std::size_t next = 0;
    for (std::size_t i = 0; i < samples; i++) {
        const double time_s = static_cast<double>(i) * every_s;
        while (next < windows.count && windows.time_s[next] <= time_s) next++;
        if (next > 0) use(time_s, column[next - 1]);
    }
}

// Returns the mean of 200 samples, one every 3 s, as in Figure 10.
double sampled_cwnd(const Windows& windows, const Surroundings& run) {
    std::vector<double> values;
    sample(windows, windows.cwnd, kSamples_s, run.duration_s, [&](double time_s, double cwnd) {
        if (time_s > 0) values.push_back(cwnd);
    });
    return spread(values).mean;
}

// Returns the quantile of the estimates in a part of the run.
double estimate(const Windows& windows, double from_s, double to_s, double share) {
    std::vector<double> values;
    for (std::size_t i = 0; i < windows.count; i++) {
        const double time_s = windows.time_s[i], estimate_bps = windows.estimate_bps[i];
        if (time_s >= from_s && time_s <= to_s && !std::isnan(estimate_bps))
            values.push_back(estimate_bps);
    }
    return percentile(std::move(values), share);
}

double estimate_peak(const Windows& windows, const Surroundings& run) {
    return estimate(windows, 0, run.duration_s, 1);
}

double estimate_low(const Windows& windows, const Surroundings&) {
    return estimate(windows, kFluctuation_s[0], kFluctuation_s[1], 0);
}

double estimate_high(const Windows& windows, const Surroundings&) {
    return estimate(windows, kFluctuation_s[0], kFluctuation_s[1], 1);
}

// Returns the mean estimate over time.
double estimate_mean(const Windows& windows, const Surroundings& run) {
    std::vector<double> values;
    sample(windows, windows.estimate_bps, kGrid_s, run.duration_s,
           [&](double, double estimate_bps) { values.push_back(estimate_bps); });
    return spread(values).mean;
}

// Returns the mean estimate over the rate that UDP leaves, in the second half of its times on or off.
double estimate_share(const Windows& windows, const Surroundings& run, bool is_on) {
    const double start_s = run.udp_start_s, on_s = run.udp_on_s, off_s = run.udp_off_s;
    if (!(off_s > 0)) return std::nan("");
    const auto is_settled = [&](double time_s) {
        if (time_s < start_s) return !is_on && time_s >= start_s / 2;
        const double phase_s = std::fmod(time_s - start_s, on_s + off_s);
        return is_on ? phase_s >= on_s / 2 && phase_s < on_s : phase_s >= on_s + off_s / 2;
    };
    std::vector<double> values;
    sample(windows, windows.estimate_bps, kGrid_s, run.duration_s,
           [&](double time_s, double estimate_bps) {
               if (is_settled(time_s)) values.push_back(estimate_bps);
           });
    const double payload = run.payload_bytes / (run.packet_bytes + run.overhead_bytes);
    const double left_bps = run.link_bps - (is_on ? run.udp_bps : 0);
    return spread(values).mean / (left_bps * payload);
}

// Returns the median of ssthresh over time, over the path's bandwidth-delay product.
double ssthresh_over_pipe(const Windows& windows, const Surroundings& run) {
    const double pipe = run.slowest_bps * run.min_rtt_s / (8 * run.packet_bytes);
    std::vector<double> values;
    sample(windows, windows.ssthresh, kGrid_s, run.duration_s, [&](double, double ssthresh) {
        if (!std::isnan(ssthresh)) values.push_back(ssthresh);
    });
    return percentile(std::move(values), 0.5) / pipe;
}

struct Observer {
    std::string_view column;
    double (*of)(const Windows&, const Surroundings&);
};

constexpr Observer kObservers[] = {
    {"sampled_cwnd", sampled_cwnd},
    {"estimate_peak_bps", estimate_peak},
    {"estimate_low_bps", estimate_low},
    {"estimate_high_bps", estimate_high},
    {"estimate_mean_bps", estimate_mean},
    {"estimate_alone_share",
     [](const Windows& w, const Surroundings& run) { return estimate_share(w, run, false); }},
    {"estimate_beside_share",
     [](const Windows& w, const Surroundings& run) { return estimate_share(w, run, true); }},
    {"ssthresh_over_pipe", ssthresh_over_pipe},
};

}  // namespace

const std::vector<std::string_view>& observed() {
    static const std::vector<std::string_view> names = [] {
        std::vector<std::string_view> columns;
        for (const Observer& observer : kObservers) columns.push_back(observer.column);
        return columns;
    }();
    return names;
}

double observe(std::string_view column, const Windows& windows, const Surroundings& run) {
    for (const Observer& observer : kObservers)
        if (observer.column == column) return observer.of(windows, run);
    return std::nan("");
}

}  // namespace ww::metrics
