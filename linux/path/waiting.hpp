// SPDX-License-Identifier: GPL-2.0-only
//
// The packets that wait in a queue of the kernel, and what became of those that no longer wait.
//
// The kernel does not tell which packets it drops. But packets of one direction of a connection leave in the order in
// which they came, in every discipline. So the earlier ones that have not left when a packet leaves are dropped.
// CoDel never drops the last packet of its queue, so a drop shows at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "../../engine/base/seconds.hpp"
#include "../../engine/link/queue_recorder.hpp"
#include "../../engine/network.hpp"

namespace ww::path {

class Waiting {
  public:
    Waiting(std::int64_t limit, std::uint32_t overhead, bool is_traced)
        : limit_(limit), overhead_(overhead), is_traced_(is_traced) {}

    // A packet of a conversation waits from now on, in a slot of the model.
    void add(std::uint32_t slot, const std::string& conversation, std::uint32_t bytes,
             sim::Time now) {
        lines_[conversation].push_back({slot, bytes + overhead_, now});
        packets_++;
    }

    // The queue has dropped an arriving packet. Returns why: it was full, or its discipline decided.
    sim::DropKind note_refused() {
        drops_++;
        if (packets_ >= limit_) return sim::DropKind::queue;
        early_drops_++;
        return sim::DropKind::early;
    }

    void note_marked() { marked_++; }

    struct Left {
        std::optional<std::uint32_t> found;  // the slot; none: it never entered
        std::vector<std::uint32_t> dropped;  // slots
    };

    // A packet of a conversation has left. is_this(slot) tells whether it is the one.
    template <class IsThis>
    Left leave(const std::string& conversation, sim::Time now, IsThis is_this) {
        Left left;
        std::deque<One>& line = lines_[conversation];
        const auto at = std::find_if(line.begin(), line.end(),
                                     [&](const One& one) { return is_this(one.slot); });
        if (at == line.end()) return left;
        for (auto one = line.begin(); one != at; ++one) left.dropped.push_back(one->slot);
        left.found = at->slot;
        note_wait(*at, now);
        drops_ += left.dropped.size();
        early_drops_ += left.dropped.size();
        packets_ -= static_cast<std::int64_t>(left.dropped.size()) + 1;
        line.erase(line.begin(), at + 1);
        return left;
    }

    // Adds the queue's part to the result of its channel; returns the slots of the packets that still wait.
    std::vector<std::uint32_t> finish(sim::Time end, sim::DirectionResult& result) {
        std::vector<std::uint32_t> slots;
        for (const auto& [conversation, line] : lines_)
            for (const One& one : line) {
                slots.push_back(one.slot);
                waited_s_ += sim::seconds(end - one.arrival);
                trace(one, sim::kNever);
                result.bytes += one.bytes;
            }
        result.packets += slots.size();
        result.in_flight += slots.size();
        result.queue_drops += drops_;
        result.early_drops += early_drops_;
        result.marked += marked_;
        result.waited_s += waited_s_;
        result.longest_wait_s = std::max(result.longest_wait_s, longest_s_);
        result.trace = {};  // what the channel recorded: the shaper's small bursts
        recorder_.move_to(result.trace, end);
        return slots;
    }

  private:
    struct One {
        std::uint32_t slot, bytes;
        sim::Time arrival;
    };

    void note_wait(const One& one, sim::Time now) {
        const double wait_s = sim::seconds(now - one.arrival);
        waited_s_ += wait_s;
        longest_s_ = std::max(longest_s_, wait_s);
        trace(one, now);
    }

    void trace(const One& one, sim::Time start) {
        if (is_traced_) recorder_.add(one.arrival, start, one.bytes);
    }

    std::int64_t limit_;
    std::uint32_t overhead_;
    bool is_traced_;
    std::unordered_map<std::string, std::deque<One>> lines_;  // by conversation
    std::int64_t packets_ = 0;                                // in all lines
    std::uint64_t drops_ = 0, early_drops_ = 0, marked_ = 0;
    double waited_s_ = 0, longest_s_ = 0;
    sim::QueueRecorder recorder_;
};

}  // namespace ww::path
