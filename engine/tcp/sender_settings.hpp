// SPDX-License-Identifier: BSD-3-Clause
//
// A flow's settings for its sender. They are constant, and flows with equal settings share one
// object, which saves memory with ten thousand senders.
#pragma once

#include <algorithm>
#include <compare>
#include <iterator>
#include <set>

#include "../../core/westwood.h"
#include "../recovery.hpp"
#include "rate_limited_increase.hpp"
#include "rtt.hpp"

// Configurations are ordered so that equal ones can be found.
inline std::strong_ordering operator<=>(const ww_config& a, const ww_config& b) {
    std::strong_ordering order = a.algorithm <=> b.algorithm;
#define WW_COMPARE(kind, name, ...) \
    if (order == 0) order = a.WW_FIELD(kind, name) <=> b.WW_FIELD(kind, name);
    WW_SETTINGS(WW_COMPARE)
#undef WW_COMPARE
    if (order == 0) order = std::compare_three_way()(a.control, b.control);
    if (order != 0) return order;
    return std::lexicographical_compare_three_way(std::begin(a.own), std::end(a.own),
                                                  std::begin(b.own), std::end(b.own));
}
inline bool operator==(const ww_config& a, const ww_config& b) { return (a <=> b) == 0; }

namespace ww::sim {

struct SenderSettings {
    explicit SenderSettings(const Flow& flow)
        : cc(flow.cc),
          rto(flow),
          stop(flow.arrivals_mean == 0 ? flow.stop : kNever),
          rack_slack(flow.rack_slack),
          receive_window(std::max(1u, flow.receive_window_bytes / flow.mss())),
          initial_cwnd(flow.initial_cwnd),
          threshold(flow.dupack_threshold),
          forgiven_syns(flow.forgiven_syns),
          recovery(flow.recovery),
          uses_sack(sim::uses_sack(flow.recovery)),
          uses_rate_reduction(sim::uses_rate_reduction(flow.recovery) &&
                              !ww_owns_recovery(&flow.cc)),
          paced(ww_needs_rate(&flow.cc)),
          obeys_pacing(flow.obeys_pacing),
          tso(flow.tso),
          follows_packets(ww_follows_packets(&flow.cc)),
          hears_losses(follows_packets && (flow.cc.algorithm != WW_ALG_LOADED ||
                                           flow.cc.control->on_packet_lost != nullptr)),
          timer_paces_marks(!paced && flow.cc.min_marked_cwnd == 1),
          rack(flow.rack),
          frto(flow.frto),
          undoes(flow.undo),
          has_timestamps(flow.timestamps),
          tracks_arrivals(flow.rack || flow.frto || flow.undo),
          timed_syn(flow.timed_syn && flow.timestamps),
          handshake_rtt(flow.handshake_rtt),
          limited_transmit(flow.limited_transmit),
          idle_restart(flow.idle_restart && !ww_owns_recovery(&flow.cc)),
          idle_decay(flow.idle_decay),
          rate_limited_increase(flow.rate_limited_increase && validates_cwnd(flow.cc)),
          rearms_rto(flow.rearms_rto),
          flight_excludes_sacked(flow.flight_excludes_sacked),
          ssthresh_from_cwnd(flow.ssthresh_from_cwnd),
          pipe_keeps_repaired(flow.pipe_keeps_repaired),
          recovery_holds_ssthresh(flow.recovery_holds_ssthresh),
          recovery_restarts_rto(flow.recovery_restarts_rto),
          guards_recovery(flow.guards_recovery),
          repeated_timeouts_reduce(flow.repeated_timeouts_reduce),
          grows_at_exit(flow.grows_at_exit && !uses_sack),
          full_ack_to_ssthresh(flow.full_ack_to_ssthresh),
          partial_acks_restart_rto(flow.partial_acks_restart_rto),
          partial_acks_end_inflation(flow.partial_acks_end_inflation),
          guarded_duplicates_inflate(flow.guarded_duplicates_inflate),
          stands_after_timeout(flow.stands_after_timeout),
          any_ack_ends_backoff(flow.any_ack_ends_backoff) {}
    auto operator<=>(const SenderSettings&) const = default;

    ww_config cc;
    RtoSettings rto;
    Time stop;  // no new data from then on; connections that have arrived go on
    Time rack_slack;
    std::uint32_t receive_window;  // segments
    std::uint32_t initial_cwnd;    // segments
    std::uint32_t threshold;       // DupThresh
    std::uint32_t forgiven_syns;
    Recovery recovery;
    bool uses_sack;
    bool uses_rate_reduction;  // rate_reduction.hpp sets cwnd in recovery
    bool paced;                // the congestion control paces, and needs rate samples
    bool obeys_pacing;         // the sender has a pacer
    bool tso;                  // and sends in bursts
    bool follows_packets;      // it hears of each packet sent or lost
    bool hears_losses;         // it does something about those lost
    bool timer_paces_marks;    // RFC 3168, 6.1.2: when a window of one segment is marked
    bool rack, frto, undoes, has_timestamps;
    bool tracks_arrivals;  // RACK-TLP, F-RTO and undo need to know which segments arrived
    bool timed_syn;        // the SYN-ACK tells which SYN it answers
    bool handshake_rtt;
    bool limited_transmit;
    bool
        idle_restart;  // not of a control that owns its recovery, as in Linux (tcp_slow_start_after_idle_check())
    bool idle_decay;
    bool rate_limited_increase;
    bool rearms_rto;  // restart the timer when SND.UNA is sent again
    bool flight_excludes_sacked;
    bool ssthresh_from_cwnd;
    bool pipe_keeps_repaired;
    bool recovery_holds_ssthresh;
    bool recovery_restarts_rto;
    bool guards_recovery;
    bool repeated_timeouts_reduce;
    bool grows_at_exit;  // only without SACK
    bool full_ack_to_ssthresh;
    bool partial_acks_restart_rto;
    bool partial_acks_end_inflation;
    bool guarded_duplicates_inflate;
    bool stands_after_timeout;
    bool any_ack_ends_backoff;
};

// Keeps one object for each distinct set of settings; addresses stay valid.
class SharedSettings {
  public:
    const SenderSettings& of(const Flow& flow) { return *all_.emplace(flow).first; }

  private:
    std::set<SenderSettings> all_;
};

}  // namespace ww::sim
