// SPDX-License-Identifier: BSD-3-Clause
//
// BBRv3 from the pseudocode of draft-ietf-ccwg-bbr (2026-08-03), in its order and with its names, in numbers
// that do not wrap. core/bbr3.h lists what the draft leaves open; there the model does as the core.
//
// Length: it is the pseudocode as a whole.
#pragma once

#include "driven.hpp"
#include "windowed_max.hpp"

namespace ww::test {

class Bbr3Model {
  public:
    enum State { kStartup, kDrain, kDown, kCruise, kRefill, kUp, kProbeRtt, kNone };
    static constexpr std::uint64_t kInfinity = UINT64_MAX;

    // P, a packet, when it was sent.
    struct Packet {
        std::uint64_t delivered, tx_in_flight, lost_since;
        bool is_app_limited;
    };

    explicit Bbr3Model(const ww_config& by) : config(by) {}

    // 5.2.2: OnTransmit()
    void on_sent(ww_window& w, const ww_sent& sent, std::uint64_t now, std::uint64_t delivered_now,
                 bool app_limited) {
        start(w, now, sent.mss, sent.srtt_us);
        const bool limited = app_limited || in_probe_rtt(delivered_now);
        if (sent.pipe == 0 && limited) {  // 5.4.1: HandleRestartFromIdle()
            idle_restart = true;
            extra_acked_interval_start = now;
            if (in_probe_bw())
                set_pacing(w, 1000);
            else if (state == kProbeRtt)
                check_probe_rtt_done(w, now);
        }
        if (sent.pipe + 1 >= w.cwnd) filled_cwnd = true;
    }

    // 5.5.10.2: HandleLostPacket(). `flight` is what is left in flight.
    void on_lost(ww_window& w, const Packet& p, std::uint64_t now, std::uint64_t delivered_now,
                 std::uint32_t flight, std::uint32_t size, bool continues) {
        delivered = delivered_now;
        mss = size;
        if (!continues && lost_ranges < 255) lost_ranges++;
        note_loss(w);
        noted = true;
        if (after_rto)
            w.cwnd = to_u32(std::min<std::uint64_t>(flight + std::uint64_t{1}, kCwndMost));
        if (!is_bw_probe_sample) return;
        rs = {};
        rs.tx_in_flight = p.tx_in_flight;
        rs.lost = p.lost_since;
        rs.is_app_limited = p.is_app_limited || in_probe_rtt(p.delivered);
        if (!is_inflight_too_high()) return;
        // InflightAtLoss(): the loss rate reaches the threshold within this packet, or did before it.
        const std::uint64_t before = rs.tx_in_flight > 0 ? rs.tx_in_flight - 1 : 0;
        rs.tx_in_flight = std::min<std::uint64_t>(before + whole_prefix(before), kCwndMost);
        handle_inflight_too_high(w, now);
    }

    // 5.2.3: UpdateOnACK()
    void on_ack(const Ack& ack, ww_window& w) {
        const ww_sample& s = ack.sample;
        start(w, ack.now_us, s.mss, s.srtt_us);
        after_rto = false;
        if (s.newly_delivered == 0) return;
        delivered = ack.delivered;
        mss = s.mss;
        rs = {};
        rs.delivery_rate = rate_of(s);
        rs.delivered = std::min<std::uint64_t>(s.rate_segments, kCwndMost);
        rs.prior_delivered = ack.prior_delivered;
        rs.tx_in_flight = s.prior_pipe;
        rs.lost = s.lost_since;
        rs.newly_acked = s.newly_delivered;
        rs.rtt = s.rate_rtt_us;
        rs.is_app_limited = s.is_app_limited || in_probe_rtt(ack.prior_delivered);
        if (recovering && s.phase != WW_RECOVERY && s.phase != WW_LOSS) {
            recovering = false;
            restore_cwnd(w);
        }
        update_model_and_state(ack, w);
        if (!paced_by_rtt && s.srtt_us != 0) init_pacing(w, s.srtt_us);
        set_pacing(w, pacing_gain());
        set_cwnd(w);
    }

