// SPDX-License-Identifier: BSD-3-Clause
//
// CUBIC by RFC 9438, and by the rules of Linux 6 and ns-3 3.44 as listed in core/cubic.h; HyStart++
// by RFC 9406, and HyStart by those two as in hystart.h. Numbers are wide, with the fixed-point
// units that cubic.h states: W_cubic in 1/256 segments, W_est and cwnd in 2^-32.
#pragma once

#include <cmath>
#include <utility>

#include "reno_model.hpp"

namespace ww::test {

struct Delays {
    std::uint64_t rtt_us, srtt_us, least_us;
};

inline std::uint64_t least_known(std::uint64_t least_us, std::uint64_t rtt_us) {
    return least_us == 0 ? rtt_us : std::min(least_us, rtt_us);
}
inline std::uint64_t rtt_threshold(std::uint64_t rtt_us) {  // RFC 9406, 4.2
    return std::clamp<std::uint64_t>(rtt_us / 8, 4000, 16000);
}

class HyStartPlusPlusModel {  // RFC 9406, 4.2
  public:
    void on_ack(const ww_sample& s, ww_window& w, std::uint32_t min_cwnd) {
        if (done) return;
        acked_ += s.acked_segments;
        if (acked_ >= window_end_) {
            window_end_ = acked_ + s.in_flight;
            last_min_ = current_min_;
            current_min_ = samples_ = 0;
            if (in_css() && ++css_rounds_ == 5) {
                done = true;
                w.ssthresh = std::max(w.cwnd, min_cwnd);
                return;
            }
        }
        if (s.rtt_us == 0) return;
        current_min_ = least_known(current_min_, s.rtt_us);
        if (++samples_ < 8) return;
        if (in_css()) {
            if (current_min_ >= baseline_) return;
            baseline_ = css_rounds_ = 0;
        } else if (last_min_ != 0 && current_min_ >= last_min_ + rtt_threshold(last_min_)) {
            baseline_ = current_min_;
        }
    }
    bool in_css() const { return baseline_ != 0; }

    bool done = false;

  private:
    std::uint64_t acked_ = 0, window_end_ = 0, last_min_ = 0, current_min_ = 0, samples_ = 0;
    std::uint64_t baseline_ = 0, css_rounds_ = 0;
};

class HyStartModel {
  public:
    void on_ack(bool ns3, const Delays& d, const Ack& ack, ww_window& w, std::uint32_t min_cwnd) {
        if (done || d.rtt_us == 0) return;
        if (!ns3) begin_round(ack);
        if (w.cwnd >= 16 && is_full(ns3, d, ack, w)) {
            done = true;
            w.ssthresh = std::max(w.cwnd, min_cwnd);
        }
        if (ns3) begin_round(ack);
    }

    bool done = false;
    std::uint64_t acked = 0;

  private:
    void begin_round(const Ack& ack) {
        if (acked <= end_) return;
        end_ = acked + ack.sample.in_flight;
        start_us_ = last_us_ = ack.now_us;
        current_min_ = samples_ = 0;
    }
    bool is_full(bool ns3, const Delays& d, const Ack& ack, const ww_window& w) {
        const bool long_train =
            in_train(ack.now_us) && ack.now_us - start_us_ > longest(ns3, d, w, ack.sample);
        return delayed(ns3, d) || long_train;
    }
    bool in_train(std::uint64_t now_us) {
        if (now_us - last_us_ > 2000) return false;
        last_us_ = now_us;
        return true;
    }
    static std::uint64_t longest(bool ns3, const Delays& d, const ww_window& w,
                                 const ww_sample& s) {
        if (ns3) return d.least_us;
        const std::uint64_t pacing_us = 4 * 65536 * d.srtt_us / (std::uint64_t{2} * w.cwnd * s.mss);
        return d.least_us / 2 + std::min<std::uint64_t>(pacing_us, 1000) / 2;
    }
    bool delayed(bool ns3, const Delays& d) {
        const bool known = samples_ >= 8;
        if (!ns3 || !known) current_min_ = least_known(current_min_, d.rtt_us);
        samples_++;
        if (!known) return false;
        const std::uint64_t threshold =
            ns3 ? std::clamp<std::uint64_t>(d.least_us, 4000, 1000000) : rtt_threshold(d.least_us);
        return current_min_ > d.least_us + threshold;
    }

