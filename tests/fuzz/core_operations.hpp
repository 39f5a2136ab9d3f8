// SPDX-License-Identifier: BSD-3-Clause
//
// Random sequences of operations on the core, with settings and reports that no sane host would
// produce. Bytes define the sequence: the fuzzer takes them from libFuzzer,
// tests/torture/core_digest.cpp from a seed.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "../../core/recovery.h"
#include "../../core/westwood.h"

namespace ww::fuzz {

class Bytes {
  public:
    Bytes(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
    bool empty() const { return left_ == 0; }

    // Returns the next bytes as a number, lowest byte first; after the end, zeros.
    template <class T>
    T take() {
        std::uint64_t value = 0;
        for (unsigned i = 0; i < sizeof(T) && left_ > 0; i++, left_--)
            value |= std::uint64_t{*data_++} << (8 * i);
        return static_cast<T>(value);
    }

  private:
    const std::uint8_t* data_;
    std::size_t left_;
};

// Draws a value from `least` to `most`.
template <class T>
T between(Bytes& bytes, T least, T most) {
    const auto span = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least) + 1;
    return static_cast<T>(static_cast<std::uint64_t>(least) + bytes.take<std::uint32_t>() % span);
}

// Draws any values that core/settings.h allows.
inline ww_config any_config(Bytes& bytes) {
    ww_config config =
        ww_configure(static_cast<ww_protocol>(bytes.take<std::uint8_t>() % WW_PROTOCOL_COUNT));
#define WW_DRAW(kind, name, fallback, least, most, ...)                        \
    config.WW_FIELD(kind, name) = between<WW_TYPE_##kind>(bytes, least, most); \
    if (WW_MAY_BE_NONE_##kind && bytes.take<std::uint8_t>() % 4 == 0)          \
        config.WW_FIELD(kind, name) = 0;
#define WW_MAY_BE_NONE_SWITCH false
#define WW_MAY_BE_NONE_COUNT false
#define WW_MAY_BE_NONE_COUNT_OR_NONE true
#define WW_MAY_BE_NONE_SPAN false
#define WW_MAY_BE_NONE_SHARE false
#define WW_MAY_BE_NONE_FACTOR_OR_NONE true
#define WW_MAY_BE_NONE_CHOICE false
    WW_SETTINGS(WW_DRAW)
#undef WW_DRAW
    return config;
}

inline ww_sample any_sample(Bytes& bytes, std::uint64_t largest_step_us, std::uint64_t& now_us) {
    ww_sample sample{};
    const std::uint8_t shape = bytes.take<std::uint8_t>();
    // Time usually goes forward, sometimes far ahead, and sometimes back.
    now_us +=
        shape & 1 ? bytes.take<std::uint16_t>() : bytes.take<std::uint64_t>() & largest_step_us;
    sample.now_us = now_us;
    sample.mss = shape & 2 ? 1460 : bytes.take<std::uint32_t>();
    sample.acked_segments = shape & 4 ? shape >> 6 : bytes.take<std::uint32_t>();
    sample.in_flight = bytes.take<std::uint32_t>();
    sample.rtt_us = shape & 8 ? bytes.take<std::uint16_t>() : bytes.take<std::uint32_t>();
    sample.srtt_us = sample.in_flight ^ sample.rtt_us;
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
    sample.rate_rtt_us = shape & 128 ? sample.rtt_us : bytes.take<std::uint16_t>();
    sample.delivered = bytes.take<std::uint32_t>();
    sample.prior_delivered = sample.delivered - bytes.take<std::uint16_t>();
    sample.prior_pipe = sample.pipe ^ sample.newly_lost;
    sample.lost_since = sample.newly_lost;
    return sample;
}

inline ww_sent any_sent(Bytes& bytes, std::uint64_t now_us) {
    ww_sent sent{};
    sent.now_us = now_us;
    sent.mss = between<std::uint32_t>(bytes, 1, UINT16_MAX);
    sent.srtt_us = bytes.take<std::uint16_t>();
    sent.pipe = bytes.take<std::uint8_t>() % 2 == 0 ? 0 : bytes.take<std::uint32_t>();
    sent.delivered = bytes.take<std::uint32_t>();
    sent.is_app_limited = sent.mss & 1;
    return sent;
}

inline ww_lost any_lost(Bytes& bytes, std::uint64_t now_us) {
    ww_lost lost{};
    lost.now_us = now_us;
    lost.mss = between<std::uint32_t>(bytes, 1, UINT16_MAX);
    lost.pipe = bytes.take<std::uint32_t>();
    lost.delivered = bytes.take<std::uint32_t>();
    lost.prior_delivered = lost.delivered - bytes.take<std::uint16_t>();
    lost.prior_pipe = lost.mss & 4 ? bytes.take<std::uint8_t>() : bytes.take<std::uint32_t>();
    lost.lost_since = lost.mss & 8 ? bytes.take<std::uint8_t>() : bytes.take<std::uint32_t>();
    lost.is_app_limited = lost.mss & 1;
    lost.continues = lost.mss & 2;
    return lost;
}

// Fast recovery as the host runs it: cwnd stays usable; PRR sends no more than arrivals allow.
inline void recover(Bytes& bytes, ww_window& window) {
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

// What the host's clock shows at first, and its largest step.
struct Clock {
    std::uint64_t shift_us = 0, largest_step_us = UINT64_MAX;
    bool ticks = true;  // RTTs may count in ticks of this clock
};

// Runs the sequence, and calls look(config, state, window, now_us) after each operation.
template <class Look>
void operate(Bytes bytes, const Look& look, const Clock& clock = {}) {
    ww_config config = any_config(bytes);
    if (!clock.ticks) config.rtt_tick_us = 1;
    ww_state state{};
    ww_window window{1 + bytes.take<std::uint32_t>() % WW_CWND_MAX, WW_SSTHRESH_INFINITE, 0};
    ww_init(&config, &state);
    std::uint64_t now_us = clock.shift_us + (bytes.take<std::uint64_t>() & clock.largest_step_us);
    while (!bytes.empty()) {
        const std::uint8_t operation = bytes.take<std::uint8_t>();
        const std::uint32_t flight = bytes.take<std::uint32_t>();
        if (operation < 200) {
            const ww_sample sample = any_sample(bytes, clock.largest_step_us, now_us);
            ww_on_ack(&config, &state, &window, &sample);
        } else if (operation < 215) {
            ww_on_loss(&config, &state, &window, now_us, flight, bytes.take<std::uint32_t>());
        } else if (operation < 230) {
            ww_on_rto(&config, &state, &window, now_us, flight, 1460, operation & 1);
        } else if (operation < 240) {
            ww_on_recovery_exit(&config, &state, &window, now_us, 1460);
        } else if (operation < 243) {
            recover(bytes, window);
        } else if (operation < 248 && state.common.prior_cwnd != 0) {
            ww_on_undo(&config, &state, &window);
        } else if (operation < 249) {
            ww_on_restart(&config, &state, now_us);
        } else if (operation < 250) {
            ww_on_mark(&config, &state, &window, now_us, flight, 1460);
        } else if (operation < 252) {
            const ww_sent sent = any_sent(bytes, now_us);
            ww_on_packet_sent(&config, &state, &window, &sent);
        } else if (operation < 254) {
            const ww_lost lost = any_lost(bytes, now_us);
            ww_on_packet_lost(&config, &state, &window, &lost);
        } else {
            ww_observe(&config, &state, now_us + flight);
        }
        look(config, state, window, now_us);
    }
}

}  // namespace ww::fuzz
