// SPDX-License-Identifier: BSD-3-Clause
//
// A connection over a path with round trips that a test sets: each segment of the window brings an
// ACK, and the ACKs are spread evenly over the round trip.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../core/westwood.h"

namespace ww::test {

inline constexpr std::uint32_t kMss = 1000;

class Rounds {
  public:
    explicit Rounds(ww_protocol id, std::uint32_t cwnd = 10,
                    std::uint32_t ssthresh = WW_SSTHRESH_INFINITE)
        : config(ww_configure(id)), window{cwnd, ssthresh, 0} {
        config.byte_counting = false;
        ww_init(&config, &state);
    }

    void ack(std::uint64_t after_us, std::uint32_t rtt_us, std::uint32_t segments = 1,
             ww_phase phase = WW_OPEN) {
        ww_sample sample{};
        sample.now_us = now_us += after_us;
        sample.mss = kMss;
        sample.acked_segments = segments;
        sample.in_flight =
            before_sending ? window.cwnd - std::min(window.cwnd, segments) : window.cwnd;
        if (rtt_us != 0) srtt_us = srtt_us == 0 ? rtt_us : (7 * srtt_us + rtt_us) / 8;
        sample.rtt_us = rtt_us;
        sample.srtt_us = srtt_us;
        sample.phase = static_cast<std::uint8_t>(phase);
        sample.is_cwnd_limited = limited;
        ww_on_ack(&config, &state, &window, &sample);
    }

    // Runs one round trip of rtt_us.
    void round(std::uint32_t rtt_us) {
        const std::uint32_t count = window.cwnd;
        for (std::uint32_t i = 0; i < count; i++) ack(rtt_us / count, rtt_us);
    }

    void loss() { loss(window.cwnd); }
    void loss(std::uint32_t in_flight) {
        ww_on_loss(&config, &state, &window, now_us, in_flight, kMss);
    }
    void leave_recovery() { ww_on_recovery_exit(&config, &state, &window, now_us, kMss); }
    void timeout() { timeout(window.cwnd); }
    void timeout(std::uint32_t in_flight, bool repeated = false) {
        ww_on_rto(&config, &state, &window, now_us, in_flight, kMss, repeated);
    }
    void undo() { ww_on_undo(&config, &state, &window); }

    ww_config config;
    ww_state state{};
    ww_window window;
    std::uint64_t now_us = 1000000;
    std::uint32_t srtt_us = 0;  // as the host has it; 0: not even from the handshake
    bool limited = true;
    bool before_sending = false;  // in_flight excludes what the ACK allows to be sent
};

}  // namespace ww::test
