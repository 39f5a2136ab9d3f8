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

// Draws a value from `least` to `most`.
template <class T>
T between(Bytes& bytes, T least, T most) {
    const auto span = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least) + 1;
    return static_cast<T>(static_cast<std::uint64_t>(least) + bytes.take<std::uint32_t>() % span);
}

// Draws any values that core/settings.h allows.
ww_config any_config(Bytes& bytes) {
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

ww_sample any_sample(Bytes& bytes, std::uint64_t& now_us) {
    ww_sample sample{};
    const std::uint8_t shape = bytes.take<std::uint8_t>();
    // Time mostly goes forward, sometimes far ahead, and sometimes back.
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

// Runs fast recovery as the host does: cwnd stays usable, and PRR never exceeds what has arrived allows.
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
        } else if (operation < 248 && state.common.prior_cwnd != 0) {
            ww_on_undo(&config, &state, &window);
        } else {
            ww_observe(&config, &state, now_us + flight);
        }
        check(config, state, window, now_us);
    }
    return 0;
}
