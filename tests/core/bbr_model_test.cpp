// SPDX-License-Identifier: BSD-3-Clause
//
// BBRv1 from draft-cardwell-iccrg-bbr-congestion-control-00, with what core/bbr.h takes from Linux
// (tcp_bbr.c), in numbers that do not wrap. The core must do the same on every ACK.
#include "driven.hpp"
#include "windowed_max.hpp"

namespace {

using ww::test::Ack;
using ww::test::bounded;
using ww::test::Driven;
using ww::test::kCwndMost;
using ww::test::to_u32;
using ww::test::Wide;
using ww::test::WindowedMax;

enum Mode { kStartup, kDrain, kProbeBw, kProbeRtt };
constexpr std::uint64_t kNever = UINT64_MAX;
constexpr std::uint64_t kUnit = 256, kHigh = 739, kLow = 88;  // gains: 2/ln 2 and ln 2/2 in 1/256
constexpr std::uint64_t kBwRounds = 10;                       // 4.1.1.4

class BbrModel {
  public:
    explicit BbrModel(const ww_config& by) : linux_(by.bbr_rules == WW_BBR_RULES_LINUX) {}

    void on_ack(const Ack& ack, ww_window& window) {
        const ww_sample& s = ack.sample;
        mss_ = s.mss;
        update_bandwidth(ack);
        update_extra(ack, window.cwnd);
        update_cycle(ack, window.pacing);
        check_full_pipe(s);
        if (mode == kStartup && full) mode = kDrain;
        if (mode == kDrain && s.pipe <= inflight(kUnit, window.pacing)) enter_probe_bw(ack.now_us);
        update_rtprop(ack, window);
        set_pacing(s, window);
        set_cwnd(ack, window);
        conserved_ = s.pipe + std::max(s.newly_delivered, 1u);
        delivered_ = ack.delivered;
    }

    void on_loss(ww_window& window, std::uint64_t, std::uint32_t, std::uint32_t) {  // 4.2.3.4
        save_cwnd(window);
        recovering_ = conservation_ = true;
        round_end_ = delivered_;  // tcp_bbr.c: next_rtt_delivered
        window.cwnd = std::min(window.cwnd, std::max(conserved_, 1u));
    }
    void on_rto(ww_window& window, std::uint64_t, std::uint32_t, std::uint32_t, bool) {
        save_cwnd(window);
        recovering_ = true;
        conservation_ = false;
        full_bw_ = 0;  // as in Linux, the search for the full pipe restarts
        window.cwnd = 1;
    }
    void on_recovery_exit(ww_window& window, std::uint64_t, std::uint32_t) {
        window.cwnd = std::max(window.cwnd, prior_cwnd_);
        recovering_ = conservation_ = false;
    }
    void on_undo(ww_window& window) {
        full_bw_ = full_rounds_ = 0;  // tcp_bbr.c: bbr_undo_cwnd()
        policer_ = {};
        window.cwnd = std::max(window.cwnd, prior_cwnd_);
    }

    std::uint64_t bw() const { return max_.best(); }

    Mode mode = kStartup;
    std::uint64_t rtprop_us = kNever, rounds = 0;
    unsigned cycle = 0;
    bool full = false;
    bool policed() const { return policer_.rate != 0; }

  private:
    // tcp_bbr.c: lt_bw_sampling. Intervals of 4 to 16 round trips, and two equal ones with many losses.
    struct Policer {
        bool samples = false;
        std::uint64_t rate = 0, last_rate = 0, from_ms = 0, from_delivered = 0, from_lost = 0;
        std::uint64_t rounds = 0;
    };
    void begin_interval(const Ack& ack) {
        policer_.from_ms = delivered_ms_;
        policer_.from_delivered = ack.delivered;
        policer_.from_lost = lost_;
        policer_.rounds = 0;
    }
    void watch_policer(const Ack& ack, bool limited) {
        const ww_sample& s = ack.sample;
        if (policed()) {
            if (mode != kProbeBw || !round_start_ || ++policer_.rounds < 48) return;
            policer_ = {};
            enter_probe_bw(ack.now_us);
            return;
        }
        const bool loses = s.newly_lost > 0;
        if (!policer_.samples && loses) {
            begin_interval(ack);
            policer_.samples = true;
        }
        if (!policer_.samples) return;
        policer_.rounds += round_start_;
        if (limited || policer_.rounds > 16) {
            policer_ = {};
            return;
        }
        const std::uint64_t arrived = to_u32(ack.delivered - policer_.from_delivered);
        const std::uint64_t ms = delivered_ms_ - policer_.from_ms;
        if (policer_.rounds < 4 || !loses || arrived == 0 || ms == 0) return;
        if ((lost_ - policer_.from_lost) * 256 < arrived * 50) return;
        const std::uint64_t rate = bounded(Wide{arrived} * s.mss * 256000 / ms);
        const std::uint64_t last = std::exchange(policer_.last_rate, rate);
        const std::uint64_t apart = std::max(rate, last) - std::min(rate, last);
        begin_interval(ack);
        if (last != 0 && (apart * 8 <= last || apart * 99 / 100 / 256 <= 500))
            policer_.rate = (rate + last) / 2;
    }

