// SPDX-License-Identifier: BSD-3-Clause
//
// Any sequence of operations on the core, with settings and reports that no sane host would make, leaves
// windows a host can use. libFuzzer's bytes are the sequence.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "../../core/recovery.h"
#include "../../core/westwood.h"

namespace {

class Bytes {
  public:
    Bytes(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
    bool empty() const { return left_ == 0; }

    template <class T>
    T take() {
        T value{};
        const std::size_t n = sizeof(T) < left_ ? sizeof(T) : left_;
        std::memcpy(&value, data_, n);
        data_ += n;
        left_ -= n;
        return value;
    }

  private:
    const std::uint8_t* data_;
    std::size_t left_;
};

// Every setting a host may choose (contract.h's ranges); tau beyond them is clamped as hosts must.
ww_config any_config(Bytes& bytes) {
    ww_config config =
        ww_preset(static_cast<ww_preset_id>(bytes.take<std::uint8_t>() % WW_PRESET_COUNT));
    config.sampler = bytes.take<std::uint8_t>() % 3;
    config.filter = bytes.take<std::uint8_t>() % 5;
    config.virtual_m = bytes.take<std::uint8_t>() % (WW_VIRTUAL_MAX + 1);
    if (config.virtual_m == 1) config.virtual_m = 0;
    config.tau_us = 1 + bytes.take<std::uint32_t>() % WW_TAU_MAX_US;
    config.min_interval_us = bytes.take<std::uint32_t>();
    config.alpha_permille = bytes.take<std::uint16_t>() % 1001;
    const std::uint8_t flags = bytes.take<std::uint8_t>();
    config.byte_counting = flags & 1;
    config.validate_cwnd = flags & 2;
    config.set_cwnd_on_loss = flags & 4;
    config.seed_filter = flags & 8;
    config.literal_count = flags & 16;
    config.reset_rtt_min = flags & 32;
    config.set_at_exit = flags & 64;
    config.halve_on_loss = flags & 128;
    const std::uint8_t more = bytes.take<std::uint8_t>();
    config.hystart = more & 1;
    config.fast_convergence = more & 2;
    config.batched_acks = more & 8;
    if (more & 4) config.cte_permille = 1000 + bytes.take<std::uint16_t>() % 64000;
    config.vegas_alpha = bytes.take<std::uint8_t>();
    config.vegas_beta = bytes.take<std::uint8_t>();
    config.vegas_gamma = bytes.take<std::uint8_t>();
    return config;
}

ww_sample any_sample(Bytes& bytes, std::uint64_t& now_us) {
    ww_sample sample{};
    const std::uint8_t shape = bytes.take<std::uint8_t>();
    // Mostly forward in time; sometimes far ahead, sometimes back.
    now_us += shape & 1 ? bytes.take<std::uint16_t>() : bytes.take<std::uint64_t>();
    sample.now_us = now_us;
    sample.mss = shape & 2 ? 1460 : bytes.take<std::uint32_t>();
    sample.acked_segments = shape & 4 ? shape >> 6 : bytes.take<std::uint32_t>();
    sample.in_flight = bytes.take<std::uint32_t>();
    sample.rtt_us = shape & 8 ? bytes.take<std::uint16_t>() : bytes.take<std::uint32_t>();
    sample.phase = bytes.take<std::uint8_t>() % 4;
    sample.is_dupack = shape & 16;
    sample.is_cwnd_limited = shape & 32;
    sample.is_app_limited = sample.rtt_us & 1;
    sample.newly_delivered = sample.acked_segments % 1000;
    sample.newly_lost = bytes.take<std::uint8_t>();
    sample.pipe = bytes.take<std::uint32_t>() % (WW_CWND_MAX + 1);
    sample.rate_segments = bytes.take<std::uint32_t>();
    sample.rate_interval_us =
        shape & 64 ? bytes.take<std::uint16_t>() : bytes.take<std::uint32_t>();
    sample.delivered = bytes.take<std::uint32_t>();
    sample.prior_delivered = sample.delivered - bytes.take<std::uint16_t>();
    return sample;
}

void check(const ww_config& config, const ww_state& state, const ww_window& window,
           std::uint64_t now_us) {
    if (window.cwnd < 1 || window.cwnd > WW_CWND_MAX) std::abort();
    if (window.ssthresh < config.min_cwnd && window.ssthresh < 2) std::abort();
    const ww_observation seen = ww_observe(&config, &state, now_us);
    if (seen.bandwidth > WW_BW_MAX || seen.raw > WW_BW_MAX) std::abort();
}

// Fast recovery as the host runs it: cwnd stays usable, and PRR never beyond what arrived allows.
void recover(Bytes& bytes, ww_window& window) {
    ww_prr prr;
    ww_prr_enter(&prr, bytes.take<std::uint32_t>());
    std::uint32_t count = 0;
    for (int i = 0; i < 16 && !bytes.empty(); i++) {
        const std::uint32_t in_flight = bytes.take<std::uint32_t>() % WW_CWND_MAX;
        const std::uint32_t delivered = bytes.take<std::uint8_t>();
        const std::uint32_t before = window.cwnd;
        window.cwnd =
            ww_prr_on_ack(&prr, window.cwnd, window.ssthresh, in_flight, delivered, delivered & 1);
        if (delivered == 0 && window.cwnd != before) std::abort();
        if (delivered != 0 && window.cwnd < in_flight) std::abort();
        if (delivered != 0 && in_flight <= window.ssthresh && window.cwnd > window.ssthresh + 1)
            std::abort();
        prr.out += window.cwnd > in_flight ? window.cwnd - in_flight : 0;
        const std::uint32_t floor = window.ssthresh < WW_CWND_MAX ? window.ssthresh : WW_CWND_MAX;
        window.cwnd = ww_rate_halving_on_ack(&count, window.cwnd, floor, in_flight, 1);
        if (window.cwnd < floor) std::abort();
    }
    if (window.cwnd == 0) window.cwnd = 1;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes bytes(data, size);
    const ww_config config = any_config(bytes);
    ww_state state{};
    ww_window window{1 + bytes.take<std::uint32_t>() % WW_CWND_MAX, WW_SSTHRESH_INFINITE, 0};
    ww_init(&config, &state);
    std::uint64_t now_us = bytes.take<std::uint64_t>();
    while (!bytes.empty()) {
        const std::uint8_t operation = bytes.take<std::uint8_t>();
        const std::uint32_t flight = bytes.take<std::uint32_t>();
        if (operation < 200) {
            const ww_sample sample = any_sample(bytes, now_us);
            ww_on_ack(&config, &state, &window, &sample);
        } else if (operation < 215) {
            ww_on_loss(&config, &state, &window, now_us, flight, bytes.take<std::uint32_t>());
        } else if (operation < 230) {
            ww_on_rto(&config, &state, &window, now_us, flight, 1460, operation & 1);
        } else if (operation < 240) {
            ww_on_recovery_exit(&config, &state, &window, now_us, 1460);
        } else if (operation < 243) {
            recover(bytes, window);
        } else if (operation < 248 && state.prior_cwnd != 0) {
            ww_on_undo(&config, &state, &window);
        } else {
            ww_observe(&config, &state, now_us + flight);
        }
        check(config, state, window, now_us);
    }
    return 0;
}
