// SPDX-License-Identifier: BSD-3-Clause
//
// Drives a congestion control and a model of it through the same random connections. Models are written from
// the papers or RFCs in wide numbers that never wrap, and the core must agree with them.
//
// A connection has episodes, each with its own round trip, rate and sender state. Values come from small sets,
// because comparisons fail first where values are equal.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

#include "../../core/westwood.h"

namespace ww::test {

__extension__ using Wide = unsigned __int128;
inline constexpr std::uint64_t kCwndMost = 1u << 28;

inline std::uint32_t to_u32(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
inline std::uint64_t bounded(Wide value, std::uint64_t most = WW_BW_MAX) {
    return static_cast<std::uint64_t>(std::min<Wide>(value, most));
}
// Bandwidths are bytes/s in 1/256. The core knows times of at most 9 minutes.
inline std::uint64_t rate_of(const ww_sample& s) {
    if (s.rate_interval_us == 0) return 0;
    return bounded(Wide{s.rate_segments} * s.mss * 256000000u / s.rate_interval_us);
}
inline Wide bytes_in(std::uint64_t bandwidth, std::uint64_t us) {
    return Wide{bandwidth} * std::min<std::uint64_t>(us, 1u << 29) / 256000000u;
}
inline std::uint64_t segments_of(Wide bytes, std::uint64_t mss) {  // rounded up
    return bounded((bytes + mss - 1) / mss, kCwndMost);
}

// What an ACK brought, with clocks and counters that do not wrap.
struct Ack {
    ww_sample sample{};
    std::uint64_t now_us = 0, delivered = 0, prior_delivered = 0;
};

class Choices {
  public:
    explicit Choices(std::uint64_t seed) : random_(seed) {}
    std::uint32_t upto(std::uint32_t most) {
        return static_cast<std::uint32_t>(random_() % (std::uint64_t{most} + 1));
    }
    std::uint32_t from(std::uint32_t least, std::uint32_t most) {
        return least + upto(most - least);
    }
    bool one_in(std::uint32_t n) { return upto(n - 1) == 0; }
    template <class T>
    T of(std::initializer_list<T> values) {
        return values.begin()[upto(static_cast<std::uint32_t>(values.size() - 1))];
    }

  private:
    std::mt19937_64 random_;
};

// Draws the path's and the sender's behaviour, ACK by ACK.
class Connection {
  public:
    explicit Connection(std::uint64_t seed) : choices(seed) {
        now_us = choices.of({std::uint64_t{1000000}, (std::uint64_t{1} << 32) - 3000000,
                             (std::uint64_t{1000} << 32) - 20000000});
        mss = choices.of({1u, 536u, 1000u, 1460u, 8960u});
        begin_episode();
    }

    void begin_episode() {
        rtt_us = choices.of({500u, 8000u, 19999u, 100000u, 100000u, 399999u});
        acks = choices.of({1u, 2u, 10u, 40u});
        rate = choices.of({1u, 2u, 4u, 10u, 20u, 100u, 100u, 150u, 3000u});
        flight = choices.of({0u, 3u, 4u, 5u, 20u, 100u, 110u, 300u});
        phase = choices.of({WW_OPEN, WW_OPEN, WW_OPEN, WW_DISORDER, WW_RECOVERY, WW_LOSS});
        limited = !choices.one_in(4);
        idle = choices.one_in(6);
        steady = choices.one_in(2);
        queued_us = choices.of({0u, 0u, rtt_us / 4, choices.upto(6) * rtt_us / 100, 2 * rtt_us});
    }

    Ack ack() {
        if (choices.one_in(30)) begin_episode();
        now_us += gap_us();
        std::uint32_t arrived = choices.one_in(8) ? 0 : choices.of({1u, 1u, 2u, rate});
        if (choices.one_in(100)) arrived = choices.of({40000u, 65536u, 100000u, 200000u});
        Ack ack;
        ww_sample& s = ack.sample;
        s.mss = mss;
        s.is_dupack = choices.one_in(8);
        s.acked_segments = s.is_dupack ? 0 : arrived;
        s.in_flight = flight + (steady ? 0 : choices.upto(3));
        s.rtt_us = choices.one_in(6) ? 0 : rtt_us + queued_us + choices.of({0u, 0u, 0u, 1u, 8u});
        s.srtt_us = choices.one_in(20) ? 0 : rtt_us + queued_us;
        s.phase = static_cast<std::uint8_t>(phase);
        s.is_cwnd_limited = limited;
        s.newly_delivered = arrived;
        s.is_app_limited = idle;
        s.newly_lost = choices.one_in(10) ? choices.upto(20) : 0;
        s.pipe = s.in_flight;
        s.rate_segments = rate;
        s.rate_interval_us = choices.one_in(10) ? 0 : rtt_us;
        s.rate_rtt_us = choices.one_in(6) ? 0 : rtt_us + queued_us + choices.of({0u, 0u, 1u, 8u});
        ack.prior_delivered = delivered - std::min<std::uint64_t>(delivered, rate);
        // Makes the 32-bit counter wrap, but by no more than a sample can express.
        if (s.rate_interval_us != 0 && choices.one_in(300)) delivered += 1u << 30;
        ack.delivered = delivered += arrived;
        ack.now_us = now_us;
        s.now_us = now_us;
        s.delivered = static_cast<std::uint32_t>(ack.delivered);
        s.prior_delivered = static_cast<std::uint32_t>(ack.prior_delivered);
        return ack;
    }

    // Usually the episode's gap; now and then a silence, or two ACKs at once.
    std::uint64_t gap_us() {
        if (choices.one_in(200)) return choices.of({600000u, 1000000u, 2500000u, 11000000u});
        if (choices.one_in(40))
            return choices.of({0u, 1u, 49999u, 50000u, 59999u, 60000u, 210000u});
        return rtt_us / acks + (steady ? 0 : choices.upto(3));
    }

    Choices choices;
    std::uint64_t now_us, delivered = 0;
    std::uint32_t mss, rtt_us = 0, queued_us = 0, acks = 1, rate = 1, flight = 0;
    ww_phase phase = WW_OPEN;
    bool limited = true, idle = false, steady = true;
};

// A control of the core and its model, both called as a host would call them.
template <class Model>
class Driven {
  public:
    Driven(const ww_config& by, std::uint64_t seed, const ww_window& start)
        : config(by), path(seed), model(by), window(start), expected(start) {
        ww_init(&config, &state);
        calls = path.choices.of({100u, 200u, 1000u, 5000u});
    }

    // Makes one of the host's calls, most often an ACK.
    void step() {
        const std::uint32_t call = path.choices.upto(calls - 1);
        const std::uint32_t in_flight =
            path.choices.of({window.cwnd, path.flight, 2 * path.flight + 1});
        if (call < 2) {
            ww_on_loss(&config, &state, &window, path.now_us, in_flight, path.mss);
            model.on_loss(expected, path.now_us, in_flight, path.mss);
            happened = true;
        } else if (call < 4) {
            ww_on_recovery_exit(&config, &state, &window, path.now_us, path.mss);
            model.on_recovery_exit(expected, path.now_us, path.mss);
        } else if (call < 5) {
            const bool repeated = happened && path.choices.one_in(3);
            ww_on_rto(&config, &state, &window, path.now_us, in_flight, path.mss, repeated);
            model.on_rto(expected, path.now_us, in_flight, path.mss, repeated);
            happened = true;
        } else if (call < 6 && happened) {
            ww_on_undo(&config, &state, &window);
            model.on_undo(expected);
        } else if (call == 6 && !ww_ignores_marks(&config)) {
            mark(in_flight);
        } else if (call == 7) {
            ww_on_restart(&config, &state, path.now_us);
            if constexpr (requires { model.on_restart(path.now_us); })
                model.on_restart(path.now_us);
        } else {
            const Ack ack = path.ack();
            ww_on_ack(&config, &state, &window, &ack.sample);
            model.on_ack(ack, expected);
        }
    }

    void expect_same() const {
        ASSERT_EQ(window.cwnd, expected.cwnd);
        ASSERT_EQ(window.ssthresh, expected.ssthresh);
        ASSERT_EQ(window.pacing, expected.pacing);
    }

    void mark(std::uint32_t in_flight) {
        ww_on_mark(&config, &state, &window, path.now_us, in_flight, path.mss);
        if constexpr (requires { model.on_mark(expected, path.mss); })
            model.on_mark(expected, path.mss);
        else if constexpr (requires { model.config; })
            mark_as_loss(in_flight);
        happened = true;
    }

    // RFC 3168, 6.1.2 and RFC 9438, 4.6: as a loss, but cwnd may fall to one segment.
    void mark_as_loss(std::uint32_t in_flight) {
        model.config.min_cwnd = config.min_marked_cwnd;
        model.on_loss(expected, path.now_us, in_flight, path.mss);
        model.config.min_cwnd = config.min_cwnd;
        expected.ssthresh = std::max<std::uint32_t>(expected.ssthresh, config.min_cwnd);
    }

    ww_config config;
    Connection path;
    Model model;
    ww_state state{};
    ww_window window, expected;
    std::uint32_t calls = 0;  // calls among which 7 are losses
    bool happened = false;    // a loss or a timeout that an undo can take back
};

}  // namespace ww::test
