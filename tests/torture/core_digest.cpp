// SPDX-License-Identifier: BSD-3-Clause
//
// core_digest FIRST COUNT [SHIFT_US]: prints a line for each of COUNT random sequences of operations on the core,
// with a digest of the results. SHIFT_US starts the clock later, which must not change them; parts that depend on
// the clock's own bits are left out then: BBRv1's first phase, BBRv3's random waits, and RTTs in ticks.
#include <cstdio>
#include <cstdlib>

#include "../fuzz/core_operations.hpp"
#include "digest.hpp"

int main(int count, char** words) {
    if (count < 3) return 2;
    const std::uint64_t first = std::strtoull(words[1], nullptr, 10);
    const std::uint64_t last = first + std::strtoull(words[2], nullptr, 10);
    const bool shifted = count > 3;
    ww::fuzz::Clock clock;
    if (shifted) clock = {std::strtoull(words[3], nullptr, 10), (UINT64_C(1) << 36) - 1, false};
    for (std::uint64_t seed = first; seed < last; seed++) {
        const auto bytes = ww::torture::random_bytes(seed, 64 + seed % 4000);
        ww::torture::Digest digest;
        const auto add = [&](const ww_config& config, const ww_state& state,
                             const ww_window& window, std::uint64_t now_us) {
            const bool draws = config.algorithm == WW_ALG_BBR || config.algorithm == WW_ALG_BBR3;
            if (shifted && draws) return;
            const ww_observation seen = ww_observe(&config, &state, now_us);
            for (const std::uint64_t word :
                 {std::uint64_t{window.cwnd}, std::uint64_t{window.ssthresh}, window.pacing,
                  seen.bandwidth, seen.raw, std::uint64_t{seen.rtt_min_us},
                  std::uint64_t{seen.samples}, std::uint64_t{state.common.cwnd_count}})
                digest.add(word);
        };
        ww::fuzz::operate(ww::fuzz::Bytes(bytes.data(), bytes.size()), add, clock);
        std::printf("%llu %016llx\n", static_cast<unsigned long long>(seed),
                    static_cast<unsigned long long>(digest.value()));
    }
    return 0;
}