    // 5.6.4.4: OnEnterFastRecovery(), OnEnterRTO() and RestoreCwnd()
    void on_loss(ww_window& w) {
        if (!noted) note_loss(w);
        noted = false;
        recovering = true;
    }
    void on_rto(ww_window& w) {
        save_state(w);
        recovering = after_rto = true;
        w.cwnd = 1;
    }
    void on_recovery_exit(ww_window& w, std::uint32_t size) {
        mss = size;
        recovering = noted = false;
        restore_cwnd(w);
        bound_cwnd(w);
    }

    // 3.7: a mark is congestion, as a loss while probing.
    void on_mark(ww_window& w, std::uint64_t now, std::uint32_t flight, std::uint32_t size) {
        mss = size;
        note_loss(w);
        if (state == kStartup) leave_startup();
        if (!is_bw_probe_sample) return;
        rs = {};
        rs.tx_in_flight = flight;
        handle_inflight_too_high(w, now);
    }

    // 5.5.11.2: HandleSpuriousLossDetection()
    void on_undo(ww_window& w) {
        recovering = noted = after_rto = false;
        restore_cwnd(w);
        is_loss_in_round = false;
        reset_full_bw();
        bw_shortterm = std::max(bw_shortterm, undo_bw_shortterm);
        inflight_shortterm = std::max(inflight_shortterm, undo_inflight_shortterm);
        inflight_longterm = std::max(inflight_longterm, undo_inflight_longterm);
        if (undo_state == kStartup && state != kStartup) {
            full_bw_reached = false;
            if (state != kProbeRtt) state = kStartup;
        } else if (undo_state == kUp && state != kUp) {
            if (state != kProbeRtt) start_refill();
        }
        undo_state = kNone;
    }

    ww_config config;
    State state = kStartup;
    std::uint64_t bw = 0, min_rtt = kInfinity, inflight_longterm = kInfinity,
                  inflight_shortterm = kInfinity, round_count = 0;

  private:
    enum AckPhase { kInit, kRefilling, kStarting, kFeedback, kStopping };
    struct RateSample {
        std::uint64_t delivery_rate, delivered, prior_delivered, tx_in_flight, lost, newly_acked,
            rtt;
        bool is_app_limited;
    };

    // 5.2.1: OnInit(), what the first packet tells
    void start(ww_window& w, std::uint64_t now, std::uint32_t size, std::uint32_t srtt) {
        if (started) return;
        started = true;
        mss = size;
        initial_cwnd = w.cwnd;
        if (srtt != 0) min_rtt = srtt;
        min_rtt_stamp = probe_rtt_min_stamp = extra_acked_interval_start = now;
        init_pacing(w, srtt);
    }

    void update_model_and_state(const Ack& ack, ww_window& w) {
        const ww_sample& s = ack.sample;
        const std::uint64_t now = ack.now_us;
        update_latest_delivery_signals();
        update_max_bw();
        if (loss_round_start) {
            adapt_lower_bounds(w);
            is_loss_in_round = false;
        }
        update_ack_aggregation(now, w.cwnd);
        check_full_bw_reached();
        check_startup_done(s.phase);
        if (state == kDrain &&
            (s.pipe <= inflight(bw, w.pacing) || round_count > drain_start_round + 3))
            start_down(now);
        update_probe_bw_cycle_phase(now, s.pipe, w);
        update_min_rtt(now);
        check_probe_rtt(now, s.pipe, w);
        if (loss_round_start) {  // AdvanceLatestDeliverySignals()
            bw_latest = rs.delivery_rate;
            inflight_latest = rs.delivered;
        }
        bw = std::min(max_bw(), bw_shortterm);
    }

