// SPDX-License-Identifier: BSD-3-Clause
//
// The Westwood family in wide numbers, by the equations at the top of core/ackcount.h,
// estimator.h, filter.h and westwood_family.h: Mascolo 2001 to Gangadhar 2013, tcp_westwood.c.
#pragma once

#include "reno_model.hpp"

namespace ww::test {

constexpr std::uint64_t kBandwidthMost = WW_BW_MAX;  // bytes/s in 1/256
constexpr Wide kASecond = Wide{256} * 1000000;

inline Wide nearest(Wide dividend, Wide divisor) { return (dividend + divisor / 2) / divisor; }

// The filter's estimate b from samples s; s' is the previous sample.
class FilterModel {
  public:
    explicit FilterModel(const ww_config& by) : config(by) {}

    // Valla's virtual samples come after every tau / m without an ACK; 0: never.
    std::uint64_t silence_us() const {
        const bool has = config.filter == WW_FILTER_TUSTIN && config.sampler == WW_PER_ACK;
        return has && config.m != 0 ? config.tau_us / config.m : 0;
    }
    // Returns how long the waiting data takes to enter at the last rate; then a silence begins.
    std::uint64_t wait_us() const {
        if (!config.bound_samples || raw == 0) return 0;
        return static_cast<std::uint64_t>(area(pending) / raw);
    }
    bool silent(std::uint64_t now_us) const {
        return silence_us() != 0 && now_us - stepped_us >= wait_us() + silence_us();
    }

    std::uint64_t read(std::uint64_t now_us) const {
        // Valla computes null samples when an ACK arrives, so a timeout reads the last ACK's estimate.
        if (!config.null_at_timeout || samples == 0 || !silent(now_us)) return b;
        return quiet((now_us - stepped_us - wait_us()) / silence_us());
    }

    void resume(std::uint64_t now_us) {
        if (!silent(now_us)) return;
        const std::uint64_t wait = wait_us(), quiet_us = now_us - stepped_us - wait;
        std::uint64_t steps = quiet_us / silence_us(), rest = quiet_us % silence_us();
        if (rest < 10000) {
            steps--;
            rest = silence_us();
        }
        b = quiet(steps);
        if (wait != 0) pending = 0;
        if (steps != 0) raw = 0;
        stepped_us = mark_us = now_us - rest;
    }

    // Takes a sample of at most `most`. Returns the bytes in excess.
    std::uint64_t step(std::uint64_t now_us, std::uint64_t bytes, std::uint64_t elapsed_us,
                       std::uint64_t most) {
        const std::uint64_t span = now_us - stepped_us;
        std::uint64_t s = elapsed_us == 0 ? 0 : bounded(bytes * kASecond / elapsed_us), left = 0;
        if (s > most) {
            s = most;
            const Wide longest = std::min<std::uint64_t>(elapsed_us, 1u << 29);
            left = bytes - static_cast<std::uint64_t>(most * longest / kASecond);
        }
        const bool first = samples++ == 0;
        if (config.filter == WW_FILTER_NONE || (first && config.seed_filter)) {
            b = once = s;
        } else if (config.filter == WW_FILTER_EWMA) {
            b = eighth(b, s);
        } else if (config.filter == WW_FILTER_EWMA_TWICE) {
            once = eighth(once, s);
            b = eighth(b, once);
        } else if (config.filter == WW_FILTER_TUSTIN_CONSTANT) {
            const Wide a = config.alpha_permille;
            b = bounded(nearest(2 * a * b + (1000 - a) * (Wide{s} + raw), 2000));
        } else if (config.filter == WW_FILTER_TUSTIN_EVEN) {
            b = even(b, s);
        } else if (span >= 2 * std::uint64_t{config.tau_us}) {
            b = (s + raw) / 2;
        } else {
            b = tustin(area(bytes - left), span);
        }
        stepped_us = now_us;
        raw = s;
        return left;
    }

    ww_config config;
    std::uint64_t b = 0, once = 0, raw = 0, samples = 0;
    std::uint64_t stepped_us = 0, mark_us = 0, pending = 0;

