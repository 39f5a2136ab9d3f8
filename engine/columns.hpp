// SPDX-License-Identifier: BSD-3-Clause
//
// What an engine measures of a connection and of a direction of a link; each column is declared once. A row
// generates the result's field, the binding, the words of a result (wire/), the columns of the rows and
// tables in westwood/ and their description in docs/. Columns computed from these are declared in
// metrics/columns.hpp.
//
//   X(type, name, aggregate, "unit", "title", "head", "what it is")
//
//   type       COUNT: uint64, from 0. NUMBER: double; NaN where there is none
//   aggregate  how a row combines several connections of a flow: SUM, MEAN (without NaNs), LEAST or MOST;
//              INNER: rows do not have this column
//   title      the label on a figure's axis
//   head       the label in the table that a run prints; empty: not in the table
#pragma once

#include <cstdint>
#include <limits>

#define WW_FLOW_COLUMNS(X)                                                                        \
    X(COUNT, delivered_bytes, INNER, "B", "Delivered", "",                                        \
      "payload handed to the application in order")                                               \
    X(COUNT, ip_bytes_at_sink, INNER, "B", "Received", "",                                        \
      "IP bytes of data that reached the sink")                                                   \
    X(COUNT, sent, SUM, "segments", "Sent", "", "data segments sent, retransmissions included")   \
    X(COUNT, retransmitted, SUM, "segments", "Retransmitted", "", "data segments sent again")     \
    X(COUNT, timeouts, SUM, "", "Timeouts", "timeouts", "retransmission timeouts")                \
    X(COUNT, fast_recoveries, SUM, "", "Fast recoveries", "fast\nrecoveries",                     \
      "fast recoveries entered, again if a retransmission is lost; for tahoe, fast retransmits")  \
    X(COUNT, ecn_reductions, SUM, "", "ECN reductions", "", "windows reduced for an ECN mark")    \
    X(COUNT, queue_drops, SUM, "packets", "Queue drops", "",                                      \
      "its data packets that a queue dropped")                                                    \
    X(COUNT, lost, SUM, "packets", "Lost", "", "its data packets lost on a wire")                 \
    X(COUNT, in_flight, SUM, "packets", "In flight at the end", "",                               \
      "its data packets in flight when the run ended")                                            \
    X(NUMBER, mean_cwnd, MEAN, "segments", "Mean cwnd", "cwnd\nsegments",                         \
      "cwnd, averaged over the time since the connection was established")                        \
    X(NUMBER, max_cwnd, MOST, "segments", "Largest cwnd", "",                                     \
      "largest cwnd since the connection was established")                                        \
    X(NUMBER, receiver_limited_s, INNER, "s", "Limited by the receiver", "",                      \
      "how long its receive window, and no smaller cwnd, held back data")                         \
    X(NUMBER, application_limited_s, INNER, "s", "Limited by the application", "",                \
      "how long cwnd and the receive window allowed data that its application had not written")   \
    X(NUMBER, mean_srtt_s, MEAN, "s", "Mean smoothed RTT", "srtt\nms",                            \
      "smoothed round-trip time, averaged over the RTT samples")                                  \
    X(NUMBER, min_rtt_s, LEAST, "s", "Minimum RTT", "",                                           \
      "smallest RTT sample, including the handshake's if it is measured")                         \
    X(NUMBER, start_s, INNER, "s", "Start", "", "scheduled start")                                \
    X(NUMBER, established_s, INNER, "s", "Established", "", "when the handshake was complete")    \
    X(NUMBER, completed_s, MOST, "s", "Completed", "", "when all its data had been acknowledged") \
    X(NUMBER, last_arrival_s, INNER, "s", "Last arrival", "",                                     \
      "when the last of its data packets reached the sink")

// One row per response, chunk or frame that an application sends.
#define WW_MESSAGE_COLUMNS(X)                                                             \
    X(COUNT, connection, INNER, "", "Connection", "", "number of the connection")         \
    X(COUNT, number, INNER, "", "Number", "", "its place among the connection's, from 1") \
    X(COUNT, bytes, INNER, "B", "Size", "", "its payload")                                \
    X(NUMBER, start_s, INNER, "s", "Start", "",                                           \
      "when the sender received the request; of a frame, when it was due")                \
    X(NUMBER, completed_s, INNER, "s", "Completed", "",                                   \
      "when all of it had been acknowledged; of a frame, when all of it had arrived")

