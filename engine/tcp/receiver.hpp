// SPDX-License-Identifier: BSD-3-Clause
//
// The receiver of a connection reassembles the stream and acknowledges it.
//
//   FIN                   an ACK at once; it covers the FIN once all data is here   RFC 9293, 3.10.7.4
//   in order              an ACK every `delayed_ack` segments or after the timeout   RFC 5681, 4.2
//   out of order          an ACK at once, a duplicate, with SACK blocks              RFC 5681, 4.2
//   fills (part of) a gap an ACK at once                                             RFC 5681, 4.2
//   duplicate data        an ACK at once                                             RFC 9293, 3.10.7.4
//                         whose first SACK block, if asked for, is a D-SACK          RFC 2883, 4
//   timestamps            an ACK echoes the one of the segment at Last.ACK.sent      RFC 7323, 4.3
//
// The application reads at once, so the advertised window is always the whole receive window.
//
// The receiver's part of the handshake (RFC 9293, 3.10.7):
//
//   listening     a SYN is answered by a SYN-ACK                                     3.10.7.2
//   half open     the SYN-ACK is repeated when the SYN comes again. With `syn_ack_timer` it also has a timer,
//                 which backs off (RFC 6298, 5.4 and 5.5), until any ACK or data acknowledges it
//   established   a late SYN is answered by a plain ACK                              3.10.7.4 (RFC 5961, 4)
//
// A SYN-ACK that answers a repeated SYN restarts the timer without backoff, as in Linux
// (tcp_check_req()), because no timer expired.
#pragma once

#include <memory>

#include "../base/timers.hpp"
#include "../link/packet.hpp"
#include "../recovery.hpp"
#include "ack_timing.hpp"
#include "misbehaviour.hpp"
#include "reassembly.hpp"

namespace ww::sim {

enum class Handshake : std::uint8_t { listening, half_open, established };

struct Receiver {
    Receiver() = default;
    explicit Receiver(const Flow& flow)
        : delayed_ack(flow.delayed_ack),
          sack(uses_sack(flow.recovery)),
          dsack(flow.rack || flow.undo),
          is_watched_(flow.application.kind == ApplicationKind::media),
          delayed_ack_timeout(flow.delayed_ack_timeout),
          most_blocks_(flow.timestamps ? kMaxSackBlocksStamped : kMaxSackBlocks),
          timing_(AckTiming::is_needed(flow) ? std::make_unique<AckTiming>(flow) : nullptr),
          misbehaviour_(Misbehaviour::is_needed(flow) ? std::make_unique<Misbehaviour>(flow)
                                                      : nullptr) {}

    // Every segment touches these fields, so they come first.
    std::uint32_t next_number = 0;  // the sequence number expected next (RCV.NXT)
    std::uint32_t delayed_ack = 2;  // segments
    std::uint32_t unacknowledged = 0;
    Handshake handshake = Handshake::listening;
    bool sack = false;
    bool dsack = false;

  private:
    bool on_fast_path_ = false;  // is_on_fast_path(): no timing_, no misbehaviour_
    bool is_watched_ = false;    // the application hears of every ACK

  public:
    std::uint64_t delivered_bytes = 0;
    std::uint64_t ip_bytes = 0;
    Time last_arrival = -1;  // of data; -1: none came
    Time delayed_ack_timeout = 0;
    Timer timer;  // of a delayed ACK; while half open, of the SYN-ACK

    Reassembly held;
    SackBlocks::Block twice{0, 0};  // the duplicate segment that just arrived; empty: none

    // Takes a SYN. Returns true if a SYN-ACK answers it, which echoes its timestamp.
    bool on_syn(std::uint32_t number, bool again = false) {
        if (handshake == Handshake::established) return false;
        next_number = number + 1;
        if (misbehaviour_) misbehaviour_->on_syn(next_number);
        syn_again_ = again;
        handshake = Handshake::half_open;
        return true;
    }

    // Takes the last ACK of the handshake, or data, which acknowledges the SYN-ACK too.
    void on_established(Time now) {
        if (handshake == Handshake::half_open) {
            timer.deadline = kNever;
            if (timing_) timing_->on_established(now);
        }
        handshake = Handshake::established;
    }

    std::uint16_t syn_ack_flags() const { return syn_again_ ? kSyn | kAgain : kSyn; }
    // The SYN-ACK is sent at `now`.
    void on_syn_ack_sent(Time now) {
        if (timing_) timer.deadline = timing_->on_syn_ack(now);
    }
    // Handles the due timer. Returns true if it was the SYN-ACK's, false if it was a delayed ACK's.
    bool on_timer() {
        if (handshake == Handshake::half_open) {
            timing_->on_syn_ack_timer();
            return true;
        }
        if (timing_) timing_->on_timer();
        return false;
    }

    // Takes data. Returns true if it is to be acknowledged now; otherwise the timer must run from
    // unacknowledged == 1 on.
    bool on_data(Time now, std::uint32_t number, std::uint32_t bytes) {
        if (number != next_number) [[unlikely]]
            return on_unexpected(now, number, bytes);
        next_number += bytes;
        delivered_bytes += bytes;
        if (!on_fast_path_) [[unlikely]]
            return take_on_slow_path(now);
        return ++unacknowledged >= delayed_ack;
    }

    // True if data came in order and an ACK carries only next_number.
    bool is_on_fast_path() const { return on_fast_path_; }