    void update_bandwidth(const Ack& ack) {  // 4.1.1
        const ww_sample& s = ack.sample;
        lost_ += s.newly_lost;
        if (s.newly_delivered > 0) delivered_ms_ = ack.now_us / 1000;
        round_start_ = false;
        if (s.rate_interval_us == 0) return;
        if (ack.prior_delivered >= round_end_) {
            round_end_ = ack.delivered;
            rounds++;
            round_start_ = true;
            conservation_ = false;
        }
        const std::uint64_t rate = ww::test::rate_of(s);
        const bool limited =
            s.is_app_limited || mode == kProbeRtt || ack.prior_delivered < limited_until_;
        if (linux_) watch_policer(ack, limited);
        if (!limited || rate >= bw()) max_.take(rate, rounds, kBwRounds);
    }

    std::uint64_t segments_in(std::uint64_t us) const {
        return bounded(ww::test::bytes_in(used_bw(), us) / mss_, kCwndMost);
    }

    void update_extra(const Ack& ack, std::uint32_t cwnd) {  // Linux: bbr_update_ack_aggregation
        const ww_sample& s = ack.sample;
        if (s.newly_delivered == 0 || s.rate_interval_us == 0) return;
        if (round_start_ && ++extra_rounds_ == 5) {
            extra_rounds_ = 0;
            older_extra_ = newer_extra_;
            newer_extra_ = 0;
        }
        std::uint64_t expected = segments_in(ack.now_us - epoch_us_);
        if (epoch_acked_ <= expected || epoch_acked_ >= 1u << 20) {
            epoch_acked_ = expected = 0;
            epoch_us_ = ack.now_us;
        }
        epoch_acked_ += s.newly_delivered;
        const std::uint64_t extra =
            std::min({epoch_acked_ - expected, std::uint64_t{cwnd}, std::uint64_t{65535}});
        newer_extra_ = std::max(newer_extra_, extra);
    }
    std::uint64_t extra() const {
        return full ? std::min(std::max(older_extra_, newer_extra_), segments_in(100000)) : 0;
    }

    void update_cycle(const Ack& ack, std::uint64_t pacing) {  // 4.3.4.3
        const ww_sample& s = ack.sample;
        if (mode != kProbeBw) return;
        const bool full_length = ack.now_us - cycle_at_us_ > rtprop_us;
        const std::uint64_t prior = std::uint64_t{s.pipe} + s.newly_delivered + s.newly_lost;
        bool next = full_length;
        const bool gains = !policed();
        if (gains && cycle == 0)
            next &= s.newly_lost > 0 || prior >= inflight(kUnit * 5 / 4, pacing);
        if (gains && cycle == 1) next |= prior <= inflight(kUnit, pacing);
        if (!next) return;
        cycle = (cycle + 1) % 8;
        cycle_at_us_ = ack.now_us;
    }

    void check_full_pipe(const ww_sample& s) {  // 4.3.2.2
        if (full || !round_start_ || s.is_app_limited) return;
        if (bw() >= full_bw_ + full_bw_ / 4) {
            full_bw_ = bw();
            full_rounds_ = 0;
            return;
        }
        full = ++full_rounds_ >= 3;
    }

    void enter_probe_bw(std::uint64_t now_us) {  // 4.3.4.2, with Knuth's multiplicative hash
        mode = kProbeBw;
        cycle_at_us_ = now_us;
        const std::uint32_t draw = to_u32(now_us * 2654435761u >> 16) % 7;
        constexpr unsigned any_but_1[] = {0, 2, 3, 4, 5, 6, 7};
        cycle = any_but_1[draw];
    }

    void save_cwnd(const ww_window& window) {  // 4.2.3.4: BBRSaveCwnd
        const bool reduced = recovering_ || mode == kProbeRtt;
        prior_cwnd_ = reduced ? std::max(prior_cwnd_, window.cwnd) : window.cwnd;
    }

