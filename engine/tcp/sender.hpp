// SPDX-License-Identifier: BSD-3-Clause
//
// The sender of a connection keeps the window, finds and repairs losses and runs the retransmission timer. It
// does no I/O: the host passes in ACKs and timer events, then asks next_segment() what to send until it returns
// -1.
//
// Sequence numbers are counted in segments from 0 (segmentation.hpp); the 32-bit numbers of the wire are
// unwrapped against SND.UNA. Parts that can be understood alone have their own headers: rtt.hpp,
// send_times.hpp, scoreboard.hpp, rate_reduction.hpp, ecn.hpp, pacing.hpp, rate_sample.hpp,
// idle_restart.hpp, rate_limited_increase.hpp and sender_statistics.hpp. The sender itself is in ack.cpp (what an ACK means), recovery.cpp (loss
// recovery), sending.cpp (what is sent next), sender.cpp (set-up, timer) and fast_path.hpp:
//
//   RFC 5681   3.2 fast retransmit; reno leaves recovery on the first ACK for new data
//   RFC 6582   newreno: partial ACKs, the impatient timer; no fast retransmit for data sent before a
//              timeout (its `recover`)
//   RFC 6675   sack: the scoreboard says what is lost and what is sent next
//   RFC 9937   prr, and rate halving: the same losses and repairs, but core/recovery.h sets cwnd
//   RFC 8985   RACK-TLP: rack.hpp detects the losses instead of RFC 6675, and the timer also serves the
//              loss probe and the reordering window
//   RFC 5682, 3522, 3708, 4015   spurious timeouts and retransmissions: undo.hpp, frto.hpp
//   RFC 3042   limited transmit
//   RFC 6298   5.1 to 5.6: when the timer is started, restarted, stopped and backed off
//   tahoe      the third duplicate ACK acts as a timeout without backoff (Jacobson 1988; Fall & Floyd
//              1996, section 2): slow start from the hole
//
// Windows: `window.cwnd` is what the congestion control set. Fast recovery's inflation by duplicate ACKs (RFC
// 5681, 3.2, steps 3 and 4) is kept apart and dropped at the end ("deflating"). Segments leave at the
// pacing rate (window.pacing) if the congestion control sets one. Where it owns fast recovery (BBRv1), prr and rate
// halving only find the losses.
//
// Deviations: reno and tahoe have no guard against fast retransmits of data sent before a timeout (in 1990
// none had), except tahoe with limited transmit, which would repeat its repairs forever. The RTT of the SYN
// serves the timer, not the congestion control. A reduction for a mark takes effect at once (Linux spreads it
// over a round trip).
#pragma once

#include <memory>

#include "../../core/westwood.h"
#include "../base/timers.hpp"
#include "../recovery.hpp"
#include "ack.hpp"
#include "control_state.hpp"
#include "ecn.hpp"
#include "frto.hpp"
#include "idle_restart.hpp"
#include "loss_probe.hpp"
#include "pacing.hpp"
#include "rack.hpp"
#include "rate_limited_increase.hpp"
#include "rate_reduction.hpp"
#include "rate_sample.hpp"
#include "rtt.hpp"
#include "scoreboard.hpp"
#include "seen_blocks.hpp"
#include "segmentation.hpp"
#include "send_times.hpp"
#include "sender_settings.hpp"
#include "sender_statistics.hpp"
#include "undo.hpp"

namespace ww::sim {

// What a sender's timer is for: a timeout; with RACK-TLP, a probe or the next possible loss; or the
// next segment, after a mark at a window of one.
enum class Due : std::uint8_t { timeout, probe, losses, segment };

class Sender {
  public:
    Sender(const SenderSettings& settings, const Flow& flow, std::uint32_t isn);

    // Connection set-up: the host sends the SYN at the flow's start and when the timer is due.
    void on_syn_sent(Time now);
    // `again`: the SYN-ACK answers a repeated SYN.
    void on_syn_ack(Time now, bool again = false);