    std::uint64_t end_ = 0, start_us_ = 0, last_us_ = 0, current_min_ = 0, samples_ = 0;
};

// The curve of a congestion avoidance stage by RFC 9438.
struct CurveModel {
    static constexpr std::uint64_t kMost = (1u << 24) - 1, kScale = 9765625;  // 5^10

    static std::uint64_t cube_root(Wide x) {  // the largest r with r^3 <= x
        auto r = static_cast<std::uint64_t>(std::cbrt(static_cast<double>(x)));
        while (Wide{r} * r * r > x) r--;
        while (Wide{r + 1} * (r + 1) * (r + 1) <= x) r++;
        return r;
    }

    void begin(std::uint64_t cwnd, std::uint64_t now_ms) {  // 4.2, 4.8, 4.10
        open = true;
        epoch_ms = now_ms;
        w_est = cwnd << 32;
        fraction = 0;
        if (cwnd_prior == 0) cwnd_prior = cwnd;
        w_max = std::max(w_max, cwnd << 8);
        k_ms = cube_root(Wide{w_max - (cwnd << 8)} * kScale);
    }

    // Returns |C (t - K)^3| in 1/256 segments, and whether it is to be added to W_max.
    std::pair<std::uint64_t, bool> offset(std::uint64_t ms) const {
        ms = std::min<std::uint64_t>(ms, 1u << 20);
        const Wide away = ms > k_ms ? ms - k_ms : k_ms - ms;
        return {static_cast<std::uint64_t>(away * away * away / kScale), ms > k_ms};
    }
    std::uint64_t w_cubic(std::uint64_t ms, std::uint64_t unit) const {  // in 1/256 segments / unit
        const auto [away, beyond] = offset(ms);
        const std::uint64_t most = w_max / unit, by = away / unit;
        return beyond ? most + by : most - std::min(most, by);
    }

    void grow(ww_window& w, std::uint64_t elapsed_ms, std::uint64_t segments,
              std::uint64_t srtt_us) {
        const std::uint64_t cwnd = w.cwnd, credit = segments << 32;
        const bool recovered = w_est >> 32 >= cwnd_prior;  // 4.3
        w_est += recovered ? credit / cwnd : 9 * credit / (17 * cwnd);
        w_est = std::min(w_est, kMost << 32);
        if (w_cubic(elapsed_ms, 1) < w_est >> 24) {
            w.cwnd = to_u32(std::max(cwnd, w_est >> 32));
            return;
        }
        const std::uint64_t now = cwnd << 8;
        const std::uint64_t target =
            std::min(w_cubic(elapsed_ms + srtt_us / 1000, 1), now * 3 / 2);  // 4.2
        if (target <= now) return;
        add(w, segments * Wide{((target - now) << 24) / cwnd});
    }
    void add(ww_window& w, Wide growth) {  // in 2^-32 segments
        growth += fraction;
        fraction = static_cast<std::uint64_t>(growth % (Wide{1} << 32));
        w.cwnd = to_u32(
            std::min<std::uint64_t>(w.cwnd + static_cast<std::uint64_t>(growth >> 32), kMost));
    }

    std::uint64_t epoch_ms = 0, w_est = 0, w_max = 0, k_ms = 0, cwnd_prior = 0, fraction = 0;
    bool open = false, w_max_known = false;
};

class CubicModel : public RenoModel {
  public:
    static constexpr std::uint64_t kMost = CurveModel::kMost;