    // ---- Rates and volumes
    std::uint64_t max_bw() const { return std::max(cycle_bw[0], cycle_bw[1]); }
    std::uint64_t bdp_multiple(std::uint64_t rate, std::uint64_t gain) const {  // 5.6.4.2
        if (min_rtt == kInfinity) return initial_cwnd;
        return segments_of(bytes_in(rate, min_rtt) * gain / 1000, mss);
    }
    std::uint64_t quantization_budget(std::uint64_t cap, std::uint64_t pacing) const {
        const std::uint64_t quantum =
            std::max<std::uint64_t>(std::min<std::uint64_t>(pacing / 256 / 1000, 65536) / mss, 2);
        cap = std::max({cap, 3 * quantum, std::uint64_t{4}});
        return state == kUp ? cap + 2 : cap;
    }
    std::uint64_t inflight(std::uint64_t rate, std::uint64_t pacing) const {
        return quantization_budget(bdp_multiple(rate, 1000), pacing);
    }
    std::uint64_t inflight_with_headroom() const {  // 5.3.3.9
        if (inflight_longterm == kInfinity) return kInfinity;
        const std::uint64_t headroom = std::max<std::uint64_t>(inflight_longterm * 15 / 100, 1);
        return std::max<std::uint64_t>(
            inflight_longterm > headroom ? inflight_longterm - headroom : 0, 4);
    }
    std::uint64_t target_inflight(const ww_window& w) const {
        return std::min<std::uint64_t>(bdp_multiple(bw, 1000), w.cwnd);
    }
    // Returns whether ProbeRTT had marked the connection as application-limited.
    bool in_probe_rtt(std::uint64_t when) const {
        return when >= limited_from && when < limited_until;
    }
    bool in_probe_bw() const { return state >= kDown && state <= kUp; }
    bool is_probing() const { return state == kStartup || state == kRefill || state == kUp; }
    bool is_cwnd_limited() const { return filled_cwnd || filled_cwnd_before; }

    // ---- 5.5.1, 5.5.5, 5.5.6
    void start_round() { next_round_delivered = delivered; }
    void update_max_bw() {
        round_start = rs.prior_delivered >= next_round_delivered;
        if (round_start) {
            start_round();
            round_count++;
            rounds_since_probe_up++;
            filled_cwnd_before = filled_cwnd;
            filled_cwnd = false;
        }
        if (rs.delivery_rate >= max_bw() || !rs.is_app_limited)
            cycle_bw[1] = std::max(cycle_bw[1], rs.delivery_rate);
    }

    // ---- 5.3.1
    void reset_full_bw() {
        full_bw = full_bw_count = 0;
        full_bw_now = false;
    }
    void check_full_bw_reached() {
        if (full_bw_now || !round_start || rs.is_app_limited) return;
        if (rs.delivery_rate >= full_bw + full_bw / 4) {
            reset_full_bw();
            full_bw = rs.delivery_rate;
            return;
        }
        full_bw_count++;
        full_bw_now = full_bw_count >= 3;
        if (full_bw_now) full_bw_reached = true;
    }
    void leave_startup() {  // 5.3.1.3
        undo_state = kStartup;
        full_bw_now = full_bw_reached = true;
        inflight_longterm = unlimited(std::max(bdp_multiple(bw, 1000), inflight_latest));
        enter_drain();
    }
    void enter_drain() {
        state = kDrain;
        drain_start_round = round_count;
    }
    void check_startup_done(std::uint8_t phase) {
        const bool high_loss = loss_round_start && phase == WW_RECOVERY &&
                               lost_ranges >= config.bbr3_startup_losses && is_inflight_too_high();
        if (state == kStartup && high_loss) leave_startup();
        if (state == kStartup && full_bw_reached) enter_drain();
        if (loss_round_start) lost_ranges = 0;
    }

