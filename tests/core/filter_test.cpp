// SPDX-License-Identifier: BSD-3-Clause
//
// Compares samplers and filters with double-precision references written from the papers'
// equations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "estimates.hpp"

namespace {

// The equations of filter.h and estimator.h in double precision, in bytes/s and microseconds.
class Reference {
  public:
    explicit Reference(const ww_config& config) : config_(config) {}

    void ack(double now, double bytes, double rtt, double flight) {
        if (config_.sampler == WW_PER_RTT_TIMER && open_ && now - mark_ >= last_rtt_) {
            sample(mark_ + last_rtt_, pending_, last_rtt_);
            open_ = false;
        }
        if (rtt > 0) {
            last_rtt_ = rtt;
            rtt_min_ = std::min(rtt_min_, rtt);
        }
        const bool bounded = config_.sampler == WW_PER_ACK && config_.bound_samples;
        if (!open_) {
            if ((config_.sampler != WW_PER_ACK || bounded) && last_rtt_ == 0) return;
            open_ = true;
            mark_ = stepped_ = now;
            pending_ = config_.sampler == WW_PER_RTT_TIMER ? bytes : 0;
            return;
        }
        resume(now, bounded);
        pending_ += bytes;
        const double window =
            config_.sampler == WW_PER_ACK
                ? 1.0
                : std::max(last_rtt_, static_cast<double>(config_.min_interval_us));
        if (config_.sampler != WW_PER_RTT_TIMER && now - mark_ >= window)
            sample(now, pending_, now - mark_, bounded ? flight / rtt_min_ : 1e99);
        pending_ = std::min(pending_, bounded ? flight : 1e99);
    }

    double estimate() const { return estimate_; }

    // Returns the difference in waiting bytes and adopts the core's: a silence's remainder can
    // depend on one byte.
    double take_waiting(double bytes) { return std::fabs(std::exchange(pending_, bytes) - bytes); }

  private:
    // Lets the time since the last ACK pass, up to the remainder; waiting data enters first.
    void resume(double now, bool bounded) {
        const double m = config_.m;
        if (config_.filter != WW_FILTER_TUSTIN || config_.sampler != WW_PER_ACK || m == 0) return;
        const double u = std::floor(config_.tau_us / m);
        const double wait = bounded && last_ > 0 ? std::floor(pending_ / last_ * 1e6) : 0;
        const double silent = now - stepped_ - wait;
        if (silent < u) return;
        if (wait > 0) {
            tustin(wait, pending_ / wait * 1e6, last_);
            pending_ = 0;
        }
        double steps = std::floor(silent / u);
        double remainder = silent - steps * u;
        if (remainder < 10000) {
            steps--;
            remainder = u;
        }
        estimate_ *= std::pow((2 * m - 1) / (2 * m + 1), steps);
        if (steps > 0) last_ = 0;
        mark_ = stepped_ = now - remainder;
    }

    void sample(double end, double bytes, double elapsed, double most = 1e99) {
        const double s = std::min(bytes / elapsed, most) * 1e6;
        // Only whole bytes wait.
        const double left = bytes / elapsed <= most ? 0 : bytes - std::floor(most * elapsed);
        if (config_.filter == WW_FILTER_NONE || (first_ && config_.seed_filter)) {
            estimate_ = s;
        } else if (config_.filter == WW_FILTER_EWMA) {
            estimate_ = 7.0 / 8 * estimate_ + 1.0 / 8 * s;
        } else if (config_.filter == WW_FILTER_TUSTIN_CONSTANT) {
            const double a = config_.alpha_permille / 1000.0;
            estimate_ = a * estimate_ + (1 - a) / 2 * (s + last_);
        } else {
            tustin(end - stepped_, (bytes - left) / elapsed * 1e6, last_);
        }
        last_ = s;
        first_ = false;
        stepped_ = mark_ = end;
        pending_ = left;
    }

    void tustin(double span, double s, double last) {
        const double twice = 2.0 * config_.tau_us;
        const double w = twice / std::min(span, twice);  // 1 where the formula has no positive pole
        estimate_ = ((w - 1) * estimate_ + s + last) / (w + 1);
    }

