// SPDX-License-Identifier: BSD-3-Clause
//
// The sending end of a connection: window, loss detection, recovery, retransmission timer. It does no
// I/O: an ACK or a timer goes in, and next_segment() is asked what to send until it says nothing.
//
// Sequence numbers are counted in segments from 0 here, since all but a transfer's last are full; the
// 32-bit numbers of the wire are unwrapped against SND.UNA.
//
//   RFC 6298   timer; 5.5 backoff, 5.7 three seconds after a lost SYN; Karn's rule
//   RFC 5681   3.2 fast retransmit; reno leaves recovery on the first ACK for new data
//   RFC 6582   newreno: partial ACKs, the impatient timer; no fast retransmit for data sent before a
//              timeout (its `recover`)
//   RFC 6675   sack: see scoreboard.hpp
//   RFC 9937   prr, and rate halving: the same losses and repairs, but core/recovery.h says cwnd
//   RFC 3042   limited transmit
//   RFC 3168   ECN: 6.1.2, one reduction a window of data, CWR on the next new segment
//   tahoe      the third duplicate ACK is a timeout without its backoff (Jacobson 1988; Fall & Floyd
//              1996, section 2): slow start from the hole
//
// Windows: `window.cwnd` is what the congestion control set. Fast recovery's inflation by duplicate
// ACKs (RFC 5681, 3.2, steps 3 and 4) is kept beside it and forgotten at the end ("deflating").
// A congestion control with a pacing rate (window.pacing) is sent by it, a segment at a time; where it
// owns fast recovery (BBR), prr and rate halving only find the losses.
//
// Deviations: reno and tahoe have no guard against fast retransmits of data sent before a timeout
// (none had in 1990); the SYN's RTT serves the timer, not the congestion control; a reduction for a mark
// is made at once, and is complete then (Linux spreads it over a round trip).
#pragma once

#include <memory>

#include "../core/recovery.h"
#include "ratesample.hpp"
#include "recovery.hpp"
#include "scoreboard.hpp"
#include "timers.hpp"

namespace ww::sim {

enum class Progress : std::uint8_t { none, old, dupack, advanced };

class Sender {
  public:
    Sender(const Flow& flow, std::uint32_t isn);

    // Connection set-up. The times a SYN was sent are its timer's business.
    void on_syn_sent(Time now);
    void on_syn_ack(Time now);

    // An ACK: its acknowledgment number and SACK blocks (nullptr: none).
    Progress on_ack(Time now, std::uint32_t number, const SackBlocks* sack) {
        if (follows_deliveries_) [[unlikely]]
            return on_ack_with_deliveries(now, number, sack);
        return take_ack<false>(now, number, sack);
    }
    // An ACK that echoes a mark. True if the window was reduced for it.
    bool on_echo(Time now, std::uint32_t number, const SackBlocks* sack, Progress& progress);
    void on_timeout(Time now);

    // What to send at `now`: next_segment() until it says -1; a segment it names counts as sent.
    // Where is_plain() says so, next_new(now, new_end(now)) says the same sooner.
    std::int64_t next_segment(Time now);
    bool is_plain() const {
        return !(retransmit_first_ | paced_) &&
               (!uses_sack_ || (phase_ == WW_OPEN && board_.idle()));
    }
    std::int64_t new_end(Time now);
    std::int64_t next_new(Time now, std::int64_t end) {
        return next_ < end ? record_sent(now, next_++) : -1;
    }

