// SPDX-License-Identifier: BSD-3-Clause
//
// Compares the filters with double-precision references written from the papers' equations, over any run of samples.
// westwood_model_test.cpp models which samples there are.
#include <random>

#include "rounds.hpp"

namespace {

using ww::test::bytes_per_second;

// The equations of filter.h in double precision, in bytes/s and microseconds.
class Reference {
  public:
    explicit Reference(const ww_config& config) : config_(config) {}

    // Takes a sample s, `span` after the one before.
    void take(double s, double span) {
        if (config_.filter == WW_FILTER_NONE || (first_ && config_.seed_filter)) {
            estimate = s;
        } else if (config_.filter == WW_FILTER_EWMA) {
            estimate = 7.0 / 8 * estimate + 1.0 / 8 * s;
        } else if (config_.filter == WW_FILTER_TUSTIN_CONSTANT) {
            const double a = config_.alpha_permille / 1000.0;
            estimate = a * estimate + (1 - a) / 2 * (s + last_);
        } else {
            const double twice = 2.0 * config_.tau_us;
            const double w = twice / std::min(span, twice);  // 1 where it has no positive pole
            estimate = ((w - 1) * estimate + s + last_) / (w + 1);
        }
        last_ = s;
        first_ = false;
    }

    double estimate = 0;

  private:
    ww_config config_;
    bool first_ = true;
    double last_ = 0;
};

// Random ACKs at 1 kb/s to 100 Gb/s with a round trip of 10 us to 6 s: delayed, compressed, and after silences.
double worst_error(const ww_config& config, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> unit(0, 1);
    const auto spread = [&](double a, double b) { return a * std::pow(b / a, unit(random)); };
    ww::test::Host host(config);
    host.mss = static_cast<std::uint32_t>(spread(40, 9000));
    const double gap_us = host.mss / spread(125, 12.5e9) * 1e6;
    const auto rtt_us = static_cast<std::uint32_t>(spread(10, 6e6));
    Reference reference(config);
    double worst = 0;
    for (int i = 0; i < 400; i++) {
        const ww_westwood_state before = host.state.westwood;
        ww_sample sample{};
        sample.acked_segments = 1 + static_cast<std::uint32_t>(random() % 4);
        sample.rtt_us = rtt_us + static_cast<std::uint32_t>(random() % rtt_us);
        const double least_us = std::max(1.0, sample.acked_segments * host.mss / 12500.0);
        const double after_us = sample.acked_segments * gap_us * (0.2 + 1.6 * unit(random));
        const double silence_us = random() % 50 == 0 ? unit(random) * 20 * config.tau_us : 0;
        host.take(static_cast<std::uint64_t>(std::max(least_us, after_us) + silence_us) + 1,
                  sample);
        const ww_westwood_state& now = host.state.westwood;
        if (now.samples == before.samples) continue;
        reference.take(bytes_per_second(now.raw),
                       static_cast<double>(now.filter_us - before.filter_us));
        // Below a byte per second and above the core's range there is nothing to compare.
        if (reference.estimate < 125 || reference.estimate > 17e9) continue;
        const double error = std::fabs(bytes_per_second(now.bandwidth) - reference.estimate);
        worst = std::max(worst, error / reference.estimate);
    }
    return worst;
}

struct Variant {
    ww_sampler sampler;
    ww_filter filter;
    std::uint32_t tau_us = 500000;
};

class FilterTest : public testing::TestWithParam<Variant> {};

TEST_P(FilterTest, FollowsItsEquationWithinATenthOfAPercent) {
    ww_config config = ww_configure(WW_PROTOCOL_WESTWOOD);
    config.sampler = GetParam().sampler;
    config.filter = GetParam().filter;
    config.tau_us = GetParam().tau_us;
    config.m = 0;  // no virtual samples: estimator_test.cpp has them
    config.bound_samples = false;
    double worst = 0;
    for (std::uint64_t seed = 1; seed <= 300; seed++) {
        config.seed_filter = seed % 2 == 0;
        worst = std::max(worst, worst_error(config, seed));
        ASSERT_LT(worst, 1e-3) << "seed " << seed;
    }
    RecordProperty("worst_relative_error", std::to_string(worst));
}

constexpr Variant kVariants[] = {
    {WW_PER_ACK, WW_FILTER_NONE},
    {WW_PER_ACK, WW_FILTER_EWMA},
    {WW_PER_ACK, WW_FILTER_TUSTIN_CONSTANT},
    {WW_PER_ACK, WW_FILTER_TUSTIN},
    {WW_PER_ACK, WW_FILTER_TUSTIN, 50000},
    {WW_PER_ACK, WW_FILTER_TUSTIN, 10000000},
    {WW_PER_RTT, WW_FILTER_EWMA},
    {WW_PER_RTT, WW_FILTER_TUSTIN_CONSTANT},
    {WW_PER_RTT, WW_FILTER_TUSTIN},
    {WW_PER_RTT_TIMER, WW_FILTER_EWMA},
    {WW_PER_RTT_TIMER, WW_FILTER_TUSTIN_CONSTANT},
};
INSTANTIATE_TEST_SUITE_P(Core, FilterTest, testing::ValuesIn(kVariants));

}  // namespace
