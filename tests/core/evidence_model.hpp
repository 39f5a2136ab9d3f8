// SPDX-License-Identifier: BSD-3-Clause
//
// Westwood-CUBIC's scores and evidence, from the equations of core/westwood_cubic_evidence.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace ww::test {

// Scores are in 1/128, from -128 to 127. The evidence has eight more bits, and its zero is at 128.
class EvidenceModel {
  public:
    void take_delay(std::int64_t srtt_us, std::int64_t rtt_min_us) {
        if (samples == 4095) return;
        constexpr std::int64_t kLongest = (1 << 20) - 1;
        samples++;
        delays_us += std::clamp<std::int64_t>(srtt_us - rtt_min_us, 0, kLongest);
        distances_us += std::min<std::int64_t>(std::abs(srtt_us - mean_us), kLongest);
    }
    void end_round(std::int64_t rtt_min_us) {
        if (samples == 0) return;
        rounds = std::min(rounds + 1, 16);
        const std::int64_t mean = rtt_min_us + delays_us / samples;
        const std::int64_t dev = mean_us == 0 ? 0 : distances_us / samples;
        mean_us = (mean_us * (rounds - 1) + mean + rounds / 2) / rounds;
        dev_us = (dev_us * (rounds - 1) + dev + rounds / 2) / rounds;
        forget_round();
    }
    void forget_round() { samples = delays_us = distances_us = 0; }

    std::int64_t score(std::int64_t srtt_us, std::int64_t rtt_min_us) const {
        const std::int64_t center_us = mean_us == 0 ? rtt_min_us : mean_us;
        const std::int64_t noise_us = rtt_min_us / 8192 + 16;
        const std::int64_t unit_us = 2 * std::max(dev_us, noise_us);
        return std::clamp<std::int64_t>((srtt_us - center_us) * 128 / unit_us, -128, 127);
    }
    void take_score(std::int64_t now_score) {
        scores = std::min(scores + 1, 32);
        const std::int64_t weight = std::max(scores, 4);
        const std::int64_t taken = (128 + now_score) * 256;
        value = (value * (weight - 1) + taken) / weight;
    }
    bool is_above(std::int64_t permille) const {
        return (value - 128 * 256) * 1000 > permille * 128 * 256;
    }

    std::int64_t value = (128 + 32) * 256, mean_us = 0, dev_us = 0;
    std::int64_t delays_us = 0, distances_us = 0, samples = 0;
    int scores = 0, rounds = 0;
};

}  // namespace ww::test