    // Takes an ACK and returns what it brought.
    Ack on_ack(Time now, const AckHeader& header);
    // Takes the number of an ACK from a receiver that misbehaves. Returns false if it is no ACK for
    // on_ack(); otherwise the number is one of whole segments.
    bool admit(Time now, std::uint32_t& number);
    // The fast path of on_ack(), for an ACK that carries only its number; `rated`: of a paced
    // sender; `loaded`: loaded controls are inlined, not built-in ones. Returns false and does nothing if the ACK needs more.
    template <bool rated, bool loaded = false>
    bool take_fast_path(Time now, std::uint32_t number);
    // Handles the timer. Returns what it was due for.
    Due on_timer(Time now);

    // The host sends at `now` what next_segment() returns, until it returns -1. A returned segment
    // counts as sent. If take_burst() returns true, its burst of new, full segments (maybe none) is
    // all there is to send. `fast`: called right after take_fast_path().
    std::int64_t next_segment(Time now);
    struct Burst {
        std::int64_t first, end;    // end excluded
        std::int64_t together = 1;  // with `tso`, segments that leave as one packet
        // Linux sets PSH on packets of several segments (__tcp_transmit_skb()), and so on their last segment.
        bool pushes(std::int64_t segment) const {
            const std::int64_t place = (segment - first) % together;
            return place > 0 && (place == together - 1 || segment == end - 1);
        }
        void push(std::int64_t segment, std::uint16_t& flags) const {
            flags &= static_cast<std::uint16_t>(~kPush);
            if (pushes(segment)) flags |= kPush;
        }
    };
    template <bool fast>
    bool take_burst(Time now, Burst& burst);
    bool take_paced_burst(Time now, Burst& burst);

    // Takes what the application has written: `end` segments since the start. `idle`: the time since
    // the last segment left. A bulk flow's application has written everything before the start.
    void write(Time now, std::int64_t end, Time idle);
    // True if cwnd and the receive window allow data that the application has yet to write.
    bool awaits_application() const {
        return established_ && next_ >= available_ && available_ < segments_.count() &&
               pipe() < window_.cwnd &&
               in_flight() < static_cast<std::int64_t>(settings_->receive_window);
    }

    bool established() const { return established_; }
    bool is_complete() const { return una_ == segments_.count(); }
    bool is_paced() const { return settings_->paced; }
    bool is_retransmission() const { return last_was_retransmission_; }
    // Returns the PacketFlags of the segment just sent on an ECN-capable connection.
    std::uint16_t ecn_flags() { return ecn_.flags(last_was_retransmission_); }

    const Segmentation& segments() const { return segments_; }
    const RttEstimator& rtt() const { return rtt_; }
    std::int64_t una() const { return una_; }
    std::int64_t sent_below() const { return high_; }  // one past the highest segment ever sent
    std::uint64_t transmissions() const {
        return static_cast<std::uint64_t>(high_) + statistics_.retransmitted;
    }
    std::int64_t in_flight() const { return next_ - una_; }
    std::uint32_t effective_cwnd() const {
        const std::int64_t sum = static_cast<std::int64_t>(window_.cwnd) + inflation_;
        return sum < 1 ? 1u : static_cast<std::uint32_t>(sum);
    }
    const ww_window& window() const { return window_; }
    std::uint64_t pacing() const { return settings_->obeys_pacing ? window_.pacing : 0; }
    ww_observation observe(Time now) const {
        return ww_observe(&settings_->cc, cc_.get(), microseconds(now));
    }
    const ww_config& control() const { return settings_->cc; }
    ww_shown show(Time now) const { return ww_show(&settings_->cc, cc_.get(), microseconds(now)); }
    bool estimates() const { return ww_estimates(&settings_->cc); }
    std::uint32_t syns() const { return syns_; }  // SYNs sent so far
    std::uint8_t phase() const { return phase_; }
    std::uint32_t fast_recoveries() const { return statistics_.fast_recoveries; }

    // Prefetches what the next ACK and the next segment touch outside this object.
    void prefetch() const {
        times_.prefetch(una_);
        times_.prefetch(next_);
    }

    // The host queues both timers after each call, and calls on_timer() or next_segment() when they
    // are due.
    Timer timer;  // start of the connection, SYN, retransmission

    void finish(Time end, FlowCounts& result) {
        result.sent = transmissions();
        statistics_.write(end, window_.cwnd, rtt_.least(), result);
    }

  private:
    // Takes a sample for the timer only.
    void take_sample(Time rtt) {
        rtt_.on_sample(rtt, settings_->rto);
        statistics_.on_srtt(rtt_.srtt());
    }