    explicit CubicModel(const ww_config& by)
        : RenoModel(by),
          kernel_(by.cubic_rules != WW_RULES_RFC9438),
          ns3_(by.cubic_rules == WW_RULES_NS3),
          plus_plus_(by.slow_start == WW_HYSTART_PLUS_PLUS) {}

    void on_ack(const Ack& ack, ww_window& w) {
        const ww_sample& s = ack.sample;
        const std::uint64_t now_ms = ack.now_us / 1000, since_last_ms = now_ms - last_ms_;
        const Delays delays = measure(s, now_ms);
        last_ms_ = now_ms;
        covered_ = s.acked_segments;
        slow_start_.acked += s.acked_segments;
        if (!may_grow(s)) return;
        watch_slow_start(delays, ack, w);
        if (config.validate_cwnd && !s.is_cwnd_limited) {
            stage_.epoch_ms += since_last_ms;  // 5.8
            return;
        }
        if (w.cwnd < w.ssthresh && plus_plus_ && first() && !careful.done && careful.in_css()) {
            if (++count < 4) return;  // 4.10
            count = 0;
        }
        std::uint64_t segments = s.acked_segments;
        if (kernel_) {
            segments = slow_start(w, s.phase == WW_LOSS ? 1 : segments);
            if (segments == 0) return;
        } else if (w.cwnd < w.ssthresh) {
            grow(w, s);
            return;
        }
        avoid(w, now_ms, segments, s.srtt_us);
    }

    void on_loss(ww_window& w, std::uint64_t, std::uint32_t in_flight, std::uint32_t) {
        undo_ = stage_;
        const std::uint64_t ssthresh = reduce(w, in_flight), counted = count;
        stage_.cwnd_prior = std::min<std::uint64_t>(w.cwnd, kMost);
        take_w_max(w);
        RenoModel::reduce(w, ssthresh);
        if (ns3_) count = counted;
    }
    void on_rto(ww_window& w, std::uint64_t, std::uint32_t in_flight, std::uint32_t, bool again) {
        if (!again) {
            undo_ = stage_;
            stage_.cwnd_prior = std::min<std::uint64_t>(w.cwnd, kMost);
        }
        const std::uint64_t ssthresh = reduce(w, in_flight), counted = count;
        stage_.w_max = ns3_ ? stage_.w_max : 0;  // 4.8
        stage_.w_max_known = slow_start_.done = false;
        if (ns3_) take_w_max(w);
        if (kernel_) delay_min_us_ = 0;
        time_out(w, ssthresh, again);
        if (ns3_) count = counted;
    }
    void on_recovery_exit(ww_window& w, std::uint64_t now_us, std::uint32_t) {
        if (ns3_)
            avoid(w, now_us / 1000, covered_, 0);
        else
            count = 0;
    }
    void on_undo(ww_window& w) {  // 4.9
        if (!kernel_) {
            if (w.cwnd > prior_cwnd) return;
            undo_.fraction = stage_.fraction;  // the core does not keep this
            stage_ = undo_;
            stage_.w_est = stage_.w_est >> 24 << 24;
        }
        RenoModel::on_undo(w);
    }
    void on_restart(std::uint64_t now_us) {  // 4.2, 5.8
        if (!config.validate_cwnd) return;
        stage_.epoch_ms += now_us / 1000 - last_ms_;
        last_ms_ = now_us / 1000;
    }
    bool first() const { return stage_.cwnd_prior == 0; }

    HyStartPlusPlusModel careful;

  private:
    void watch_slow_start(const Delays& delays, const Ack& ack, ww_window& w) {
        if (w.cwnd >= w.ssthresh) return;
        if (plus_plus_ && first()) careful.on_ack(ack.sample, w, config.min_cwnd);
        const bool ns3 = config.slow_start == WW_HYSTART_NS3;
        if (ns3 || config.slow_start == WW_HYSTART_LINUX)
            slow_start_.on_ack(ns3, delays, ack, w, config.min_cwnd);
    }

