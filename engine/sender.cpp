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
      limited_transmit_(flow.limited_transmit),
      flight_excludes_sacked_(flow.flight_excludes_sacked),
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
      last_bytes_(flow.mss) {
    sent_at_data_ = sent_at_.data();
    sent_at_mask_ = sent_at_.size() - 1;
    ww_init(&config_, &cc_);
    total_ = std::numeric_limits<std::int64_t>::max();
    if (flow.size_bytes != kUnlimited) {
        total_ = (flow.size_bytes + mss_ - 1) / mss_;
        last_bytes_ = static_cast<std::uint32_t>(flow.size_bytes - (total_ - 1) * mss_);
    }
    if (recovery_ == Recovery::sack) board_.reserve(sent_at_.size());
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

Progress Sender::on_duplicate(Time now, bool news) {
    if (next_ == una_ && high_ == una_)
        return Progress::none;  // nothing outstanding: RFC 5681, 2 (a)
    if (recovery_ == Recovery::sack && !news)
        return Progress::none;  // it says nothing new: no duplicate by RFC 6675, 2
    dupacks_++;
    call_cc(now, 0, 0, true);
    if (phase_ == WW_RECOVERY) {
        if (recovery_ != Recovery::sack) inflation_++;
        return Progress::dupack;
    }
    // Data sent before a timeout is no reason for fast retransmit: RFC 6582, 3.2, steps 2 and 4 (the ACK
    // must cover more than recover), RFC 6675, 5.1.
    if (recovery_ == Recovery::newreno && una_ <= guarded_) return Progress::dupack;
    if (recovery_ == Recovery::sack && phase_ == WW_LOSS) return Progress::dupack;
    if (phase_ == WW_OPEN) {
        phase_ = WW_DISORDER;
        flight_in_order_ = in_flight();
    }
    const bool sack_says_lost = recovery_ == Recovery::sack && news && board_.is_lost(una_);
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
    std::int64_t flight = in_flight();
    if (flight_excludes_sacked_)
        flight -= board_.sacked();
    else if (phase_ == WW_DISORDER)
        flight = std::min(flight, flight_in_order_);
    return static_cast<std::uint32_t>(std::max<std::int64_t>(1, flight));
}

void Sender::enter_recovery(Time now) {
    account_cwnd(now, window_.cwnd);
    fast_recoveries++;
    ww_on_loss(&config_, &cc_, &window_, static_cast<std::uint64_t>(now / kMicrosecond),
               flight_for_ssthresh(), mss_);
    recover_ = high_;
    if (recovery_ == Recovery::tahoe) {
        window_.cwnd = 1;
        restart_slow_start();
        return;
    }
    phase_ = WW_RECOVERY;
    retransmit_first_ = true;
    partial_seen_ = false;
    if (recovery_ == Recovery::sack) {
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
    if (recovery_ == Recovery::sack) {
        board_.mark_all_lost(una_, next_);
    } else {
        next_ = una_;
    }
}

void Sender::on_timeout(Time now) {
    timeouts++;
    account_cwnd(now, window_.cwnd);
    ww_on_rto(&config_, &cc_, &window_, static_cast<std::uint64_t>(now / kMicrosecond),
              flight_for_ssthresh(), mss_, timed_out_ == una_);
    timed_out_ = una_;
    recover_ = guarded_ = high_;
    dupacks_ = 0;
    retransmit_first_ = false;
    restart_slow_start();
    rto_ = std::min(2 * rto_, max_rto_);
    timer.deadline = now + rto_;
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

bool Sender::read_sack(const SackBlocks& sack) {
    bool news = false;
    const std::uint32_t origin = number(una_);
    for (std::uint32_t i = 0; i < sack.count; i++) {
        const auto start = static_cast<std::int32_t>(sack.block[i].start - origin);
        const auto end = static_cast<std::int32_t>(sack.block[i].end - origin);
        if (end <= 0) continue;
        const std::int64_t mss = mss_;
        const std::int64_t first = una_ + std::max<std::int64_t>(0, start) / mss;
        const std::int64_t last = std::min(una_ + (end + mss - 1) / mss, high_);
        if (first < last) news |= board_.add(first, last);
    }
    if (news) board_.detect(una_, threshold_);
    return news;
}

std::int64_t Sender::next_segment(Time now) {
    if (!established_) return -1;
    if (retransmit_first_) {
        retransmit_first_ = false;
        if (next_ == una_) next_++;
        if (recovery_ == Recovery::sack) board_.retransmitted(una_);
        return record_sent(now, una_);
    }
    return is_plain() ? next_new(now, new_end(now)) : next_with_sack(now);
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
        (repairing || limited_transmit_ || !beyond))
        return record_sent(now, next_++);  // rule 2
    if (segment < 0 && phase_ == WW_RECOVERY) {
        segment = board_.next_unsacked(una_);  // rule 3
        if (segment < 0) {
            segment = board_.rescue(una_, next_, recover_);  // rule 4
            return segment < 0 ? -1 : record_sent(now, segment);
        }
    }
    if (segment < 0) return -1;
    board_.retransmitted(segment);
    return record_sent(now, segment);
}

void Sender::grow_ring() {
    std::vector<Time> larger(sent_at_.size() * 2);
    for (std::int64_t s = una_; s < high_; s++)
        larger[static_cast<std::size_t>(s) & (larger.size() - 1)] = sent_at(s);
    sent_at_.swap(larger);
    sent_at_data_ = sent_at_.data();
    sent_at_mask_ = sent_at_.size() - 1;
    if (recovery_ == Recovery::sack) board_.reserve(sent_at_.size());
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
    result.mean_cwnd = established_ && open > 0 ? cwnd_time_ / open : nan;
    result.mean_srtt_s = rtt_samples_ == 0 ? nan
                                           : srtt_sum_ / static_cast<double>(rtt_samples_) /
                                                 static_cast<double>(kSecond);
    result.min_rtt_s = min_rtt_ == kNever ? nan : seconds(min_rtt_);
    result.established_s = established_ ? seconds(established_at_) : nan;
    result.completed_s = done_at_ >= 0 ? seconds(done_at_) : nan;
}

}  // namespace ww::sim
