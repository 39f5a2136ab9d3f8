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

}  // namespace ww::sim
