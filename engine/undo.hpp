// SPDX-License-Identifier: BSD-3-Clause
//
// Was the last reduction of the window needless, because what was sent again had only been late?
//
//   RFC 3522, 3     Eifel: the first ACK for new data after a retransmission of SND.UNA answers, by its
//                   timestamp, the first transmission
//   RFC 3708, 2     D-SACKs say that each segment sent again in the episode arrived twice
//   RFC 5682, 3.1   F-RTO: what was sent before the timeout, and not again, is acknowledged after it
//   RFC 4015, 3     the answer: cwnd and ssthresh are what they were (ww_on_undo)
//
// Deviation: cwnd is restored at once, where RFC 4015 lets it grow back from the flight: what was late is
// in flight still, so that the same is sent. The timer learns from the next RTT (RFC 4015, step DET-0).
#pragma once

#include "network.hpp"

namespace ww::sim {

class Undo {
  public:
    // The window is about to be reduced for what is missing from `una` on.
    void begin(std::int64_t una) {
        from_ = una;
        again_ = 0;
        is_armed_ = is_first_ = true;
    }
    void on_sent_again() { again_++; }

    // True if this ACK for new data proves it; `again`: SND.UNA had been sent again; `answers_again`: the
    // ACK answers what was sent again.
    bool on_advance(bool again, bool answers_again) {
        const bool decides = is_first_ && again;
        if (decides) is_first_ = false;
        return decides && is_armed_ && !answers_again;
    }
    // True if the D-SACK of this segment proves it.
    bool on_dsack(std::int64_t segment) {
        return is_armed_ && segment >= from_ && again_ > 0 && --again_ == 0;
    }
    // Late D-SACKs may prove it still, but an ACK that answers a repair of SND.UNA is another episode's.
    void on_recovery_exit() { is_first_ = false; }
    void end() { is_armed_ = false; }

  private:
    std::int64_t from_ = 0;
    std::uint32_t again_ = 0;  // sent again in the episode, and not known to have arrived twice
    bool is_armed_ = false, is_first_ = false;
};

// F-RTO (RFC 5682, 3.1): after a timeout the first segment is sent again, then two new ones if that is
// acknowledged, and only the ACK after that tells whether the rest is to be sent again.
class Frto {
  public:
    bool is_on() const { return step_ != Step::off; }
    void begin() {
        step_ = Step::first_ack;
        new_segments_ = 0;
    }
    void end() { step_ = Step::off; }

    // Step 2: an ACK that does not complete the recovery; `may_send`: there is new data, and room for it.
    // Step 3: `original`: it acknowledges what was sent before the timeout and not again. True: spurious.
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
    // May a new segment be sent? It counts as sent then.
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

// The loss probe of RACK-TLP (RFC 8985, 7): after two round trips without an ACK the sender sends new data,
// or the last segment again, beyond cwnd, so that its ACK tells what is missing.
class LossProbe {
  public:
    bool is_out() const { return end_ >= 0; }
    void on_sent(std::int64_t high, bool again) {
        end_ = high;
        is_again_ = again;
    }
    void end() { end_ = -1; }

    // 7.4.2: an ACK left SND.UNA here; `dsack`: it says that the last segment arrived twice; `duplicate`: it
    // acknowledges nothing new. True: the probe repaired a loss, which the window has to answer.
    bool on_ack(std::int64_t una, bool dsack, bool duplicate) {
        if (una < end_) return false;
        const bool repaired = is_again_ && !dsack && una > end_;
        if (!is_again_ || dsack || una > end_ || duplicate) end();
        return repaired;
    }

  private:
    std::int64_t end_ = -1;  // one past the highest segment sent by then; -1: no probe is out
    bool is_again_ = false;
};

}  // namespace ww::sim
