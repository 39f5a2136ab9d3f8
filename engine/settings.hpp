// SPDX-License-Identifier: BSD-3-Clause
//
// Every setting of a flow and of a link, declared once; those of the congestion control are in core/settings.h,
// those of a queue discipline or a loss model in its file of link/queue/ or link/loss/.
// A row generates the engine's field, its default and check, the binding, what a scenario accepts, the words
// of a plan (wire/), the range that is fuzzed and the tables in docs/.
//
//   X(kind, name, default, least, most, "what it is", "why that is the default")
//
// A row without a reason has no default in scenarios: they must set the value.
//
//   kind           the field                            what a scenario writes
//   SWITCH         bool NAME                            true or false
//   COUNT          uint32 NAME                          a whole number
//   SHARE          double NAME                          a probability such as 0.005 or "0.5%"
//   PACKETS        double NAME_packets                  a number
//   RATE           int64 NAME_bps                       a rate such as "2Mbps"
//   TIME           Time NAME, ps                        a time such as "45ms"
//   TIME_OR_NEVER  Time NAME, ps or kNever              a time; left out: never
//   BYTES          uint32 NAME_bytes                    a size such as "1500B"
//   SIZE_OR_ALL    int64 NAME_bytes or kUnlimited       a size; left out: as much as possible
//   SEGMENTS       uint32 NAME                          an amount such as "10p" or "64KiB"
//   SSTHRESH       uint32 NAME or WW_SSTHRESH_INFINITE  an amount, or "unlimited"
//   CHOICE         uint8 NAME                           a word of the list WW_CHOICES_NAME
//
// Default and bounds are in the field's unit.
#pragma once

#include <cstdint>

#include "../core/contract.h"

namespace ww::sim {

using Time = std::int64_t;  // ps since the start; 2^63 ps are 106 days
inline constexpr Time kMicrosecond = 1'000'000;
inline constexpr Time kSecond = 1'000'000 * kMicrosecond;
inline constexpr Time kHour = 3'600 * kSecond;
inline constexpr Time kLongest = 26 * 24 * kHour;  // of a run; delays and timers on top still fit
inline constexpr Time kNever = INT64_MAX - 1;      // kNever + 1 still fits
inline constexpr std::int64_t kUnlimited = INT64_MAX;
inline constexpr std::int64_t kFastest = 1'000'000'000'000;  // 1 Tb/s: 1 byte in 8 ps
inline constexpr std::int64_t kLargestSize = INT64_C(1) << 50;
inline constexpr std::int64_t kLargestFrame = 1 << 30;
inline constexpr std::uint32_t kMostNodes = 1u << 20;
inline constexpr std::uint32_t kStampedHeader = 52;  // IPv4, TCP and timestamps (RFC 7323), bytes

}  // namespace ww::sim