    void update_rtprop(const Ack& ack, ww_window& window) {  // 4.1.2.3, 4.3.5
        const ww_sample& s = ack.sample;
        const bool expired = rtprop_us != kNever && ack.now_us - rtprop_at_us_ > 10000000;
        const std::uint64_t rtt_us = linux_ ? s.rate_rtt_us : s.rtt_us;  // bbr_update_min_rtt()
        const std::uint64_t below = linux_                ? rtprop_us
                                    : rtprop_us == kNever ? kNever
                                                          : rtprop_us + 1;
        if (rtt_us != 0 && (rtt_us < below || expired)) {
            rtprop_us = rtt_us;
            rtprop_at_us_ = ack.now_us;
        }
        if (expired && mode != kProbeRtt) {
            save_cwnd(window);
            mode = kProbeRtt;
            done_us_ = kNever;
        }
        if (mode != kProbeRtt) return;
        limited_until_ = ack.delivered + s.pipe;
        if (done_us_ == kNever) {
            if (s.pipe > 4) return;
            done_us_ = ack.now_us + 200000;
            round_end_ = ack.delivered;
            floor_round_ = false;
            return;
        }
        floor_round_ |= round_start_;
        if (!floor_round_ || ack.now_us < done_us_) return;
        rtprop_at_us_ = ack.now_us;
        window.cwnd = std::max(window.cwnd, prior_cwnd_);
        mode = kStartup;
        if (full) enter_probe_bw(ack.now_us);
    }

    std::uint64_t pacing_gain() const {
        if (mode == kStartup) return kHigh;
        if (mode == kDrain) return kLow;
        constexpr std::uint64_t cycle_of[] = {320, 192, 256, 256, 256, 256, 256, 256};
        return mode == kProbeBw && !policed() ? cycle_of[cycle] : kUnit;
    }
    std::uint64_t cwnd_gain() const {
        if (mode == kProbeBw) return 2 * kUnit;
        return mode == kProbeRtt ? kUnit : kHigh;
    }

    std::uint64_t used_bw() const { return policed() ? policer_.rate : bw(); }
    std::uint64_t bdp(std::uint64_t bw, std::uint64_t gain) const {
        if (rtprop_us == kNever) return 10;  // RFC 6928
        return ww::test::segments_of(ww::test::bytes_in(bw, rtprop_us) * gain / kUnit, mss_);
    }
    std::uint64_t quantum(std::uint64_t pacing) const {  // 4.2.2
        const std::uint64_t rate = pacing / 256;
        if (rate * 8 < 1200000) return 1;
        if (rate * 8 < 24000000) return 2;
        return std::max<std::uint64_t>(std::min<std::uint64_t>(rate / 1000, 65536) / mss_, 2);
    }
    // Linux: bbr_quantization_budget. Even, and two more while it probes.
    std::uint64_t with_quanta(std::uint64_t segments, std::uint64_t pacing) const {
        const std::uint64_t all = segments + 3 * quantum(pacing);
        return all + all % 2 + (mode == kProbeBw && cycle == 0 ? 2 : 0);
    }
    std::uint64_t inflight(std::uint64_t gain, std::uint64_t pacing) const {
        return with_quanta(bdp(bw(), gain), pacing);
    }

    void set_pacing(const ww_sample& s, ww_window& window) const {  // 4.2.1, 1 % below
        Wide rate = used_bw();
        if (rate == 0) {
            if (s.rtt_us == 0) return;
            rate = bounded(Wide{window.cwnd} * s.mss * 256000000u / s.rtt_us);
        }
        rate = bounded(rate * pacing_gain() * 99 / (100 * kUnit));
        if (full || rate > window.pacing) window.pacing = static_cast<std::uint64_t>(rate);
    }

    void set_cwnd(const Ack& ack, ww_window& window) {  // 4.2.3
        const ww_sample& s = ack.sample;
        const bool repairs = s.phase == WW_RECOVERY || s.phase == WW_LOSS;
        std::uint64_t cwnd = window.cwnd;
        if (repairs) cwnd = cwnd > s.newly_lost ? cwnd - s.newly_lost : 1;
        if (recovering_ && !repairs) {
            cwnd = std::max<std::uint64_t>(cwnd, prior_cwnd_);
            recovering_ = conservation_ = false;
        }
        const std::uint64_t target =
            with_quanta(bdp(used_bw(), cwnd_gain()) + extra(), window.pacing);
        if (conservation_)
            cwnd = std::max<std::uint64_t>(cwnd, s.pipe + s.newly_delivered);
        else if (full)
            cwnd = std::min(cwnd + s.newly_delivered, target);
        else if (cwnd < target || to_u32(ack.delivered) < 10)
            cwnd += s.newly_delivered;
        if (!conservation_) cwnd = std::max<std::uint64_t>(cwnd, 4);
        if (mode == kProbeRtt) cwnd = std::min<std::uint64_t>(cwnd, 4);
        window.cwnd = to_u32(std::min(cwnd, kCwndMost));
    }

