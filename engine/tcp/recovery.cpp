// SPDX-License-Identifier: BSD-3-Clause
//
// A sender's loss recovery: how it begins, goes on and ends after duplicate ACKs, a timeout or a mark,
// and how it is undone.
#include "sender.hpp"

namespace ww::sim {

// ---- Detection

void Sender::enter_disorder(const Ack& ack) {
    phase_ = WW_DISORDER;
    flight_in_order_ = static_cast<std::int32_t>(in_flight()) - ack.sacked_before;
}

Time Sender::rack_window() const {
    const bool at_once = phase_ >= WW_RECOVERY || board_.sacked() >= settings_->threshold;
    return rack_->window(at_once, rtt_.least_or_zero(), rtt_.srtt());
}

void Sender::find_losses(Ack& ack) {
    if (board_.idle()) return;
    const Time now = ack.now;
    const Time wait = rack_->find_losses(now, una_, next_, rack_window(), board_, times_);
    report_losses(now);
    if (board_.has_lost() && phase_ <= WW_DISORDER) {
        enter_recovery(ack);
        // RFC 6675, 6: restarts the timer with the retransmission. The timeout left over by a late
        // probe may have passed.
        expect_timeout(now);
    } else if (must_reduce_again()) {
        enter_recovery(ack);
    }
    if (wait > 0) {
        due_ = Due::losses;
        timer.deadline = now + wait + settings_->rack_slack;
    } else if (due_ != Due::timeout && timer.deadline != kNever) {
        // The postponed timeout may have passed by now. A retransmission on this ACK starts its
        // own.
        expect_timeout(timeout_from_ + rtt_.rto() > now ? timeout_from_ : now);
    }
}

// Tells a control that follows packets of each segment found lost since the last call.
void Sender::report_losses(Time now) {
    board_.take_lost([&](std::int64_t segment, std::uint32_t found_lost, bool continues) {
        ww_lost lost{};
        lost.now_us = microseconds(now);
        lost.mss = segments_.mss();
        lost.pipe = pipe();
        lost.continues = continues;
        rate_->fill(segment, found_lost, lost);
        ww_on_packet_lost(&settings_->cc, cc_.get(), &window_, &lost);
    });
}

// ---- Reduction

// Returns FlightSize without what limited transmit added (RFC 5681, 3.2, step 2).
std::uint32_t Sender::flight_for_ssthresh() const {
    if (settings_->ssthresh_from_cwnd) return window_.cwnd;
    std::int64_t flight = in_flight();
    // Each duplicate ACK means that a segment has left the network (RFC 5681, 3.2, step 4). If those
    // segments counted, a timeout in NewReno's recovery would set ssthresh to half of all segments
    // sent since recovery began.
    if (phase_ == WW_RECOVERY) flight -= std::max(inflation_, 0);
    if (settings_->flight_excludes_sacked)
        flight = settings_->uses_sack ? pipe() : phase_ == WW_DISORDER ? flight - dupacks_ : flight;
    else if (phase_ == WW_DISORDER)
        flight = std::min<std::int64_t>(flight, flight_in_order_);
    else if (settings_->uses_sack)  // SACKed segments have left the network
        flight = pipe();
    return static_cast<std::uint32_t>(std::max<std::int64_t>(1, flight));
}

// Returns true if a retransmission that was sent since the last reduction is lost.
//
// RFC 5681, 4.3: the loss of a retransmission is a second indication of congestion, and cwnd and
// ssthresh must be lowered twice (so RFC 8985, 3.4). RFC 9937, 6: each response initialises PRR anew.
// Else, if ssthresh exceeds what the path holds, each loss makes room for its own repeat, endlessly.
// Linux does this only after a timeout (tcp_fastretrans_alert(), FLAG_LOST_RETRANS).
bool Sender::must_reduce_again() const {
    if (phase_ < WW_RECOVERY || ww_owns_recovery(&settings_->cc)) return false;
    if (phase_ == WW_RECOVERY && settings_->recovery_holds_ssthresh) return false;
    return rack_->lost_again() >= reduced_at_;
}

// An undo can only restore the windows from before this reduction.
void Sender::reduce_window(Time now) {
    reduced_at_ = now;
    undo_.end();
    ww_on_loss(&settings_->cc, cc_.get(), &window_, microseconds(now), flight_for_ssthresh(),
               segments_.mss());
}

void Sender::enter_recovery(Ack& ack) {
    const Time now = ack.now;
    statistics_.on_cwnd(now, window_.cwnd);
    statistics_.fast_recoveries++;
    frto_.end();
    probe_.end();  // RFC 8985, 7.1: this reduction also answers the loss that the probe repaired
    const std::uint32_t before = window_.cwnd;
    reduce_window(now);
    if (settings_->undoes) undo_.begin(una_);
    if (settings_->uses_rate_reduction) {
        rate_reduction_.begin(window_.cwnd, ack.flight_before);
        window_.cwnd = before;
    }
    recover_ = high_;
    if (settings_->guards_recovery) guarded_ = high_;
    if (settings_->recovery_restarts_rto) restart_timer(now);
    ecn_.on_reduced(high_);
    if (settings_->recovery == Recovery::tahoe) {
        guarded_ = high_;
        window_.cwnd = 1;
        restart_slow_start(now);
        return;
    }
    phase_ = WW_RECOVERY;
    ack.began_recovery = true;
    sends_first_ = rack_ == nullptr || board_.awaits_repair(una_);
    partial_seen_ = false;
    if (settings_->uses_sack) {
        board_.enter_recovery(una_);
        if (rack_ == nullptr) board_.mark_lost(una_);
        report_losses(now);
    } else {
        inflation_ = static_cast<std::int32_t>(settings_->threshold);
    }
}

// Sends everything outstanding again, from the first hole.
void Sender::restart_slow_start(Time now) {
    phase_ = WW_LOSS;
    inflation_ = 0;
    if (rack_ != nullptr) {
        rack_->mark_on_timeout(now, una_, next_, rack_window(), board_, times_);
        board_.enter_recovery(una_);
    } else if (settings_->uses_sack) {
        board_.mark_all_lost(una_, next_);
    } else {
        next_ = una_;
    }
}

void Sender::on_timeout(Time now) {
    statistics_.timeouts++;
    statistics_.on_cwnd(now, window_.cwnd);
    const bool again = timed_out_ == una_;
    const bool holds = (again && !settings_->repeated_timeouts_reduce) ||
                       (settings_->recovery_holds_ssthresh && phase_ == WW_RECOVERY);
    if (settings_->undoes && phase_ <= WW_DISORDER) undo_.begin(una_);
    // RFC 5682 leaves a timeout in loss recovery to the conventional algorithm.
    if (settings_->frto && phase_ <= WW_DISORDER)
        frto_.begin();
    else
        frto_.end();
    probe_.end();
    sends_probe_ = false;
    ww_on_rto(&settings_->cc, cc_.get(), &window_, microseconds(now), flight_for_ssthresh(),
              segments_.mss(), holds);
    timed_out_ = una_;
    reduced_at_ = now;
    recover_ = guarded_ = high_;
    dupacks_ = 0;
    restart_slow_start(now);
    report_losses(now);
    // Whatever cwnd is, ahead of all other losses, or although SACK has it (RFC 2018, 8).
    sends_first_ = rack_ != nullptr || frto_.is_on() || board_.is_sacked(una_);
    rtt_.back_off(settings_->rto);
    restart_timer(now);
}

// Reduces the window for a loss that the probe has repaired.
void Sender::reduce_without_recovery(Time now) {
    statistics_.on_cwnd(now, window_.cwnd);
    reduce_window(now);
    ww_on_recovery_exit(&settings_->cc, cc_.get(), &window_, microseconds(now), segments_.mss());
}

// RFC 3168, 6.1.2: a mark reduces the window as a loss does, once per window of data. The window
// does not grow on the ACK that echoes it.
void Sender::answer_mark(Ack& ack) {
    const bool recovers = ack.phase_before > WW_DISORDER || phase_ > WW_DISORDER;
    if (recovers || ww_ignores_marks(&settings_->cc)) return;
    window_.cwnd = std::min(window_.cwnd, ack.cwnd_before);
    if (!ecn_.answers(una_)) return;
    if (ack.cwnd_before == 1 && settings_->timer_paces_marks) wait_for_timer(ack.now);
    statistics_.on_cwnd(ack.now, window_.cwnd);
    undo_.end();
    ww_on_mark(&settings_->cc, cc_.get(), &window_, microseconds(ack.now), flight_for_ssthresh(),
               segments_.mss());
    ww_on_recovery_exit(&settings_->cc, cc_.get(), &window_, microseconds(ack.now),
                        segments_.mss());
    ecn_.on_reduced(high_);
    statistics_.ecn_reductions++;
    ack.reduced = true;
}

// RFC 3168, 6.1.2: an echo at a window of one segment restarts the timer, and its end lets the next new
// segment go.
void Sender::wait_for_timer(Time now) {
    if (is_complete()) return;
    expect_timeout(now);
    if (next_ == una_) due_ = Due::segment;
    settle();
}

// ---- Progress

void Sender::advance_after_timeout(Ack& ack) {
    inflation_ = 0;
    if (settings_->any_ack_ends_backoff) rtt_.end_backoff(settings_->rto);
    if (una_ < recover_) return;
    end_recovery(ack);
    if (settings_->stands_after_timeout && una_ == recover_) window_.cwnd = ack.cwnd_before;
}

// Returns true if the timer is to be restarted.
bool Sender::advance_in_recovery(Ack& ack) {
    if (ends_recovery(ack)) {
        leave_recovery(ack);
        return true;
    }
    if (settings_->recovery != Recovery::newreno) return true;
    sends_first_ = true;  // partial ACK: RFC 6582, 3.2, step 3
    inflation_ = settings_->partial_acks_end_inflation
                     ? 0
                     : inflation_ + 1 - static_cast<std::int32_t>(ack.acked);
    const bool restarts = !partial_seen_ || settings_->partial_acks_restart_rto;
    partial_seen_ = true;
    return restarts;
}

// Sets cwnd by what the ACK delivered.
void Sender::reduce_rate(const Ack& ack) {
    if (phase_ != WW_RECOVERY) return;
    const std::int64_t delivered = una_ - ack.una_before + board_.sacked() - ack.sacked_before;
    const bool is_safe = ack.acked > 0 && board_.found_lost() == ack.lost_before;
    const std::uint32_t before = window_.cwnd;
    window_.cwnd =
        rate_reduction_.on_ack(before, pipe(), static_cast<std::uint32_t>(delivered), is_safe);
    if (window_.cwnd != before) statistics_.on_cwnd(ack.now, before);
}

// ---- End

void Sender::leave_recovery(Ack& ack) {
    const Time now = ack.now;
    statistics_.on_cwnd(now, window_.cwnd);
    if (settings_->recovery == Recovery::newreno &&
        !settings_->full_ack_to_ssthresh) {  // RFC 6582, 3.2, step 3
        const auto flight = static_cast<std::uint32_t>(in_flight());
        window_.cwnd = std::min(window_.cwnd, std::max(flight, 1u) + 1);
    }
    inflation_ = 0;
    end_recovery(ack);
    if (settings_->uses_rate_reduction) window_.cwnd = rate_reduction_.target();
    ww_on_recovery_exit(&settings_->cc, cc_.get(), &window_, microseconds(now), segments_.mss());
}

void Sender::end_recovery(Ack& ack) {
    phase_ = WW_OPEN;
    ack.ended_recovery = true;
    undo_.on_recovery_exit();
    if (rack_ != nullptr) rack_->on_recovery_exit();
}

void Sender::detect_spurious_loss(Ack& ack) {
    if (ack.dsack && rack_ != nullptr) rack_->on_dsack(una_, high_);
    if (phase_ != WW_LOSS)
        frto_.end();
    else if (frto_.is_on())
        ack.proves_spurious |=
            frto_.on_ack(ack.acked > 0, ack.original_arrived, has_new_data(ack.now));
    if (ack.proves_spurious) {
        ack.undone = true;
        undo(ack);
    }
    const bool is_duplicate = ack.acked == 0 && !ack.sacked;
    if (probe_.is_out() && probe_.on_ack(una_, ack.dsack, is_duplicate) && phase_ <= WW_DISORDER)
        reduce_without_recovery(ack.now);
}

// RFC 4015: restores the windows from before the reduction; all that is not SACKed is in flight.
void Sender::undo(Ack& ack) {
    statistics_.on_cwnd(ack.now, window_.cwnd);
    ww_on_undo(&settings_->cc, cc_.get(), &window_);
    undo_.end();
    frto_.end();
    if (phase_ < WW_RECOVERY) return;
    board_.forget_losses(una_, next_);
    if (rack_ != nullptr) {
        rack_->restart(una_);
        if (phase_ == WW_RECOVERY) rack_->on_reordering();
    }
    phase_ = WW_OPEN;
    ack.ended_recovery = true;
    dupacks_ = 0;
    sends_first_ = false;
    if (next_ != una_) restart_timer(ack.now);
}

}  // namespace ww::sim