// Settings of a flow: a TCP connection, many of them, or a source of datagrams.
#define WW_FLOW_SETTINGS(X)                                                                        \
    X(TIME, start, 0, 0, kLongest, "When it starts", "The run's start.")                           \
    X(TIME, start_spread, 0, 0, kHour, "Random extra delay of the start, uniform up to this",      \
      "Flows start exactly at their time.")                                                        \
    X(TIME_OR_NEVER, stop, kNever, 0, kLongest,                                                    \
      "Time after which it sends no new data and opens no connection",                             \
      "It sends until the end of the run.")                                                        \
    X(SIZE_OR_ALL, size, kUnlimited, 1, kLargestSize, "Payload to deliver",                        \
      "A bulk flow sends as much as it can.")                                                      \
    X(SWITCH, ecn, false, 0, 1, "ECN-capable transport (RFC 3168)",                                \
      "A scenario asks for ECN by name.")                                                          \
    X(SWITCH, ect1, false, 0, 1,                                                                   \
      "Packets of an ECN-capable flow carry ECT(1), which names L4S traffic (RFC 9331)",           \
      "RFC 9331, section 4.3, asks for a scalable congestion control, which no control here is.")  \
    X(BYTES, packet, 1500, 21, 65535, "Size of the IP packet of a full segment, with headers",     \
      "IP packet of an Ethernet path (RFC 894).")                                                  \
    X(BYTES, header, 40, 20, 255, "IP and TCP headers of every packet",                            \
      "IPv4 (RFC 791) and TCP (RFC 9293) headers without options.")                                \
    X(SEGMENTS, initial_cwnd, 10, 1, WW_CWND_MAX, "Initial congestion window",                     \
      "RFC 6928, section 2.")                                                                      \
    X(COUNT, forgiven_syns, 0, 0, 1000,                                                            \
      "Number of repeated SYNs that still allow initial_cwnd; after more, it is one segment",      \
      "RFC 5681, section 3.1, forgives none. RFC 6928, section 2, would forgive one.")             \
    X(SSTHRESH, initial_ssthresh, WW_SSTHRESH_INFINITE, 2, WW_SSTHRESH_INFINITE,                   \
      "Window at which the first slow start ends",                                                 \
      "RFC 5681, section 3.1: arbitrarily high, so that the path ends slow start and not a "       \
      "constant.")                                                                                 \
    X(SWITCH, idle_restart, true, 0, 1,                                                            \
      "After an idle time of more than the RTO, cwnd is at most initial_cwnd",                     \
      "RFC 5681, section 4.1. BBRv1 and Westwood-CUBIC keep their windows.")                       \
    X(SWITCH, idle_decay, false, 0, 1,                                                             \
      "idle_restart halves cwnd once per RTO of the idle time instead, and ssthresh keeps three "  \
      "quarters of it",                                                                            \
      "RFC 5681, section 4.1: cwnd restarts at once. Only Linux and RFC 2861 halve it.")           \
    X(SWITCH, rate_limited_increase, false, 0, 1,                                                  \
      "A window that is not full grows up to what the largest flight since the last reduction "    \
      "would make of it, instead of not at all",                                                   \
      "draft-ietf-ccwg-ratelimited-increase-10 is no RFC yet; validate_cwnd is stricter.")         \
    X(BYTES, receive_window, 1u << 20, 1, 1u << 30, "Receive buffer",                              \
      "Enough up to 80 Mb/s over 100 ms. If a scenario sets none, it is twice what the path and "  \
      "its queues hold, if that is more: hosts adjust their buffers (RFC 7323, 1.1).")             \
    X(BYTES, initial_receive_window, 0, 0, 1u << 30,                                               \
      "Initial receive window, which grows by two segments per segment received; 0: the whole "    \
      "buffer",                                                                                    \
      "Receivers advertise the whole buffer.")                                                     \
    X(TIME, min_rto, kSecond, kMicrosecond, kHour, "Minimum retransmission timeout",               \
      "RFC 6298, (2.4).")                                                                          \
    X(TIME, max_rto, 60 * kSecond, kMicrosecond, kHour, "Maximum retransmission timeout",          \
      "RFC 6298, (2.5): an upper bound must be at least 60 s.")                                    \
    X(TIME, initial_rto, kSecond, kMicrosecond, kHour,                                             \
      "Retransmission timeout before the first round trip is measured", "RFC 6298, (2.1).")        \
    X(TIME, clock_granularity, kSecond / 1000, kMicrosecond, kHour,                                \
      "Clock granularity, G of RFC 6298",                                                          \
      "RFC 6298, section 4: 100 ms or finer; today's hosts have 1 ms.")                            \
    X(SWITCH, syn_ack_timer, false, 0, 1,                                                          \
      "The receiver also repeats its SYN-ACK by a timer (RFC 6298)",                               \
      "Basic TCP: a repeated SYN brings the SYN-ACK again.")                                       \
    X(COUNT, delayed_ack, 2, 1, 1000, "Full segments per ACK",                                     \
      "RFC 5681, section 4.2: at least every second full segment.")                                \
    X(TIME, delayed_ack_timeout, kSecond / 5, kMicrosecond, kHour, "Longest delay of an ACK",      \
      "RFC 5681, section 4.2, requires less than 500 ms; hosts use 200 ms.")                       \
    X(TIME, min_delayed_ack_timeout, 0, 0, kHour,                                                  \
      "Minimum of a delay that adapts to the spacing of segments; 0: the delay is fixed",          \
      "RFC 5681 has one fixed delay.")                                                             \
    X(COUNT, quick_acks, 0, 0, 1000, "Number of ACKs at the start that are not delayed",           \
      "RFC 5681, section 4.2, makes no exception for the start.")                                  \
    X(SWITCH, quick_acks_again, false, 0, 1,                                                       \
      "Quick ACKs also follow duplicate data and pauses longer than the receiver's RTO",           \
      "Only Linux does this.")                                                                     \
    X(COUNT, compressed_acks, 0, 0, 255,                                                           \
      "With SACK, most segments beyond a gap that one ACK answers, within a twentieth of the "     \
      "round trip and 1 ms, from the fourth on; 0: each has an ACK",                               \
      "RFC 5681, section 4.2: an ACK at once for each segment beyond a gap.")                      \
    X(COUNT, ack_division, 1, 1, 100,                                                              \
      "ACKs per segment, each of an equal part of its bytes: a receiver that misbehaves",          \
      "RFC 5681, section 4.2: an ACK is of whole segments.")                                       \
    X(COUNT, optimistic_acks, 0, 0, 1000,                                                          \
      "Most segments that an ACK covers before they arrive; any number conceals losses: a "        \
      "receiver that misbehaves",                                                                  \
      "RFC 9293, section 3.4: an ACK covers what has arrived.")                                    \
    X(COUNT, dupack_threshold, 3, 1, 1000, "Duplicate ACKs that indicate a loss",                  \
      "RFC 5681, section 3.2.")                                                                    \
    X(SWITCH, limited_transmit, true, 0, 1,                                                        \
      "The first duplicate ACKs allow new segments (RFC 3042)",                                    \
      "RFC 3042, recommended by RFC 5681, section 3.2.")                                           \
    X(SWITCH, handshake_rtt, true, 0, 1, "The handshake gives the timer's first RTT sample",       \
      "RFC 6298, section 2: the first RTT measurement comes from the handshake.")                  \
    X(SWITCH, flight_excludes_sacked, false, 0, 1,                                                 \
      "ssthresh after a loss is computed from the pipe, without SACKed or lost segments",          \
      "RFC 5681, equation 4: FlightSize counts all data sent and not cumulatively acknowledged.")  \
    X(SWITCH, ssthresh_from_cwnd, false, 0, 1, "ssthresh after a loss is computed from cwnd",      \
      "The rule of Linux and of ns-3's CUBIC.")                                                    \
    X(SWITCH, pipe_keeps_repaired, false, 0, 1,                                                    \
      "A SACKed retransmission stays in the pipe until the holes below it are repaired",           \
      "RFC 6675, section 4, SetPipe: SACKed segments are not in the pipe.")                        \
    X(SWITCH, recovery_holds_ssthresh, false, 0, 1,                                                \
      "A timeout or lost retransmission in fast recovery keeps the ssthresh set when it began",    \
      "RFC 5681, section 3.1: a timeout sets it, unless the segment timed out before. Section "    \
      "4.3: the loss of a retransmission lowers it again.")                                        \
    X(SWITCH, recovery_restarts_rto, false, 0, 1,                                                  \
      "Entering fast recovery restarts the retransmission timer",                                  \
      "RFC 6298, (5.1) to (5.3): the timer starts with data and with ACKs for new data.")          \
    X(SWITCH, guards_recovery, false, 0, 1,                                                        \
      "With any recovery, duplicate ACKs for data sent before the last reduction are ignored",     \
      "RFC 6582, section 3.2, step 2, applies to NewReno and timeouts, bugFix_ of ns-2 to all.")   \
    X(SWITCH, repeated_timeouts_reduce, false, 0, 1,                                               \
      "A segment that times out again reduces ssthresh again",                                     \
      "RFC 5681, section 3.1: ssthresh is held constant.")                                         \
    X(SWITCH, grows_at_exit, false, 0, 1,                                                          \
      "Without SACK, cwnd also grows on the ACK that ends fast recovery",                          \
      "RFC 5681, section 3.2, step 6: it deflates the window. Only ns-2 calls opencwnd() there.")  \
    X(SWITCH, full_ack_to_ssthresh, false, 0, 1,                                                   \
      "NewReno leaves recovery with cwnd = ssthresh, however little is in flight",                 \
      "RFC 6582, section 3.2, step 3, option 1: no burst.")                                        \
    X(SWITCH, partial_acks_restart_rto, false, 0, 1,                                               \
      "NewReno restarts the retransmission timer on each partial ACK (slow but steady)",           \
      "RFC 6582, section 3.2, step 3: only on the first one.")                                     \
    X(SWITCH, partial_acks_end_inflation, false, 0, 1,                                             \
      "A partial ACK removes all of NewReno's window inflation by duplicate ACKs",                 \
      "RFC 6582, section 3.2, step 3: it removes what it acknowledges, less one segment.")         \
    X(SWITCH, guarded_duplicates_inflate, false, 0, 1,                                             \
      "Duplicate ACKs that NewReno ignores still inflate the window",                              \
      "RFC 6582, section 3.2: only those in fast recovery do.")                                    \
    X(SWITCH, stands_after_timeout, false, 0, 1,                                                   \
      "cwnd does not grow on the ACK for the last data sent before a timeout",                     \
      "RFC 5681, section 3.1: slow start grows on each ACK for new data.")                         \
    X(SWITCH, any_ack_ends_backoff, false, 0, 1,                                                   \
      "Any ACK for new data ends the timer's backoff, even without an RTT sample",                 \
      "RFC 6298, section 5: only a sample ends it, because a late ACK would cause the next "       \
      "timeout (Karn and Partridge 1987).")                                                        \
    X(SWITCH, timestamps, false, 0, 1,                                                             \
      "Timestamps show which transmission an ACK answers (RFC 7323); 12 bytes of header",          \
      "The option is the hosts' choice.")                                                          \
    X(SWITCH, timed_syn, false, 0, 1,                                                              \
      "With timestamps, a repeated SYN also gives the timer its first sample",                     \
      "RFC 6298, (5.7): a timeout of 3 s after a lost SYN in any case.")                           \
    X(SWITCH, rack, false, 0, 1,                                                                   \
      "Losses are detected by time instead of by count, and lost tails by a probe (RACK-TLP, RFC " \
      "8985)",                                                                                     \
      "Basic TCP: RFC 6675 counts duplicates.")                                                    \
    X(TIME, rack_slack, 0, 0, kHour, "Time added to RACK-TLP's timers",                            \
      "RFC 8985 has only the waits of sections 6.2 and 7.2.")                                      \
    X(SWITCH, rearms_rto, false, 0, 1,                                                             \
      "A retransmission of SND.UNA restarts the retransmission timer",                             \
      "RFC 6298, (5.1) to (5.3): only data and ACKs restart it. RFC 6675, section 6, allows it.")  \
    X(SWITCH, frto, false, 0, 1,                                                                   \
      "A timeout sends new data to learn whether it was spurious (F-RTO, RFC 5682)",               \
      "TCP before RFC 5682.")                                                                      \
    X(SWITCH, tso, false, 0, 1,                                                                    \
      "A sender forms bursts of a millisecond of its rate, at least two segments, whose end is "   \
      "acknowledged at once; a paced one makes up for half of a delay",                            \
      "RFC 9002, section 7.7, paces packets; only a sender with segmentation offload needs "       \
      "bursts.")                                                                                   \
    X(SWITCH, undo, false, 0, 1,                                                                   \
      "A reduction is undone when D-SACKs, timestamps or F-RTO show that it was spurious (RFC "    \
      "3708, 3522, 4015)",                                                                         \
      "TCP before RFC 4015.")

