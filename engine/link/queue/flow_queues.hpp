// SPDX-License-Identifier: BSD-3-Clause
//
// Flow queueing (RFC 8290): a queue with an AQM for each flow, and a round robin over them that prefers flows
// without a standing queue. FQ-CoDel, FQ-PIE and CAKE share it. The clauses:
//
//   4.1  the hash of its flow decides which queue a packet joins. A queue that is in no list goes to the end of
//        the new ones, with a quantum of credit
//   4.2  the first of the new queues is served, or of the old ones if there are none. One without credit gets
//        a quantum more and goes to the end of the old ones. The AQM takes a packet from the queue, which costs
//        its size in credit. An empty queue goes from the new to the end of the old ones, and from the old ones
//        it leaves
//
// Deviation, as in Linux and ns-3: in the RFC a queue waits when it has "a negative number of credits", because it sent
// "at least a quantum of bytes". Here a queue whose credit is exactly 0 waits as well.
//
// A flow is one direction of a connection. The run's seed also seeds the hash, so with another seed other flows
// collide. Each AQM sees the bytes of its own queue only. `Kind` is the class of the discipline, which derives from this
// one. It may replace the functions under "replaceable".
#pragma once

#include <vector>

#include "../../base/ring.hpp"
#include "discipline.hpp"

namespace ww::sim {

template <class Aqm, class Kind>
class FlowQueues : public Discipline {
  public:
    static constexpr bool kHolds = true;

    // `aqm_of` makes a queue's AQM, given its random numbers.
    template <class AqmOf>
    FlowQueues(std::uint32_t flows, std::uint32_t quantum_bytes, Random random, AqmOf aqm_of)
        : seed_(random.bits()), quantum_bytes_(quantum_bytes) {
        queues_.reserve(flows);
        for (std::uint32_t line = 0; line < flows; line++)
            queues_.push_back({aqm_of(Random(seed_, Stream::queue, line)), 0, false});
    }

    std::uint32_t lines() const { return static_cast<std::uint32_t>(queues_.size()); }
    std::uint32_t line_of(const Joining& packet) {
        return static_cast<std::uint32_t>(hash(packet.flow) % queues_.size());
    }
    void join(std::uint32_t line) {
        Queue& queue = queues_[line];
        if (queue.is_listed) return;
        queue.is_listed = true;
        queue.credit = kind().quantum(line);
        new_.push(line);
    }

    // Some queue must have a packet.
    template <class Held>
    std::uint32_t next_line(Time now, const Held& held) {
        for (;;) {
            Ring<std::uint32_t>& list = kind().served_list();
            const std::uint32_t line = list.front();
            Queue& queue = queues_[line];
            const bool has_credit = queue.credit > 0, is_empty = held.is_empty(line);
            if (has_credit && !is_empty) return line;
            list.pop();
            if (has_credit) {
                kind().leave(now, line, &list == &new_);
            } else {
                kind().wait(line, is_empty);
                queue.credit += kind().quantum(line);
                old_.push(line);
            }
        }
    }

    Verdict dequeue(Time now, const Head& head) {
        const Verdict verdict = queues_[head.line].aqm.dequeue(now, head);
        if (verdict != Verdict::drop) queues_[head.line].credit -= kind().cost(head);
        return verdict;
    }

    std::size_t new_queues() const { return new_.size(); }
    std::size_t old_queues() const { return old_.size(); }

    // ---- replaceable
    Ring<std::uint32_t>& served_list() { return new_.empty() ? old_ : new_; }
    std::int64_t quantum(std::uint32_t /*line*/) { return quantum_bytes_; }
    std::int64_t cost(const Head& head) { return head.ip_bytes; }
    // A queue without credit goes to the end of the old ones.
    void wait(std::uint32_t /*line*/, bool /*is_empty*/) {}
    // An empty queue has left its list.
    void leave(Time /*now*/, std::uint32_t line, bool was_new) {
        queues_[line].is_listed = was_new;
        if (was_new) old_.push(line);
    }

  protected:
    struct Queue {
        Aqm aqm;
        std::int64_t credit;  // the RFC's deficit
        bool is_listed;       // in one of the lists
    };

    std::uint64_t hash(std::uint64_t number) const {
        std::uint64_t state = seed_ ^ number;
        return split_mix(state);
    }

    std::uint64_t seed_;
    std::uint32_t quantum_bytes_;
    std::vector<Queue> queues_;
    Ring<std::uint32_t> new_, old_;

  private:
    Kind& kind() { return static_cast<Kind&>(*this); }
};

}  // namespace ww::sim