    bool established() const { return established_; }
    bool is_paced() const { return paced_; }
    // PacketFlags of the segment just sent: a retransmission is not ECN-capable (RFC 3168, 6.1.5).
    std::uint16_t ecn_flags() {
        if (last_was_retransmission_) return 0;
        const bool reduced = cwr_;
        cwr_ = false;
        return reduced ? kEct | kCwr : kEct;
    }
    bool is_retransmission() const { return last_was_retransmission_; }
    bool is_last(std::int64_t segment) const { return segment == total_ - 1; }
    std::uint32_t number(std::int64_t segment) const {
        return first_number_ + static_cast<std::uint32_t>(segment) * mss_;
    }
    std::uint32_t isn() const { return first_number_ - 1; }
    std::uint32_t payload(std::int64_t segment) const {
        return segment == total_ - 1 ? last_bytes_ : mss_;
    }
    std::int64_t una() const { return una_; }
    std::int64_t in_flight() const { return next_ - una_; }
    std::uint32_t effective_cwnd() const {
        const std::int64_t sum = static_cast<std::int64_t>(window_.cwnd) + inflation_;
        return sum < 1 ? 1u : static_cast<std::uint32_t>(sum);
    }
    const ww_window& window() const { return window_; }
    ww_observation observe(Time now) const {
        return ww_observe(&config_, &cc_, static_cast<std::uint64_t>(now / kMicrosecond));
    }
    bool estimates() const {
        return config_.algorithm == WW_ALG_WESTWOOD || config_.algorithm == WW_ALG_BBR;
    }
    std::uint8_t phase() const { return phase_; }
    Time last_rtt() const { return last_rtt_; }
    Time srtt() const { return srtt_; }
    Time rto() const { return rto_; }

    // Fetches what the next ACK and the next segment will touch outside this object.
    void prefetch() {
        __builtin_prefetch(&sent_at(una_));
        __builtin_prefetch(&sent_at(next_));
    }

    // Start of the connection, SYN, retransmission; the host queues it after each call.
    Timer timer;
    Timer pace;  // when a paced sender may go on; same

    void finish(Time end, FlowResult& result);

    std::uint64_t retransmitted = 0, timeouts = 0, fast_recoveries = 0, ecn_reductions = 0;

  private:
    // rated: the congestion control wants rate samples.
    template <bool rated>
    Progress take_ack(Time now, std::uint32_t number, const SackBlocks* sack);
    Progress on_ack_with_deliveries(Time now, std::uint32_t number, const SackBlocks* sack);
    void conserve(Time now, std::uint32_t delivered, bool is_safe);
    template <bool rated>
    Progress on_duplicate(Time now, bool news);
    template <bool rated>
    void on_advance(Time now, std::int64_t acked);
    void advance_in_recovery(Time now, std::int64_t acked, bool complete);
    void on_sack_news(Time now);
    void enter_recovery(Time now);
    void reduce_window(Time now);
    void restart_slow_start();
    template <bool rated>
    void call_cc(Time now, std::int64_t acked, std::uint32_t rtt_us, bool dupack);
    void fill_rate(Time now, ww_sample& sample);
    std::uint32_t pipe() const {
        return static_cast<std::uint32_t>(std::max<std::int64_t>(0, board_.pipe(una_, next_)));
    }
    Time measure_rtt(Time now, std::int64_t acked);
    void update_rto(Time rtt);
    bool read_sack(Time now, const SackBlocks& sack);
    std::int64_t next_unpaced(Time now);
    std::int64_t next_with_sack(Time now);
    std::int64_t record_sent(Time now, std::int64_t segment);
    void pace_after(Time now, std::int64_t segment);
    void grow_ring();
    std::uint32_t flight_for_ssthresh() const;
    // cwnd was this until now: for its mean over time.
    void account_cwnd(Time now, std::uint32_t cwnd) {
        cwnd_time_ += static_cast<double>(cwnd) * static_cast<double>(now - cwnd_since_);
        cwnd_since_ = now;
    }
    Time& sent_at(std::int64_t segment) {
        return sent_at_data_[static_cast<std::size_t>(segment) & sent_at_mask_];
    }