    ww_config config_;
    bool open_ = false, first_ = true;
    double mark_ = 0, stepped_ = 0, pending_ = 0, last_rtt_ = 0, rtt_min_ = 1e99, last_ = 0,
           estimate_ = 0;
};

// Random ACKs: a rate of 1 kb/s to 100 Gb/s, a round trip of 10 us to 60 s, delayed ACKs, silences.
struct Path {
    double gap_us;
    std::uint32_t mss, rtt_us;
    double window;  // segments
};

Path random_path(std::mt19937_64& random) {
    std::uniform_real_distribution<double> unit(0, 1);
    Path path{};
    path.mss =
        static_cast<std::uint32_t>(std::exp(std::log(40.0) + unit(random) * std::log(9000 / 40.0)));
    const double rate =
        std::exp(std::log(125.0) + unit(random) * std::log(12.5e9 / 125));  // bytes/s
    path.gap_us = path.mss / rate * 1e6;
    path.rtt_us =
        static_cast<std::uint32_t>(std::exp(std::log(10.0) + unit(random) * std::log(6e6)));
    // From far below the BDP, so that every sample is bounded, to far above it; up to 100 Gb/s.
    const double bdps = std::exp((unit(random) - 0.5) * std::log(1e4));
    path.window = std::min(bdps / path.gap_us, 8000.0 / path.mss) * path.rtt_us;
    return path;
}

double worst_error(const ww_config& config, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> unit(0, 1);
    Path path = random_path(random);
    if (config
            .bound_samples) {  // waiting data is rounded to bytes and microseconds, which must be small
        path.mss += 1500;
        path.rtt_us += 5000;
    }
    ww_state state{};
    ww_init(&config, &state);
    ww_window window{10, WW_SSTHRESH_INFINITE, 0};
    Reference reference(config);
    double worst = 0, clock = 1e6;
    for (int i = 0; i < 400; i++) {
        const std::uint32_t segments = 1 + static_cast<std::uint32_t>(random() % 4);
        const auto in_flight =
            static_cast<std::uint32_t>(std::min(path.window * (0.5 + unit(random)), 0x1p31));
        const double silence = random() % 50 == 0 ? unit(random) * 20 * config.tau_us : 0;
        // ACKs may be compressed, but not above 100 Gb/s.
        const double least = std::max(1.0, segments * path.mss / 12500.0);
        clock = std::ceil(
            clock + std::max(least, segments * path.gap_us * (0.2 + 1.6 * unit(random))) + silence);
        ww_sample sample{};
        sample.now_us = static_cast<std::uint64_t>(clock);
        sample.mss = path.mss;
        sample.acked_segments = segments;
        sample.in_flight = in_flight;
        sample.rtt_us = random() % 10 == 0
                            ? 0
                            : path.rtt_us + static_cast<std::uint32_t>(random() % path.rtt_us);
        ww_on_ack(&config, &state, &window, &sample);
        reference.ack(static_cast<double>(sample.now_us), segments * static_cast<double>(path.mss),
                      sample.rtt_us, (in_flight + segments) * static_cast<double>(path.mss));
        const double waiting = static_cast<double>(state.westwood.pending_bytes);
        if (reference.take_waiting(waiting) > 1 + 1e-4 * waiting) return 1;
        // Below a byte per second and above the core's range there is nothing to compare.
        if (reference.estimate() < 125 || reference.estimate() > 17e9) continue;
        // Waiting data is rounded to bytes: one or two per time constant.
        const double rounding = config.bound_samples ? 2e6 / config.tau_us : 0;
        const double error =
            std::fabs(bytes_per_second(state.westwood.bandwidth) - reference.estimate());
        worst = std::max(worst, (error - rounding) / reference.estimate());
    }
    return worst;
}

struct Variant {
    ww_sampler sampler;
    ww_filter filter;
    std::uint32_t tau_us;
    std::uint8_t m;
    bool bounded = false;
};

class FilterTest : public testing::TestWithParam<Variant> {};

TEST_P(FilterTest, FollowsItsEquationWithinATenthOfAPercent) {
    ww_config config = ww_configure(WW_PROTOCOL_WESTWOOD);
    config.sampler = GetParam().sampler;
    config.filter = GetParam().filter;
    config.tau_us = GetParam().tau_us;
    config.m = GetParam().m;
    config.bound_samples = GetParam().bounded;
    double worst = 0;
    for (std::uint64_t seed = 1; seed <= 300; seed++) {
        config.seed_filter = seed % 2 == 0;
        worst = std::max(worst, worst_error(config, seed));
        ASSERT_LT(worst, 1e-3) << "seed " << seed;
    }
    RecordProperty("worst_relative_error", std::to_string(worst));
}

constexpr Variant kVariants[] = {
    {WW_PER_ACK, WW_FILTER_NONE, 500000, 10},
    {WW_PER_ACK, WW_FILTER_EWMA, 500000, 10},
    {WW_PER_ACK, WW_FILTER_TUSTIN_CONSTANT, 500000, 10},
    {WW_PER_ACK, WW_FILTER_TUSTIN, 500000, 10},
    {WW_PER_ACK, WW_FILTER_TUSTIN, 50000, 2},
    {WW_PER_ACK, WW_FILTER_TUSTIN, 1000000, 2},
    {WW_PER_ACK, WW_FILTER_TUSTIN, 500000, 0},
    {WW_PER_ACK, WW_FILTER_TUSTIN, 10000000, 16},
    {WW_PER_ACK, WW_FILTER_NONE, 500000, 10, true},
    {WW_PER_ACK, WW_FILTER_EWMA, 500000, 10, true},
    {WW_PER_ACK, WW_FILTER_TUSTIN_CONSTANT, 500000, 10, true},
    {WW_PER_ACK, WW_FILTER_TUSTIN, 500000, 10, true},
    {WW_PER_ACK, WW_FILTER_TUSTIN, 1000000, 2, true},
    {WW_PER_ACK, WW_FILTER_TUSTIN, 50000, 16, true},
    {WW_PER_ACK, WW_FILTER_TUSTIN, 500000, 0, true},
    {WW_PER_RTT, WW_FILTER_NONE, 500000, 10},
    {WW_PER_RTT, WW_FILTER_EWMA, 500000, 10},
    {WW_PER_RTT, WW_FILTER_TUSTIN_CONSTANT, 500000, 10},
    {WW_PER_RTT, WW_FILTER_TUSTIN, 500000, 10},
    {WW_PER_RTT_TIMER, WW_FILTER_NONE, 500000, 10},
    {WW_PER_RTT_TIMER, WW_FILTER_EWMA, 500000, 10},
    {WW_PER_RTT_TIMER, WW_FILTER_TUSTIN_CONSTANT, 500000, 10},
};
INSTANTIATE_TEST_SUITE_P(Core, FilterTest, testing::ValuesIn(kVariants));

}  // namespace
