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
      follows_deliveries_(paced_ || conserves_),
      limited_transmit_(flow.limited_transmit),
      flight_excludes_sacked_(flow.flight_excludes_sacked),
      ssthresh_from_cwnd_(flow.ssthresh_from_cwnd),
      handshake_rtt_(flow.handshake_rtt),
      threshold_(flow.dupack_threshold),
      stop_(flow.stop),
      rtt_(flow),
      config_(flow.cc),
      conservation_(flow.recovery),
      pacer_(flow) {
    ww_init(&config_, &cc_);
    if (uses_sack_) board_.reserve(times_.capacity());
    if (paced_) {
        rate_ = std::make_unique<RateSampler>();
        rate_->reserve(times_.capacity(), 0, 0);
    }
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
        window_.cwnd = 1;  // RFC 5681, 3.1: a lost SYN
        rtt_.restart_after_lost_syn();
    } else if (handshake_rtt_) {
        rtt_.on_sample(now - syn_sent_at_);
    }
}

template <bool rated>
Progress Sender::on_duplicate(Time now, bool news) {
    if (next_ == una_ && high_ == una_)
        return Progress::none;  // nothing outstanding: RFC 5681, 2 (a)
    if (uses_sack_ && !news)
        return Progress::none;  // it says nothing new: no duplicate by RFC 6675, 2
    dupacks_++;
    call_cc<rated>(now, 0, 0, true);
    if (phase_ == WW_RECOVERY) {
        if (!uses_sack_) inflation_++;
        return Progress::dupack;
    }
    // Data sent before a timeout is no reason for fast retransmit: RFC 6582, 3.2, steps 2 and 4 (the ACK
    // must cover more than recover), RFC 6675, 5.1.
    if (recovery_ == Recovery::newreno && una_ <= guarded_) return Progress::dupack;
    if (uses_sack_ && phase_ == WW_LOSS) return Progress::dupack;
    if (phase_ == WW_OPEN) {
        phase_ = WW_DISORDER;
        flight_in_order_ = in_flight();
    }
    const bool sack_says_lost = uses_sack_ && board_.is_lost(una_);
    if (dupacks_ == threshold_ || sack_says_lost) enter_recovery(now);
    return Progress::dupack;
}

// An ACK for new data that brings SACK news counts as a duplicate too (RFC 6675, 2 and 5).
void Sender::on_sack_news(Time now) {
    if (phase_ != WW_OPEN) return;
    phase_ = WW_DISORDER;
    dupacks_ = 1;
    flight_in_order_ = in_flight();
    if (board_.is_lost(una_)) enter_recovery(now);
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
    return static_cast<std::uint32_t>(std::max<std::int64_t>(1, flight));
}

void Sender::enter_recovery(Time now) {
    statistics_.on_cwnd(now, window_.cwnd);
    statistics_.fast_recoveries++;
    reduce_window(now);
    recover_ = high_;
    ecn_.on_reduced(high_);
    if (recovery_ == Recovery::tahoe) {
        window_.cwnd = 1;
        restart_slow_start();
        return;
    }
    phase_ = WW_RECOVERY;
    retransmit_first_ = true;
    partial_seen_ = false;
    if (uses_sack_) {
        board_.enter_recovery(una_);
        board_.mark_lost(una_);
    } else {
        inflation_ = static_cast<std::int32_t>(threshold_);
    }
}

// Everything outstanding is sent again, from the hole.
void Sender::restart_slow_start() {
    phase_ = WW_LOSS;
    inflation_ = 0;
    if (uses_sack_) {
        board_.mark_all_lost(una_, next_);
    } else {
        next_ = una_;
    }
}

void Sender::on_timeout(Time now) {
    statistics_.timeouts++;
    statistics_.on_cwnd(now, window_.cwnd);
    // Linux (tcp_enter_loss) leaves what entering recovery made of ssthresh.
    const bool holds = timed_out_ == una_ || (ssthresh_from_cwnd_ && phase_ == WW_RECOVERY);
    ww_on_rto(&config_, &cc_, &window_, microseconds(now), flight_for_ssthresh(), segments_.mss(),
              holds);
    timed_out_ = una_;
    recover_ = guarded_ = high_;
    dupacks_ = 0;
    retransmit_first_ = false;
    restart_slow_start();
    rtt_.back_off();
    timer.deadline = now + rtt_.rto();
}

