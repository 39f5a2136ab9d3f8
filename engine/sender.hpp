// SPDX-License-Identifier: BSD-3-Clause
//
// The sending end of a connection has the window, finds losses, repairs them and runs the retransmission
// timer. It does no I/O: an ACK or a timer goes in, and next_segment() is asked what to send until it
// says nothing.
//
// Sequence numbers are counted in segments from 0 here (segmentation.hpp); the 32-bit numbers of the wire
// are unwrapped against SND.UNA. The parts that can be understood alone have headers of their own:
// rtt.hpp, sendtimes.hpp, scoreboard.hpp, conservation.hpp, ecn.hpp, pacing.hpp, ratesample.hpp and
// sender_statistics.hpp. What remains here is which ACK means what, and what may be sent:
//
//   RFC 5681   3.2 fast retransmit; reno leaves recovery on the first ACK for new data
//   RFC 6582   newreno: partial ACKs, the impatient timer; no fast retransmit for data sent before a
//              timeout (its `recover`)
//   RFC 6675   sack: the scoreboard says what is lost and what is sent next
//   RFC 9937   prr, and rate halving: the same losses and repairs, but core/recovery.h says cwnd
//   RFC 8985   RACK-TLP: rack.hpp tells the losses in place of RFC 6675, and the timer serves its probe and
//              its reordering window too (sender_repairs.cpp)
//   RFC 5682, 3522, 3708, 4015   spurious timeouts and needless repairs: undo.hpp
//   RFC 3042   limited transmit
//   RFC 6298   5.1 to 5.6: when the timer is started, restarted, stopped and backed off
//   tahoe      the third duplicate ACK is a timeout without its backoff (Jacobson 1988; Fall & Floyd
//              1996, section 2): slow start from the hole
//
// Windows: `window.cwnd` is what the congestion control set. Fast recovery's inflation by duplicate
// ACKs (RFC 5681, 3.2, steps 3 and 4) is kept beside it and forgotten at the end ("deflating").
// Segments leave at the pacing rate (window.pacing) of a congestion control that has one; where it owns
// fast recovery (BBR), prr and rate halving only find the losses.
//
// Deviations: reno and tahoe have no guard against fast retransmits of data sent before a timeout
// (none had in 1990), but for a tahoe with limited transmit, which would go on
// repairing what it has repaired; the SYN's RTT serves the timer, not the congestion control; a reduction for a mark
// is made at once, and is complete then (Linux spreads it over a round trip).
#pragma once

#include <memory>

#include "../core/westwood.h"
#include "conservation.hpp"
#include "ecn.hpp"
#include "pacing.hpp"
#include "rack.hpp"
#include "ratesample.hpp"
#include "recovery.hpp"
#include "rtt.hpp"
#include "scoreboard.hpp"
#include "segmentation.hpp"
#include "sender_statistics.hpp"
#include "sendtimes.hpp"
#include "timers.hpp"
#include "undo.hpp"

namespace ww::sim {

enum class Progress : std::uint8_t { none, old, dupack, advanced };
// What a sender's timer waits for: an ACK, and with RACK-TLP the time for a probe, or for what may be lost.
enum class Due : std::uint8_t { timeout, probe, losses };

class Sender {
  public:
    Sender(const Flow& flow, std::uint32_t isn);

    // Connection set-up: the host sends the SYN, at its start and when the timer is due.
    void on_syn_sent(Time now);
    void on_syn_ack(Time now);

    // An ACK arrived, with this acknowledgment number and these SACK blocks (nullptr: none).
    // `again`: its timestamp is that of a segment sent again.
    Progress on_ack(Time now, std::uint32_t number, const SackBlocks* sack, bool again = false) {
        if (paced_ || (conserves_ && !is_plain_ack(sack))) [[unlikely]]
            return on_ack_with_deliveries(now, number, sack, again);
        return take_ack<false>(now, number, sack, again);
    }
    // An ACK arrived that echoes a mark. True if the window was reduced for it.
    bool on_echo(Time now, std::uint32_t number, const SackBlocks* sack, bool again,
                 Progress& progress);
    // The timer was due. Says for what.
    Due on_timer(Time now);

    // The host sends at `now` what next_segment() names, until it says -1; a segment it names counts as
    // sent. Where is_plain() says so, next_new(now, new_end(now)) says the same sooner.
    std::int64_t next_segment(Time now);
    bool is_plain() const {
        return !(sends_first_ | sends_probe_ | paced_) &&
               (!uses_sack_ || (phase_ == WW_OPEN && board_.idle()));
    }
    std::int64_t new_end(Time now);
    std::int64_t next_new(Time now, std::int64_t end) {
        return next_ < end ? record_sent(now, next_++) : -1;
    }

