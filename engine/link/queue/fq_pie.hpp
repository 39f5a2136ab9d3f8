// SPDX-License-Identifier: BSD-3-Clause
//
// Flow Queue PIE (FQ-PIE): PIE (pie.hpp, RFC 8033) for each flow, with the round robin of flow_queues.hpp, as in
// Linux's sch_fq_pie.c and ns-3's FqPieQueueDisc. There is no RFC. PIE decides when a packet arrives, by the delay
// and the bytes of the flow's queue. Above the limit the arriving packet is dropped, whatever its flow.
//
// In Linux PIE spaces its drops and is steep, so both are on here.
//
// Deviations from sch_fq_pie.c: max_burst counts down by the updates, as in the RFC, not between departures; a flow's
// updates begin with its first packet. ECN needs a drop probability below max_mark, in Linux at most that. The limit
// of memory (32 MB) is left out.
#pragma once

#include "flow_queues.hpp"
#include "pie.hpp"

#define WW_FQ_PIE_SETTINGS(X)                                                                   \
    WW_PIE_RULES(X, true, "sch_fq_pie.c.")                                                      \
    X(BYTES, quantum, 1500, 256, 65535, "Bytes that a flow sends in a round",                   \
      "sch_fq_pie.c: the device's MTU and link header; an IP packet of an Ethernet path here.") \
    X(COUNT, flows, 1024, 1, 65536, "Number of queues; flows with one hash share a queue",      \
      "sch_fq_pie.c.")
#define WW_FQ_PIE_RISING(X)
#define WW_FQ_PIE_POSITIVE(X)
#define WW_FQ_PIE_COLUMNS(X) WW_FQ_CODEL_COLUMNS(X)
#define WW_FQ_PIE_KERNEL(X)               \
    X(TIME, target, TCA_FQ_PIE_TARGET)    \
    X(TIME, update, TCA_FQ_PIE_TUPDATE)   \
    X(SWITCH, ecn, TCA_FQ_PIE_ECN)        \
    X(BYTES, quantum, TCA_FQ_PIE_QUANTUM) \
    X(COUNT, flows, TCA_FQ_PIE_FLOWS)

namespace ww::sim {

struct FqPie {
    WW_FQ_PIE_SETTINGS(WW_SETTING_MEMBER)
};

class FqPieQueue : public FlowQueues<PieQueue, FqPieQueue> {
  public:
    FqPieQueue(const FqPie& settings, const Place& place)
        : FlowQueues(
              settings.flows, settings.quantum_bytes, place.random, [&](const Random& random) {
                  return PieQueue({settings.target, settings.update, settings.max_burst,
                                   settings.max_packet_bytes, settings.capped, settings.spaced,
                                   settings.steep, settings.ecn, settings.max_mark},
                                  {place.duration, random});
              }) {}

    Verdict enqueue(Time now, const Backlog& backlog, bool is_ecn_capable) {
        return queues_[backlog.line].aqm.enqueue(now, backlog, is_ecn_capable);
    }
};

}  // namespace ww::sim
