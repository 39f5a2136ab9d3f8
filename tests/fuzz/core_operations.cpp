// SPDX-License-Identifier: BSD-3-Clause
//
// Any sequence of operations, libFuzzer's bytes, leaves windows that a host can use.
#include "core_operations.hpp"

namespace {

void check(const ww_config& config, const ww_state& state, const ww_window& window,
           std::uint64_t now_us) {
    if (window.cwnd < 1 || window.cwnd > WW_CWND_MAX) std::abort();
    if (window.ssthresh < config.min_cwnd && window.ssthresh < 2) std::abort();
    const ww_observation seen = ww_observe(&config, &state, now_us);
    if (ww_show(&config, &state, now_us).mode > 7) std::abort();
    if (seen.bandwidth > WW_BW_MAX || seen.raw > WW_BW_MAX) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    ww::fuzz::operate(ww::fuzz::Bytes(data, size), check);
    return 0;
}