    // ---- 5.3.3
    void pick_probe_wait(std::uint64_t now) {
        const std::uint32_t draw = to_u32(now * 2654435761u >> 16);
        rounds_since_probe_up = draw % 2;
        bw_probe_wait = 2000000 + draw / 2 % 1000001;
    }
    void start_down(std::uint64_t now) {
        is_loss_in_round = false;  // ResetCongestionSignals()
        bw_latest = inflight_latest = 0;
        probe_up_acked_per_inc = kCwndMost;  // more than any flight
        pick_probe_wait(now);
        cycle_stamp = now;
        ack_phase = kStopping;
        start_round();
        state = kDown;
    }
    void start_refill() {
        bw_shortterm = inflight_shortterm = kInfinity;
        bw_probe_up_rounds = bw_probe_up_acked = 0;
        prev_probe_precautionary = false;
        ack_phase = kRefilling;
        start_round();
        state = kRefill;
    }
    void raise_slope(const ww_window& w) {
        const std::uint64_t growth = std::uint64_t{1} << bw_probe_up_rounds;
        bw_probe_up_rounds = std::min<std::uint64_t>(bw_probe_up_rounds + 1, 30);
        probe_up_acked_per_inc = std::max<std::uint64_t>(w.cwnd / growth, 1);
    }
    void update_probe_bw_cycle_phase(std::uint64_t now, std::uint32_t pipe, const ww_window& w) {
        if (!full_bw_reached || adapt_long_term_model(w)) return;
        if (state == kDown || state == kCruise) {
            const std::uint64_t rounds = std::min<std::uint64_t>(target_inflight(w), 63);
            if (now > cycle_stamp + bw_probe_wait || rounds_since_probe_up >= rounds)
                start_refill();
            else if (pipe <= inflight_with_headroom() && pipe <= inflight(max_bw(), w.pacing))
                state = kCruise;
        } else if (state == kRefill && round_start) {
            is_bw_probe_sample = true;
            ack_phase = kStarting;
            start_round();
            reset_full_bw();
            full_bw = rs.delivery_rate;
            state = kUp;
            raise_slope(w);
        } else if (state == kUp && is_time_to_go_down(pipe, w)) {
            prev_probe_too_high = false;
            start_down(now);
        }
    }
    bool is_time_to_go_down(std::uint32_t pipe, const ww_window& w) {
        if (prev_probe_too_high && pipe >= inflight_longterm)
            return prev_probe_precautionary = true;
        if (is_cwnd_limited() && w.cwnd >= inflight_longterm) {
            reset_full_bw();
            full_bw = rs.delivery_rate;
        } else if (full_bw_now) {
            return true;
        }
        return false;
    }
    bool adapt_long_term_model(const ww_window& w) {
        if (ack_phase == kStarting && round_start) ack_phase = kFeedback;
        if (ack_phase == kStopping && round_start) {
            is_bw_probe_sample = false;
            ack_phase = kInit;
            if (in_probe_bw() && !rs.is_app_limited && cycle_bw[1] != 0) {
                cycle_bw[0] = cycle_bw[1];
                cycle_bw[1] = 0;
            }
            if (in_probe_bw() && prev_probe_precautionary && !prev_probe_too_high) {
                start_refill();
                return true;
            }
        }
        if (is_inflight_too_high() || inflight_longterm == kInfinity) return false;
        inflight_longterm = unlimited(std::max(inflight_longterm, rs.tx_in_flight));
        if (state != kUp || !is_cwnd_limited() || w.cwnd < inflight_longterm) return false;
        bw_probe_up_acked += rs.newly_acked;
        inflight_longterm =
            unlimited(inflight_longterm + bw_probe_up_acked / probe_up_acked_per_inc);
        bw_probe_up_acked %= probe_up_acked_per_inc;
        if (round_start) raise_slope(w);
        return false;
    }
    // The core's largest volume is its Infinity.
    static std::uint64_t unlimited(std::uint64_t volume) {
        return volume >= kCwndMost ? kInfinity : volume;
    }

    // ---- 5.3.4
    void update_min_rtt(std::uint64_t now) {
        probe_rtt_expired = now > probe_rtt_min_stamp + config.bbr3_probe_rtt_us;
        if (probe_rtt_expired && state != kProbeRtt) cwnd_before_expiry = half_bdp();
        if (rs.rtt > 0 && (rs.rtt < probe_rtt_min_delay || probe_rtt_expired)) {
            probe_rtt_min_delay = rs.rtt;
            probe_rtt_min_stamp = now;
        }
        if (probe_rtt_min_delay < min_rtt || now > min_rtt_stamp + config.bbr3_min_rtt_us) {
            min_rtt = probe_rtt_min_delay;
            min_rtt_stamp = probe_rtt_min_stamp;
        }
    }
    std::uint64_t half_bdp() const { return std::max<std::uint64_t>(bdp_multiple(bw, 500), 4); }
    std::uint64_t probe_rtt_cwnd() const {
        return config.bbr3_prior_rtt ? cwnd_before_expiry : half_bdp();
    }
    void check_probe_rtt(std::uint64_t now, std::uint32_t pipe, ww_window& w) {
        if (state != kProbeRtt && probe_rtt_expired && !idle_restart) {
            state = kProbeRtt;
            save_cwnd(w);
            limited_from = delivered;
            probe_rtt_done_stamp = 0;
            ack_phase = kStopping;
            start_round();
        }
        if (state == kProbeRtt) handle_probe_rtt(now, pipe, w);
        if (rs.delivered > 0) idle_restart = false;
    }
    void handle_probe_rtt(std::uint64_t now, std::uint32_t pipe, ww_window& w) {
        limited_until = delivered + pipe + 1;  // 4.1.2.4
        if (probe_rtt_done_stamp == 0 && pipe <= probe_rtt_cwnd()) {
            probe_rtt_done_stamp = now + 200000;
            probe_rtt_round_done = false;
            start_round();
        } else if (probe_rtt_done_stamp != 0) {
            probe_rtt_round_done |= round_start;
            if (probe_rtt_round_done) check_probe_rtt_done(w, now);
        }
    }
    void check_probe_rtt_done(ww_window& w, std::uint64_t now) {
        if (probe_rtt_done_stamp == 0 || now <= probe_rtt_done_stamp) return;
        probe_rtt_min_stamp = now;
        restore_cwnd(w);
        bw_shortterm = inflight_shortterm = kInfinity;  // ExitProbeRTT()
        state = kStartup;
        if (!full_bw_reached) return;
        start_down(now);
        state = kCruise;
    }