template Progress Sender::on_duplicate<false>(Time now, bool news);  // sender.hpp calls it

// Conservation and rate samples ask what each ACK delivered, which takes the state before it.
Progress Sender::on_ack_with_deliveries(Time now, std::uint32_t number, const SackBlocks* sack) {
    const std::int64_t una = una_, delivered = una_ + board_.sacked();
    const std::int64_t flight = in_flight() - board_.sacked();
    const std::uint64_t recoveries = statistics_.fast_recoveries, lost = board_.found_lost();
    const std::uint32_t cwnd = window_.cwnd;
    const Progress progress =
        paced_ ? take_ack<true>(now, number, sack) : take_ack<false>(now, number, sack);
    if (!conserves_ || phase_ != WW_RECOVERY || progress == Progress::none ||
        progress == Progress::old)
        return progress;
    if (statistics_.fast_recoveries != recoveries) {
        conservation_.enter(window_.cwnd, flight);
        window_.cwnd = cwnd;
    }
    const auto newly = static_cast<std::uint32_t>(una_ + board_.sacked() - delivered);
    const bool is_safe = una_ > una && board_.found_lost() == lost;
    const std::uint32_t before = window_.cwnd;
    window_.cwnd = conservation_.on_ack(before, pipe(), newly, is_safe);
    if (window_.cwnd != before) statistics_.on_cwnd(now, before);
    return progress;
}

// RFC 3168, 6.1.2: a mark reduces the window as a loss does, once a window of data, and the ACK that
// brings it lets nothing grow.
bool Sender::on_echo(Time now, std::uint32_t number, const SackBlocks* sack, Progress& progress) {
    const ww_window before = window_;
    const bool open = phase_ <= WW_DISORDER;
    progress = on_ack(now, number, sack);
    if (!open || phase_ > WW_DISORDER || ww_owns_recovery(&config_)) return false;
    window_.cwnd = std::min(window_.cwnd, before.cwnd);
    if (!ecn_.answers(una_)) return false;
    statistics_.on_cwnd(now, window_.cwnd);
    reduce_window(now);
    ww_on_recovery_exit(&config_, &cc_, &window_, microseconds(now), segments_.mss());
    ecn_.on_reduced(high_);
    statistics_.ecn_reductions++;
    return true;
}

void Sender::reduce_window(Time now) {
    ww_on_loss(&config_, &cc_, &window_, microseconds(now), flight_for_ssthresh(), segments_.mss());
}

void Sender::fill_rate(Time now, ww_sample& sample) {
    sample.pipe = pipe();
    rate_->fill(now, rtt_.min() == kNever ? 0 : rtt_.min(), board_.found_lost(), sample);
}

void Sender::advance_in_recovery(Time now, std::int64_t acked, bool complete) {
    bool restart_timer = true;
    if (phase_ == WW_LOSS) {
        if (complete) phase_ = WW_OPEN;
    } else if (phase_ == WW_RECOVERY) {
        if (complete || recovery_ == Recovery::reno) {
            leave_recovery(now);
        } else if (recovery_ == Recovery::newreno) {  // partial ACK: RFC 6582, 3.2, step 3
            retransmit_first_ = true;
            inflation_ += 1 - static_cast<std::int32_t>(acked);
            restart_timer = !partial_seen_;
            partial_seen_ = true;
        }
    }
    if (next_ == una_ && !retransmit_first_)
        timer.deadline = kNever;
    else if (restart_timer)
        timer.deadline = now + rtt_.rto();
}

void Sender::leave_recovery(Time now) {
    statistics_.on_cwnd(now, window_.cwnd);
    if (recovery_ == Recovery::newreno) {  // RFC 6582, 3.2, step 3, option 1
        const auto flight = static_cast<std::uint32_t>(in_flight());
        window_.cwnd = std::min(window_.cwnd, std::max(flight, 1u) + 1);
    }
    phase_ = WW_OPEN;
    inflation_ = 0;
    if (conserves_) window_.cwnd = conservation_.target();
    ww_on_recovery_exit(&config_, &cc_, &window_, microseconds(now), segments_.mss());
}

