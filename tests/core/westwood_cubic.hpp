// SPDX-License-Identifier: BSD-3-Clause
//
// Drives Westwood-CUBIC ACK by ACK.
#pragma once

#include "rounds.hpp"

namespace ww::test::westwood_cubic {

inline constexpr std::uint32_t kRtt = 100000;
inline constexpr std::uint32_t kBdp = 100;  // segments delivered in a kRtt

// What an ACK brings. 100 segments per round trip of 100 ms: 1 MB/s and a BDP of 100 segments.
struct Said {
    std::uint32_t rtt_us = kRtt;
    std::uint32_t rate = kBdp;  // segments in the interval
    std::uint32_t interval_us = kRtt;
    std::uint32_t delivered = 1;
    std::uint32_t lost = 0;
    std::uint32_t in_network = kBdp;
    ww_phase phase = WW_OPEN;
    bool ends_round = false;
    bool idle = false;   // the application was idle when the segment was sent
    bool fills = false;  // the window is full
    std::uint32_t after_us = 1000;
};

class WestwoodCubic : public Host {
  public:
    explicit WestwoodCubic(std::uint32_t cwnd, std::uint32_t ssthresh = WW_SSTHRESH_INFINITE)
        : Host(WW_PROTOCOL_WESTWOOD_CUBIC, cwnd, ssthresh) {
        // The arithmetic below uses these values; tests/core/protocols_test.cpp has the defaults.
        config.wc_evidence_permille = 250;
        config.wc_gain_permille = 950;
        config.wc_queue_permille = 62;
        config.wc_heavy_permille = 125;
        config.wc_small = 12;
        config.wc_growth_permille = 0;
        config.wc_pacing_permille = 2000;
    }

    void ack(const Said& told) {
        ww_sample sample{};
        sample.acked_segments = sample.newly_delivered = told.delivered;
        sample.phase = static_cast<std::uint8_t>(told.phase);
        sample.is_cwnd_limited = told.fills;
        sample.is_app_limited = told.idle;
        sample.newly_lost = told.lost;
        sample.pipe = told.in_network;
        sample.rate_segments = told.rate;
        sample.rate_interval_us = told.rate == 0 ? 0 : told.interval_us;
        sample.rate_rtt_us = told.rtt_us;
        sample.prior_delivered = told.ends_round ? delivered : wc().round_end - 1;
        sample.delivered = delivered += told.delivered;
        take(told.after_us, sample);
    }
    void acks(int count, const Said& told) {
        for (int i = 0; i < count; i++) ack(told);
    }

    std::uint32_t ssthresh(std::uint32_t in_flight) const {
        return ww_ssthresh(&config, &state, now_us, in_flight, kMss);
    }
    double bytes_per_s() const { return static_cast<double>(seen().bandwidth) / WW_BW_UNIT; }
    const ww_westwood_cubic_state& wc() const { return state.westwood_cubic; }

    // 0: a link loses the packets. 1: a full queue does.
    double evidence() const { return wc().evidence / 32768.0 - 1; }
    void set_evidence(double evidence) {
        state.westwood_cubic.evidence =
            static_cast<std::uint16_t>(std::min(32768 * (1 + evidence), 65535.0));
    }

    std::uint32_t delivered = 0;
};

// A connection in congestion avoidance with this window. It knows the path: 1 MB/s, 100 ms and, for
// two rounds, the queue's delay. The evidence says that the link loses the packets.
inline WestwoodCubic settled(std::uint32_t cwnd, std::uint32_t queue_us = 0) {
    WestwoodCubic c(cwnd, cwnd);
    c.ack({.fills = true});  // growth begins
    for (int round = 0; round < 3; round++) {
        c.ack({.rtt_us = kRtt + queue_us, .ends_round = true});
        c.acks(50, {.rtt_us = kRtt + queue_us});
    }
    c.window.cwnd = cwnd;
    c.set_evidence(0);
    return c;
}

inline constexpr std::uint32_t kQueue = 50000;

// A recovery has just begun: with a queue the window is 95 and it WAITS; else 120, and it KEEPS.
inline WestwoodCubic in_recovery(std::uint32_t queue_us) {
    WestwoodCubic c = settled(120, queue_us);
    c.loss();
    c.ack({.rtt_us = kRtt + queue_us, .phase = WW_RECOVERY});
    return c;
}

}  // namespace ww::test::westwood_cubic
