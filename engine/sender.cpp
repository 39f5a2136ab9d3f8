// SPDX-License-Identifier: BSD-3-Clause
#include "sender.hpp"

#include <limits>

namespace ww::sim {

Sender::Sender(const Flow& flow, std::uint32_t isn)
    : first_number_(isn + 1),
      mss_(flow.mss),
      window_{flow.initial_cwnd, flow.initial_ssthresh, 0},
      receive_window_(std::max(1u, flow.receive_window / flow.mss)),
      recovery_(flow.recovery),
      uses_sack_(uses_sack(flow.recovery)),
      paced_(ww_needs_rate(&flow.cc)),
      follows_deliveries_(paced_ || conserves(flow.recovery)),
      conserves_(conserves(flow.recovery) && !ww_owns_recovery(&flow.cc)),
      limited_transmit_(flow.limited_transmit),
      flight_excludes_sacked_(flow.flight_excludes_sacked),
      ssthresh_from_cwnd_(flow.ssthresh_from_cwnd),
      handshake_rtt_(flow.handshake_rtt),
      stop_(flow.stop),
      rto_(flow.initial_rto),
      config_(flow.cc),
      sent_at_(16),
      initial_rto_(flow.initial_rto),
      min_rto_(flow.min_rto),
      max_rto_(flow.max_rto),
      granularity_(flow.clock_granularity),
      threshold_(flow.dupack_threshold),
      last_bytes_(flow.mss),
      header_bytes_(flow.header_bytes) {
    sent_at_data_ = sent_at_.data();
    sent_at_mask_ = sent_at_.size() - 1;
    ww_init(&config_, &cc_);
    total_ = std::numeric_limits<std::int64_t>::max();
    if (flow.size_bytes != kUnlimited) {
        total_ = (flow.size_bytes + mss_ - 1) / mss_;
        last_bytes_ = static_cast<std::uint32_t>(flow.size_bytes - (total_ - 1) * mss_);
    }
    if (uses_sack_) board_.reserve(sent_at_.size());
    if (paced_) {
        rate_ = std::make_unique<RateSampler>();
        rate_->reserve(sent_at_.size(), 0, 0);
    }
}

void Sender::on_syn_sent(Time now) {
    if (syns_++ > 0) rto_ = std::min(2 * rto_, max_rto_);
    syn_sent_at_ = now;
    timer.deadline = now + rto_;
}

void Sender::on_syn_ack(Time now) {
    established_ = true;
    established_at_ = now;
    cwnd_since_ = now;
    timer.deadline = kNever;
    if (syns_ == 1 && !handshake_rtt_) return;
    if (syns_ == 1) {
        update_rto(now - syn_sent_at_);
        srtt_sum_ = 0;  // statistics are of data
        rtt_samples_ = 0;
    } else {
        window_.cwnd = 1;  // RFC 5681, 3.1: a lost SYN
        rto_ =
            std::clamp(std::max(3 * kSecond, initial_rto_), min_rto_, max_rto_);  // RFC 6298, 5.7
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

// FlightSize for the congestion control, without what limited transmit added (RFC 5681, 3.2, step 2).
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
    account_cwnd(now, window_.cwnd);
    fast_recoveries++;
    reduce_window(now);
    recover_ = ecn_until_ = high_;
    cwr_ = true;
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
    timeouts++;
    account_cwnd(now, window_.cwnd);
    // Linux (tcp_enter_loss) leaves what entering recovery made of ssthresh.
    const bool holds = timed_out_ == una_ || (ssthresh_from_cwnd_ && phase_ == WW_RECOVERY);
    ww_on_rto(&config_, &cc_, &window_, static_cast<std::uint64_t>(now / kMicrosecond),
              flight_for_ssthresh(), mss_, holds);
    timed_out_ = una_;
    recover_ = guarded_ = high_;
    dupacks_ = 0;
    retransmit_first_ = false;
    restart_slow_start();
    rto_ = std::min(2 * rto_, max_rto_);
    timer.deadline = now + rto_;
}

template Progress Sender::on_duplicate<false>(Time now, bool news);  // for sender.hpp

// For those who must know what each ACK delivered: recovery by core/recovery.h, and rate samples.
Progress Sender::on_ack_with_deliveries(Time now, std::uint32_t number, const SackBlocks* sack) {
    const std::int64_t una = una_, delivered = una_ + board_.sacked();
    const std::int64_t flight = in_flight() - board_.sacked();
    const std::uint64_t recoveries = fast_recoveries, lost = board_.found_lost();
    const std::uint32_t cwnd = window_.cwnd;
    const Progress progress =
        paced_ ? take_ack<true>(now, number, sack) : take_ack<false>(now, number, sack);
    if (!conserves_ || phase_ != WW_RECOVERY || progress == Progress::none ||
        progress == Progress::old)
        return progress;
    if (fast_recoveries != recoveries) {
        target_ = window_.cwnd;
        window_.cwnd = cwnd;
        odd_ack_ = 0;
        ww_prr_enter(&prr_, static_cast<std::uint32_t>(std::max<std::int64_t>(flight, 1)));
    }
    const std::int64_t newly = una_ + board_.sacked() - delivered;
    conserve(now, static_cast<std::uint32_t>(newly), una_ > una && board_.found_lost() == lost);
    return progress;
}

void Sender::conserve(Time now, std::uint32_t delivered, bool is_safe) {
    const std::uint32_t before = window_.cwnd;
    window_.cwnd = recovery_ == Recovery::prr
                       ? ww_prr_on_ack(&prr_, before, target_, pipe(), delivered, is_safe)
                       : ww_rate_halving_on_ack(&odd_ack_, before, target_, pipe(), 1);
    if (window_.cwnd != before) account_cwnd(now, before);
}

// RFC 3168, 6.1.2: as for a loss, once a window of data, and the ACK itself brings no growth.
bool Sender::on_echo(Time now, std::uint32_t number, const SackBlocks* sack, Progress& progress) {
    const ww_window before = window_;
    const bool open = phase_ <= WW_DISORDER;
    progress = on_ack(now, number, sack);
    if (!open || phase_ > WW_DISORDER || ww_owns_recovery(&config_)) return false;
    window_.cwnd = std::min(window_.cwnd, before.cwnd);
    if (una_ <= ecn_until_) return false;  // sent before the receiver could see CWR
    account_cwnd(now, window_.cwnd);
    reduce_window(now);
    ww_on_recovery_exit(&config_, &cc_, &window_, static_cast<std::uint64_t>(now / kMicrosecond),
                        mss_);
    ecn_until_ = high_;
    cwr_ = true;
    ecn_reductions++;
    return true;
}

void Sender::reduce_window(Time now) {
    ww_on_loss(&config_, &cc_, &window_, static_cast<std::uint64_t>(now / kMicrosecond),
               flight_for_ssthresh(), mss_);
}

// ---- For the controls that pace and want rate samples

void Sender::fill_rate(Time now, ww_sample& sample) {
    sample.pipe = pipe();
    sample.newly_lost = static_cast<std::uint32_t>(board_.found_lost() - lost_before_);
    lost_before_ = board_.found_lost();
    rate_->fill(now, min_rtt_ == kNever ? 0 : min_rtt_, sample);
}

void Sender::pace_after(Time now, std::int64_t segment) {
    const bool idle = next_ - una_ <= 1 && segment == una_;
    rate_->on_sent(now, segment, idle);
    if (window_.pacing == 0) return;
    // Bytes of the packet at pacing bytes/s with WW_BW_FRACTION fractional bits; 2^16 * 2^8 * 10^12.
    const auto bytes = static_cast<double>(payload(segment) + header_bytes_);
    const double wait = bytes * static_cast<double>(1u << WW_BW_FRACTION) *
                        static_cast<double>(kSecond) / static_cast<double>(window_.pacing);
    next_send_at_ = now + (wait < 0x1p60 ? static_cast<Time>(wait) : Time{1} << 60);
}

void Sender::advance_in_recovery(Time now, std::int64_t acked, bool complete) {
    bool restart_timer = true;
    if (phase_ == WW_LOSS) {
        if (complete) phase_ = WW_OPEN;
    } else if (phase_ == WW_RECOVERY) {
        if (complete || recovery_ == Recovery::reno) {
            account_cwnd(now, window_.cwnd);
            if (recovery_ == Recovery::newreno) {  // RFC 6582, 3.2, step 3, option 1
                const auto flight = static_cast<std::uint32_t>(in_flight());
                window_.cwnd = std::min(window_.cwnd, std::max(flight, 1u) + 1);
            }
            phase_ = WW_OPEN;
            inflation_ = 0;
            if (conserves_) window_.cwnd = target_;
            ww_on_recovery_exit(&config_, &cc_, &window_,
                                static_cast<std::uint64_t>(now / kMicrosecond), mss_);
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
        timer.deadline = now + rto_;
}

bool Sender::read_sack(Time now, const SackBlocks& sack) {
    bool news = false;
    const std::uint32_t origin = number(una_);
    for (std::uint32_t i = 0; i < sack.count; i++) {
        const auto start = static_cast<std::int32_t>(sack.block[i].start - origin);
        const auto end = static_cast<std::int32_t>(sack.block[i].end - origin);
        if (end <= 0) continue;
        const std::int64_t mss = mss_;
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
    if (paced_ && now < next_send_at_) {
        pace.deadline = next_send_at_;
        return -1;
    }
    const std::int64_t segment = next_unpaced(now);
    if (paced_ && segment >= 0) pace_after(now, segment);
    if (paced_ && segment < 0 && next_ == total_ && pipe() < window_.cwnd)
        rate_->on_application_limited(pipe());
    return segment;
}

std::int64_t Sender::next_unpaced(Time now) {
    if (retransmit_first_) {
        retransmit_first_ = false;
        if (next_ == una_) next_++;
        if (uses_sack_) board_.retransmitted(una_);
        prr_.out++;
        return record_sent(now, una_);
    }
    const bool by_window = !uses_sack_ || (phase_ == WW_OPEN && board_.idle());
    return by_window ? next_new(now, new_end(now)) : next_with_sack(now);
}

std::int64_t Sender::next_with_sack(Time now) {
    const std::int64_t pipe = board_.pipe(una_, next_);
    cwnd_limited_ = pipe >= static_cast<std::int64_t>(window_.cwnd);
    const bool repairing = phase_ == WW_RECOVERY || phase_ == WW_LOSS;
    if (cwnd_limited_) return -1;
    std::int64_t segment = repairing ? board_.next_lost(una_) : -1;  // NextSeg, rule 1
    const bool window_open = in_flight() < static_cast<std::int64_t>(receive_window_);
    // Before recovery only limited transmit sends beyond cwnd (RFC 3042).
    const bool beyond = in_flight() >= static_cast<std::int64_t>(window_.cwnd);
    if (segment < 0 && window_open && next_ < total_ && now < stop_ &&
        (repairing || limited_transmit_ || !beyond)) {
        prr_.out++;
        return record_sent(now, next_++);  // rule 2
    }
    if (segment < 0 && phase_ == WW_RECOVERY) {
        segment = board_.next_unsacked(una_);  // rule 3
        if (segment < 0) {
            segment = board_.rescue(una_, next_, recover_);  // rule 4
            if (segment < 0) return -1;
            prr_.out++;
            return record_sent(now, segment);
        }
    }
    if (segment < 0) return -1;
    board_.retransmitted(segment);
    prr_.out++;
    return record_sent(now, segment);
}

void Sender::grow_ring() {
    std::vector<Time> larger(sent_at_.size() * 2);
    for (std::int64_t s = una_; s < high_; s++)
        larger[static_cast<std::size_t>(s) & (larger.size() - 1)] = sent_at(s);
    sent_at_.swap(larger);
    sent_at_data_ = sent_at_.data();
    sent_at_mask_ = sent_at_.size() - 1;
    if (uses_sack_) board_.reserve(sent_at_.size());
    if (paced_) rate_->reserve(sent_at_.size(), una_, high_);
}

void Sender::finish(Time end, FlowResult& result) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const auto seconds = [](Time t) {
        return static_cast<double>(t) / static_cast<double>(kSecond);
    };
    const Time last = done_at_ >= 0 ? done_at_ : end;
    if (established_) account_cwnd(last, window_.cwnd);
    const auto open = static_cast<double>(last - established_at_);
    result.sent = static_cast<std::uint64_t>(high_) + retransmitted;
    result.retransmitted = retransmitted;
    result.timeouts = timeouts;
    result.fast_recoveries = fast_recoveries;
    result.ecn_reductions = ecn_reductions;
    result.mean_cwnd = established_ && open > 0 ? cwnd_time_ / open : nan;
    result.mean_srtt_s = rtt_samples_ == 0 ? nan
                                           : srtt_sum_ / static_cast<double>(rtt_samples_) /
                                                 static_cast<double>(kSecond);
    result.min_rtt_s = min_rtt_ == kNever ? nan : seconds(min_rtt_);
    result.established_s = established_ ? seconds(established_at_) : nan;
    result.completed_s = done_at_ >= 0 ? seconds(done_at_) : nan;
}

}  // namespace ww::sim
