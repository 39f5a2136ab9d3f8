// SPDX-License-Identifier: BSD-3-Clause
//
// Flow Queue CoDel (FQ-CoDel, RFC 8290): CoDel (codel.hpp) for each flow, with the round robin of flow_queues.hpp.
// The other clauses:
//
//   4.1  above the limit, half of the queue with the most bytes, at most 64 packets, is dropped from its head
//   5.2  QUANTUM is 1514 bytes, for 1024 queues
//
// Deviations, the first as in Linux and ns-3:
//
//   4.1    half of the packets are dropped; here they are half of the bytes
//   5.2.6  ECN is on by default; here a scenario asks for it
#pragma once

#include "codel.hpp"
#include "flow_queues.hpp"

#define WW_FQ_CODEL_SETTINGS(X)                                                            \
    WW_CODEL_SETTINGS(X)                                                                   \
    X(BYTES, quantum, 1514, 1, 65535, "Bytes that a flow sends in a round",                \
      "RFC 8290, section 5.2.4: an Ethernet packet with its header.")                      \
    X(COUNT, flows, 1024, 1, 65536, "Number of queues; flows with one hash share a queue", \
      "RFC 8290, section 5.2.5.")                                                          \
    X(COUNT, drop_batch, 64, 1, 65536, "Most packets that a full queue drops at once",     \
      "RFC 8290, section 4.1.")
#define WW_FQ_CODEL_RISING(X)
#define WW_FQ_CODEL_POSITIVE(X)
#define WW_FQ_CODEL_COLUMNS(X) \
    X(new_queues, "", "queues served first") X(old_queues, "", "other queues that are served")
#define WW_FQ_CODEL_KERNEL(X)                        \
    X(TIME, target, TCA_FQ_CODEL_TARGET)             \
    X(TIME, interval, TCA_FQ_CODEL_INTERVAL)         \
    X(SWITCH, ecn, TCA_FQ_CODEL_ECN)                 \
    X(TIME, ce_threshold, TCA_FQ_CODEL_CE_THRESHOLD) \
    X(BYTES, quantum, TCA_FQ_CODEL_QUANTUM)          \
    X(COUNT, flows, TCA_FQ_CODEL_FLOWS)              \
    X(COUNT, drop_batch, TCA_FQ_CODEL_DROP_BATCH_SIZE)

namespace ww::sim {

struct FqCoDel {
    WW_FQ_CODEL_SETTINGS(WW_SETTING_MEMBER)
};

class FqCoDelQueue : public FlowQueues<CoDelQueue, FqCoDelQueue> {
  public:
    static constexpr bool kSheds = true;

    FqCoDelQueue(const FqCoDel& settings, const Place& place)
        : FlowQueues(settings.flows, settings.quantum_bytes, place.random,
                     [&](const Random&) {
                         return CoDelQueue(
                             {settings.target, settings.interval, settings.max_packet_bytes,
                              settings.ecn, settings.ce_threshold},
                             place);
                     }),
          drop_batch_(settings.drop_batch) {}

    std::uint32_t drop_batch() const { return drop_batch_; }

  private:
    std::uint32_t drop_batch_;
};

}  // namespace ww::sim
