// SPDX-License-Identifier: BSD-3-Clause
//
// Westwood-CUBIC again, from the equations at the top of core/westwood_cubic.h and
// westwood_cubic_evidence.h, in numbers that do not wrap. The core must do the same on every call.
#include "cubic_model.hpp"
#include "evidence_model.hpp"

namespace {

using ww::test::Ack;
using ww::test::bounded;
using ww::test::Choices;
using ww::test::CurveModel;
using ww::test::Driven;
using ww::test::EvidenceModel;
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
        if (answer == WW_WC_CUTS) {
            answer = WW_WC_WAITS;
            begin_round(ack);
        } else if (s.rate_interval_us != 0 && ack.prior_delivered >= round_end_) {
            end_round(s, w);
            begin_round(ack);
        }
        measure(s);
        take_losses(s, w);
        if (start == WW_WC_GROWS) start = WW_WC_STARTED;
        if (s.phase == WW_RECOVERY && is_reduced()) {
            fall(s, w);
        } else if (s.newly_delivered != 0) {
            grow_by(s, w, since_last_ms);
        }
        pace(s.mss, w);
    }

    void on_loss(ww_window& w, std::uint64_t, std::uint32_t, std::uint32_t mss) {
        remember(w);
        reply(w, mss, is_many(w.cwnd) ? WW_WC_MANY : WW_WC_LOSS);
    }
    void on_mark(ww_window& w, std::uint32_t mss) {
        remember(w);
        reply(w, mss, WW_WC_MARK);
    }
    void on_recovery_exit(ww_window& w, std::uint64_t, std::uint32_t) {
        if (is_reduced()) let_go(w, w.ssthresh);
        answer = WW_WC_WATCHES;
    }
    void on_rto(ww_window& w, std::uint64_t, std::uint32_t, std::uint32_t mss, bool again) {
        const std::uint64_t cwnd = standing(w), ssthresh = after(cwnd, mss, WW_WC_LOSS);
        if (!again) curve_.cwnd_prior = cwnd;
        curve_.open = false;
        curve_.w_max = 0;
        rtt_min_us = kNone;
        srtt_us = round_rtt_us_ = last_rtt_us_ = mistaken = 0;
        evidence.forget_round();
        answer = WW_WC_WATCHES;
        start = WW_WC_STARTED;
        time_out(w, ssthresh, again);
        w.pacing = 0;
    }
    void on_restart(std::uint64_t now_us) {  // RFC 9438, 4.2 and 5.8
        if (!config.validate_cwnd) return;
        curve_.epoch_ms += now_us / 1000 - last_ms_;
        last_ms_ = now_us / 1000;
    }
    void on_undo(ww_window& w) {
        answer = WW_WC_WATCHES;
        RenoModel::on_undo(w);
    }

    // Returns cwnd after a loss, from the table in core/westwood_cubic.h.
    std::uint64_t after(std::uint64_t cwnd, std::uint64_t mss, ww_wc_cause cause) const {
        const std::uint64_t cubic = cwnd * 7 / 10, gain = config.wc_gain_permille;
        const std::uint64_t full_bdp = bdp(mss) * gain / 1000;
        const bool is_full = cause == WW_WC_MARK || is_full_queues(cause);
        std::uint64_t reduced = cwnd;
        if (cwnd < config.wc_small && (is_full || has_started()))
            reduced = cwnd / 2;
        else if (is_full)
            reduced = cubic;
        else if (cause == WW_WC_MANY)
            reduced = std::min(std::max(cubic, full_bdp), cwnd * gain / 1000);
        else if (queue_stands())
            reduced = std::min(cwnd, std::max(cubic, full_bdp));
        return std::max<std::uint64_t>(reduced, config.min_cwnd);
    }

    static constexpr std::uint64_t kNone = UINT32_MAX, kRateUnit = 1u << 13;  // 32 bytes/s
    EvidenceModel evidence;
    std::uint64_t rtt_min_us = kNone, srtt_us = 0, max_bw = 0, lost = 0, mistaken = 0, capacity = 0;
    enum ww_wc_answer answer = WW_WC_WATCHES;
    ww_wc_start start = WW_WC_DOUBLES;
    int ended_at_bdp = 0, kept = 0, taken_back = 0, fell = 0, answered_late = 0, grown = 0;

  private:
    bool has_started() const { return start == WW_WC_STARTED || start == WW_WC_GROWS; }
    bool is_sure(std::uint64_t cwnd) const {
        const bool is_calm =
            last_rtt_us_ != 0 && last_rtt_us_ <= rtt_min_us + rtt_min_us / 512 + 16;
        return config.wc_growth_permille != 0 && evidence.scores >= 4 && is_calm && is_links() &&
               cwnd >= 8 && (capacity == 0 || cwnd < capacity);
    }
    bool is_reduced() const {
        return answer == WW_WC_CUTS || answer == WW_WC_WAITS || answer == WW_WC_PRR;
    }
    bool waits() const { return answer == WW_WC_CUTS || answer == WW_WC_WAITS; }
    std::int64_t score() const {
        return evidence.score(static_cast<std::int64_t>(srtt_us),
                              static_cast<std::int64_t>(rtt_min_us));
    }
    bool is_full_queues(ww_wc_cause cause) const {
        if (srtt_us == 0 || evidence.is_above(config.wc_evidence_permille)) return true;
        if (cause != WW_WC_MANY) return false;
        return score() >= 64 || evidence.is_above(config.wc_evidence_permille / 2);
    }
    bool is_links() const {
        return !queue_stands() && !evidence.is_above(config.wc_evidence_permille / 2);
    }
    bool queue_stands() const {
        std::uint64_t least_us = last_rtt_us_;
        if (round_rtt_us_ != 0) least_us = ww::test::least_known(last_rtt_us_, round_rtt_us_);
        const std::uint64_t longest_us = rtt_min_us * (1000 + config.wc_queue_permille) / 1000;
        return least_us > longest_us;
    }
    void note_capacity(std::uint64_t mss) { capacity = std::min<std::uint64_t>(bdp(mss), 65535); }
    bool is_many(std::uint64_t cwnd) const {
        return lost > 4 && lost * 1000 > cwnd * config.wc_heavy_permille;
    }
    std::uint64_t bdp(std::uint64_t mss) const {  // B RTTmin / MSS, rounded up
        if (rtt_min_us == kNone) return 0;
        return ww::test::segments_of(ww::test::bytes_in(max_bw, rtt_min_us), mss);
    }
    // Returns the window that a recovery goes to while cwnd is still below it.
    std::uint64_t standing(const ww_window& w) const {
        const std::uint64_t cwnd = is_reduced() ? std::max(w.cwnd, w.ssthresh) : w.cwnd;
        return std::min(cwnd, CurveModel::kMost);
    }

    void reply(ww_window& w, std::uint64_t mss, ww_wc_cause cause) {
        const std::uint64_t cwnd = standing(w);
        std::uint64_t target = after(cwnd, mss, cause);
        if (cause == WW_WC_MANY) note_capacity(mss);
        if (is_reduced())  // an answer never raises ssthresh
            target = std::max<std::uint64_t>(std::min<std::uint64_t>(target, w.ssthresh),
                                             config.min_cwnd);
        if (target >= cwnd) {
            kept++;
            if (cause != WW_WC_LOSS)
                answer = WW_WC_CUTS;
            else if (!is_reduced())
                answer = WW_WC_KEEPS;
            return;
        }
        const bool is_doubtful = cause != WW_WC_MARK && score() < 64 && cwnd >= config.wc_small;
        mistaken = is_doubtful ? std::max(mistaken, cwnd) : 0;
        if (!is_reduced()) {
            curve_.open = false;
            curve_.cwnd_prior = cwnd;
            const std::uint64_t reached = cwnd << 8;
            curve_.w_max = reached < curve_.w_max ? reached * 17 / 20 : reached;  // 4.7
        }
        answer = WW_WC_CUTS;
        start = WW_WC_STARTED;
        w.ssthresh = to_u32(target);
        w.cwnd = std::min(w.cwnd, w.ssthresh);
    }

    bool is_longer(std::uint64_t rtt_us) const {  // RFC 9406, 4.2
        return rtt_min_us != kNone && rtt_us >= rtt_min_us + ww::test::rtt_threshold(rtt_min_us);
    }
    void end_round(const ww_sample& s, ww_window& w) {
        if (s.phase == WW_RECOVERY && answer == WW_WC_WATCHES && lost > 0) {
            answered_late++;
            reply(w, s.mss, WW_WC_LOSS);
        }
        if (!has_started() && w.cwnd < w.ssthresh && is_longer(round_rtt_us_)) {
            start = WW_WC_STARTED;
            ended_at_bdp++;
            const std::uint64_t least =
                std::max<std::uint64_t>({bdp(s.mss), w.cwnd / 2, config.min_cwnd});
            w.cwnd = to_u32(std::min<std::uint64_t>(w.cwnd, least));
            w.ssthresh = std::max<std::uint32_t>(w.cwnd, config.min_cwnd);
        }
        if (answer == WW_WC_KEEPS) answer = WW_WC_WATCHES;
        if (answer == WW_WC_WAITS) answer = WW_WC_PRR;
        if (!is_reduced() && is_links()) {
            taken_back += mistaken > w.ssthresh;
            w.ssthresh = to_u32(std::max<std::uint64_t>(w.ssthresh, mistaken));
            mistaken = 0;
        }
        evidence.end_round(static_cast<std::int64_t>(rtt_min_us));
        if (queue_stands()) note_capacity(s.mss);
        max_bw -= max_bw / kRateUnit / 8 * kRateUnit;
        last_rtt_us_ = round_rtt_us_;
        round_rtt_us_ = 0;
    }
    void begin_round(const Ack& ack) {
        round_end_ = ack.delivered;
        lost = 0;
    }

    void measure(const ww_sample& s) {
        const std::uint64_t rtt_us = s.rate_rtt_us;
        if (rtt_us != 0) {
            rtt_min_us = std::min(rtt_min_us, rtt_us);
            srtt_us = srtt_us == 0 ? rtt_us : srtt_us - srtt_us / 8 + rtt_us / 8;
            round_rtt_us_ = ww::test::least_known(round_rtt_us_, rtt_us);
            evidence.take_delay(static_cast<std::int64_t>(srtt_us),
                                static_cast<std::int64_t>(rtt_min_us));
            if (!has_started()) start = is_longer(srtt_us) ? WW_WC_HOLDS : WW_WC_DOUBLES;
        }
        max_bw = std::max(max_bw, ww::test::rate_of(s) / kRateUnit * kRateUnit);
    }

    void take_losses(const ww_sample& s, ww_window& w) {
        if (s.newly_lost != 0 && lost == 0 && !waits()) evidence.take_score(score());
        lost += s.newly_lost;
        if (s.phase == WW_RECOVERY && !waits() && is_many(standing(w))) reply(w, s.mss, WW_WC_MANY);
    }

    static void let_go(ww_window& w, std::uint64_t segments) {
        const std::uint64_t most = std::min<std::uint64_t>(w.ssthresh, kCwndMost);
        w.cwnd = to_u32(std::clamp<std::uint64_t>(segments, 1, std::max<std::uint64_t>(most, 1)));
    }
    void fall(const ww_sample& s, ww_window& w) {  // RFC 9937; `count` is in 1/256 segments
        const std::uint64_t in_flight = std::uint64_t{s.pipe} + s.newly_delivered;
        if (in_flight <= w.ssthresh || prior_cwnd <= w.ssthresh) {
            let_go(w, in_flight + (s.acked_segments != 0 && s.newly_lost == 0));
            return;
        }
        fell++;
        const std::uint64_t delivered = std::min<std::uint64_t>(s.newly_delivered, 65536);
        count += delivered * w.ssthresh * 256 / prior_cwnd;
        const std::uint64_t cwnd = std::min<std::uint64_t>(s.pipe + count / 256, prior_cwnd);
        w.cwnd = to_u32(std::max<std::uint64_t>(cwnd, 1));
        count %= 256;
    }

    void grow_by(const ww_sample& s, ww_window& w, std::uint64_t since_last_ms) {
        if (config.validate_cwnd && !s.is_cwnd_limited) {
            curve_.epoch_ms += since_last_ms;  // RFC 9438, 5.8
            return;
        }
        if (w.cwnd < w.ssthresh) {
            if (start != WW_WC_HOLDS) slow_start(w, s.newly_delivered);
            return;
        }
        w.cwnd = to_u32(std::min<std::uint64_t>(w.cwnd, CurveModel::kMost));
        if (is_sure(w.cwnd)) {  // the share in whole 2^-32 segments
            start = WW_WC_GROWS;
            grown++;
            const Wide each = (Wide{config.wc_growth_permille} << 32) / 1000;
            curve_.add(w, each * std::min(s.newly_delivered, 65536u));
            return;
        }
        start = WW_WC_STARTED;
        if (!curve_.open) curve_.begin(w.cwnd, last_ms_);
        curve_.grow(w, last_ms_ - curve_.epoch_ms, std::min(s.newly_delivered, 65536u), srtt_us);
    }

    void pace(std::uint64_t mss, ww_window& w) const {
        w.pacing = 0;
        if (srtt_us == 0 || w.cwnd >= w.ssthresh || is_reduced()) return;
        const Wide rate = bounded(Wide{w.cwnd} * mss * 256000000u / srtt_us);
        w.pacing = bounded(rate * config.wc_pacing_permille / 1000);
    }

    CurveModel curve_;
    std::uint64_t last_ms_ = 0, round_end_ = 0, round_rtt_us_ = 0, last_rtt_us_ = 0;
};