    // True while nothing is lost, suspected, retransmitted or to be sent out of turn. The fast path
    // and new segments keep it true; everything else ends with settle().
    bool is_on_fast_path() const {
        return phase_ == WW_OPEN && established_ && next_ == high_ && dupacks_ == 0 &&
               inflation_ == 0 && !(sends_first_ | sends_probe_) && board_.idle() &&
               due_ != Due::segment && !probe_.is_out() && times_.may_measure_from(una_) &&
               !settings_->rate_limited_increase;
    }
    void settle() {
        on_fast_path_ = is_on_fast_path();
        on_unpaced_fast_path_ = on_fast_path_ && !settings_->paced;
    }
    bool sends_only_new() const {
        return !settings_->paced && established_ && next_ == high_ && due_ != Due::segment &&
               !(sends_first_ | sends_probe_) &&
               (!settings_->uses_sack || (phase_ == WW_OPEN && board_.idle()));
    }

    std::int32_t beyond_una(std::uint32_t number) const {  // bytes
        return static_cast<std::int32_t>(number - segments_.number(una_));
    }

    // ack.cpp: scoreboard, control and state, in the order of on_ack().
    bool take_fast_path(Ack& ack);
    void begin(Ack& ack) const;
    bool suspects_nothing(const SackBlocks* sack) const {
        return sack == nullptr && phase_ == WW_OPEN && board_.idle() && !probe_.is_out();
    }
    void read_sack(Ack& ack);
    bool read_dsack(Ack& ack);
    void acknowledge(Ack& ack);
    void take_arrivals(Ack& ack);
    void on_arrival(Ack& ack, std::int64_t segment);
    Time measure_rtt(Time now, std::int64_t acked);
    Progress progress_of(const Ack& ack) const;
    void control(Ack& ack);
    template <bool fast, bool rated, bool loaded = false>
    void call_cc(Time now, std::int64_t acked, Time rtt);
    template <bool fast, bool rated, bool loaded>
    void report_ack(Time now, std::int64_t acked, Time rtt);
    template <bool fast, bool rated, bool loaded>
    void report_apart(Time now, std::int64_t acked, Time rtt);
    template <bool fast>
    void fill_rate(Time now, ww_sample& sample);
    void limit_increase(const Ack& ack, const ww_window& before);
    void on_advance(Ack& ack);
    void on_duplicate(Ack& ack);

    // recovery.cpp
    void enter_disorder(const Ack& ack);
    Time rack_window() const;
    void find_losses(Ack& ack);
    bool must_reduce_again() const;
    std::uint32_t flight_for_ssthresh() const;
    void reduce_window(Time now);
    void report_losses(Time now);
    void enter_recovery(Ack& ack);
    void restart_slow_start(Time now);
    void on_timeout(Time now);
    void reduce_without_recovery(Time now);
    void answer_mark(Ack& ack);
    void wait_for_timer(Time now);
    void end_wait() {
        due_ = Due::timeout;
        timer.deadline = kNever;
    }
    void advance_after_timeout(Ack& ack);
    bool advance_in_recovery(Ack& ack);
    void reduce_rate(const Ack& ack);
    bool ends_recovery(const Ack& ack) const {
        return ack.acked > 0 && phase_ == WW_RECOVERY &&
               (una_ >= recover_ || settings_->recovery == Recovery::reno);
    }
    void leave_recovery(Ack& ack);
    void end_recovery(Ack& ack);
    void detect_spurious_loss(Ack& ack);
    void undo(Ack& ack);

    // The timer.
    void on_reordering_timer(Time now);
    template <bool fast = false>
    void restart_timer(Time now) {
        due_ = Due::timeout;
        timer.deadline = now + rtt_.rto();
        if (rack_ != nullptr) expect_probe<fast>(now);
    }
    void expect_timeout(Time from) {
        due_ = Due::timeout;
        timeout_from_ = from;
        timer.deadline = from + rtt_.rto();
    }
    // Sets the timer to a loss probe (RFC 8985, 7.2) unless the timeout comes first.
    template <bool fast>
    void expect_probe(Time now) {
        timeout_from_ = now;
        if (!fast && (phase_ != WW_OPEN || !board_.idle() || probe_.is_out())) return;
        if (rtt_.srtt() == 0) return;
        const Time wait =
            2 * rtt_.srtt() + (next_ - una_ > 1 ? settings_->rack_slack : kLongestDelayedAck);
        due_ = Due::probe;
        timer.deadline = now + std::min(wait, rtt_.rto());
    }
    static constexpr Time kLongestDelayedAck = kSecond / 5;  // RFC 8985, 7.2

