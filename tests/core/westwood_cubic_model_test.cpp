// SPDX-License-Identifier: BSD-3-Clause
//
// Westwood-CUBIC once more, from the equations at the top of core/westwood_cubic.h and docs/new-member.md, in numbers
// that do not wrap. The core does the same on every call of any connection.
#include "cubic_model.hpp"

namespace {

using ww::test::Ack;
using ww::test::Choices;
using ww::test::CurveModel;
using ww::test::Driven;
using ww::test::kCwndMost;
using ww::test::RenoModel;
using ww::test::to_u32;
using ww::test::Wide;

class WestwoodCubicModel : public RenoModel {
  public:
    explicit WestwoodCubicModel(const ww_config& by) : RenoModel(by) {}

    void on_ack(const Ack& ack, ww_window& w) {
        const ww_sample& s = ack.sample;
        const std::uint64_t now_ms = ack.now_us / 1000, since_last_ms = now_ms - last_ms_;
        last_ms_ = now_ms;
        const bool repairs = s.phase == WW_RECOVERY;
        if (restart_ || (s.rate_interval_us != 0 && ack.prior_delivered >= round_end_)) {
            if (repairs && lost_ > 0 && !reduced_ && !restart_) answer(w, s.mss, false);
            begin_round(ack, w);
        }
        lost_ += s.newly_lost;
        if (repairs && !answered_ && is_many(standing(w))) answer(w, s.mss, true);
        measure(s);
        if (repairs && reduced_) {  // RFC 9937
            const bool is_safe = s.acked_segments != 0 && s.newly_lost == 0;
            set_in_recovery(w, std::uint64_t{s.pipe} + s.newly_delivered + is_safe);
        } else if (s.newly_delivered != 0) {
            grow_by(s, w, since_last_ms);
        }
        pace(s.mss, w);
    }

    void on_loss(ww_window& w, std::uint64_t, std::uint32_t, std::uint32_t mss) {
        remember(w);
        answer(w, mss, is_many(w.cwnd));
    }
    void on_mark(ww_window& w, std::uint32_t mss) {
        remember(w);
        answer(w, mss, true);
    }
    void on_recovery_exit(ww_window& w, std::uint64_t, std::uint32_t) {
        if (reduced_) set_in_recovery(w, w.ssthresh);
        reduced_ = false;
    }
    void on_rto(ww_window& w, std::uint64_t, std::uint32_t, std::uint32_t mss, bool again) {
        const std::uint64_t cwnd = standing(w);
        const std::uint64_t ssthresh = std::max<std::uint64_t>(after(cwnd, mss), config.min_cwnd);
        if (!again) curve_.cwnd_prior = cwnd;
        curve_.open = false;
        curve_.w_max = 0;
        rtt_min_us = kNone;
        srtt_us_ = round_rtt_us_ = last_rtt_us_ = 0;
        started = true;
        holds = reduced_ = answered_ = restart_ = false;
        time_out(w, ssthresh, again);
        w.pacing = 0;
    }
    void on_undo(ww_window& w) {
        reduced_ = false;
        RenoModel::on_undo(w);
    }

    std::uint64_t largest() const { return std::max(max_bw, last_max_bw_); }

    static constexpr std::uint64_t kNone = UINT32_MAX;
    std::uint64_t rtt_min_us = kNone, max_bw = 0;
    bool started = false, holds = false;
    int ended_at_pipe = 0, kept = 0;

  private:
    bool queues() const {
        if (rtt_min_us == kNone) return true;
        const std::uint64_t rtt_us = config.wc_least_rtt ? least_of_two_rounds() : srtt_us_;
        return rtt_us > rtt_min_us * (1000 + config.wc_queue_permille) / 1000;
    }
    std::uint64_t least_of_two_rounds() const {
        if (round_rtt_us_ == 0) return last_rtt_us_;
        return ww::test::least_known(last_rtt_us_, round_rtt_us_);
    }
    bool is_many(std::uint64_t cwnd) const {
        return lost_ > 4 && Wide{lost_} * 1000 > Wide{cwnd} * config.wc_heavy_permille;
    }
    std::uint64_t pipe(std::uint64_t mss) const {  // B RTTmin / MSS, rounded up
        if (rtt_min_us == kNone) return 0;
        const Wide bytes =
            Wide{largest()} * std::min(rtt_min_us, std::uint64_t{1} << 29) / 256000000u;
        return static_cast<std::uint64_t>(std::min<Wide>((bytes + mss - 1) / mss, kCwndMost));
    }

