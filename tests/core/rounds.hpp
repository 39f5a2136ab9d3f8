// SPDX-License-Identifier: BSD-3-Clause
//
// A control that tests call as a host does, and a connection over a path with round trips that a test sets.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "../../core/westwood.h"

namespace ww::test {

inline constexpr std::uint32_t kMss = 1000;

inline double bytes_per_second(std::uint64_t bandwidth) {
    return static_cast<double>(bandwidth) / static_cast<double>(1u << WW_BW_FRACTION);
}

class Host {
  public:
    explicit Host(const ww_config& by, std::uint32_t cwnd = 10,
                  std::uint32_t ssthresh = WW_SSTHRESH_INFINITE)
        : config(by), window{cwnd, ssthresh, 0} {
        ww_init(&config, &state);
    }
    explicit Host(ww_protocol id, std::uint32_t cwnd = 10,
                  std::uint32_t ssthresh = WW_SSTHRESH_INFINITE)
        : Host(ww_configure(id), cwnd, ssthresh) {}

    // An ACK arrives.
    void take(std::uint64_t after_us, ww_sample sample) {
        sample.now_us = now_us += after_us;
        sample.mss = mss;
        ww_on_ack(&config, &state, &window, &sample);
    }
    void loss() { loss(window.cwnd); }
    void loss(std::uint32_t in_flight) {
        ww_on_loss(&config, &state, &window, now_us, in_flight, mss);
    }
    void mark() { mark(window.cwnd); }
    void mark(std::uint32_t in_flight) {
        ww_on_mark(&config, &state, &window, now_us, in_flight, mss);
    }
    void leave_recovery() { ww_on_recovery_exit(&config, &state, &window, now_us, mss); }
    void timeout() { timeout(window.cwnd); }
    void timeout(std::uint32_t in_flight, bool repeated = false) {
        ww_on_rto(&config, &state, &window, now_us, in_flight, mss, repeated);
    }
    void undo() { ww_on_undo(&config, &state, &window); }
    ww_observation seen(std::uint64_t later_us = 0) const {
        return ww_observe(&config, &state, now_us + later_us);
    }

    ww_config config;
    ww_state state{};
    ww_window window;
    std::uint64_t now_us = 1000000;
    std::uint32_t mss = kMss;
};

class Rounds : public Host {
  public:
    explicit Rounds(ww_protocol id, std::uint32_t cwnd = 10,
                    std::uint32_t ssthresh = WW_SSTHRESH_INFINITE)
        : Host(id, cwnd, ssthresh) {
        config.byte_counting = false;
    }

    void ack(std::uint64_t after_us, std::uint32_t rtt_us, std::uint32_t segments = 1,
             ww_phase phase = WW_OPEN) {
        ww_sample sample{};
        sample.acked_segments = segments;
        sample.in_flight =
            before_sending ? window.cwnd - std::min(window.cwnd, segments) : window.cwnd;
        if (rtt_us != 0) srtt_us = srtt_us == 0 ? rtt_us : (7 * srtt_us + rtt_us) / 8;
        sample.rtt_us = rtt_us;
        sample.srtt_us = srtt_us;
        sample.phase = static_cast<std::uint8_t>(phase);
        sample.is_cwnd_limited = limited;
        take(after_us, sample);
    }

    // Runs one round trip of rtt_us.
    void round(std::uint32_t rtt_us) {
        const std::uint32_t count = window.cwnd;
        for (std::uint32_t i = 0; i < count; i++) ack(rtt_us / count, rtt_us);
    }

    std::uint32_t srtt_us = 0;  // as the host has it; 0: not even from the handshake
    bool limited = true;
    bool before_sending = false;  // in_flight excludes what the ACK allows to be sent
};

// A control with a slow start, to which segments arrive.
class Start : public Host {
  public:
    explicit Start(ww_start_rule rule, ww_protocol id = WW_PROTOCOL_SACK)
        : Host(configured(rule, id)) {}

    // A segment arrives that was sent when `prior` others had been delivered, and leaves `flight`.
    void arrive(std::uint64_t after_us, std::uint32_t rtt_us, std::uint32_t flight,
                std::uint32_t prior = 0, ww_phase phase = WW_OPEN) {
        ww_sample sample{};
        sample.acked_segments = sample.newly_delivered = 1;
        sample.in_flight = flight;
        sample.rtt_us = phase == WW_OPEN ? rtt_us : 0;
        sample.srtt_us = rtt_us;
        sample.is_cwnd_limited = limited;
        sample.phase = static_cast<std::uint8_t>(phase);
        sample.prior_delivered = prior;
        sample.delivered = ++delivered;
        take(after_us, sample);
    }

    std::uint32_t delivered = 0;
    bool limited = true;

  private:
    static ww_config configured(ww_start_rule rule, ww_protocol id) {
        ww_config config = ww_configure(id);
        config.slow_start = static_cast<std::uint8_t>(rule);
        config.resume_cwnd = 300;
        return config;
    }
};

}  // namespace ww::test