    // ---- 5.5.9 to 5.5.11
    void update_ack_aggregation(std::uint64_t now, std::uint32_t cwnd) {
        std::uint64_t expected = static_cast<std::uint64_t>(
            bytes_in(bw, std::min<std::uint64_t>(now - extra_acked_interval_start, UINT32_MAX)) /
            mss);
        if (extra_acked_delivered <= expected) {
            extra_acked_delivered = expected = 0;
            extra_acked_interval_start = now;
        }
        extra_acked_delivered = std::min(extra_acked_delivered + rs.newly_acked, kCwndMost);
        const std::uint64_t extra =
            extra_acked_delivered > expected ? extra_acked_delivered - expected : 0;
        extra_acked.take(std::min<std::uint64_t>(extra, cwnd), round_count,
                         full_bw_reached ? 10 : 1);
    }
    bool is_inflight_too_high() const {
        return Wide{rs.lost} * 1000 > Wide{rs.tx_in_flight} * config.bbr3_loss_permille;
    }
    // The whole segments of (LossThresh * inflight_prev - lost_prev) / (1 - LossThresh), at most this one.
    std::uint64_t whole_prefix(std::uint64_t inflight_prev) const {
        const double thresh = config.bbr3_loss_permille / 1000.0;
        const double lost_prev = rs.lost > 0 ? static_cast<double>(rs.lost) - 1 : 0;
        const double prefix =
            (thresh * static_cast<double>(inflight_prev) - lost_prev) / (1 - thresh);
        return prefix >= 1 - 1e-9 ? 1 : 0;
    }
    void handle_inflight_too_high(const ww_window& w, std::uint64_t now) {
        prev_probe_too_high = true;
        is_bw_probe_sample = false;
        if (!rs.is_app_limited)
            inflight_longterm = unlimited(std::max(rs.tx_in_flight, target_inflight(w) * 7 / 10));
        if (state != kUp) return;
        undo_state = kUp;
        start_down(now);
    }
    void update_latest_delivery_signals() {
        bw_latest = std::max(bw_latest, rs.delivery_rate);
        inflight_latest = std::max(inflight_latest, rs.delivered);
        loss_round_start = rs.prior_delivered >= loss_round_delivered;
        if (loss_round_start) loss_round_delivered = delivered;
    }
    void adapt_lower_bounds(const ww_window& w) {
        if (is_probing() || !is_loss_in_round) return;
        if (bw_shortterm == kInfinity) bw_shortterm = max_bw();
        if (inflight_shortterm == kInfinity) inflight_shortterm = w.cwnd;
        bw_shortterm = std::max(bw_latest, bw_shortterm * 7 / 10);
        inflight_shortterm = unlimited(std::max(inflight_latest, inflight_shortterm * 7 / 10));
    }
    void note_loss(const ww_window& w) {
        if (!is_loss_in_round) {
            loss_round_delivered = delivered;
            if (!recovering && !noted) save_state(w);  // 5.5.11.1: once in an episode
        }
        is_loss_in_round = true;
    }
    void save_state(const ww_window& w) {
        save_cwnd(w);
        undo_state = kNone;
        undo_bw_shortterm = bw_shortterm;
        undo_inflight_shortterm = inflight_shortterm;
        undo_inflight_longterm = inflight_longterm;
    }
    void save_cwnd(const ww_window& w) {
        prior_cwnd = !recovering && state != kProbeRtt ? w.cwnd : std::max(prior_cwnd, w.cwnd);
    }
    void restore_cwnd(ww_window& w) const { w.cwnd = std::max(w.cwnd, prior_cwnd); }