  private:
    static std::uint64_t eighth(std::uint64_t old, std::uint64_t s) {
        return static_cast<std::uint64_t>(nearest(Wide{7} * old + s, 8));
    }
    static Wide area(std::uint64_t bytes) {  // D s, which does not depend on D
        return std::min<std::uint64_t>(bytes, std::uint64_t{1} << 34) * kASecond;
    }
    // ((2 tau - D) b' + D s + D s') / (2 tau + D), term by term if one sum needs more than 64 bits.
    std::uint64_t tustin(Wide of_s, std::uint64_t span) const {
        const Wide twice = 2 * std::uint64_t{config.tau_us}, divisor = twice + span;
        const Wide of_b = (twice - span) * b, of_last = Wide{span} * raw;
        // Sums of bandwidths below 2^42 fit.
        const bool one_sum = divisor < 1u << 21 && std::max(b, raw) < std::uint64_t{1} << 42;
        if (one_sum) return bounded(nearest(of_b + of_last + of_s, divisor));
        return bounded(nearest(of_b, divisor) + nearest(of_last, divisor) + of_s / divisor);
    }
    // Valla 2002: an ACK is a step of tau / m.
    std::uint64_t even(std::uint64_t old, std::uint64_t s) const {
        const Wide weight = config.m == 0 ? 0 : 2 * config.m - 1;
        return bounded(nearest(weight * old + s + raw, weight + 2));
    }
    std::uint64_t quiet(std::uint64_t steps) const {
        const std::uint64_t wait = wait_us();
        std::uint64_t value = b;
        if (wait >= 2 * std::uint64_t{config.tau_us})
            value = raw;
        else if (wait != 0)
            value = tustin(area(pending), wait);
        if (config.null_trapezoid && steps > 0) {
            value = even(value, 0);
            steps--;
        }
        for (std::uint64_t i = 0; i < std::min<std::uint64_t>(steps, 2000); i++)
            value = value * (2u * config.m - 1) / (2u * config.m + 1);
        return value;
    }
};

class WestwoodModel : public RenoModel {
  public:
    explicit WestwoodModel(const ww_config& by) : RenoModel(by), filter(by) {}

    void on_ack(const Ack& ack, ww_window& w) {
        estimate(ack);
        const ww_sample& s = ack.sample;
        if (!may_grow(s)) return;
        if (plateau == 0) {
            grow(w, s);
            return;
        }
        ww_window counter{counter_, counter_, 0};  // Frikha 2005, equations 3 to 5
        grow(counter, s);
        counter_ = counter.cwnd;
        w.cwnd = to_u32(std::max<std::uint64_t>(plateau, counter_));
        if (counter_ >= plateau) plateau = 0;
    }

    void on_loss(ww_window& w, std::uint64_t now_us, std::uint32_t in_flight, std::uint32_t mss) {
        remember(w);
        const ww_window before = w;
        w.ssthresh = to_u32(config.halve_on_loss ? half(in_flight) : bdp(now_us, mss));
        adapt(before, 1);
        plateau = 0;
        if (config.cte_permille != 0 && w.cwnd > w.ssthresh) {
            const std::uint64_t fall = w.cwnd - w.ssthresh;
            plateau = w.ssthresh + fall * 1000 / config.cte_permille;  // equations 1 and 6
            counter_ = w.ssthresh;
            w.cwnd = to_u32(plateau);
        } else if (config.set_cwnd_on_loss || w.cwnd > w.ssthresh) {
            w.cwnd = w.ssthresh;
        }
    }
    void on_rto(ww_window& w, std::uint64_t now_us, std::uint32_t, std::uint32_t mss, bool again) {
        run_timer(now_us);
        adapt(w, 4);
        time_out(w, bdp(now_us, mss, config.divided_timeouts ? quarters_ : 4), again);
        plateau = 0;
        anew_ = config.reset_rtt_min;
    }
    void on_recovery_exit(ww_window& w, std::uint64_t now_us, std::uint32_t mss) {
        count = 0;
        if (config.set_at_exit) w.cwnd = w.ssthresh = to_u32(bdp(now_us, mss));
    }
    void on_undo(ww_window& w) {
        plateau = 0;
        RenoModel::on_undo(w);
    }

    FilterModel filter;
    std::uint64_t rtt_min_us = UINT32_MAX, plateau = 0;

  private:
    // Returns BWE RTTmin / MSS over a number in quarters.
    std::uint64_t bdp(std::uint64_t now_us, std::uint32_t mss, unsigned quarters = 4) const {
        if (filter.samples == 0 || rtt_min_us == UINT32_MAX) return config.min_cwnd;
        const Wide us = std::min<std::uint64_t>(rtt_min_us, 1u << 29);
        const Wide segments = filter.read(now_us) * us / kASecond * 4 / (Wide{mss} * quarters);
        return std::max(static_cast<std::uint64_t>(std::min<Wide>(segments, kCwndMost)),
                        std::uint64_t{config.min_cwnd});
    }