ww_config any_settings(Choices choices) {
    ww_config config = ww_configure(WW_PROTOCOL_WESTWOOD_CUBIC);
    config.validate_cwnd = !choices.one_in(4);
    config.min_cwnd = static_cast<std::uint8_t>(choices.of({2u, 2u, 1u, 3u}));
    if (choices.one_in(2)) return config;
    config.wc_evidence_permille = choices.of<std::uint16_t>({0, 1, 500, 1000});
    config.wc_gain_permille = choices.of<std::uint16_t>({1, 500, 999});
    config.wc_queue_permille = choices.of<std::uint16_t>({0, 250, 1000});
    config.wc_heavy_permille = choices.of<std::uint16_t>({1, 20, 1000});
    config.wc_small = static_cast<std::uint8_t>(choices.of({1u, 4u, 255u}));
    config.wc_growth_permille = choices.of<std::uint16_t>({0, 1, 1000});
    config.wc_pacing_permille = choices.of<std::uint16_t>({0, 1000, 65000});
    return config;
}

// The core's state must be what the equations say.
void expect_same_inside(const Driven<WestwoodCubicModel>& wc) {
    const ww_westwood_cubic_state& core = wc.state.westwood_cubic;
    const WestwoodCubicModel& model = wc.model;
    ASSERT_EQ(core.answer, model.answer);
    ASSERT_EQ(core.start, model.start);
    ASSERT_EQ(core.lost, model.lost);
    ASSERT_EQ(core.srtt_us, model.srtt_us);
    ASSERT_EQ(core.mistaken, model.mistaken);
    ASSERT_EQ(core.curve.capacity, model.capacity);
    ASSERT_EQ(core.evidence, model.evidence.value);
    ASSERT_EQ(core.mean_us, model.evidence.mean_us);
    ASSERT_EQ(core.dev_us, model.evidence.dev_us);
    const ww_observation seen = ww_observe(&wc.config, &wc.state, wc.path.now_us);
    ASSERT_EQ(seen.bandwidth, model.max_bw);
    ASSERT_EQ(seen.raw, model.max_bw);
    ASSERT_EQ(seen.rtt_min_us, model.rtt_min_us);
    ASSERT_EQ(seen.samples, model.max_bw == 0 ? 0u : 1u);
    const std::uint32_t flight = std::min<std::uint32_t>(wc.path.flight, CurveModel::kMost);
    ASSERT_EQ(ww_ssthresh(&wc.config, &wc.state, wc.path.now_us, flight, wc.path.mss),
              model.after(flight, wc.path.mss, WW_WC_LOSS));
}