    // ---- 5.6
    std::uint64_t pacing_gain() const {
        const std::uint64_t gains[] = {
            2773, config.bbr3_drain_permille, config.bbr3_down_permille, 1000, 1000, 1250, 1000};
        return gains[state];
    }
    void init_pacing(ww_window& w, std::uint32_t srtt) {
        const Wide nominal =
            bounded(Wide{initial_cwnd} * mss * 256000000u / (srtt != 0 ? srtt : 1000));
        w.pacing = std::max<std::uint64_t>(bounded(nominal * 2773 / 1000), 1);
        paced_by_rtt = srtt != 0;
    }
    void set_pacing(ww_window& w, std::uint64_t gain) const {
        const std::uint64_t rate = bounded(Wide{bw} * gain * 99 / 100000);
        if (rate > 0 && (full_bw_reached || rate > w.pacing)) w.pacing = rate;
    }
    void set_cwnd(ww_window& w) const {
        const std::uint64_t gain = state == kUp ? 2250 : state == kProbeRtt ? 500 : 2000;
        const std::uint64_t volume =
            std::min(bdp_multiple(bw, gain) + extra_acked.best(), kCwndMost);
        const std::uint64_t max_inflight = quantization_budget(volume, w.pacing);
        std::uint64_t cwnd = w.cwnd;
        if (full_bw_reached)
            cwnd = std::min(cwnd + rs.newly_acked, max_inflight);
        else if (cwnd < max_inflight || to_u32(delivered) < initial_cwnd)
            cwnd += rs.newly_acked;
        w.cwnd = to_u32(std::min(std::max<std::uint64_t>(cwnd, 4), kCwndMost));
        bound_cwnd(w);
    }
    void bound_cwnd(ww_window& w) const {
        std::uint64_t cwnd = w.cwnd, cap = kInfinity;
        if (state == kProbeRtt) cwnd = std::min(cwnd, probe_rtt_cwnd());
        if (in_probe_bw() && state != kCruise)
            cap = inflight_longterm;
        else if (state == kProbeRtt || state == kCruise)
            cap = inflight_with_headroom();
        cap = std::max<std::uint64_t>(std::min(cap, inflight_shortterm), 4);
        w.cwnd = to_u32(std::min(cwnd, cap));
    }

    RateSample rs{};
    std::uint32_t mss = 1, prior_cwnd = 0, initial_cwnd = 0;
    std::uint64_t cycle_bw[2] = {}, bw_latest = 0, bw_shortterm = kInfinity, full_bw = 0,
                  full_bw_count = 0, undo_bw_shortterm = kInfinity;
    std::uint64_t inflight_latest = 0, undo_inflight_shortterm = kInfinity,
                  undo_inflight_longterm = kInfinity;
    std::uint64_t delivered = 0, next_round_delivered = 0, loss_round_delivered = 0,
                  limited_from = 0, limited_until = 0, drain_start_round = 0,
                  rounds_since_probe_up = 0;
    std::uint64_t min_rtt_stamp = 0, probe_rtt_min_stamp = 0, probe_rtt_min_delay = kInfinity,
                  probe_rtt_done_stamp = 0, cwnd_before_expiry = 0, cycle_stamp = 0,
                  bw_probe_wait = 0, extra_acked_interval_start = 0, extra_acked_delivered = 0;
    std::uint64_t bw_probe_up_rounds = 0, bw_probe_up_acked = 0, probe_up_acked_per_inc = kCwndMost;
    WindowedMax extra_acked;
    State undo_state = kNone;
    AckPhase ack_phase = kInit;
    std::uint32_t lost_ranges = 0;
    bool started = false, paced_by_rtt = false, round_start = false, loss_round_start = false,
         is_loss_in_round = false, full_bw_now = false, full_bw_reached = false,
         is_bw_probe_sample = false, prev_probe_too_high = false, prev_probe_precautionary = false,
         idle_restart = false, probe_rtt_expired = false, probe_rtt_round_done = false,
         filled_cwnd = false, filled_cwnd_before = false, recovering = false, after_rto = false,
         noted = false;
};

}  // namespace ww::test