#define WW_DIRECTION_COLUMNS(X)                                                                    \
    X(COUNT, packets, SUM, "packets", "Packets", "", "packets that the queue accepted by the end") \
    X(COUNT, bytes, SUM, "B", "Bytes", "", "bytes of those packets, with the link's overhead")     \
    X(COUNT, queue_drops, SUM, "packets", "Queue drops", "", "packets that the queue dropped")     \
    X(COUNT, early_drops, SUM, "packets", "Early drops", "",                                       \
      "packets that a queue discipline or a policer dropped, included in queue_drops")             \
    X(COUNT, marked, SUM, "packets", "Marked", "", "packets that a queue marked")                  \
    X(COUNT, lost, SUM, "packets", "Lost", "", "packets lost on the wire by the end")              \
    X(COUNT, in_flight, SUM, "packets", "In flight at the end", "",                                \
      "accepted packets that were waiting, being sent or travelling when the run ended")           \
    X(NUMBER, utilisation, MOST, "", "Utilisation", "",                                            \
      "fraction of the time in use (with recorded rates: of the bytes)")                           \
    X(NUMBER, longest_wait_s, MOST, "s", "Longest wait", "",                                       \
      "longest time in the queue within the run")                                                  \
    X(NUMBER, waited_s, INNER, "s", "Waited", "",                                                  \
      "sum of the times in the queue within the run; over the duration it is the mean queue in "   \
      "packets")

// The tables of a trace show what happened over time. Each column is declared once.
//
//   X(type, name, "what it is")
//
//   type       SECONDS, NUMBER: double; NaN where there is none. CODE: uint8. SIZE: uint32
#define WW_WINDOW_COLUMNS(X)                                                                  \
    X(SECONDS, time_s, "when something of this row changed")                                  \
    X(NUMBER, cwnd, "segments, with the inflation of fast recovery")                          \
    X(NUMBER, ssthresh, "segments; NaN: unlimited")                                           \
    X(NUMBER, estimate_bps, "filtered; NaN before the first sample and without an estimator") \
    X(NUMBER, sample_bps, "the last raw sample")                                              \
    X(NUMBER, rtt_s, "last RTT sample; NaN before the first")                                 \
    X(NUMBER, srtt_s, "smoothed; NaN before the first")                                       \
    X(NUMBER, rto_s, "current retransmission timeout")                                        \
    X(NUMBER, in_flight, "segments")                                                          \
    X(CODE, phase, "enum ww_phase")

// The further columns of a trace in which some control shows its mode or quantities (ww_show).
#define WW_SHOWN_COLUMNS(X)                                                        \
    X(NUMBER, pacing_bps, "of payload; NaN: not paced")                            \
    X(CODE, mode, "number in the control's list of modes, from 1; 0: it has none") \
    X(NUMBER, quantity_1, "in the order of the control's list; NaN: none")         \
    X(NUMBER, quantity_2, "")                                                      \
    X(NUMBER, quantity_3, "")                                                      \
    X(NUMBER, quantity_4, "")

// One row per packet that waited in a queue.
#define WW_QUEUE_COLUMNS(X)                                                                \
    X(SECONDS, arrival_s, "arrival at the queue")                                          \
    X(SECONDS, start_s, "start of its transmission; NaN: still waiting when the run ends") \
    X(SIZE, bytes, "its size, with the link's overhead")

// One row whenever a column of a queue discipline has changed. The discipline's file declares them: link/queue/kinds.hpp.
#define WW_STATE_COLUMNS(X)                                               \
    X(SECONDS, time_s, "when the packet arrived or left that changed it") \
    X(CODE, column, "its place among the columns of the discipline")      \
    X(NUMBER, value, "from then on")

// One row per packet that was dropped, lost or marked.
#define WW_DROP_COLUMNS(X)                                                                    \
    X(SECONDS, time_s,                                                                        \
      "arrival at the queue; for a loss on the wire, when it would have reached the far end") \
    X(SIZE, channel, "2 i: link i forward, 2 i + 1: backward")                                \
    X(SIZE, flow, "number of the connection")                                                 \
    X(CODE, kind, "enum class DropKind")                                                      \
    X(CODE, packet, "enum class PacketKind")

#define WW_TRACE_TYPE_SECONDS double
#define WW_TRACE_TYPE_NUMBER double
#define WW_TRACE_TYPE_CODE std::uint8_t
#define WW_TRACE_TYPE_SIZE std::uint32_t

#define WW_COLUMN_TYPE_COUNT std::uint64_t
#define WW_COLUMN_TYPE_NUMBER double
#define WW_COLUMN_START_COUNT 0
#define WW_COLUMN_START_NUMBER std::numeric_limits<double>::quiet_NaN()

// Declares a row as a struct member. What a host does not measure stays NaN for a NUMBER but 0 for
// a COUNT, which looks measured. So a column that some host cannot measure must be a NUMBER.
#define WW_COLUMN_MEMBER(type, name, ...) WW_COLUMN_TYPE_##type name = WW_COLUMN_START_##type;
#define WW_TRACE_MEMBER(type, name, what) std::vector<WW_TRACE_TYPE_##type> name;