    bool established() const { return established_; }
    bool is_complete() const { return una_ == segments_.count(); }
    bool is_paced() const { return paced_; }
    bool is_retransmission() const { return last_was_retransmission_; }
    // PacketFlags of the segment just sent, on an ECN-capable connection.
    std::uint16_t ecn_flags() { return ecn_.flags(last_was_retransmission_); }

    const Segmentation& segments() const { return segments_; }
    const RttEstimator& rtt() const { return rtt_; }
    std::int64_t una() const { return una_; }
    std::int64_t in_flight() const { return next_ - una_; }
    std::uint32_t effective_cwnd() const {
        const std::int64_t sum = static_cast<std::int64_t>(window_.cwnd) + inflation_;
        return sum < 1 ? 1u : static_cast<std::uint32_t>(sum);
    }
    const ww_window& window() const { return window_; }
    std::uint64_t undone() const { return statistics_.undone; }
    ww_observation observe(Time now) const { return ww_observe(&config_, &cc_, microseconds(now)); }
    bool estimates() const { return ww_estimates(&config_); }
    std::uint8_t phase() const { return phase_; }

    // Fetches into the cache what the next ACK and the next segment touch outside of this object.
    void prefetch() const {
        times_.prefetch(una_);
        times_.prefetch(next_);
    }

    // The host queues both after each call, and calls when they are due.
    Timer timer;  // start of the connection, SYN, retransmission
    Timer pace;   // a paced sender may go on

    void finish(Time end, FlowCounts& result) {
        result.sent = static_cast<std::uint64_t>(high_) + statistics_.retransmitted;
        statistics_.write(end, window_.cwnd, rtt_.min(), result);
    }

  private:
    // Functions with `rated` exist twice: with rate samples for the congestion controls that want them,
    // and without, so that the others pay nothing.
    template <bool rated>
    Progress take_ack(Time now, std::uint32_t number, const SackBlocks* sack, bool again);
    Progress on_ack_with_deliveries(Time now, std::uint32_t number, const SackBlocks* sack,
                                    bool again);
    template <bool rated>
    Progress on_duplicate(Time now, bool news);
    template <bool rated>
    void on_advance(Time now, std::int64_t acked);
    template <bool rated>
    Progress take_and_judge(Time now, std::int32_t bytes, const SackBlocks* sack, bool again);
    void advance_in_recovery(Time now, std::int64_t acked, bool complete,
                             std::uint32_t cwnd_before);
    void leave_recovery(Time now);
    void on_sack_news(Time now);
    void enter_recovery(Time now);
    void enter_disorder() {
        phase_ = WW_DISORDER;
        flight_in_order_ = in_flight() - sacked_before_;
    }
    void reduce_window(Time now);
    void reduce_without_recovery(Time now);
    void restart_slow_start(Time now);
    void on_timeout(Time now);
    // RACK-TLP, F-RTO and undo are in sender_repairs.cpp.
    bool is_plain_ack(const SackBlocks* sack) const {
        return sack == nullptr && phase_ == WW_OPEN && board_.idle() && !probe_.is_out();
    }
    void on_arrival(Time now, std::int64_t segment);
    void take_arrivals(Time now, std::int64_t acked, bool again);
    bool read_dsack(const SackBlocks& sack, std::int32_t acked);
    void judge(Time now, bool advanced, bool news);
    void find_losses(Time now);
    std::int64_t choose_probe(Time now);
    bool has_new_data(Time now) const {
        return next_ < segments_.count() && now < stop_ &&
               in_flight() < static_cast<std::int64_t>(receive_window_);
    }
    void undo(Time now);
    Time rack_window() const;
    void restart_timer(Time now) {
        due_ = Due::timeout;
        timer.deadline = now + rtt_.rto();
        if (rack_ != nullptr) expect_probe(now);
    }
    void expect_timeout(Time from) {
        due_ = Due::timeout;
        timeout_from_ = from;
        timer.deadline = from + rtt_.rto();
    }
    // RFC 8985, 7.2: a probe, in place of the timeout if that would come first.
    void expect_probe(Time now) {
        timeout_from_ = now;
        if (phase_ != WW_OPEN || !board_.idle() || probe_.is_out() || rtt_.srtt() == 0) return;
        const Time wait = 2 * rtt_.srtt() + (next_ - una_ > 1 ? rack_slack_ : kLongestDelayedAck);
        due_ = Due::probe;
        timer.deadline = now + std::min(wait, rtt_.rto());
    }
    static constexpr Time kLongestDelayedAck = kSecond / 5;  // RFC 8985, 7.2
    template <bool rated>
    void call_cc(Time now, std::int64_t acked, std::uint32_t rtt_us, bool dupack);
    void fill_rate(Time now, ww_sample& sample);
    std::uint32_t pipe() const {
        return static_cast<std::uint32_t>(std::max<std::int64_t>(0, board_.pipe(una_, next_)));
    }
    std::uint32_t flight_for_ssthresh() const;
    Time measure_rtt(Time now, std::int64_t acked);
    bool read_sack(Time now, const SackBlocks& sack);
    std::int64_t next_unpaced(Time now);
    std::int64_t choose_by_scoreboard(Time now);
    std::int64_t record_sent(Time now, std::int64_t segment);
    void grow_rings();
    static std::uint64_t microseconds(Time t) {
        return static_cast<std::uint64_t>(t / kMicrosecond);
    }