bool Sender::read_sack(Time now, const SackBlocks& sack) {
    bool news = false;
    const std::uint32_t origin = segments_.number(una_);
    for (std::uint32_t i = 0; i < sack.count; i++) {
        const auto start = static_cast<std::int32_t>(sack.block[i].start - origin);
        const auto end = static_cast<std::int32_t>(sack.block[i].end - origin);
        if (end <= 0) continue;
        const std::int64_t mss = segments_.mss();
        const std::int64_t first = una_ + std::max<std::int64_t>(0, start) / mss;
        const std::int64_t last = std::min(una_ + (end + mss - 1) / mss, high_);
        if (first >= last) continue;
        news |= board_.add(first, last, [&](std::int64_t a, std::int64_t b) {
            if (!paced_) return;
            for (std::int64_t s = a; s < b; s++) rate_->on_delivered(now, s);
        });
    }
    if (news) board_.detect(una_, threshold_);
    return news;
}

std::int64_t Sender::next_segment(Time now) {
    if (!established_) return -1;
    if (!paced_) return next_unpaced(now);
    if (pacer_.holds_back(now)) {
        pace.deadline = pacer_.next_at();
        return -1;
    }
    const std::int64_t segment = next_unpaced(now);
    if (segment >= 0) {
        rate_->on_sent(now, segment, next_ - una_ <= 1 && segment == una_);
        pacer_.on_sent(now, segments_.payload(segment), window_.pacing);
    } else if (next_ == segments_.count() && pipe() < window_.cwnd) {
        rate_->on_application_limited(pipe());
    }
    return segment;
}

std::int64_t Sender::next_unpaced(Time now) {
    std::int64_t segment = una_;
    if (retransmit_first_) {
        retransmit_first_ = false;
        if (next_ == una_) next_++;
        if (uses_sack_) board_.retransmitted(una_);
    } else if (!uses_sack_ || (phase_ == WW_OPEN && board_.idle())) {
        return next_new(now, new_end(now));
    } else {
        segment = choose_by_scoreboard(now);
        if (segment < 0) return -1;
    }
    conservation_.on_sent();
    return record_sent(now, segment);
}

// Asks NextSeg (RFC 6675, 4) as long as the pipe is below cwnd; -1: nothing may be sent.
std::int64_t Sender::choose_by_scoreboard(Time now) {
    const std::int64_t pipe = board_.pipe(una_, next_);
    cwnd_limited_ = pipe >= static_cast<std::int64_t>(window_.cwnd);
    if (cwnd_limited_) return -1;
    const bool repairing = phase_ == WW_RECOVERY || phase_ == WW_LOSS;
    std::int64_t segment = repairing ? board_.next_lost(una_) : -1;  // rule 1
    if (segment < 0) {
        const bool window_open = in_flight() < static_cast<std::int64_t>(receive_window_);
        // Before recovery only limited transmit sends beyond cwnd (RFC 3042).
        const bool beyond = in_flight() >= static_cast<std::int64_t>(window_.cwnd);
        if (window_open && next_ < segments_.count() && now < stop_ &&
            (repairing || limited_transmit_ || !beyond))
            return next_++;  // rule 2
        if (phase_ != WW_RECOVERY) return -1;
        segment = board_.next_unsacked(una_);                          // rule 3
        if (segment < 0) return board_.rescue(una_, next_, recover_);  // rule 4
    }
    board_.retransmitted(segment);
    return segment;
}

void Sender::grow_rings() {
    times_.grow(una_, high_);
    if (uses_sack_) board_.reserve(times_.capacity());
    if (paced_) rate_->reserve(times_.capacity(), una_, high_);
}

void Sender::finish(Time end, FlowResult& result) {
    result.sent = static_cast<std::uint64_t>(high_) + statistics_.retransmitted;
    statistics_.write(end, window_.cwnd, rtt_.min(), result);
}

}  // namespace ww::sim