    // The window after a loss that is not one of many, or after one that is a sure sign.
    std::uint64_t after(std::uint64_t cwnd, std::uint64_t mss, bool sure = false) const {
        std::uint64_t reduced = cwnd * 7 / 10;
        if (cwnd < config.wc_small) {
            reduced = cwnd / 2;
        } else if (!sure) {
            if (!queues()) return cwnd;
            reduced = std::max(reduced, pipe(mss) * config.wc_gain_permille / 1000);
        }
        return std::min(cwnd, std::max<std::uint64_t>(reduced, config.min_cwnd));
    }
    // The window that recovery goes to, while it lets go less.
    std::uint64_t standing(const ww_window& w) const {
        const std::uint64_t cwnd = reduced_ ? std::max(w.cwnd, w.ssthresh) : w.cwnd;
        return std::min(cwnd, CurveModel::kMost);
    }
    void answer(ww_window& w, std::uint64_t mss, bool sure) {
        const std::uint64_t cwnd = standing(w), target = after(cwnd, mss, sure);
        restart_ = true;
        kept += target == cwnd;
        if (target == cwnd) return;
        if (!reduced_) {
            curve_.open = false;
            curve_.cwnd_prior = cwnd;
            const std::uint64_t reached = cwnd << 8;
            curve_.w_max = reached < curve_.w_max ? reached * 17 / 20 : reached;  // 4.7
        }
        reduced_ = answered_ = started = true;
        holds = false;
        w.ssthresh = to_u32(target);
        w.cwnd = std::min(w.cwnd, w.ssthresh);
    }
    static void set_in_recovery(ww_window& w, std::uint64_t segments) {
        const std::uint64_t most = std::min<std::uint64_t>(w.ssthresh, kCwndMost);
        w.cwnd = to_u32(std::max<std::uint64_t>(std::min(segments, most), 1));
    }

    bool is_longer(std::uint64_t rtt_us) const {  // RFC 9406, 4.2
        return rtt_min_us != kNone && rtt_us >= rtt_min_us + ww::test::rtt_threshold(rtt_min_us);
    }
    void begin_round(const Ack& ack, ww_window& w) {
        if (!started && w.cwnd < w.ssthresh && is_longer(round_rtt_us_)) {
            started = true;
            holds = false;
            ended_at_pipe++;
            const std::uint64_t least =
                std::max<std::uint64_t>({pipe(ack.sample.mss), w.cwnd / 2, config.min_cwnd});
            w.cwnd = to_u32(std::min<std::uint64_t>(w.cwnd, least));
            w.ssthresh = std::max<std::uint32_t>(w.cwnd, config.min_cwnd);
        }
        if (!restart_) {
            last_max_bw_ = max_bw;
            max_bw = 0;
            last_rtt_us_ = round_rtt_us_;
            round_rtt_us_ = 0;
            answered_ = false;
        }
        restart_ = false;
        round_end_ = ack.delivered;
        lost_ = 0;
    }

    void measure(const ww_sample& s) {
        const std::uint64_t rtt_us = s.rate_rtt_us;
        if (rtt_us != 0) {
            rtt_min_us = std::min(rtt_min_us, rtt_us);
            srtt_us_ = srtt_us_ == 0 ? rtt_us : srtt_us_ - srtt_us_ / 8 + rtt_us / 8;
            round_rtt_us_ = ww::test::least_known(round_rtt_us_, rtt_us);
            block_us_ = std::min(block_us_, rtt_us);
            if (++samples_ == 8) {
                holds = !started && is_longer(block_us_);
                samples_ = 0;
                block_us_ = kNone;
            }
        }
        if (s.rate_interval_us == 0) return;
        const Wide exact = Wide{s.rate_segments} * s.mss * 256000000u / s.rate_interval_us;
        const auto rate =
            static_cast<std::uint64_t>(std::min<Wide>(exact, WW_BW_MAX)) / kUnit * kUnit;
        if (!s.is_app_limited || rate > last_max_bw_) max_bw = std::max(max_bw, rate);
    }