    // These come first because every ACK touches them: where the connection stands, its windows,
    std::int64_t una_ = 0;   // SND.UNA
    std::int64_t next_ = 0;  // SND.NXT
    std::int64_t high_ = 0;  // one past the highest segment ever sent
    Segmentation segments_;
    ww_window window_;
    std::int32_t inflation_ = 0;
    std::uint32_t dupacks_ = 0;
    std::uint32_t receive_window_;  // segments
    std::uint8_t phase_ = WW_OPEN;
    bool established_ = false;
    bool sends_first_ = false;  // SND.UNA is to be sent again
    bool sends_probe_ = false;  // new data or the last segment is to be sent, whatever cwnd says
    bool last_was_retransmission_ = false;
    bool cwnd_limited_ = false;
    bool partial_seen_ = false;  // the impatient timer was restarted in this recovery
    // what its flow asks for,
    Recovery recovery_;
    bool uses_sack_;
    bool conserves_;  // cwnd in recovery is conservation_'s
    bool paced_;      // by the congestion control, which wants rate samples too
    bool judges_;     // by RACK-TLP, F-RTO or for an undo
    bool limited_transmit_;
    bool flight_excludes_sacked_;
    bool ssthresh_from_cwnd_;
    bool handshake_rtt_;
    std::uint32_t forgiven_syns_;
    bool timed_syn_;           // the SYN-ACK says which SYN it answers
    std::uint32_t threshold_;  // DupThresh
    Time stop_;
    // and what it measures and what decides.
    SendTimes times_;
    RttEstimator rtt_;
    SenderStatistics statistics_;
    ww_config config_;
    ww_state cc_;
    Scoreboard board_;
    std::unique_ptr<Rack> rack_;  // of a sender with RACK-TLP
    Time rack_slack_;
    bool rearms_rto_;  // when SND.UNA is sent again