    // Valla's a: losses in slow start increase it.
    void adapt(const ww_window& w, unsigned more) {
        if (w.cwnd >= w.ssthresh)
            quarters_ = 4;
        else
            quarters_ = std::min(quarters_ + more, 16u);
    }

    // What an ACK counts by Mascolo's pseudo-code; core/ackcount.h says where it departs from it.
    std::uint64_t counted(const ww_sample& s) {
        if (s.is_dupack) {
            const std::uint64_t arrived = std::max(s.newly_delivered, 1u);
            accounted_ += arrived;
            return arrived;
        }
        const std::uint64_t acked = s.acked_segments;
        if (acked <= 1) return acked;
        if (acked <= accounted_) {
            accounted_ -= config.literal_count ? acked : acked - 1;
            return 1;
        }
        const std::uint64_t unannounced = acked - accounted_;
        accounted_ = 0;
        return unannounced;
    }

    void run_timer(std::uint64_t now_us) {  // of the 2013 ns-3 code
        const bool timer = config.sampler == WW_PER_RTT_TIMER && open_;
        if (!timer || now_us < filter.mark_us + last_rtt_us_) return;
        filter.step(filter.mark_us + last_rtt_us_, filter.pending, last_rtt_us_, kBandwidthMost);
        filter.mark_us += last_rtt_us_;
        filter.pending = 0;
        open_ = false;
    }

    void take_rtt(std::uint64_t now_us, std::uint64_t rtt_us) {
        const std::uint64_t tick = config.rtt_tick_us;
        last_rtt_us_ = (rtt_us + tick - 1) / tick * tick;
        if (config.counted_ticks && tick > 1) {  // ns-2: from the last tick before it was sent
            const std::uint64_t since = std::min(rtt_us, now_us);  // not before the clock started
            const std::uint64_t offset = (now_us - since) % tick;
            last_rtt_us_ = std::max<std::uint64_t>((since + offset) / tick, 1) * tick;
        }
        rtt_min_us = anew_ ? last_rtt_us_ : std::min(rtt_min_us, last_rtt_us_);
        anew_ = false;
    }

    // Returns true if the window of a sample has lasted long enough; with ticks it must be longer.
    bool is_past(std::uint64_t now_us) const {
        std::uint64_t window = std::max<std::uint64_t>(last_rtt_us_, config.min_interval_us);
        if (config.sampler == WW_PER_ACK) return now_us != filter.mark_us;
        const std::uint64_t tick = config.rtt_tick_us;
        if (tick == 1) return now_us - filter.mark_us >= window;
        return now_us / tick - filter.mark_us / tick > window / tick;
    }

    void estimate(const Ack& ack) {
        const ww_sample& s = ack.sample;
        run_timer(ack.now_us);
        if (s.rtt_us != 0) take_rtt(ack.now_us, s.rtt_us);
        std::uint64_t counts = counted(s);
        if (config.max_counted != 0) counts = std::min<std::uint64_t>(counts, config.max_counted);
        const std::uint64_t bytes = counts * s.mss;
        if (!open_) {
            const bool needs_rtt = config.sampler != WW_PER_ACK || config.bound_samples;
            if (needs_rtt && last_rtt_us_ == 0) return;
            open_ = true;
            filter.mark_us = filter.stepped_us = ack.now_us;
            filter.pending = config.sampler == WW_PER_RTT_TIMER ? bytes : 0;
            return;
        }
        filter.resume(ack.now_us);
        filter.pending += bytes;
        if (config.sampler == WW_PER_RTT_TIMER || !is_past(ack.now_us)) return;
        const std::uint64_t flight = (std::uint64_t{s.in_flight} + s.acked_segments) * s.mss;
        const bool bound = config.sampler == WW_PER_ACK && config.bound_samples;
        const std::uint64_t most = bound ? bounded(flight * kASecond / rtt_min_us) : kBandwidthMost;
        const std::uint64_t elapsed = ack.now_us - filter.mark_us;
        filter.pending = std::min(filter.step(ack.now_us, filter.pending, elapsed, most), flight);
        filter.mark_us = ack.now_us;
    }

    std::uint64_t accounted_ = 0, last_rtt_us_ = 0;
    std::uint32_t counter_ = 0;
    unsigned quarters_ = 0;
    bool open_ = false, anew_ = false;
};

}  // namespace ww::test
