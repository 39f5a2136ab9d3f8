// SPDX-License-Identifier: BSD-3-Clause
//
// Columns that only a trace has, for windows whose columns are computed by hand.
#include "metrics/observers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace ww::metrics::test {
namespace {

struct Trace {
    std::vector<double> time_s, cwnd, ssthresh, estimate_bps;

    double observe(const char* column, const Surroundings& run) const {
        return metrics::observe(
            column,
            {time_s.size(), time_s.data(), cwnd.data(), ssthresh.data(), estimate_bps.data()}, run);
    }
};

const double kNone = std::nan("");
const Trace kTrace = {{0.5, 3, 5.5, 7}, {10, 20, 30, 40}, {kNone, 8, 6, 4}, {kNone, 3e6, 9e6, 2e6}};

TEST(Observers, CwndIsSampledEveryThreeSecondsAfterTheStart) {
    Surroundings run;
    run.duration_s = 9;
    EXPECT_EQ(kTrace.observe("sampled_cwnd", run), (20 + 30 + 40) / 3.0) << "at 3, 6 and 9 s";
}

TEST(Observers, EstimatesHaveAPeakAMeanAndARangeFromEightToFourteenSeconds) {
    Surroundings run;
    run.duration_s = 19.9;
    const Trace trace = {
        {0, 10, 12, 14, 15}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, {kNone, 2e6, 4e6, 3e6, 8e6}};
    EXPECT_EQ(trace.observe("estimate_peak_bps", run), 8e6);
    EXPECT_EQ(trace.observe("estimate_low_bps", run), 2e6);
    EXPECT_EQ(trace.observe("estimate_high_bps", run), 4e6);
    EXPECT_NEAR(trace.observe("estimate_mean_bps", run), 5.5e6, 0.1e6) << "from 10 s on";
    const Trace early = {{0, 0.25}, {1, 1}, {1, 1}, {9e6, 3e6}};
    run.duration_s = 0.5;
    EXPECT_EQ(early.observe("estimate_peak_bps", run), 9e6);
    EXPECT_EQ(early.observe("estimate_mean_bps", run), 6e6) << "at 0, 0.1, ... 0.5 s";
    const Trace late = {{0.15, 0.35}, {1, 1}, {1, 1}, {9e6, 3e6}};
    EXPECT_EQ(late.observe("estimate_mean_bps", run), 6e6) << "at 0.2, ... 0.5 s";
    EXPECT_TRUE(std::isnan(Trace().observe("estimate_peak_bps", run)));
}

TEST(Observers, SsthreshIsOverThePathsProductAtTheMedianTime) {
    Surroundings run;
    run.duration_s = 7.4;  // 8 until 5.4 s, 6 until 6.9 s, then 4
    run.slowest_bps = 8e6;
    run.min_rtt_s = 0.01;
    run.packet_bytes = 1000;
    EXPECT_EQ(kTrace.observe("ssthresh_over_pipe", run), 8.0 / 10);
}

TEST(Observers, EstimatesAreComparedWithWhatUdpLeaves) {
    Surroundings run;
    run.duration_s = 40;
    run.packet_bytes = 1000;
    run.overhead_bytes = 50;
    run.payload_bytes = 945;
    run.link_bps = 10e6;
    run.udp_bps = 5e6;
    run.udp_start_s = run.udp_on_s = run.udp_off_s = 10;
    const Trace trace = {{0, 5, 15, 25}, {1, 1, 1, 1}, {1, 1, 1, 1}, {0, 9e6, 4.5e6, 9e6}};
    EXPECT_DOUBLE_EQ(trace.observe("estimate_alone_share", run), 1) << "5 to 10 s and 25 to 30 s";
    EXPECT_DOUBLE_EQ(trace.observe("estimate_beside_share", run), 1.5)
        << "half of the time 4.5, half 9 Mb/s of 4.5";
    run.udp_start_s = 6;  // alone from 3 to 6 s and from 15 to 16 s, beside UDP from 10 to 14 s
    run.udp_on_s = 8;
    run.udp_off_s = 2;
    run.duration_s = 16;
    EXPECT_DOUBLE_EQ(trace.observe("estimate_alone_share", run), (2 * 0 + 9 + 4.5) / 4 / 9);
    EXPECT_DOUBLE_EQ(trace.observe("estimate_beside_share", run), 2);
    run.udp_off_s = 0;
    EXPECT_TRUE(std::isnan(trace.observe("estimate_alone_share", run)));
}

TEST(Observers, AnUnknownColumnIsUnknown) {
    EXPECT_TRUE(std::isnan(kTrace.observe("nothing", {})));
    for (const std::string_view name : observed()) EXPECT_FALSE(name.empty());
}

}  // namespace
}  // namespace ww::metrics::test
