// SPDX-License-Identifier: BSD-3-Clause
//
// An ACK filter: a new ACK removes older ones of its connection from the queue, because it says all that they say
// (RFC 3449, section 5.2.1; TCP ACK suppression of cable modems; the option ack-filter of CAKE). Removed is an ACK that
//
//   carries nothing else: no data, SYN or FIN
//   acknowledges less than the new one, or as much with fewer SACKed bytes: other duplicate ACKs stay
//   has the same flags for ECN, and only SACK blocks that the new one has or acknowledges
//
// `keep` of them stay with the new one. `batch` makes a batch of ACKs on a link that is not slow: packets that find
// the queue empty wait for this time, as for a grant of DOCSIS, and all that came by then leave one after another.
#pragma once

#include "impairment.hpp"

#define WW_ACK_FILTER_SETTINGS(X)                                                           \
    X(TIME, batch, 0, 0, kHour, "How long an empty queue collects packets before it sends", \
      "The queue of a slow link is a batch by itself.")                                     \
    X(COUNT, keep, 1, 1, 1000, "ACKs of a connection that stay, with the newest",           \
      "RFC 3449, section 5.2.1, removes all older ones. CAKE keeps 2 by default.")

namespace ww::sim {

struct AckFilter {
    WW_ACK_FILTER_SETTINGS(WW_SETTING_MEMBER)
};

// Acts on a list of packets, so the queue does the work (../held_packets.hpp).
class AckFiltering : public Impairment {
  public:
    AckFiltering(const AckFilter& settings, const Random&) : settings_(settings) {}
    const AckFilter& settings() const { return settings_; }

  private:
    AckFilter settings_;
};

}  // namespace ww::sim