// Settings of each direction of a link.
#define WW_DIRECTION_SETTINGS(X)                                                                  \
    X(RATE, rate, 1'000'000, 1'000, kFastest, "Transmission rate", "")                            \
    X(TIME, delay, 0, 0, kHour, "One-way propagation delay", "")                                  \
    X(TIME, jitter, 0, 0, kHour,                                                                  \
      "Random extra delay per packet, uniform up to this; packets stay in order",                 \
      "A wire without jitter.")                                                                   \
    X(SHARE, reorder_rate, 0, 0, 1, "Probability that a packet is held back", "")                 \
    X(TIME, reorder_delay, 0, 0, kLongest, "How long a packet is held back while others pass it", \
      "")

// Settings that both directions of a link share.
#define WW_LINK_SETTINGS(X)                                                       \
    X(BYTES, overhead, 0, 0, 1000, "Framing added to each IP packet on the wire", \
      "Link framing differs from link to link; a scenario adds its own.")

// Settings that need a recovery with selective acknowledgments.
#define WW_FLOW_SETTINGS_OF_SACK(X) X(rack) X(frto) X(undo) X(timestamps)

// Pairs of a flow's settings; the first of a pair must not exceed the second.
#define WW_FLOW_SETTINGS_IN_ORDER(X) \
    X(min_rto, max_rto) X(min_delayed_ack_timeout, delayed_ack_timeout)

#define WW_ENGINE_TYPE_SWITCH bool
#define WW_ENGINE_TYPE_COUNT std::uint32_t
#define WW_ENGINE_TYPE_SHARE double
#define WW_ENGINE_TYPE_PACKETS double
#define WW_ENGINE_TYPE_RATE std::int64_t
#define WW_ENGINE_TYPE_TIME Time
#define WW_ENGINE_TYPE_TIME_OR_NEVER Time
#define WW_ENGINE_TYPE_BYTES std::uint32_t
#define WW_ENGINE_TYPE_SIZE_OR_ALL std::int64_t
#define WW_ENGINE_TYPE_SEGMENTS std::uint32_t
#define WW_ENGINE_TYPE_SSTHRESH std::uint32_t
#define WW_ENGINE_TYPE_CHOICE std::uint8_t

// The field that a row declares: WW_ENGINE_FIELD(BYTES, packet) is packet_bytes.
#define WW_ENGINE_FIELD(kind, name) WW_ENGINE_FIELD_##kind(name)
#define WW_ENGINE_FIELD_SWITCH(name) name
#define WW_ENGINE_FIELD_COUNT(name) name
#define WW_ENGINE_FIELD_SHARE(name) name
#define WW_ENGINE_FIELD_PACKETS(name) name##_packets
#define WW_ENGINE_FIELD_RATE(name) name##_bps
#define WW_ENGINE_FIELD_TIME(name) name
#define WW_ENGINE_FIELD_TIME_OR_NEVER(name) name
#define WW_ENGINE_FIELD_BYTES(name) name##_bytes
#define WW_ENGINE_FIELD_SIZE_OR_ALL(name) name##_bytes
#define WW_ENGINE_FIELD_SEGMENTS(name) name
#define WW_ENGINE_FIELD_SSTHRESH(name) name
#define WW_ENGINE_FIELD_CHOICE(name) name

// Makes a row a member of a struct, with its default.
#define WW_SETTING_MEMBER(kind, name, fallback, least, most, what, why) \
    WW_ENGINE_TYPE_##kind WW_ENGINE_FIELD(kind, name) = fallback;