    // sending.cpp
    bool has_new_data(Time now) const {
        return next_ < available_ && now < settings_->stop &&
               in_flight() < static_cast<std::int64_t>(settings_->receive_window);
    }
    std::uint32_t pipe() const {
        return static_cast<std::uint32_t>(std::max<std::int64_t>(0, board_.pipe(una_, next_)));
    }
    std::int64_t choose_probe(Time now);
    std::int64_t next_unpaced(Time now);
    std::int64_t choose_by_scoreboard(Time now);
    template <bool fast>
    std::int64_t new_end(Time now);
    template <bool paced>
    void send_new(Time now, std::int64_t end, std::uint32_t together);
    std::int64_t record_sent(Time now, std::int64_t segment);
    void announce(Time now, std::uint32_t pipe);
    std::uint32_t whole_burst() const;
    std::uint32_t within_window(std::uint32_t burst) const;
    void note_paced(Time now, std::uint32_t payload, std::uint32_t segments,
                    std::uint32_t together);
    bool defers(Time now, std::int64_t count, bool is_recent) const;
    std::int64_t end_of_bursts(Time now, std::int64_t count, std::uint32_t whole) const;
    std::uint64_t burst_rate() const;
    void grow_rings();
    static std::uint64_t microseconds(Time t) {
        return static_cast<std::uint64_t>(t) / static_cast<std::uint64_t>(kMicrosecond);
    }

    // Touched by every ACK and every segment, in this order: position and windows,
    const SenderSettings* settings_;
    std::int64_t una_ = 0;    // SND.UNA
    std::int64_t next_ = 0;   // SND.NXT
    std::int64_t high_ = 0;   // one past the highest segment ever sent
    std::int64_t available_;  // segments that the application has written
    ww_window window_;
    Segmentation segments_;
    std::int32_t inflation_ = 0;
    std::uint32_t dupacks_ = 0;
    std::uint8_t phase_ = WW_OPEN;
    bool on_unpaced_fast_path_ = false;  // on the fast path, and not paced
    bool on_fast_path_ = false;          // is_on_fast_path() at the last settle()
    bool established_ = false;
    bool sends_first_ = false;  // SND.UNA must be sent again
    bool sends_probe_ = false;  // new data or the last segment must be sent, whatever cwnd is
    bool last_was_retransmission_ = false;
    bool cwnd_limited_ = false;
    bool partial_seen_ = false;  // the impatient timer was restarted in this recovery
    Due due_ = Due::timeout;     // what the timer waits for
    Frto frto_;
    // measurements and decisions.
    SendTimes times_;
    RttEstimator rtt_;
    std::unique_ptr<Rack> rack_;  // only with RACK-TLP
    SenderStatistics statistics_;
    ControlState cc_;

    // Touched by losses,
    Scoreboard board_;
    SeenBlocks seen_;
    std::int64_t recover_ = 0;  // one past the highest segment sent when loss was detected
    std::int64_t guarded_ =
        -1;  // no loss is inferred from duplicates up to this SND.UNA (RFC 6582)
    std::int64_t timed_out_ = -1;       // SND.UNA at the last timeout
    std::int32_t flight_in_order_ = 0;  // flight when the first duplicate ACK arrived
    std::uint32_t syns_ = 0;
    Time first_syn_ = 0;
    Time reduced_at_ = 0;    // when a loss last reduced the window
    Time timeout_from_ = 0;  // when the retransmission timer, or the SYN's, was last restarted
    // and needed by few senders.
    RateReduction rate_reduction_;
    Undo undo_;
    LossProbe probe_;
    EcnSender ecn_;
    Pacer pacer_;
    std::unique_ptr<RateSampler> rate_;  // only for a paced sender
    RateLimitedIncrease increase_;
    std::uint32_t part_ = 0;  // the highest number within a segment that an ACK has had

  public:
    Timer pace;  // when a paced sender may send again
};

}  // namespace ww::sim

#include "fast_path.hpp"
