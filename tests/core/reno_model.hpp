// SPDX-License-Identifier: BSD-3-Clause
//
// Reno by RFC 5681 with the byte counting of RFC 3465, the validation of RFC 7661 and Linux's
// growth by batches, in wide numbers. The models of other controls grow by it.
#pragma once

#include "driven.hpp"

namespace ww::test {

class RenoModel {
  public:
    explicit RenoModel(const ww_config& by) : config(by) {}

    // Only an ACK for new data opens the window, and not while recovery owns it.
    static bool may_grow(const ww_sample& s) {
        return !s.is_dupack && s.acked_segments > 0 && s.phase != WW_RECOVERY;
    }

    void grow(ww_window& w, const ww_sample& s) {
        if (config.validate_cwnd && !s.is_cwnd_limited) return;
        const std::uint64_t acked = s.acked_segments;
        if (config.batched_acks) {
            grow_linearly(w, 0, slow_start(w, acked));
        } else if (w.cwnd < w.ssthresh) {  // RFC 3465, 2.2: L = 2, after a timeout L = 1
            const std::uint64_t most = s.phase == WW_LOSS ? 1 : 2;
            set_cwnd(w, w.cwnd + (config.byte_counting ? std::min(acked, most) : 1));
        } else if (config.fractional_cwnd) {  // RFC 5681, equation 3, at most one per ACK
            constexpr std::uint64_t kOne = 1 << 24;
            count = std::min(count, kOne - 1);
            const std::uint64_t whole = w.cwnd * kOne + count;
            const std::uint64_t step = std::max<std::uint64_t>(1, kOne * kOne / whole);
            count += std::min(kOne, step * (config.byte_counting ? acked : 1));
            set_cwnd(w, w.cwnd + count / kOne);
            count %= kOne;
        } else {  // one per window of ACKs or of data, at most one per ACK
            count += config.byte_counting ? acked : 1;
            if (count < w.cwnd) return;
            count -= w.cwnd;
            if (count >= w.cwnd) count = 0;
            set_cwnd(w, w.cwnd + 1ull);
        }
    }

    // Linux's tcp_slow_start: up to ssthresh. Returns the segments left over.
    static std::uint64_t slow_start(ww_window& w, std::uint64_t segments) {
        if (w.cwnd >= w.ssthresh) return segments;
        const std::uint64_t opened = std::min<std::uint64_t>(segments, w.ssthresh - w.cwnd);
        set_cwnd(w, w.cwnd + opened);
        return segments - opened;
    }

    // Linux's tcp_cong_avoid_ai: one per `each` segments, or per window if `each` is 0.
    void grow_linearly(ww_window& w, std::uint64_t each, std::uint64_t segments) {
        if (each == 0) each = w.cwnd;
        if (count >= each) {
            count = 0;
            set_cwnd(w, w.cwnd + 1ull);
        }
        count += segments;
        set_cwnd(w, w.cwnd + count / each);
        count %= each;
    }

    void on_ack(const Ack& ack, ww_window& w) {
        if (may_grow(ack.sample)) grow(w, ack.sample);
    }
    void reduce(ww_window& w, std::uint64_t ssthresh) {
        remember(w);
        w.cwnd = w.ssthresh = to_u32(ssthresh);
    }
    void time_out(ww_window& w, std::uint64_t ssthresh, bool repeated) {  // RFC 5681, 3.1
        count = 0;
        if (!repeated) {
            remember(w);
            w.ssthresh = to_u32(ssthresh);
        }
        w.cwnd = 1;
    }
    std::uint64_t half(std::uint64_t in_flight) const {  // RFC 5681, equation 4
        return std::max<std::uint64_t>(std::min(in_flight / 2, kCwndMost), config.min_cwnd);
    }

    void on_loss(ww_window& w, std::uint64_t, std::uint32_t in_flight, std::uint32_t) {
        reduce(w, half(in_flight));
    }
    void on_rto(ww_window& w, std::uint64_t, std::uint32_t in_flight, std::uint32_t, bool again) {
        time_out(w, half(in_flight), again);
    }
    void on_recovery_exit(ww_window&, std::uint64_t, std::uint32_t) { count = 0; }
    void on_undo(ww_window& w) const {
        w.cwnd = std::max(w.cwnd, prior_cwnd);
        w.ssthresh = std::max(w.ssthresh, prior_ssthresh);
    }

    void remember(const ww_window& w) {
        prior_cwnd = w.cwnd;
        prior_ssthresh = w.ssthresh;
        count = 0;
    }
    static void set_cwnd(ww_window& w, std::uint64_t cwnd) {
        w.cwnd = to_u32(std::min(cwnd, kCwndMost));
    }

    ww_config config;
    std::uint64_t count = 0;  // towards the next segment of cwnd
    std::uint32_t prior_cwnd = 0, prior_ssthresh = 0;
};

// A connection's start: small, near the largest window, or (most often) in between.
inline ww_window any_window(Choices choices) {
    const std::uint32_t cwnd = choices.of({1u, 2u, 10u, 50u, 100u, 200u, 3000u, (1u << 28) - 3});
    return {cwnd, choices.of({cwnd, cwnd + 30, 2u, 2 * cwnd, WW_SSTHRESH_INFINITE}), 0};
}

// How the sender counts: the settings that most controls obey.
inline ww_config any_counting(ww_protocol protocol, Choices choices) {
    ww_config config = ww_configure(protocol);
    config.byte_counting = !choices.one_in(3);
    config.validate_cwnd = !choices.one_in(4);
    config.batched_acks = choices.one_in(3);
    config.fractional_cwnd = choices.one_in(3);
    config.min_cwnd = static_cast<std::uint8_t>(choices.of({2u, 2u, 1u, 3u}));
    config.min_marked_cwnd = static_cast<std::uint8_t>(choices.of({1u, 1u, 2u}));
    return config;
}

// Drives many connections and checks each after every step.
template <class Model, class Look>
void drive(ww_protocol protocol, int connections, int steps, const Look& look) {
    for (int i = 0; i < connections; i++) {
        SCOPED_TRACE(i);
        const auto seed = static_cast<std::uint64_t>(i);
        Driven<Model> driven(any_counting(protocol, Choices(seed)), seed,
                             any_window(Choices(seed + 1)));
        for (int step = 0; step < steps; step++) {
            driven.step();
            driven.expect_same();
            if (testing::Test::HasFatalFailure()) return;
            look(driven);
        }
    }
}

}  // namespace ww::test