    // Takes a retransmission. The next ACK echoes its timestamp if its number is at most Last.ACK.sent (RFC 7323, 4.3).
    // That is next_number, unless in-order data still waits for an ACK. While data is held beyond a gap, only such
    // data can wait.
    void on_again(std::uint32_t number) {
        const bool is_next_acknowledged = unacknowledged == 0 || !held.empty();
        if (is_next_acknowledged && static_cast<std::int32_t>(number - next_number) <= 0)
            set_ack_flags(ack_flags_ | kAgain);
    }
    // The segment about to arrive has PSH. If it is in order, it is acknowledged at once.
    void on_pushed(std::uint32_t number) {
        if (number == next_number) unacknowledged = std::max(unacknowledged, delayed_ack - 1);
    }
    // Takes a segment with CWR, which ends the echoes (RFC 3168, 6.1.3); or one with CE, which
    // starts them.
    void on_reduced() { set_ack_flags(ack_flags_ & kFin); }
    void on_marked() {
        set_ack_flags(ack_flags_ | kCe);
        marked_so_far_++;
    }

    // Returns how many marked segments have arrived. It wraps, and stands in all ACKs with other
    // news than a number, as in QUIC (RFC 9000, 19.3.2) and accurate ECN.
    std::uint16_t marked_so_far() const { return marked_so_far_; }

    // Returns the flags of the next ACK.
    std::uint16_t take_ack_flags() {
        const std::uint16_t taken = ack_flags_;
        ack_flags_ &= static_cast<std::uint16_t>(~kAgain);
        return taken;
    }

    bool misbehaves() const { return misbehaviour_ != nullptr; }

    // Returns what the next ACKs of a receiver that misbehaves claim.
    Misbehaviour::Claim claim() {
        const std::uint32_t number = next_number + misbehaviour_->bytes_ahead();
        const bool is_beyond = has_fin_ && static_cast<std::int32_t>(number - fin_) > 0;
        return misbehaviour_->claim(is_beyond ? fin_ : number);
    }

    bool has_sack() const { return sack && (!held.empty() || twice.start != twice.end); }

    // Takes the last segment, which is acknowledged at once.
    void on_fin(Time now, std::uint32_t number, std::uint32_t bytes) {
        has_fin_ = true;
        fin_ = number + bytes;
        on_data(now, number, bytes);
        end_if_whole();
    }

    SackBlocks sack_blocks() {
        SackBlocks blocks;
        if (twice.start != twice.end) blocks.block[blocks.count++] = twice;
        twice = {0, 0};
        held.report(next_number - static_cast<std::uint32_t>(delivered_bytes), most_blocks_,
                    blocks);
        return blocks;
    }

  private:
    // Takes a segment that lies beyond a gap or is a duplicate.
    [[gnu::noinline]] bool on_unexpected(Time now, std::uint32_t number, std::uint32_t bytes) {
        const auto ahead = static_cast<std::int32_t>(number - next_number);
        on_established(now);
        if (misbehaviour_ && misbehaviour_->conceals_losses()) return conceal(ahead, bytes);
        const std::int64_t start = static_cast<std::int64_t>(delivered_bytes) + ahead;
        const bool at_once =
            !timing_ || ahead <= 0 ||
            timing_->on_out_of_order(unacknowledged, held.place(start, start + bytes));
        if (timing_ && ahead <= 0) timing_->on_repeated();
        if (ahead > 0) {
            const bool is_new = held.add(start, start + bytes);
            if (dsack && !is_new) twice = {number, number + bytes};
        } else if (dsack) {
            twice = {number, number + bytes};
        }
        on_fast_path_ = false;
        if (at_once) return true;
        unacknowledged++;
        delayed_ack_timeout = timing_->together();
        return false;
    }

    // Takes a segment as if all before it had arrived.
    bool conceal(std::int32_t ahead, std::uint32_t bytes) {
        if (ahead < 0) {
            misbehaviour_->on_repeated();
            return true;
        }
        next_number += static_cast<std::uint32_t>(ahead) + bytes;
        delivered_bytes += bytes;
        misbehaviour_->on_new();
        return true;
    }

    void set_ack_flags(int flags) {
        ack_flags_ = static_cast<std::uint16_t>(flags);
        on_fast_path_ = false;
    }

    // kCe while marks are to be echoed (ECE), kFin once all is here, kAgain for the next ACK
    std::uint16_t ack_flags_ = 0;
    std::uint16_t marked_so_far_ = 0;
    std::uint8_t most_blocks_ = kMaxSackBlocks;
    bool has_fin_ = false;
    bool syn_again_ = false;                      // the last SYN was a repeated one
    std::uint32_t fin_ = 0;                       // where the stream ends, once known
    std::unique_ptr<AckTiming> timing_;           // nullptr: no rule of ACK timing applies
    std::unique_ptr<Misbehaviour> misbehaviour_;  // nullptr: the receiver is honest

    [[gnu::noinline]] bool take_on_slow_path(Time now) {
        on_established(now);
        const bool quick = timing_ && take_timing(now);
        const bool fills = !held.empty();
        if (fills) join();
        on_fast_path_ = held.empty() && !timing_ && !misbehaviour_ && !is_watched_ &&
                        ack_flags_ == 0 && twice.start == twice.end;
        if (misbehaviour_) misbehaviour_->on_new();
        return quick || fills || misbehaves() || ++unacknowledged >= delayed_ack;
    }

    bool take_timing(Time now) {
        const bool quick = timing_->on_segment(now);
        delayed_ack_timeout = timing_->timeout();
        if (timing_->is_over()) timing_.reset();
        return quick;
    }

    void end_if_whole() {
        if (has_fin_ && next_number == fin_) set_ack_flags(ack_flags_ | kFin);
    }

    void join() {
        const auto before = static_cast<std::int64_t>(delivered_bytes);
        const std::int64_t after = held.advance(before);
        next_number += static_cast<std::uint32_t>(after - before);
        delivered_bytes = static_cast<std::uint64_t>(after);
        end_if_whole();
    }
};

}  // namespace ww::sim
