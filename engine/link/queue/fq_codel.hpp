// SPDX-License-Identifier: BSD-3-Clause
//
// Flow Queue CoDel (FQ-CoDel, RFC 8290): a queue with CoDel for each flow, and a round robin over them that
// prefers flows without a standing queue. The clauses:
//
//   4.1  a packet joins the queue that its flow's hash names. An empty queue that is in neither list goes to
//        the end of the new ones, with QUANTUM bytes of credit. Above the limit, half of the queue with the
//        most bytes, at most 64 packets, is dropped from its head
//   4.2  the first of the new queues is served, or of the old ones if there are none. One without credit gets
//        QUANTUM more and goes to the end of the old ones. CoDel (codel.hpp) takes a packet from the queue,
//        which costs its size in credit. An empty queue goes from the new to the end of the old ones, and from
//        the old ones it leaves
//
//   5.2  QUANTUM is 1514 bytes, for 1024 queues
//
// Deviations, the first two as in Linux and ns-3:
//
//   4.1    half of the packets are dropped; here they are half of the bytes
//   4.2    a queue with "a negative number of credits" waits, because it sent "at least a quantum of bytes"; here
//          one with no credit waits, too
//   5.2.6  ECN is on by default; here a scenario asks for it
//
// A flow is one direction of a connection. The hash is seeded by the run, so another seed lets other flows
// collide. Each CoDel sees the bytes of its own queue.
#pragma once

#include <vector>

#include "../../base/ring.hpp"
#include "codel.hpp"

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

class FqCoDelQueue : public Discipline {
  public:
    static constexpr bool kHolds = true;
    static constexpr bool kSheds = true;

    FqCoDelQueue(const FqCoDel& settings, const Place& place)
        : settings_(settings),
          seed_(Random(place.random).bits()),
          queues_(settings.flows,
                  {CoDelQueue({settings.target, settings.interval, settings.max_packet_bytes,
                               settings.ecn, settings.ce_threshold},
                              place),
                   0, false}) {}

    std::uint32_t lines() const { return settings_.flows; }
    std::uint32_t drop_batch() const { return settings_.drop_batch; }

    std::uint32_t join(const Joining& packet) {
        std::uint64_t state = seed_ ^ packet.flow;
        const auto line = static_cast<std::uint32_t>(split_mix(state) % settings_.flows);
        Queue& queue = queues_[line];
        if (!queue.is_listed) {
            queue.is_listed = true;
            queue.credit = settings_.quantum_bytes;
            new_.push(line);
        }
        return line;
    }

    // Some queue must have a packet.
    template <class Held>
    std::uint32_t next_line(const Held& held) {
        for (;;) {
            const bool is_new = !new_.empty();
            Ring<std::uint32_t>& list = is_new ? new_ : old_;
            const std::uint32_t line = list.front();
            Queue& queue = queues_[line];
            const bool has_credit = queue.credit > 0;
            if (has_credit && !held.is_empty(line)) return line;
            list.pop();
            if (!has_credit) queue.credit += settings_.quantum_bytes;
            if (!has_credit || is_new)
                old_.push(line);
            else
                queue.is_listed = false;
        }
    }

    Verdict dequeue(Time now, const Head& head) {
        Queue& queue = queues_[head.line];
        const Verdict verdict = queue.codel.dequeue(now, head);
        if (verdict != Verdict::drop) queue.credit -= head.ip_bytes;
        return verdict;
    }

    std::size_t new_queues() const { return new_.size(); }
    std::size_t old_queues() const { return old_.size(); }

  private:
    struct Queue {
        CoDelQueue codel;
        std::int64_t credit;  // the RFC's deficit
        bool is_listed;       // among the new or the old ones
    };

    FqCoDel settings_;
    std::uint64_t seed_;
    std::vector<Queue> queues_;
    Ring<std::uint32_t> new_, old_;
};

}  // namespace ww::sim