    void take_w_max(const ww_window& w) {  // 4.7
        const std::uint64_t reached = std::min<std::uint64_t>(w.cwnd, kMost) << 8;
        const bool shrinks = config.fast_convergence && reached < stage_.w_max;
        stage_.w_max = shrinks ? reached * 17 / 20 : reached;
        if (kernel_) stage_.w_max = stage_.w_max / 256 * 256;
        stage_.w_max_known = stage_.w_max > 0;
    }

    Delays measure(const ww_sample& s, std::uint64_t now_ms) {
        const bool ns3 = config.slow_start == WW_HYSTART_NS3;
        const std::uint64_t used_us = ns3 ? s.srtt_us : s.rtt_us;
        if (used_us == 0) return {0, s.srtt_us, delay_min_us_};
        const bool early = stage_.open && now_ms - stage_.epoch_ms < (ns3 ? 10 : 1000);
        if (!early) delay_min_us_ = least_known(delay_min_us_, used_us);
        return {early ? 0 : used_us, s.srtt_us, delay_min_us_};
    }

    void begin(std::uint64_t cwnd, std::uint64_t now_ms) {
        stage_.begin(cwnd, now_ms);
        w_est_acked_ = 0;
        covered_ = 0;
    }

    void avoid(ww_window& w, std::uint64_t now_ms, std::uint64_t segments, std::uint64_t srtt_us) {
        w.cwnd = to_u32(std::min<std::uint64_t>(w.cwnd, kMost));
        segments = std::min<std::uint64_t>(segments, 65536);
        if (!stage_.open) begin(w.cwnd, now_ms);
        const std::uint64_t elapsed_ms = now_ms - stage_.epoch_ms;
        if (kernel_)
            grow_as_kernel(w, elapsed_ms, segments);
        else
            stage_.grow(w, elapsed_ms, segments, srtt_us);
        w.cwnd = to_u32(std::min<std::uint64_t>(w.cwnd, kMost));
    }

    std::uint64_t reno_as_kernel(std::uint64_t cwnd, std::uint64_t segments) {
        std::uint64_t window = stage_.w_est >> 32;
        w_est_acked_ += segments;
        for (; w_est_acked_ > cwnd * 15 / 8; w_est_acked_ -= cwnd * 15 / 8) window++;
        window = std::min(window, kMost);
        stage_.w_est = window << 32;
        return window;
    }

    void grow_as_kernel(ww_window& w, std::uint64_t elapsed_ms, std::uint64_t segments) {
        const std::uint64_t cwnd = w.cwnd, reno = reno_as_kernel(cwnd, segments);
        const std::uint64_t target = stage_.w_cubic(elapsed_ms + delay_min_us_ / 1000, 256);
        std::uint64_t each = target > cwnd ? cwnd / (target - cwnd) : 100 * cwnd;
        if (!stage_.w_max_known) each = std::min<std::uint64_t>(each, 20);
        if (reno > cwnd) each = std::min(each, cwnd / (reno - cwnd));
        each = std::max<std::uint64_t>(each, 2);
        if (!ns3_) {
            grow_linearly(w, each, segments);
            return;
        }
        count += segments;
        if (count < each) return;
        count -= each;
        w.cwnd++;
    }

    std::uint64_t reduce(const ww_window& w, std::uint64_t in_flight) {  // 4.6
        stage_.open = false;
        const std::uint64_t used = kernel_ ? w.cwnd : std::min<std::uint64_t>(in_flight, w.cwnd);
        return std::max(std::min(used, kCwndMost) * 7 / 10, std::uint64_t{config.min_cwnd});
    }

    const bool kernel_, ns3_, plus_plus_;
    CurveModel stage_, undo_;
    HyStartModel slow_start_;
    std::uint64_t last_ms_ = 0, delay_min_us_ = 0;
    std::uint64_t w_est_acked_ = 0, covered_ = 0;
};

}  // namespace ww::test
