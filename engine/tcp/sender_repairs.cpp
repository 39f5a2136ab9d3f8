// SPDX-License-Identifier: BSD-3-Clause
//
// The repairs of a sender with RACK-TLP, F-RTO or undo, on an ACK that suggests a loss and when the
// timer is due; and its answer to an echoed mark. The algorithms are in rack.hpp, undo.hpp and
// ecn.hpp.
#include "sender.hpp"

namespace ww::sim {

// Takes a segment that no earlier ACK had reported.
void Sender::on_arrival(Time now, std::int64_t segment) {
    const bool again = times_.was_sent_again(segment);
    original_arrived_ |= !again && segment < recover_;
    if (rack_ == nullptr) return;
    rack_->on_delivered(now, segment, times_.last(segment), again, rtt_.min_or_zero());
}

// Takes the segments that an ACK acknowledges. `again`: its timestamp echoes a retransmission.
void Sender::take_arrivals(Time now, std::int64_t acked, bool again) {
    const bool first_again = times_.was_sent_again(una_);
    if (settings_->has_timestamps && settings_->undoes && undo_.on_advance(first_again, again))
        proof_ = true;
    // If the original of the first segment arrived, its sending time is no longer known.
    const std::int64_t known = una_ + (settings_->has_timestamps && first_again && !again ? 1 : 0);
    for (std::int64_t s = known; s < una_ + acked; s++)
        if (!board_.is_sacked(s)) on_arrival(now, s);
    // RFC 7323, 4.1: a timestamp measures a round trip where Karn's rule forbids it. It may echo an
    // earlier copy, or another segment after a lost ACK: below the smallest RTT (RFC 8985, 6.2) it is
    // not a sample.
    if (settings_->has_timestamps && first_again && again) {
        const Time rtt = now - times_.last(una_);
        if (rtt >= rtt_.least()) take_sample(rtt);
    }
}

// RFC 2883, 4: the first block is a D-SACK if it lies below what this ACK acknowledges (`acked`
// bytes beyond SND.UNA), or within the second block.
bool Sender::read_dsack(const SackBlocks& sack, std::int32_t acked) {
    const SackBlocks::Block& first = sack.block[0];
    const std::uint32_t origin = segments_.number(una_);
    const auto start = static_cast<std::int32_t>(first.start - origin);
    const bool below = static_cast<std::int32_t>(first.end - origin) <= acked;
    const bool within = sack.count > 1 &&
                        static_cast<std::int32_t>(first.start - sack.block[1].start) >= 0 &&
                        static_cast<std::int32_t>(sack.block[1].end - first.end) >= 0;
    if (!below && !within) return false;
    const std::int64_t mss = segments_.mss();
    const std::int64_t segment = una_ + (start - (start < 0 ? mss - 1 : 0)) / mss;
    if (settings_->undoes && undo_.on_dsack(segment)) proof_ = true;
    return true;
}

void Sender::detect_spurious_loss(Time now, bool advanced, bool news) {
    if (dsack_ && rack_ != nullptr) rack_->on_dsack(una_, high_);
    if (phase_ != WW_LOSS)
        frto_.end();
    else if (frto_.is_on())
        proof_ |= frto_.on_ack(advanced, original_arrived_, has_new_data(now));
    if (proof_) undo(now);
    if (probe_.is_out() && probe_.on_ack(una_, dsack_, !advanced && !news) && phase_ <= WW_DISORDER)
        reduce_without_recovery(now);
}

// RFC 4015: restores the windows from before the reduction; all that is not SACKed is in flight.
void Sender::undo(Time now) {
    statistics_.on_cwnd(now, window_.cwnd);
    statistics_.undone++;
    ww_on_undo(&settings_->cc, &cc_, &window_);
    undo_.end();
    frto_.end();
    if (phase_ < WW_RECOVERY) return;
    board_.forget_losses(una_, next_);
    if (rack_ != nullptr) {
        rack_->restart(una_);
        if (phase_ == WW_RECOVERY) rack_->on_reordering();
    }
    phase_ = WW_OPEN;
    dupacks_ = 0;
    sends_first_ = false;
    if (next_ != una_) restart_timer(now);
}

Time Sender::rack_window() const {
    const bool at_once = phase_ >= WW_RECOVERY || board_.sacked() >= settings_->threshold;
    return rack_->window(at_once, rtt_.min_or_zero(), rtt_.srtt());
}

void Sender::find_losses(Time now) {
    if (board_.idle()) return;
    const Time wait = rack_->find_losses(now, una_, next_, rack_window(), board_, times_);
    if (board_.has_lost() && phase_ <= WW_DISORDER) {
        enter_recovery(now);
        // RFC 6675, 6: restarts the timer with the retransmission. The timeout left over by a late
        // probe may have passed.
        expect_timeout(now);
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

Due Sender::on_timer(Time now) {
    const Due due = serve_timer(now);
    settle();
    return due;
}

Due Sender::serve_timer(Time now) {
    const Due due = due_;
    if (due == Due::timeout) {
        on_timeout(now);
        return due;
    }
    expect_timeout(now);
    if (due == Due::probe) {
        sends_probe_ = true;
        return due;
    }
    const bool was_open = phase_ <= WW_DISORDER;
    flight_before_ = flight_without_sacked();
    find_losses(now);
    if (settings_->uses_rate_reduction && was_open &&
        phase_ == WW_RECOVERY)  // as if an ACK had reported the loss
        window_.cwnd = rate_reduction_.on_ack(window_.cwnd, pipe(), 1, false);
    return due;
}

// RFC 8985, 7.3: new data if there is any, else the last segment again, whatever cwnd is.
std::int64_t Sender::choose_probe(Time now) {
    sends_probe_ = false;
    if (next_ == una_) return -1;
    const bool is_new = has_new_data(now);
    const std::int64_t segment = is_new ? next_++ : next_ - 1;
    if (!is_new) board_.retransmitted(segment);
    probe_.on_sent(next_, !is_new);
    return segment;
}

// Reduces the window for a loss that the probe has repaired.
void Sender::reduce_without_recovery(Time now) {
    statistics_.on_cwnd(now, window_.cwnd);
    reduce_window(now);
    ww_on_recovery_exit(&settings_->cc, &cc_, &window_, microseconds(now), segments_.mss());
}

// RFC 3168, 6.1.2: a mark reduces the window as a loss does, once per window of data. The window
// does not grow on the ACK that echoes it.
bool Sender::on_echo(Time now, std::uint32_t number, const SackBlocks* sack, bool again,
                     Progress& progress) {
    const ww_window before = window_;
    const bool open = phase_ <= WW_DISORDER;
    progress = on_ack(now, number, sack, again);
    if (!open || phase_ > WW_DISORDER || ww_ignores_marks(&settings_->cc)) return false;
    window_.cwnd = std::min(window_.cwnd, before.cwnd);
    if (!ecn_.answers(una_)) return false;
    statistics_.on_cwnd(now, window_.cwnd);
    undo_.end();
    ww_on_mark(&settings_->cc, &cc_, &window_, microseconds(now), flight_for_ssthresh(),
               segments_.mss());
    ww_on_recovery_exit(&settings_->cc, &cc_, &window_, microseconds(now), segments_.mss());
    ecn_.on_reduced(high_);
    statistics_.ecn_reductions++;
    return true;
}

}  // namespace ww::sim