TEST(WestwoodCubicModel, TheCoreFollowsTheEquations) {
    int held = 0, paced = 0, wrapped = 0, at_a_link = 0, at_a_queue = 0;
    int ended_at_bdp = 0, kept = 0, taken_back = 0, fell = 0, answered_late = 0, grown = 0;
    for (std::uint64_t seed = 0; seed < 2000; seed++) {
        SCOPED_TRACE(seed);
        const ww_window start = seed % 2 == 0 ? ww_window{10, WW_SSTHRESH_INFINITE, 0}
                                              : ww::test::any_window(Choices(seed + 1));
        Driven<WestwoodCubicModel> wc(any_settings(Choices(seed + 2)), seed, start);
        for (int i = 0; i < 500; i++) {
            wc.step();
            wc.expect_same();
            expect_same_inside(wc);
            if (HasFatalFailure()) return;
            held += wc.model.start == WW_WC_HOLDS;
            paced += wc.window.pacing != 0;
            at_a_queue += wc.model.evidence.is_above(250);
            at_a_link += !wc.model.evidence.is_above(0);
        }
        ended_at_bdp += wc.model.ended_at_bdp;
        kept += wc.model.kept;
        taken_back += wc.model.taken_back;
        fell += wc.model.fell;
        grown += wc.model.grown;
        answered_late += wc.model.answered_late;
        wrapped += wc.path.delivered >> 32 != 0;
    }
    EXPECT_GT(held, 300) << "the connections went everywhere";
    EXPECT_GT(ended_at_bdp, 30);
    EXPECT_GT(kept, 1000);
    EXPECT_GT(taken_back, 30);
    EXPECT_GT(fell, 1000);
    EXPECT_GT(grown, 1000);
    EXPECT_GT(answered_late, 100);
    EXPECT_GT(at_a_link, 10000);
    EXPECT_GT(at_a_queue, 10000);
    EXPECT_GT(paced, 10000);
    EXPECT_GT(wrapped, 10);
}

}  // namespace