    const bool linux_;
    Policer policer_;
    std::uint64_t lost_ = 0, delivered_ms_ = 0;
    WindowedMax max_;
    std::uint32_t mss_ = 0, prior_cwnd_ = 0, conserved_ = 0;
    std::uint64_t delivered_ = 0, round_end_ = 0, limited_until_ = 0, full_bw_ = 0,
                  full_rounds_ = 0;
    std::uint64_t cycle_at_us_ = 0, rtprop_at_us_ = 0, done_us_ = kNever;
    std::uint64_t epoch_us_ = 0, epoch_acked_ = 0, extra_rounds_ = 0;
    std::uint64_t older_extra_ = 0, newer_extra_ = 0;
    bool round_start_ = false, floor_round_ = false, recovering_ = false, conservation_ = false;
};

TEST(BbrModel, TheMaximumIsThatOfLinuxWhicheverRoundsAreSkipped) {  // lib/minmax.c
    for (std::uint64_t seed = 0; seed < 300; seed++) {
        SCOPED_TRACE(seed);
        ww::test::Choices choices(seed);
        ww_bbr_state bbr;
        ww_bbr_init(&bbr);
        WindowedMax model;
        bbr.rounds = choices.of({0u, 65500u});  // the core keeps 16 bits of it
        for (int i = 0; i < 300; i++) {
            bbr.rounds += choices.of({0u, 1u, 1u, 1u, 2u, 3u, 4u, 5u, 6u, 9u, 10u, 11u, 12u});
            const std::uint64_t bandwidth = 1 + choices.upto(choices.of({3u, 9u}));
            ww_bbr_update_max(&bbr, bandwidth);
            model.take(bandwidth, bbr.rounds, kBwRounds);
            ASSERT_EQ(bbr.max_bw[0], model.best());
        }
    }
}

// With bbr_rules = draft, or linux and its detection of policers.
class BbrRules : public testing::TestWithParam<ww_bbr_rules> {};

TEST_P(BbrRules, AreThoseOfTheModel) {
    int probed_rtt = 0, probed_bw = 0, wrapped = 0, policed = 0;
    for (std::uint64_t seed = 0; seed < 1000; seed++) {
        SCOPED_TRACE(seed);
        ww_config config = ww_configure(WW_PROTOCOL_BBR);
        config.bbr_rules = static_cast<std::uint8_t>(GetParam());
        Driven<BbrModel> bbr(config, seed, {10, WW_SSTHRESH_INFINITE, 0});
        for (int i = 0; i < 600; i++) {
            bbr.step();
            bbr.expect_same();
            const ww_observation seen = ww_observe(&bbr.config, &bbr.state, bbr.path.now_us);
            ASSERT_EQ(seen.bandwidth, bbr.model.bw());
            ASSERT_EQ(seen.raw, bbr.model.bw());
            ASSERT_EQ(seen.rtt_min_us, to_u32(bbr.model.rtprop_us));
            ASSERT_EQ(seen.samples, bbr.model.rounds);
            ASSERT_EQ(bbr.state.bbr.mode, static_cast<int>(bbr.model.mode));
            ASSERT_EQ(bbr.state.bbr.cycle, bbr.model.cycle);
            if (HasFatalFailure()) return;
            probed_rtt += bbr.model.mode == kProbeRtt;
            probed_bw += bbr.model.mode == kProbeBw;
            policed += bbr.model.policed();
        }
        wrapped += bbr.path.delivered >> 32 != 0;
    }
    EXPECT_GT(probed_rtt, 1000) << "the connections went everywhere";
    EXPECT_GT(probed_bw, 10000);
    EXPECT_GT(wrapped, 10);
    EXPECT_EQ(policed > 1000, GetParam() == WW_BBR_RULES_LINUX) << policed;
}
INSTANTIATE_TEST_SUITE_P(Bbr, BbrRules, testing::Values(WW_BBR_RULES_DRAFT, WW_BBR_RULES_LINUX));

}  // namespace
