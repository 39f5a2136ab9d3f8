// SPDX-License-Identifier: BSD-3-Clause
//
// The columns of a row, which is what a run gives for a flow: measured ones (engine/columns.hpp), and those that are
// computed from them. Each computed column is declared once. A declaration generates the row's field and value, rows
// and tables in westwood/ and in the laboratory, and the description in docs/.
//
//   X(type, name, "unit", "title", "head", scale, digits, shown, "what it is", value)
//
//   type    COUNT or NUMBER, as in engine/columns.hpp
//   title   the label on a figure's axis
//   head    the label in the table that a run prints; empty: not in the table
//   scale   from the column's unit to the table's
//   digits  after the decimal point in the table
//   shown   ALWAYS, or when and how the table shows it:
//           IF_SEVERAL flows run, IF_KNOWN of a flow, WITH_INTERVAL if it is a mean
//   value   an expression of `flow` (FlowOfRun in rows.cpp), or of the parameters of set_run_columns() there
#pragma once

#include "../engine/columns.hpp"

#define WW_COLUMN_ALWAYS 0u
#define WW_COLUMN_IF_SEVERAL 1u
#define WW_COLUMN_IF_KNOWN 2u
#define WW_COLUMN_WITH_INTERVAL 4u

#define WW_RATE_COLUMNS(X)                                                                        \
    X(NUMBER, goodput_bps, "bit/s", "Goodput", "goodput\nMb/s", 1e-6, 3, WW_COLUMN_WITH_INTERVAL, \
      "payload delivered in order, over the time the flow was active: from its start until it "   \
      "is complete, or until `stop`, or to the run's end, and until its last packet arrives",     \
      flow.bit_rate(flow.connections.delivered_bytes))                                            \
    X(NUMBER, throughput_bps, "bit/s", "Throughput", "throughput\nMb/s", 1e-6, 3,                 \
      WW_COLUMN_WITH_INTERVAL,                                                                    \
      "IP packets of the flow's data that reached the sink, over the same time",                  \
      flow.bit_rate(flow.connections.ip_bytes_at_sink))

#define WW_COMPUTED_COLUMNS(X)                                                                 \
    X(NUMBER, retransmission_ratio, "", "Retransmitted over sent", "resent\n%", 100, 2,        \
      WW_COLUMN_ALWAYS, "retransmitted over sent",                                             \
      ratio(flow.sum(flow.connections.retransmitted),                                          \
            flow.is_tcp ? flow.sum(flow.connections.sent) : 0))                                \
    X(NUMBER, loss_ratio, "", "Dropped and lost over sent", "", 1, 1, WW_COLUMN_ALWAYS,        \
      "queue_drops and lost, over sent",                                                       \
      ratio(flow.sum(flow.connections.queue_drops) + flow.sum(flow.connections.lost),          \
            flow.sum(flow.connections.sent)))                                                  \
    X(NUMBER, receiver_limited, "", "Limited by the receiver", "receiver\nlimited %", 100, 0,  \
      WW_COLUMN_IF_KNOWN,                                                                      \
      "share of the run in which its receive window held back data, if that is over a tenth; " \
      "raise its receive_window",                                                              \
      flow.limited(flow.connections.receiver_limited_s))                                       \
    X(NUMBER, application_limited, "", "Limited by the application", "app\nlimited %", 100, 0, \
      WW_COLUMN_IF_KNOWN,                                                                      \
      "share of the run in which its application had not written data that the windows "       \
      "allowed, if that is over a tenth",                                                      \
      flow.limited(flow.connections.application_limited_s))                                    \
    X(COUNT, transfers, "", "Transfers", "", 1, 1, WW_COLUMN_ALWAYS,                           \
      "connections of the flow, more than one with `arrivals`; of an `app` with requests its " \
      "responses or chunks, which the next columns count, too",                                \
      flow.transfers)                                                                          \
    X(COUNT, completed, "", "Completed transfers", "", 1, 1, WW_COLUMN_ALWAYS,                 \
      "connections whose data were all acknowledged", flow.completions_s.size())               \
    X(NUMBER, completion_s, "s", "Completion time", "completion\ns", 1, 3,                     \
      WW_COLUMN_WITH_INTERVAL | WW_COLUMN_IF_KNOWN,                                            \
      "mean time from a connection's start until all its data are acknowledged, if they are",  \
      mean(flow.completions_s))                                                                \
    X(NUMBER, completion_p50_s, "s", "Median completion time", "", 1, 1, WW_COLUMN_ALWAYS,     \
      "median of those times; for a flow with one connection, its time",                       \
      percentile(flow.completions_s, 0.5))                                                     \
    X(NUMBER, completion_p95_s, "s", "Completion time, 95th percentile", "", 1, 1,             \
      WW_COLUMN_ALWAYS, "their 95th percentile", percentile(flow.completions_s, 0.95))         \
    X(NUMBER, completion_max_s, "s", "Longest completion time", "", 1, 1, WW_COLUMN_ALWAYS,    \
      "the longest of those times", percentile(flow.completions_s, 1))

#define WW_RUN_COLUMNS(X)                                                                          \
    X(NUMBER, fair_share_bps, "bit/s", "Max-min fair share", "", 1e-6, 3, WW_COLUMN_ALWAYS,        \
      "goodput at its max-min fair share of the links, over the same time", fair_share_bps)        \
    X(NUMBER, friendliness, "", "Goodput over fair share", "share\nof fair", 1, 2,                 \
      WW_COLUMN_WITH_INTERVAL | WW_COLUMN_IF_SEVERAL,                                              \
      "goodput_bps over fair_share_bps, of a TCP flow",                                            \
      ratio(row.goodput_bps, is_tcp ? fair_share_bps : 0))                                         \
    X(NUMBER, jain, "", "Jain's index", "fairness", 1, 3, WW_COLUMN_IF_SEVERAL,                    \
      "fairness of the run's TCP flows, 1 when all have the same goodput", run.jain)               \
    X(NUMBER, utilisation, "", "Utilisation", "", 1, 1, WW_COLUMN_ALWAYS,                          \
      "of the busiest direction of a link, from the run's start to its end: 0 to 1",               \
      run.busiest.utilisation)                                                                     \
    X(NUMBER, mean_queue, "packets", "Mean queue", "", 1, 1, WW_COLUMN_ALWAYS,                     \
      "mean number of packets waiting for the busiest direction of a link, over the run",          \
      run.busiest.waited_s / run.simulated_s)                                                      \
    X(NUMBER, simulated_s, "s", "Simulated time", "", 1, 1, WW_COLUMN_ALWAYS, "length of the run", \
      run.simulated_s)