    // What every ACK touches comes first.
    std::int64_t una_ = 0;   // SND.UNA
    std::int64_t next_ = 0;  // SND.NXT
    std::int64_t high_ = 0;  // one past the highest segment ever sent
    std::int64_t total_;     // segments of the transfer
    std::uint32_t first_number_;
    std::uint32_t mss_;
    ww_window window_;
    std::int32_t inflation_ = 0;
    std::uint32_t dupacks_ = 0;
    std::uint32_t receive_window_;  // segments
    Recovery recovery_;
    bool uses_sack_;
    std::uint8_t phase_ = WW_OPEN;
    bool established_ = false;
    bool retransmit_first_ = false;  // SND.UNA is to be sent again
    bool paced_;                     // by the congestion control, which wants rate samples too
    bool follows_deliveries_;        // paced_ or conserves_
    bool conserves_;                 // core/recovery.h sets cwnd in recovery
    bool last_was_retransmission_ = false;
    bool cwnd_limited_ = false;
    bool limited_transmit_;
    bool flight_excludes_sacked_;
    bool ssthresh_from_cwnd_;
    bool handshake_rtt_;
    bool partial_seen_ = false;  // the impatient timer was restarted in this recovery
    Time stop_;
    std::int64_t retransmitted_below_ = 0;  // no segment from here on was ever sent twice
    Time* sent_at_data_;                    // a ring by segment; kResent: sent more than once
    std::size_t sent_at_mask_;
    Time srtt_ = 0, rttvar_ = 0, rto_, last_rtt_ = 0;
    double srtt_sum_ = 0;
    std::uint64_t rtt_samples_ = 0;
    double cwnd_time_ = 0;
    Time cwnd_since_ = 0;
    ww_config config_;
    ww_state cc_;
    std::vector<Time> sent_at_;
    Scoreboard board_;
    std::int64_t flight_in_order_ = 0;  // when the first duplicate ACK came
    std::int64_t recover_ = 0;          // one past the highest segment sent when loss was detected
    std::int64_t guarded_ = -1;         // recover_ of the last timeout (RFC 6582)
    std::int64_t timed_out_ = -1;       // SND.UNA at the last timeout
    Time initial_rto_, min_rto_, max_rto_, granularity_, min_rtt_ = kNever, established_at_ = -1,
                                                         done_at_ = -1;
    Time syn_sent_at_ = 0;
    std::uint32_t syns_ = 0;
    std::uint32_t threshold_;   // DupThresh
    std::uint32_t last_bytes_;  // payload of the last segment
    ww_prr prr_{};
    std::uint32_t odd_ack_ = 0;      // rate halving's
    std::uint32_t target_ = 0;       // cwnd that recovery goes to
    std::uint64_t lost_before_ = 0;  // of the board's losses, what the congestion control knows
    std::unique_ptr<RateSampler> rate_;
    Time next_send_at_ = 0;       // paced: not before
    std::uint32_t header_bytes_;  // paced, too
    std::int64_t ecn_until_ = 0;  // marks are answered once SND.UNA is beyond
    bool cwr_ = false;            // the next new segment says so