    void grow_by(const ww_sample& s, ww_window& w, std::uint64_t since_last_ms) {
        if (config.validate_cwnd && !s.is_cwnd_limited) {
            curve_.epoch_ms += since_last_ms;  // RFC 9438, 5.8
            return;
        }
        if (w.cwnd < w.ssthresh) {
            if (!holds) slow_start(w, s.newly_delivered);
            return;
        }
        started = true;
        w.cwnd = to_u32(std::min<std::uint64_t>(w.cwnd, CurveModel::kMost));
        if (!curve_.open) curve_.begin(w.cwnd, last_ms_);
        curve_.grow(w, last_ms_ - curve_.epoch_ms, std::min(s.newly_delivered, 65536u), srtt_us_);
    }

    void pace(std::uint64_t mss, ww_window& w) const {
        w.pacing = 0;
        if (config.wc_pacing_permille == 0 || srtt_us_ == 0 || w.cwnd >= w.ssthresh || reduced_)
            return;
        const Wide rate = std::min<Wide>(Wide{w.cwnd} * mss * 256000000u / srtt_us_, WW_BW_MAX);
        w.pacing = static_cast<std::uint64_t>(
            std::min<Wide>(rate * config.wc_pacing_permille / 1000, WW_BW_MAX));
    }

    static constexpr std::uint64_t kUnit = 1u << 13;  // 32 bytes/s
    CurveModel curve_;
    std::uint64_t last_ms_ = 0, last_max_bw_ = 0, srtt_us_ = 0, lost_ = 0, round_end_ = 0;
    std::uint64_t round_rtt_us_ = 0, last_rtt_us_ = 0, block_us_ = kNone, samples_ = 0;
    bool reduced_ = false, answered_ = false, restart_ = false;
};

ww_config any_settings(Choices choices) {
    ww_config config = ww_configure(WW_PROTOCOL_WESTWOOD_CUBIC);
    config.validate_cwnd = !choices.one_in(4);
    config.min_cwnd = static_cast<std::uint8_t>(choices.of({2u, 2u, 1u, 3u}));
    if (choices.one_in(2)) return config;
    config.wc_gain_permille = choices.of<std::uint16_t>({0, 500, 1000});
    config.wc_queue_permille = choices.of<std::uint16_t>({0, 250, 1000});
    config.wc_least_rtt = choices.of<bool>({false, true});
    config.wc_heavy_permille = choices.of<std::uint16_t>({0, 20, 1000});
    config.wc_small = static_cast<std::uint8_t>(choices.of({1u, 4u, 255u}));
    config.wc_pacing_permille = choices.of<std::uint16_t>({0, 1000, 65000});
    return config;
}

TEST(WestwoodCubicModel, TheCoreDoesAsTheEquationsSay) {
    int held = 0, ended_at_pipe = 0, kept = 0, paced = 0, wrapped = 0;
    for (std::uint64_t seed = 0; seed < 2000; seed++) {
        SCOPED_TRACE(seed);
        const ww_window start = seed % 2 == 0 ? ww_window{10, WW_SSTHRESH_INFINITE, 0}
                                              : ww::test::any_window(Choices(seed + 1));
        Driven<WestwoodCubicModel> wc(any_settings(Choices(seed + 2)), seed, start);
        for (int i = 0; i < 500; i++) {
            wc.step();
            wc.expect_same();
            const ww_observation seen = ww_observe(&wc.config, &wc.state, wc.path.now_us);
            ASSERT_EQ(seen.bandwidth, wc.model.largest());
            ASSERT_EQ(seen.raw, wc.model.max_bw);
            ASSERT_EQ(seen.rtt_min_us, wc.model.rtt_min_us);
            ASSERT_EQ(seen.samples, wc.model.largest() == 0 ? 0u : 1u);
            if (HasFatalFailure()) return;
            held += wc.model.holds;
            paced += wc.window.pacing != 0;
        }
        ended_at_pipe += wc.model.ended_at_pipe;
        kept += wc.model.kept;
        wrapped += wc.path.delivered >> 32 != 0;
    }
    EXPECT_GT(held, 300) << "the connections went everywhere";
    EXPECT_GT(ended_at_pipe, 30);
    EXPECT_GT(kept, 1000);
    EXPECT_GT(paced, 10000);
    EXPECT_GT(wrapped, 10);
}

}  // namespace
