// SPDX-License-Identifier: BSD-3-Clause
//
// A tournament tree over a fixed set of slots finds the next event; lazy timers are built on it.
#pragma once

#include <algorithm>
#include <vector>

#include "../settings.hpp"

namespace ww::sim {

// Finds the slot with the smallest key; on a tie, the lower slot. A new key replays the matches on
// its path to the root, one compare and one conditional move each. The opponents' places are known
// in advance, so the loads do not wait for each other.
class Tournament {
  public:
    explicit Tournament(std::size_t slots) {
        while (leaves_ < slots) leaves_ *= 2;
        nodes_.resize(2 * leaves_);
        for (std::size_t i = 0; i < leaves_; i++)
            nodes_[leaves_ + i].slot = static_cast<std::uint32_t>(i);
        for (std::size_t i = leaves_ - 1; i > 0; i--) nodes_[i] = nodes_[2 * i];
        slots_ = nodes_.data() + leaves_;
    }

    Tournament(Tournament&&) = default;  // a moved vector keeps its memory
    Tournament& operator=(Tournament&&) = default;

    std::size_t slots() const { return leaves_; }
    std::uint32_t first() const { return nodes_[1].slot; }
    Time first_key() const { return nodes_[1].key; }
    Time key(std::uint32_t slot) const { return slots_[slot].key; }

    void set(std::uint32_t slot, Time key) { set(slot, key, slot); }
    // Enters a key under a name, which first() returns instead of the slot.
    void set(std::uint32_t slot, Time key, std::uint32_t name) {
        Entrant winner{key, name};
        slots_[slot] = winner;
        for (std::size_t i = leaves_ + slot; i > 1;) {
            const Entrant opponent = nodes_[i ^ 1];
            // The opponent of a right child has the lower slots. The mask is all ones if the opponent wins; for a
            // conditional expression compilers generate an unpredictable branch.
            const Time loses =
                -static_cast<Time>(opponent.key < winner.key + static_cast<Time>(i & 1));
            winner.key ^= (winner.key ^ opponent.key) & loses;
            winner.slot ^= (winner.slot ^ opponent.slot) & static_cast<std::uint32_t>(loses);
            i /= 2;
            nodes_[i] = winner;
        }
    }

    // Returns the smallest key of all other slots.
    Time first_key_but(std::uint32_t slot) const {
        Time key = kNever;
        for (std::size_t i = leaves_ + slot; i > 1; i /= 2) key = std::min(key, nodes_[i ^ 1].key);
        return key;
    }

  private:
    struct Entrant {
        Time key = kNever;
        std::uint32_t slot = 0;
    };

    std::size_t leaves_ = 1;
    std::vector<Entrant> nodes_;  // a binary heap: the winner at 1, the slots from leaves_ on
    Entrant* slots_ = nullptr;
};

struct Timer {
    Time deadline = kNever;  // when it fires; kNever: off
    Time queued = kNever;    // when the queue will check it, at or before the deadline
};

// A queue of one timer per owner, numbered from 0. Timers are lazy: moving a deadline later costs
// just a store (the retransmission timer moves on every ACK), and the queue checks again when the
// old deadline is due. Eight timers, one cache line, form a bucket that enters its first one into a
// tournament.
class TimerQueue {
  public:
    explicit TimerQueue(std::size_t owners) : order_(1) { reserve(owners); }

    // Makes room for this many owners.
    void reserve(std::size_t owners) {
        if (owners <= times_.size()) return;
        const std::size_t buckets = (owners + kBucket - 1) / kBucket;
        times_.resize(owners == 1 ? 1 : buckets * kBucket, kNever);
        if (buckets <= order_.slots()) return;
        order_ = Tournament(buckets);
        for (std::uint32_t bucket = 0; bucket < buckets; bucket++) enter_first_of(bucket);
    }

    Time next() const { return next_; }
    std::uint32_t next_owner() const { return order_.first(); }

    // Moves up a timer whose deadline the caller has set to before `queued`.
    void reschedule(Timer& timer, std::uint32_t owner) {
        const Time deadline = timer.deadline;
        timer.queued = times_[owner] = deadline;
        if (deadline > order_.key(owner / kBucket))
            return;  // another timer of the bucket comes first
        enter_first_of(owner / kBucket);
    }

    // Removes the timer of an owner that is gone.
    void remove(Timer& timer, std::uint32_t owner) { store(timer, owner, kNever); }

    // Checks next_owner()'s timer. Returns true, with the timer off, if it is due. The caller may
    // set it again, and must call requeue() before it touches another timer.
    bool is_due(Timer& timer) {
        const bool due = timer.deadline <= timer.queued;
        if (due) timer.deadline = kNever;
        timer.queued = kServed;
        return due;
    }
    void requeue(Timer& timer) { store(timer, next_owner(), timer.deadline); }
    bool take(Timer& timer) {
        const bool due = is_due(timer);
        requeue(timer);
        return due;
    }

  private:
    static constexpr Time kServed = -1;  // before any deadline, so nothing reschedules it

    void store(Timer& timer, std::uint32_t owner, Time deadline) {
        timer.queued = times_[owner] = deadline;
        enter_first_of(owner / kBucket);
    }

    void enter_first_of(std::uint32_t bucket) {
        const Time* const times = times_.data() + std::size_t{bucket} * kBucket;
        Time least = times[0];
        std::uint32_t first = 0;
        if (times_.size() > 1) {
            for (std::uint32_t i = 1; i < kBucket; i++) {
                first = times[i] < least ? i : first;
                least = std::min(least, times[i]);
            }
        }
        order_.set(bucket, least, bucket * kBucket + first);
        next_ = order_.first_key();
    }

    static constexpr std::uint32_t kBucket = 8;

    Time next_ = kNever;
    std::vector<Time> times_;  // `queued` of each owner's timer
    Tournament order_;         // of the buckets; each enters the owner of its first timer
};

}  // namespace ww::sim