    static constexpr Time kResent = -1;
};

// ---- What every ACK and every segment runs; the rest is in sender.cpp.

inline Time Sender::measure_rtt(Time now, std::int64_t acked) {
    if (una_ < retransmitted_below_) [[unlikely]] {
        // Karn: no sample if any of it was sent twice.
        for (std::int64_t s = una_; s < una_ + acked; s++)
            if (sent_at(s) == kResent) return 0;
    }
    last_rtt_ = now - sent_at(una_ + acked - 1);
    if (last_rtt_ < min_rtt_) min_rtt_ = last_rtt_;
    update_rto(now - sent_at(una_));  // the oldest: with the receiver's delay, RFC 6298 wants it in
    return last_rtt_;
}

inline void Sender::update_rto(Time rtt) {
    if (srtt_ == 0) {
        srtt_ = rtt;
        rttvar_ = rtt / 2;
    } else {
        const Time error = rtt > srtt_ ? rtt - srtt_ : srtt_ - rtt;
        rttvar_ += (error - rttvar_) / 4;
        srtt_ += (rtt - srtt_) / 8;
    }
    const Time rto = srtt_ + std::max(granularity_, 4 * rttvar_);
    rto_ = rto < min_rto_ ? min_rto_ : rto > max_rto_ ? max_rto_ : rto;
    srtt_sum_ += static_cast<double>(srtt_);
    rtt_samples_++;
}

template <bool rated>
inline void Sender::call_cc(Time now, std::int64_t acked, std::uint32_t rtt_us, bool dupack) {
    ww_sample sample{};
    sample.now_us = static_cast<std::uint64_t>(now / kMicrosecond);
    sample.mss = mss_;
    sample.acked_segments = static_cast<std::uint32_t>(acked);
    sample.in_flight = static_cast<std::uint32_t>(in_flight());
    sample.rtt_us = rtt_us;
    sample.phase = phase_;
    sample.is_dupack = dupack;
    sample.is_cwnd_limited = cwnd_limited_;
    if constexpr (rated)
        fill_rate(now, sample);
    else if (ww_needs_rate(&config_))
        __builtin_unreachable();
    const std::uint32_t before = window_.cwnd;
    ww_on_ack(&config_, &cc_, &window_, &sample);
    if (window_.cwnd != before) account_cwnd(now, before);
}

template <bool rated>
inline Progress Sender::take_ack(Time now, std::uint32_t number, const SackBlocks* sack) {
    const auto bytes = static_cast<std::int32_t>(number - this->number(una_));
    if (bytes < 0) return Progress::old;
    const bool news = sack != nullptr && uses_sack_ && read_sack(now, *sack);
    if (bytes == 0) return on_duplicate<rated>(now, news);
    const auto advance = static_cast<std::uint32_t>(bytes);
    std::int64_t acked = 1;
    if (advance == 2 * mss_) {
        acked = 2;
    } else if (advance != mss_) {
        acked = (advance + mss_ - 1) / mss_;
    }
    on_advance<rated>(now, acked);
    if (news) [[unlikely]]
        on_sack_news(now);
    return Progress::advanced;
}

template <bool rated>
inline void Sender::on_advance(Time now, std::int64_t acked) {
    const Time rtt = measure_rtt(now, acked);
    if constexpr (rated)
        for (std::int64_t s = una_; s < una_ + acked; s++) rate_->on_delivered(now, s);
    board_.advance(una_, una_ + acked);
    una_ += acked;
    if (next_ < una_) next_ = una_;  // after go-back-N an ACK may lie beyond what was sent again
    const bool plain = phase_ == WW_OPEN;
    const bool complete = una_ >= recover_;
    if (phase_ == WW_DISORDER) phase_ = WW_OPEN;
    // The congestion control sees the phase that the ACK arrived in.
    call_cc<rated>(now, acked, static_cast<std::uint32_t>(rtt / kMicrosecond), false);
    dupacks_ = 0;
    if (!plain) [[unlikely]] {
        advance_in_recovery(now, acked, complete);
    } else {
        timer.deadline = next_ == una_ ? kNever : now + rto_;
    }
    if (una_ == total_) {
        done_at_ = now;
        timer.deadline = kNever;
    }
}

inline std::int64_t Sender::record_sent(Time now, std::int64_t segment) {
    last_was_retransmission_ = segment < high_;
    if (last_was_retransmission_) [[unlikely]] {
        retransmitted++;
        sent_at(segment) = kResent;
        retransmitted_below_ = std::max(retransmitted_below_, segment + 1);
    } else {
        if (segment - una_ > static_cast<std::int64_t>(sent_at_mask_)) [[unlikely]]
            grow_ring();
        sent_at(segment) = now;
        high_ = segment + 1;
    }
    if (timer.deadline == kNever) timer.deadline = now + rto_;
    return segment;
}

// One past the last segment that cwnd, the receiver and the application allow.
inline std::int64_t Sender::new_end(Time now) {
    std::int64_t usable = static_cast<std::int64_t>(window_.cwnd) + inflation_;
    if (phase_ == WW_DISORDER && limited_transmit_) usable += dupacks_;
    std::int64_t end = std::min<std::int64_t>(usable, receive_window_) + una_;
    cwnd_limited_ = usable <= receive_window_;
    if (end > total_) [[unlikely]] {
        cwnd_limited_ = next_ >= una_ + usable;
        end = total_;
    }
    return now >= stop_ ? std::min(end, high_) : end;
}

}  // namespace ww::sim
