// SPDX-License-Identifier: BSD-3-Clause
#include "sender.hpp"

namespace ww::sim {

Sender::Sender(const SenderSettings& settings, const Flow& flow, std::uint32_t isn)
    : settings_(&settings),
      window_{flow.initial_cwnd, flow.initial_ssthresh, 0},
      segments_(flow, isn),
      rtt_(settings.rto),
      rack_(settings.rack ? std::make_unique<Rack>() : nullptr),
      board_(settings.rack, settings.pipe_keeps_repaired),
      rate_reduction_(settings.recovery),
      rate_(settings.paced ? std::make_unique<RateSampler>() : nullptr) {
    ww_init(&settings.cc, &cc_);
    if (settings.uses_sack) board_.reserve(times_.capacity(), 0);
    if (settings.paced) rate_->reserve(times_.capacity(), 0, 0);
}

void Sender::on_syn_sent(Time now) {
    if (syns_++ > 0)
        rtt_.back_off(settings_->rto);
    else
        first_syn_ = now;
    timeout_from_ = now;
    timer.deadline = now + rtt_.rto();
}

void Sender::on_syn_ack(Time now, bool again) {
    established_ = true;
    statistics_.on_established(now);
    timer.deadline = kNever;
    if (syns_ > 1) {
        // RFC 5681, 3.1, as updated by RFC 6928, 2.
        if (syns_ - 1 > settings_->forgiven_syns) window_.cwnd = 1;
        // It is unknown which of several repeated SYNs the SYN-ACK answers.
        if (!settings_->timed_syn || (again && syns_ > 2)) {
            rtt_.restart_after_lost_syn(settings_->rto);
            return settle();
        }
    }
    if (settings_->handshake_rtt) take_sample(now - (again ? timeout_from_ : first_syn_));
    settle();
}

Progress Sender::on_unusual_ack(Time now, std::uint32_t number, const SackBlocks* sack,
                                bool again) {
    const std::int32_t bytes = beyond_una(number);
    if (bytes < 0) return Progress::old;
    if (on_fast_path_ && sack == nullptr && bytes > 0) {
        on_advance<true, true>(now, segments_.segments_in(bytes));
        return Progress::advanced;
    }
    const Progress progress =
        settings_->paced || (settings_->uses_rate_reduction && !suspects_nothing(sack))
            ? on_ack_with_deliveries(now, bytes, sack, again)
            : take_ack<false>(now, bytes, sack, again);
    settle();
    return progress;
}

template <bool rated>
Progress Sender::take_ack(Time now, std::int32_t bytes, const SackBlocks* sack, bool again) {
    if (settings_->tracks_arrivals && !suspects_nothing(sack))
        return take_ack_with_arrivals<rated>(now, bytes, sack, again);
    const bool news = sack != nullptr && settings_->uses_sack && read_sack(now, *sack);
    if (bytes == 0) return on_duplicate<rated>(now, news);
    on_advance<false, rated>(now, segments_.segments_in(bytes));
    if (news) on_sack_news(now);
    return Progress::advanced;
}

template <bool rated>
[[gnu::flatten]] Progress Sender::on_duplicate(Time now, bool news) {
    if (next_ == una_ && high_ == una_)
        return Progress::none;  // nothing outstanding: RFC 5681, 2 (a)
    if (settings_->uses_sack && !news)
        return Progress::none;  // no news: not a duplicate by RFC 6675, 2
    dupacks_++;
    call_cc<false, rated>(now, 0, 0, true);
    if (phase_ == WW_RECOVERY) {
        if (!settings_->uses_sack) inflation_++;
        return Progress::dupack;
    }
    // Data sent before a timeout must not cause a fast retransmit: RFC 6582, 3.2, steps 2 and 4
    // (the ACK must cover more than recover), RFC 6675, 5.1.
    if (settings_->recovery == Recovery::newreno && una_ <= guarded_) {
        const bool inflates = settings_->limited_transmit || dupacks_ >= settings_->threshold;
        if (settings_->guarded_duplicates_inflate && inflates)
            inflation_ = static_cast<std::int32_t>(dupacks_);
        return Progress::dupack;
    }
    if (settings_->uses_sack && phase_ == WW_LOSS) return Progress::dupack;
    if (phase_ == WW_OPEN) enter_disorder();
    const bool sack_says_lost = settings_->uses_sack && board_.is_lost(una_);
    // With limited transmit, a Tahoe sender would take the duplicates of its own retransmissions
    // for losses forever.
    const bool guards = settings_->guards_recovery ||
                        (settings_->recovery == Recovery::tahoe && settings_->limited_transmit);
    const bool is_false = guards && una_ <= guarded_;
    if (rack_ == nullptr && !is_false && (dupacks_ == settings_->threshold || sack_says_lost))
        enter_recovery(now);
    return Progress::dupack;
}

// An ACK of new data with SACK news counts as a duplicate too (RFC 6675, 2 and 5).
void Sender::on_sack_news(Time now) {
    if (phase_ != WW_OPEN) return;
    enter_disorder();
    dupacks_ = 1;
    if (rack_ == nullptr && board_.is_lost(una_)) enter_recovery(now);
}

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

void Sender::enter_recovery(Time now) {
    statistics_.on_cwnd(now, window_.cwnd);
    statistics_.fast_recoveries++;
    probe_.end();  // RFC 8985, 7.1: this reduction also answers the loss that the probe repaired
    const std::uint32_t before = window_.cwnd;
    reduce_window(now);
    if (settings_->undoes) undo_.begin(una_);
    if (settings_->uses_rate_reduction) {
        rate_reduction_.enter(window_.cwnd, flight_before_);
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
    sends_first_ = rack_ == nullptr || board_.awaits_repair(una_);
    partial_seen_ = false;
    if (settings_->uses_sack) {
        board_.enter_recovery(una_);
        if (rack_ == nullptr) board_.mark_lost(una_);
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
    ww_on_rto(&settings_->cc, &cc_, &window_, microseconds(now), flight_for_ssthresh(),
              segments_.mss(), holds);
    timed_out_ = una_;
    recover_ = guarded_ = high_;
    dupacks_ = 0;
    restart_slow_start(now);
    sends_first_ =
        rack_ != nullptr || frto_.is_on();  // whatever cwnd is, or ahead of all other losses
    rtt_.back_off(settings_->rto);
    restart_timer(now);
}

template <bool rated>
Progress Sender::take_ack_with_arrivals(Time now, std::int32_t bytes, const SackBlocks* sack,
                                        bool again) {
    original_arrived_ = proof_ = false;
    dsack_ = sack != nullptr && read_dsack(*sack, bytes);
    const bool news = sack != nullptr && read_sack(now, *sack);
    Progress progress = Progress::advanced;
    if (bytes == 0) {
        progress = on_duplicate<rated>(now, news);
    } else {
        const std::int64_t acked = segments_.segments_in(bytes);
        take_arrivals(now, acked, again);
        on_advance<false, rated>(now, acked);
        if (news) on_sack_news(now);
    }
    detect_spurious_loss(now, bytes != 0, news);
    if (rack_ != nullptr && una_ < segments_.count()) find_losses(now);
    return progress;
}

// Rate reduction and rate samples need what each ACK delivered, so this compares with the state
// before it.
Progress Sender::on_ack_with_deliveries(Time now, std::int32_t bytes, const SackBlocks* sack,
                                        bool again) {
    const std::int64_t una = una_, delivered = una_ + board_.sacked();
    flight_before_ = flight_without_sacked();
    const std::uint32_t lost = board_.found_lost();
    const Progress progress = settings_->paced ? take_ack<true>(now, bytes, sack, again)
                                               : take_ack<false>(now, bytes, sack, again);
    if (!settings_->uses_rate_reduction || phase_ != WW_RECOVERY || progress == Progress::none ||
        progress == Progress::old)
        return progress;
    const auto newly = static_cast<std::uint32_t>(una_ + board_.sacked() - delivered);
    const bool is_safe = una_ > una && board_.found_lost() == lost;
    const std::uint32_t before = window_.cwnd;
    window_.cwnd = rate_reduction_.on_ack(before, pipe(), newly, is_safe);
    if (window_.cwnd != before) statistics_.on_cwnd(now, before);
    return progress;
}

// An undo can only restore the windows from before this reduction.
void Sender::reduce_window(Time now) {
    undo_.end();
    ww_on_loss(&settings_->cc, &cc_, &window_, microseconds(now), flight_for_ssthresh(),
               segments_.mss());
}

void Sender::advance_in_recovery(Time now, std::int64_t acked, bool complete,
                                 std::uint32_t cwnd_before) {
    bool restarts = true;
    sends_first_ = false;  // the pacer held it back, and meanwhile it arrived
    if (phase_ == WW_LOSS) {
        if (settings_->any_ack_ends_backoff) rtt_.end_backoff(settings_->rto);
        if (complete) {
            phase_ = WW_OPEN;
            undo_.on_recovery_exit();
            if (rack_ != nullptr) rack_->on_recovery_exit();
            if (settings_->stands_after_timeout && una_ == recover_) window_.cwnd = cwnd_before;
        }
    } else if (phase_ == WW_RECOVERY) {
        if (ends_recovery(complete)) {
            leave_recovery(now);
        } else if (settings_->recovery ==
                   Recovery::newreno) {  // partial ACK: RFC 6582, 3.2, step 3
            sends_first_ = true;
            inflation_ = settings_->partial_acks_end_inflation
                             ? 0
                             : inflation_ + 1 - static_cast<std::int32_t>(acked);
            restarts = !partial_seen_ || settings_->partial_acks_restart_rto;
            partial_seen_ = true;
        }
    }
    if (next_ == una_ && !sends_first_)
        timer.deadline = kNever;
    else if (restarts)
        restart_timer(now);
}

void Sender::leave_recovery(Time now) {
    statistics_.on_cwnd(now, window_.cwnd);
    if (settings_->recovery == Recovery::newreno &&
        !settings_->full_ack_to_ssthresh) {  // RFC 6582, 3.2, step 3
        const auto flight = static_cast<std::uint32_t>(in_flight());
        window_.cwnd = std::min(window_.cwnd, std::max(flight, 1u) + 1);
    }
    phase_ = WW_OPEN;
    inflation_ = 0;
    undo_.on_recovery_exit();
    if (rack_ != nullptr) rack_->on_recovery_exit();
    if (settings_->uses_rate_reduction) window_.cwnd = rate_reduction_.target();
    ww_on_recovery_exit(&settings_->cc, &cc_, &window_, microseconds(now), segments_.mss());
}

bool Sender::read_sack(Time now, const SackBlocks& sack) {
    bool news = false;
    sacked_before_ = static_cast<std::int32_t>(board_.sacked());
    for (std::uint32_t i = dsack_ ? 1 : 0; i < sack.count; i++) {
        const std::int32_t start = std::max(0, beyond_una(sack.block[i].start));
        const std::int32_t end = beyond_una(sack.block[i].end);
        if (end <= 0) continue;
        const std::uint32_t whole = static_cast<std::uint32_t>(start) / segments_.mss();
        const std::int64_t first = una_ + whole;
        const std::int64_t last = std::min(una_ + segments_.segments_in(end), high_);
        if (first >= last) continue;
        news |= board_.add(first, last, [&](std::int64_t a, std::int64_t b) {
            if (settings_->tracks_arrivals)
                for (std::int64_t s = a; s < b; s++) on_arrival(now, s);
            if (settings_->paced)
                for (std::int64_t s = a; s < b; s++) rate_->on_delivered(now, s);
        });
    }
    if (news && rack_ == nullptr) board_.detect(una_, settings_->threshold);
    return news;
}

std::int64_t Sender::next_segment(Time now) {
    if (!established_) return -1;
    if (!settings_->paced) return next_unpaced(now);
    // What a timer asks for is sent at once, as in Linux: the pacer could hold it until it is no
    // longer needed.
    const bool by_timer = sends_probe_ || (sends_first_ && phase_ == WW_LOSS);
    if (!by_timer && pacer_.holds_back(now)) {
        pace.deadline = pacer_.next_at();
        return -1;
    }
    const std::int64_t high = high_, segment = next_unpaced(now);
    if (segment >= 0) {
        rate_->on_sent(now, segment, next_ - una_ <= 1 && segment == una_, segment < high);
        pacer_.on_sent(now, segments_.payload(segment), window_.pacing);
    } else if (next_ == segments_.count() && pipe() < window_.cwnd) {
        rate_->on_application_limited(pipe());
    }
    return segment;
}

std::int64_t Sender::next_unpaced(Time now) {
    std::int64_t segment = una_;
    if (sends_first_) {
        sends_first_ = false;
        if (next_ == una_) next_++;
        if (settings_->uses_sack) board_.retransmitted(una_);
    } else if (sends_probe_) {
        segment = choose_probe(now);
        if (segment < 0) return -1;
    } else if (!settings_->uses_sack || (phase_ == WW_OPEN && board_.idle())) {
        return next_ < new_end<false>(now) ? record_sent(now, next_++) : -1;
    } else {
        segment = choose_by_scoreboard(now);
        if (segment < 0) return -1;
    }
    rate_reduction_.on_sent();
    return record_sent(now, segment);
}

// Asks NextSeg (RFC 6675, 4) while the pipe is below cwnd. Returns -1 if nothing may be sent.
std::int64_t Sender::choose_by_scoreboard(Time now) {
    if (frto_.is_on()) return has_new_data(now) && frto_.takes_new_segment() ? next_++ : -1;
    const std::int64_t pipe = board_.pipe(una_, next_);
    cwnd_limited_ = pipe >= static_cast<std::int64_t>(window_.cwnd);
    if (cwnd_limited_) return -1;
    const bool repairing = phase_ == WW_RECOVERY || phase_ == WW_LOSS;
    std::int64_t segment = repairing ? board_.next_lost(una_) : -1;  // rule 1
    if (segment < 0) {
        // Before recovery only limited transmit sends beyond cwnd (RFC 3042).
        const bool beyond = in_flight() >= static_cast<std::int64_t>(window_.cwnd);
        if (has_new_data(now) && (repairing || settings_->limited_transmit || !beyond))
            return next_++;  // rule 2
        if (phase_ != WW_RECOVERY || rack_ != nullptr) return -1;
        segment = board_.next_unsacked(una_);                          // rule 3
        if (segment < 0) return board_.rescue(una_, next_, recover_);  // rule 4
    }
    board_.retransmitted(segment);
    return segment;
}

void Sender::grow_rings() {
    times_.grow(una_, high_);
    if (settings_->uses_sack) board_.reserve(times_.capacity(), una_);
    if (settings_->paced) rate_->reserve(times_.capacity(), una_, high_);
}

}  // namespace ww::sim
