// SPDX-License-Identifier: BSD-3-Clause
//
// What a sender does on an ACK: on_ack() reads from top to bottom. The steps of loss recovery are
// in recovery.cpp. The host then asks what to send (sending.cpp).
#include "sender.hpp"

namespace ww::sim {

// The congestion control sees the phase in which the ACK arrived, so it precedes the state. After
// the ACK of all data no echo, D-SACK or answer to a probe changes the windows and their means.
Ack Sender::on_ack(Time now, const AckHeader& header) {
    Ack ack(now, header);
    if (on_fast_path_ && take_fast_path(ack)) return ack;
    if (is_complete()) return ack;
    begin(ack);
    ecn_.note_count(header.marked_so_far);
    if (ack.progress != Progress::old) {
        // Scoreboard
        if (rack_ != nullptr) rack_->on_ack();
        if (header.sack != nullptr && settings_->uses_sack) read_sack(ack);
        if (ack.acked > 0) acknowledge(ack);
        ack.progress = progress_of(ack);
        if (ack.progress >= Progress::dupack) {
            // Control
            control(ack);
            // State, timer
            ack.acked > 0 ? on_advance(ack) : on_duplicate(ack);
        }
        if (ack.may_tell_loss) {
            // Undo
            detect_spurious_loss(ack);
            // Loss detection by time
            if (rack_ != nullptr && una_ < segments_.count()) find_losses(ack);
        }
        // cwnd during recovery
        if (ack.progress >= Progress::dupack && settings_->uses_rate_reduction) reduce_rate(ack);
        settle();
    }
    if (header.echoes_mark) answer_mark(ack);
    return ack;
}

// Notes how the sender stands before the ACK.
inline void Sender::begin(Ack& ack) const {
    const std::int32_t bytes = beyond_una(ack.header->number);
    if (bytes < 0) ack.progress = Progress::old;
    ack.phase_before = phase_;
    ack.may_tell_loss = settings_->tracks_arrivals && !suspects_nothing(ack.header->sack);
    ack.cwnd_before = window_.cwnd;
    ack.lost_before = board_.found_lost();
    ack.sacked_before = static_cast<std::int32_t>(board_.sacked());
    ack.una_before = una_;
    ack.flight_before = static_cast<std::int32_t>(in_flight()) - ack.sacked_before;
    if (bytes > 0) ack.acked = segments_.segments_in(bytes);
}

inline bool Sender::take_fast_path(Ack& ack) {
    const AckHeader& header = *ack.header;
    if (header.sack != nullptr || header.echoes_mark || header.marked_so_far != 0) return false;
    const bool taken = settings_->paced ? take_fast_path<true>(ack.now, header.number)
                                        : take_fast_path<false>(ack.now, header.number);
    if (taken) ack.progress = Progress::advanced;
    return taken;
}

// RFC 9293, 3.10.7.4, drops an ACK of data that was never sent. Segments count here, as in Linux
// (tcp_clean_rtx_queue()), so an ACK of a part of one brings nothing. A control without
// byte_counting counts ACKs (RFC 2581) and takes the part for a whole one.
bool Sender::admit(Time now, std::uint32_t& number) {
    const std::int32_t bytes = beyond_una(number);
    if (bytes <= 0) return true;
    const std::int64_t last = una_ + segments_.segments_in(bytes) - 1;
    if (last >= high_) return false;
    if (number == segments_.number(last) + segments_.payload(last)) return true;
    const bool is_new = part_ == 0 || static_cast<std::int32_t>(number - part_) > 0;
    part_ = number;
    number = segments_.number(last);
    if (last > una_) return true;
    if (is_new && !settings_->cc.byte_counting && !settings_->paced && phase_ == WW_OPEN)
        call_cc<false, false>(now, 1, 0);
    return false;
}

// RFC 8985, 6.2, step 5: the timer reveals losses as an ACK that brings nothing would.
void Sender::on_reordering_timer(Time now) {
    const AckHeader header{segments_.number(una_)};
    Ack ack(now, header);
    begin(ack);
    find_losses(ack);
    if (settings_->uses_rate_reduction && ack.began_recovery)
        window_.cwnd = rate_reduction_.on_ack(window_.cwnd, pipe(), 1, false);
}

// ---- Scoreboard

void Sender::read_sack(Ack& ack) {
    const SackBlocks& sack = *ack.header->sack;
    ack.dsack = settings_->tracks_arrivals && read_dsack(ack);
    const std::uint32_t blocks_from = ack.dsack ? 1 : 0;
    bool is_known = true;  // what it reports was sent
    for (std::uint32_t i = blocks_from; i < sack.count; i++) {
        if (seen_.has(sack.block[i], una_)) continue;
        const std::int32_t start = std::max(0, beyond_una(sack.block[i].start));
        const std::int32_t end = beyond_una(sack.block[i].end);
        if (end <= 0) continue;
        const std::uint32_t whole = static_cast<std::uint32_t>(start) / segments_.mss();
        const std::int64_t first = una_ + whole;
        const std::int64_t last = std::min(una_ + segments_.segments_in(end), high_);
        is_known &= last - una_ == segments_.segments_in(end);
        if (first >= last) continue;
        ack.sacked |= board_.add(first, last, [&](std::int64_t a, std::int64_t b) {
            if (settings_->tracks_arrivals)
                for (std::int64_t s = a; s < b; s++) on_arrival(ack, s);
            if (settings_->paced)
                for (std::int64_t s = a; s < b; s++) rate_->on_delivered(ack.now, s);
        });
    }
    seen_.remember(sack, blocks_from, is_known ? high_ : una_);
    if (ack.sacked && rack_ == nullptr) board_.detect(una_, settings_->threshold);
}

// RFC 2883, 4: the first block is a D-SACK if it lies below what this ACK acknowledges, or within the
// second block.
bool Sender::read_dsack(Ack& ack) {
    const SackBlocks& sack = *ack.header->sack;
    const SackBlocks::Block& first = sack.block[0];
    const std::int32_t start = beyond_una(first.start);
    const bool below = beyond_una(first.end) <= beyond_una(ack.header->number);
    const bool within = sack.count > 1 &&
                        static_cast<std::int32_t>(first.start - sack.block[1].start) >= 0 &&
                        static_cast<std::int32_t>(sack.block[1].end - first.end) >= 0;
    if (!below && !within) return false;
    const std::int64_t mss = segments_.mss();
    const std::int64_t segment = una_ + (start - (start < 0 ? mss - 1 : 0)) / mss;
    if (settings_->undoes && undo_.on_dsack(segment)) ack.proves_spurious = true;
    return true;
}

// Takes the segments that the ACK acknowledges.
inline void Sender::acknowledge(Ack& ack) {
    const std::int64_t end = una_ + ack.acked;
    if (ack.may_tell_loss) take_arrivals(ack);
    if (times_.may_measure(una_, end)) ack.rtt = measure_rtt(ack.now, ack.acked);
    if (settings_->paced)
        for (std::int64_t s = una_; s < end; s++) rate_->on_delivered(ack.now, s);
    board_.advance(una_, end);
    una_ = end;
    next_ = std::max(next_, una_);  // after go-back-N an ACK may pass what was sent again
}

void Sender::take_arrivals(Ack& ack) {
    const bool again = times_.was_sent_again(una_);
    if (settings_->has_timestamps && settings_->undoes &&
        undo_.on_advance(again, ack.header->again))
        ack.proves_spurious = true;
    // If the original of the first segment arrived, its sending time is no longer known.
    const bool is_known = !settings_->has_timestamps || !again || ack.header->again;
    for (std::int64_t s = una_ + (is_known ? 0 : 1); s < una_ + ack.acked; s++)
        if (!board_.is_sacked(s)) on_arrival(ack, s);
    // RFC 7323, 4.1: a timestamp measures a round trip where Karn's rule forbids it. It may echo an
    // earlier copy, or another segment after a lost ACK: below the smallest RTT (RFC 8985, 6.2) it is
    // not a sample.
    if (settings_->has_timestamps && again && ack.header->again) {
        const Time rtt = ack.now - times_.last(una_);
        if (rtt >= rtt_.least()) take_sample(rtt);
    }
}

// Takes a segment that no earlier ACK had reported.
void Sender::on_arrival(Ack& ack, std::int64_t segment) {
    const bool again = times_.was_sent_again(segment);
    ack.original_arrived |= !again && segment < recover_;
    if (rack_ == nullptr) return;
    rack_->on_delivered(ack.now, segment, times_.last(segment), again, rtt_.least_or_zero());
}

inline Progress Sender::progress_of(const Ack& ack) const {
    if (ack.acked > 0) return Progress::advanced;
    const bool is_out = next_ != una_ || high_ != una_;         // RFC 5681, 2 (a)
    const bool has_news = ack.sacked || !settings_->uses_sack;  // RFC 6675, 2
    return is_out && has_news ? Progress::dupack : Progress::none;
}

// ---- Control

[[gnu::flatten]] void Sender::control(Ack& ack) {
    if (ack.acked > 0 && phase_ == WW_DISORDER) phase_ = WW_OPEN;
    if (settings_->grows_at_exit && ends_recovery(ack)) leave_recovery(ack);
    const ww_window before = window_;
    if (settings_->paced)
        call_cc<false, true>(ack.now, ack.acked, ack.rtt);
    else if (ack.acked == 0)
        call_cc<false, false>(ack.now, 0, 0);
    else
        call_cc<false, false>(ack.now, ack.acked, ack.rtt);
    if (settings_->rate_limited_increase) [[unlikely]]
        limit_increase(ack, before);
}

void Sender::limit_increase(const Ack& ack, const ww_window& before) {
    const auto flight = static_cast<std::uint32_t>(high_ - ack.una_before);
    window_.cwnd = increase_.on_ack(before, window_.cwnd, flight);
}

// ---- State, timer

inline void Sender::on_advance(Ack& ack) {
    dupacks_ = 0;
    sends_first_ = false;  // the pacer held it back, and meanwhile it arrived
    bool restarts_timer = true;
    if (phase_ == WW_LOSS)
        advance_after_timeout(ack);
    else if (phase_ == WW_RECOVERY)
        restarts_timer = advance_in_recovery(ack);
    else
        inflation_ = 0;
    if (next_ == una_ && !sends_first_)
        timer.deadline = kNever;
    else if (restarts_timer)
        restart_timer(ack.now);
    if (is_complete() && next_ == una_) {
        statistics_.on_complete(ack.now);
        timer.deadline = kNever;
    }
    // An ACK of new data with SACK news counts as a duplicate too (RFC 6675, 2 and 5).
    if (!ack.sacked || phase_ != WW_OPEN) return;
    enter_disorder(ack);
    dupacks_ = 1;
    if (rack_ == nullptr && board_.is_lost(una_)) enter_recovery(ack);
}

inline void Sender::on_duplicate(Ack& ack) {
    dupacks_++;
    if (phase_ == WW_RECOVERY) {
        if (!settings_->uses_sack) inflation_++;
        return;
    }
    // Data sent before a timeout must not cause a fast retransmit: RFC 6582, 3.2, steps 2 and 4
    // (the ACK must cover more than recover), RFC 6675, 5.1.
    if (settings_->recovery == Recovery::newreno && una_ <= guarded_) {
        const bool inflates = settings_->limited_transmit || dupacks_ >= settings_->threshold;
        if (settings_->guarded_duplicates_inflate && inflates)
            inflation_ = static_cast<std::int32_t>(dupacks_);
        return;
    }
    if (settings_->uses_sack && phase_ == WW_LOSS) return;
    if (phase_ == WW_OPEN) enter_disorder(ack);
    const bool sack_says_lost = settings_->uses_sack && board_.is_lost(una_);
    // With limited transmit, a Tahoe sender would take the duplicates of its own retransmissions
    // for losses forever.
    const bool guards = settings_->guards_recovery ||
                        (settings_->recovery == Recovery::tahoe && settings_->limited_transmit);
    const bool is_false = guards && una_ <= guarded_;
    if (rack_ == nullptr && !is_false && (dupacks_ == settings_->threshold || sack_says_lost))
        enter_recovery(ack);
}

}  // namespace ww::sim
