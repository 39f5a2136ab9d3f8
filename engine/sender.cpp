// SPDX-License-Identifier: BSD-3-Clause
#include "sender.hpp"

namespace ww::sim {

Sender::Sender(const Flow& flow, std::uint32_t isn)
    : segments_(flow, isn),
      window_{flow.initial_cwnd, flow.initial_ssthresh, 0},
      receive_window_(std::max(1u, flow.receive_window_bytes / flow.mss())),
      recovery_(flow.recovery),
      uses_sack_(uses_sack(flow.recovery)),
      conserves_(conserves(flow.recovery) && !ww_owns_recovery(&flow.cc)),
      paced_(ww_needs_rate(&flow.cc)),
      judges_(flow.rack || flow.frto || flow.undo),
      limited_transmit_(flow.limited_transmit),
      rearms_rto_(flow.rearms_rto),
      flight_excludes_sacked_(flow.flight_excludes_sacked),
      ssthresh_from_cwnd_(flow.ssthresh_from_cwnd),
      uses_frto_(flow.frto),
      undoes_(flow.undo),
      has_timestamps_(flow.timestamps),
      threshold_(flow.dupack_threshold),
      stop_(flow.stop),
      rtt_(flow),
      rack_(flow.rack ? std::make_unique<Rack>() : nullptr),
      config_(flow.cc),
      board_(flow.rack, flow.pipe_keeps_repaired),
      handshake_rtt_(flow.handshake_rtt),
      timed_syn_(flow.timed_syn && flow.timestamps),
      recovery_holds_ssthresh_(flow.recovery_holds_ssthresh),
      recovery_restarts_rto_(flow.recovery_restarts_rto),
      guards_recovery_(flow.guards_recovery),
      repeated_timeouts_reduce_(flow.repeated_timeouts_reduce),
      full_ack_to_ssthresh_(flow.full_ack_to_ssthresh),
      stands_after_timeout_(flow.stands_after_timeout),
      any_ack_ends_backoff_(flow.any_ack_ends_backoff),
      forgiven_syns_(flow.forgiven_syns),
      rack_slack_(flow.rack_slack),
      conservation_(flow.recovery),
      rate_(paced_ ? std::make_unique<RateSampler>() : nullptr) {
    ww_init(&config_, &cc_);
    if (uses_sack_) board_.reserve(times_.capacity(), 0);
    if (paced_) rate_->reserve(times_.capacity(), 0, 0);
}

void Sender::on_syn_sent(Time now) {
    if (syns_++ > 0) rtt_.back_off();
    syn_sent_at_ = now;
    timer.deadline = now + rtt_.rto();
}

void Sender::on_syn_ack(Time now) {
    established_ = true;
    statistics_.on_established(now);
    timer.deadline = kNever;
    if (syns_ > 1) {
        // RFC 5681, 3.1, as RFC 6928, 2, has it.
        if (syns_ - 1 > forgiven_syns_) window_.cwnd = 1;
        if (!timed_syn_) {
            rtt_.restart_after_lost_syn();
            return settle();
        }
    }
    if (handshake_rtt_) rtt_.on_sample(now - syn_sent_at_);
    settle();
}

Progress Sender::on_unusual_ack(Time now, std::int32_t bytes, const SackBlocks* sack, bool again) {
    if (bytes < 0) return Progress::old;
    if (is_calm_ && sack == nullptr && bytes > 0) {
        on_advance<true, true>(now, segments_.segments_in(static_cast<std::uint32_t>(bytes)));
        return Progress::advanced;
    }
    const Progress progress = paced_ || (conserves_ && !is_plain_ack(sack))
                                  ? on_ack_with_deliveries(now, bytes, sack, again)
                                  : take_ack<false>(now, bytes, sack, again);
    settle();
    return progress;
}

template <bool rated>
Progress Sender::take_ack(Time now, std::int32_t bytes, const SackBlocks* sack, bool again) {
    if (judges_ && !is_plain_ack(sack)) return take_and_judge<rated>(now, bytes, sack, again);
    const bool news = sack != nullptr && uses_sack_ && read_sack(now, *sack);
    if (bytes == 0) return on_duplicate<rated>(now, news);
    on_advance<false, rated>(now, segments_.segments_in(static_cast<std::uint32_t>(bytes)));
    if (news) on_sack_news(now);
    return Progress::advanced;
}

template <bool rated>
[[gnu::flatten]] Progress Sender::on_duplicate(Time now, bool news) {
    if (next_ == una_ && high_ == una_)
        return Progress::none;  // nothing outstanding: RFC 5681, 2 (a)
    if (uses_sack_ && !news)
        return Progress::none;  // it says nothing new: no duplicate by RFC 6675, 2
    dupacks_++;
    call_cc<rated>(now, 0, 0, phase_, true);
    if (phase_ == WW_RECOVERY) {
        if (!uses_sack_) inflation_++;
        return Progress::dupack;
    }
    // Data sent before a timeout is no reason for fast retransmit: RFC 6582, 3.2, steps 2 and 4 (the ACK
    // must cover more than recover), RFC 6675, 5.1.
    if (recovery_ == Recovery::newreno && una_ <= guarded_) return Progress::dupack;
    if (uses_sack_ && phase_ == WW_LOSS) return Progress::dupack;
    if (phase_ == WW_OPEN) enter_disorder();
    const bool sack_says_lost = uses_sack_ && board_.is_lost(una_);
    // Duplicates of what a Tahoe with limited transmit sent again would tell a loss for ever.
    const bool guards = guards_recovery_ || (recovery_ == Recovery::tahoe && limited_transmit_);
    const bool is_false = guards && una_ <= guarded_;
    if (rack_ == nullptr && !is_false && (dupacks_ == threshold_ || sack_says_lost))
        enter_recovery(now);
    return Progress::dupack;
}

// An ACK for new data that brings SACK news counts as a duplicate too (RFC 6675, 2 and 5).
void Sender::on_sack_news(Time now) {
    if (phase_ != WW_OPEN) return;
    enter_disorder();
    dupacks_ = 1;
    if (rack_ == nullptr && board_.is_lost(una_)) enter_recovery(now);
}

// The congestion control is told a FlightSize without what limited transmit added (RFC 5681, 3.2, step 2).
std::uint32_t Sender::flight_for_ssthresh() const {
    if (ssthresh_from_cwnd_) return window_.cwnd;
    std::int64_t flight = in_flight();
    // Each duplicate ACK says that a segment has left the network (RFC 5681, 3.2, step 4). Counted in, a
    // timeout in NewReno's recovery from many losses sets ssthresh to half of all that was sent since.
    if (phase_ == WW_RECOVERY) flight -= std::max(inflation_, 0);
    if (flight_excludes_sacked_)
        flight = uses_sack_ ? pipe() : phase_ == WW_DISORDER ? flight - dupacks_ : flight;
    else if (phase_ == WW_DISORDER)
        flight = std::min(flight, flight_in_order_);
    else if (uses_sack_)  // what is SACKed has left the network
        flight = pipe();
    return static_cast<std::uint32_t>(std::max<std::int64_t>(1, flight));
}

void Sender::enter_recovery(Time now) {
    statistics_.on_cwnd(now, window_.cwnd);
    statistics_.fast_recoveries++;
    probe_.end();  // RFC 8985, 7.1: this reduction answers for what it repaired
    const std::uint32_t before = window_.cwnd;
    reduce_window(now);
    if (undoes_) undo_.begin(una_);
    if (conserves_) {
        conservation_.enter(window_.cwnd, flight_before_);
        window_.cwnd = before;
    }
    recover_ = high_;
    if (guards_recovery_) guarded_ = high_;
    if (recovery_restarts_rto_) restart_timer(now);
    ecn_.on_reduced(high_);
    if (recovery_ == Recovery::tahoe) {
        guarded_ = high_;
        window_.cwnd = 1;
        restart_slow_start(now);
        return;
    }
    phase_ = WW_RECOVERY;
    sends_first_ = rack_ == nullptr || board_.awaits_repair(una_);
    partial_seen_ = false;
    if (uses_sack_) {
        board_.enter_recovery(una_);
        if (rack_ == nullptr) board_.mark_lost(una_);
    } else {
        inflation_ = static_cast<std::int32_t>(threshold_);
    }
}

// Everything outstanding is sent again, from the hole.
void Sender::restart_slow_start(Time now) {
    phase_ = WW_LOSS;
    inflation_ = 0;
    if (rack_ != nullptr) {
        rack_->mark_on_timeout(now, una_, next_, rack_window(), board_, times_);
        board_.enter_recovery(una_);
    } else if (uses_sack_) {
        board_.mark_all_lost(una_, next_);
    } else {
        next_ = una_;
    }
}

void Sender::on_timeout(Time now) {
    statistics_.timeouts++;
    statistics_.on_cwnd(now, window_.cwnd);
    const bool again = timed_out_ == una_;
    const bool holds = (again && !repeated_timeouts_reduce_) ||
                       (recovery_holds_ssthresh_ && phase_ == WW_RECOVERY);
    if (undoes_ && phase_ <= WW_DISORDER) undo_.begin(una_);
    // RFC 5682 leaves a timeout in loss recovery to the conventional algorithm.
    if (uses_frto_ && phase_ <= WW_DISORDER)
        frto_.begin();
    else
        frto_.end();
    probe_.end();
    sends_probe_ = false;
    ww_on_rto(&config_, &cc_, &window_, microseconds(now), flight_for_ssthresh(), segments_.mss(),
              holds);
    timed_out_ = una_;
    recover_ = guarded_ = high_;
    dupacks_ = 0;
    restart_slow_start(now);
    sends_first_ =
        rack_ != nullptr || frto_.is_on();  // beyond cwnd, or before all else that is lost
    rtt_.back_off();
    restart_timer(now);
}

template <bool rated>
Progress Sender::take_and_judge(Time now, std::int32_t bytes, const SackBlocks* sack, bool again) {
    original_arrived_ = proof_ = false;
    dsack_ = sack != nullptr && read_dsack(*sack, bytes);
    const bool news = sack != nullptr && read_sack(now, *sack);
    Progress progress = Progress::advanced;
    if (bytes == 0) {
        progress = on_duplicate<rated>(now, news);
    } else {
        const std::int64_t acked = segments_.segments_in(static_cast<std::uint32_t>(bytes));
        take_arrivals(now, acked, again);
        on_advance<false, rated>(now, acked);
        if (news) on_sack_news(now);
    }
    judge(now, bytes != 0, news);
    return progress;
}

// Conservation and rate samples ask what each ACK delivered, which takes the state before it.
Progress Sender::on_ack_with_deliveries(Time now, std::int32_t bytes, const SackBlocks* sack,
                                        bool again) {
    const std::int64_t una = una_, delivered = una_ + board_.sacked();
    flight_before_ = in_flight() - board_.sacked();
    const std::uint64_t lost = board_.found_lost();
    const Progress progress =
        paced_ ? take_ack<true>(now, bytes, sack, again) : take_ack<false>(now, bytes, sack, again);
    if (!conserves_ || phase_ != WW_RECOVERY || progress == Progress::none ||
        progress == Progress::old)
        return progress;
    const auto newly = static_cast<std::uint32_t>(una_ + board_.sacked() - delivered);
    const bool is_safe = una_ > una && board_.found_lost() == lost;
    const std::uint32_t before = window_.cwnd;
    window_.cwnd = conservation_.on_ack(before, pipe(), newly, is_safe);
    if (window_.cwnd != before) statistics_.on_cwnd(now, before);
    return progress;
}

// The windows before it are all that an undo can go back to.
void Sender::reduce_window(Time now) {
    undo_.end();
    ww_on_loss(&config_, &cc_, &window_, microseconds(now), flight_for_ssthresh(), segments_.mss());
}

void Sender::advance_in_recovery(Time now, std::int64_t acked, bool complete,
                                 std::uint32_t cwnd_before) {
    bool restarts = true;
    sends_first_ = false;  // the pacer kept it, and it has arrived
    if (phase_ == WW_LOSS) {
        if (any_ack_ends_backoff_) rtt_.end_backoff();
        if (complete) {
            phase_ = WW_OPEN;
            undo_.on_recovery_exit();
            if (rack_ != nullptr) rack_->on_recovery_exit();
            if (stands_after_timeout_ && una_ == recover_) window_.cwnd = cwnd_before;
        }
    } else if (phase_ == WW_RECOVERY) {
        if (complete || recovery_ == Recovery::reno) {
            leave_recovery(now);
        } else if (recovery_ == Recovery::newreno) {  // partial ACK: RFC 6582, 3.2, step 3
            sends_first_ = true;
            inflation_ += 1 - static_cast<std::int32_t>(acked);
            restarts = !partial_seen_;
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
    if (recovery_ == Recovery::newreno && !full_ack_to_ssthresh_) {  // RFC 6582, 3.2, step 3
        const auto flight = static_cast<std::uint32_t>(in_flight());
        window_.cwnd = std::min(window_.cwnd, std::max(flight, 1u) + 1);
    }
    phase_ = WW_OPEN;
    inflation_ = 0;
    undo_.on_recovery_exit();
    if (rack_ != nullptr) rack_->on_recovery_exit();
    if (conserves_) window_.cwnd = conservation_.target();
    ww_on_recovery_exit(&config_, &cc_, &window_, microseconds(now), segments_.mss());
}

bool Sender::read_sack(Time now, const SackBlocks& sack) {
    bool news = false;
    const std::uint32_t origin = segments_.number(una_);
    sacked_before_ = board_.sacked();
    for (std::uint32_t i = dsack_ ? 1 : 0; i < sack.count; i++) {
        const auto start = static_cast<std::int32_t>(sack.block[i].start - origin);
        const auto end = static_cast<std::int32_t>(sack.block[i].end - origin);
        if (end <= 0) continue;
        const std::int64_t mss = segments_.mss();
        const std::int64_t first = una_ + std::max<std::int64_t>(0, start) / mss;
        const std::int64_t last = std::min(una_ + (end + mss - 1) / mss, high_);
        if (first >= last) continue;
        news |= board_.add(first, last, [&](std::int64_t a, std::int64_t b) {
            if (judges_)
                for (std::int64_t s = a; s < b; s++) on_arrival(now, s);
            if (paced_)
                for (std::int64_t s = a; s < b; s++) rate_->on_delivered(now, s);
        });
    }
    if (news && rack_ == nullptr) board_.detect(una_, threshold_);
    return news;
}

std::int64_t Sender::next_segment(Time now) {
    if (!established_) return -1;
    if (!paced_) return next_unpaced(now);
    // What a timer wants sent goes at once, as in Linux: the pacer could keep it until it is needless.
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
        if (uses_sack_) board_.retransmitted(una_);
    } else if (sends_probe_) {
        segment = choose_probe(now);
        if (segment < 0) return -1;
    } else if (!uses_sack_ || (phase_ == WW_OPEN && board_.idle())) {
        return next_ < new_end(now) ? record_sent(now, next_++) : -1;
    } else {
        segment = choose_by_scoreboard(now);
        if (segment < 0) return -1;
    }
    conservation_.on_sent();
    return record_sent(now, segment);
}

// Asks NextSeg (RFC 6675, 4) as long as the pipe is below cwnd; -1: nothing may be sent.
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
        if (has_new_data(now) && (repairing || limited_transmit_ || !beyond))
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
    if (uses_sack_) board_.reserve(times_.capacity(), una_);
    if (paced_) rate_->reserve(times_.capacity(), una_, high_);
}

}  // namespace ww::sim