    // Only losses, set-up and the rarer controls touch these.
    Due due_ = Due::timeout;  // what the timer waits for
    bool uses_frto_, undoes_, has_timestamps_;
    bool original_arrived_ = false;     // with this ACK: sent before the timeout, and not again
    bool dsack_ = false;                // this ACK brought one
    bool proof_ = false;                // this ACK proved that the last reduction was needless
    Time timeout_from_ = 0;             // when the retransmission timer was restarted last
    std::int64_t sacked_before_ = 0;    // SACKed before this ACK
    std::int64_t flight_before_ = 0;    // in flight and not SACKed before this ACK
    std::int64_t flight_in_order_ = 0;  // when the first duplicate ACK came
    std::int64_t recover_ = 0;          // one past the highest segment sent when loss was detected
    std::int64_t guarded_ = -1;         // duplicates up to this SND.UNA tell no loss (RFC 6582)
    std::int64_t timed_out_ = -1;       // SND.UNA at the last timeout
    Time syn_sent_at_ = 0;
    std::uint32_t syns_ = 0;
    bool recovery_holds_ssthresh_;
    bool repeated_timeouts_reduce_;
    bool full_ack_to_ssthresh_;
    bool stands_after_timeout_;
    bool any_ack_ends_backoff_;
    Conservation conservation_;
    Undo undo_;
    Frto frto_;
    LossProbe probe_;
    EcnSender ecn_;
    Pacer pacer_;
    std::unique_ptr<RateSampler> rate_;  // of a paced sender
};

// ---- Every ACK and every segment runs these; the rest is in sender.cpp.

// Returns the RTT of the newest segment acknowledged; 0 if it may not be measured.
inline Time Sender::measure_rtt(Time now, std::int64_t acked) {
    if (!times_.may_measure(una_, una_ + acked)) [[unlikely]]
        return 0;
    const Time rtt = now - times_.at(una_ + acked - 1);
    rtt_.on_ack(rtt, now - times_.at(una_));
    statistics_.on_srtt(rtt_.srtt());
    return rtt;
}

template <bool rated>
[[gnu::always_inline]] inline void Sender::call_cc(Time now, std::int64_t acked,
                                                   std::uint32_t rtt_us, bool dupack) {
    ww_sample sample{};
    sample.now_us = microseconds(now);
    sample.mss = segments_.mss();
    sample.acked_segments = static_cast<std::uint32_t>(acked);
    sample.in_flight = static_cast<std::uint32_t>(high_ - una_);  // going back takes nothing off
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
    if (window_.cwnd != before) statistics_.on_cwnd(now, before);
}

template <bool rated>
inline Progress Sender::take_ack(Time now, std::uint32_t number, const SackBlocks* sack,
                                 bool again) {
    const auto bytes = static_cast<std::int32_t>(number - segments_.number(una_));
    if (bytes < 0) return Progress::old;
    if (judges_ && !is_plain_ack(sack)) [[unlikely]]
        return take_and_judge<rated>(now, bytes, sack, again);
    const bool news = sack != nullptr && uses_sack_ && read_sack(now, *sack);
    if (bytes == 0) return on_duplicate<rated>(now, news);
    on_advance<rated>(now, segments_.segments_in(static_cast<std::uint32_t>(bytes)));
    if (news) [[unlikely]]
        on_sack_news(now);
    return Progress::advanced;
}

template <bool rated>
[[gnu::flatten]] inline void Sender::on_advance(Time now, std::int64_t acked) {
    const Time rtt = measure_rtt(now, acked);
    if constexpr (rated)
        for (std::int64_t s = una_; s < una_ + acked; s++) rate_->on_delivered(now, s);
    board_.advance(una_, una_ + acked);
    una_ += acked;
    if (next_ < una_) next_ = una_;  // after go-back-N an ACK may lie beyond what was sent again
    const bool plain = phase_ == WW_OPEN;
    const bool complete = una_ >= recover_;
    if (phase_ == WW_DISORDER) phase_ = WW_OPEN;
    const std::uint32_t cwnd_before = window_.cwnd;
    // The congestion control sees the phase that the ACK arrived in.
    call_cc<rated>(now, acked, static_cast<std::uint32_t>(rtt / kMicrosecond), false);
    dupacks_ = 0;
    if (!plain) [[unlikely]] {
        advance_in_recovery(now, acked, complete, cwnd_before);
    } else {
        if (next_ == una_)
            timer.deadline = kNever;
        else
            restart_timer(now);
    }
    if (una_ == segments_.count()) {
        statistics_.on_complete(now);
        timer.deadline = kNever;
    }
}

inline std::int64_t Sender::record_sent(Time now, std::int64_t segment) {
    last_was_retransmission_ = segment < high_;
    if (last_was_retransmission_) [[unlikely]] {
        statistics_.retransmitted++;
        times_.on_sent_again(segment, now);
        if (rack_ != nullptr) rack_->on_sent_again(now, segment);
        undo_.on_sent_again();
        if (rearms_rto_ && segment == una_) {
            timeout_from_ = now;
            if (due_ == Due::timeout) timer.deadline = now + rtt_.rto();
        }
    } else {
        if (!times_.has_room_for(segment, una_)) [[unlikely]]
            grow_rings();
        times_.on_sent(segment, now);
        high_ = segment + 1;
    }
    if (timer.deadline == kNever) restart_timer(now);
    return segment;
}

// Returns one past the last segment that cwnd, the receiver and the application allow.
inline std::int64_t Sender::new_end(Time now) {
    std::int64_t usable = static_cast<std::int64_t>(window_.cwnd) + inflation_;
    if (phase_ == WW_DISORDER && limited_transmit_) usable += dupacks_;
    std::int64_t end = std::min<std::int64_t>(usable, receive_window_) + una_;
    cwnd_limited_ = usable <= receive_window_;
    if (end > segments_.count()) [[unlikely]] {
        cwnd_limited_ = next_ >= una_ + usable;
        end = segments_.count();
    }
    return now >= stop_ ? std::min(end, high_) : end;
}

}  // namespace ww::sim
