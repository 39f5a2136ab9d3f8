// SPDX-License-Identifier: BSD-3-Clause
//
// Detects that the last reduction of the window was spurious: what was sent again had only been late.
//
//   RFC 3522, 3     Eifel: the first ACK for new data after a retransmission of SND.UNA answers, by its
//                   timestamp, the first transmission
//   RFC 3708, 2     D-SACKs report that each segment retransmitted in the episode arrived twice
//   RFC 5682, 3.1   F-RTO: data sent before the timeout, and not again, is acknowledged after it
//   RFC 4015, 3     the response: cwnd and ssthresh are restored (ww_on_undo)
//
// Deviation: cwnd is restored at once, where RFC 4015 lets it grow back from the flight. The late data is still
// in flight, so the same is sent. The timer learns from the next RTT (RFC 4015, step DET-0).
#pragma once

#include "../network.hpp"

namespace ww::sim {

class Undo {
  public:
    // Begins an episode: the window is about to be reduced for losses from `una` on.
    void begin(std::int64_t una) {
        from_ = una;
        again_ = 0;
        is_armed_ = is_first_ = true;
    }
    void on_sent_again() { again_++; }

    // Returns true if this ACK for new data proves the reduction spurious. `again`: SND.UNA had
    // been sent again; `answers_again`: the ACK answers the retransmission.
    bool on_advance(bool again, bool answers_again) {
        const bool decides = is_first_ && again;
        if (decides) is_first_ = false;
        return decides && is_armed_ && !answers_again;
    }
    // Returns true if the D-SACK of this segment proves the reduction spurious.
    bool on_dsack(std::int64_t segment) {
        return is_armed_ && segment >= from_ && again_ > 0 && --again_ == 0;
    }
    // A late D-SACK may still prove the reduction spurious. An ACK of a retransmitted SND.UNA may
    // not, because it belongs to another episode.
    void on_recovery_exit() { is_first_ = false; }
    void end() { is_armed_ = false; }

  private:
    std::int64_t from_ = 0;
    std::uint32_t again_ =
        0;  // retransmissions of the episode that are not known to have arrived twice
    bool is_armed_ = false, is_first_ = false;
};

// F-RTO (RFC 5682, 3.1). After a timeout the first segment is sent again, then two new ones if that
// is acknowledged. Only the next ACK tells whether the rest must be sent again.
class Frto {
  public:
    bool is_on() const { return step_ != Step::off; }
    void begin() {
        step_ = Step::first_ack;
        new_segments_ = 0;
    }
    void end() { step_ = Step::off; }

    // Step 2: an ACK that does not complete the recovery; `may_send`: there is new data, and room for it.
    // Step 3: `original`: it acknowledges data sent before the timeout and not again. Returns true if the
    // timeout was spurious.
    bool on_ack(bool advanced, bool original, bool may_send) {
        if (step_ == Step::first_ack && advanced && may_send) {
            step_ = Step::second_ack;
            new_segments_ = 2;
            return false;
        }
        const bool spurious = step_ == Step::second_ack && original;
        end();
        return spurious;
    }
    // Returns true if a new segment may be sent, which then counts as sent.
    bool takes_new_segment() {
        if (new_segments_ == 0) return false;
        new_segments_--;
        return true;
    }

  private:
    enum class Step : std::uint8_t { off, first_ack, second_ack };
    Step step_ = Step::off;
    std::uint8_t new_segments_ = 0;
};

// The loss probe of RACK-TLP (RFC 8985, 7). After two round trips without an ACK the sender sends
// new data, or the last segment again, beyond cwnd; the ACK then reveals what is missing.
class LossProbe {
  public:
    bool is_out() const { return end_ >= 0; }
    void on_sent(std::int64_t high, bool again) {
        end_ = high;
        is_again_ = again;
    }
    void end() { end_ = -1; }

    // 7.4.2: takes an ACK. `dsack`: it reports that the last segment arrived twice; `duplicate`: it
    // acknowledges nothing new. Returns true if the probe repaired a loss, so that the window must
    // be reduced.
    bool on_ack(std::int64_t una, bool dsack, bool duplicate) {
        if (una < end_) return false;
        const bool repaired = is_again_ && !dsack && una > end_;
        if (!is_again_ || dsack || una > end_ || duplicate) end();
        return repaired;
    }

  private:
    std::int64_t end_ =
        -1;  // one past the highest segment sent when the probe left; -1: no probe is out
    bool is_again_ = false;
};

}  // namespace ww::sim
