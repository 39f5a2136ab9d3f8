// SPDX-License-Identifier: BSD-3-Clause
//
// A tournament over a fixed set of slots says what happens next; lazy timers stand on top of it.
#pragma once

#include <algorithm>
#include <vector>

#include "network.hpp"

namespace ww::sim {

// It knows which of its slots holds the smallest key; ties go to the lower slot. A new key replays the
// matches on its way to the root, a compare and a conditional move each: the opponents' places are known
// beforehand, so that the loads do not wait for each other.
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
    // It enters under a name, which first() says in place of its slot.
    void set(std::uint32_t slot, Time key, std::uint32_t name) {
        Entrant winner{key, name};
        slots_[slot] = winner;
        for (std::size_t i = leaves_ + slot; i > 1;) {
            const Entrant opponent = nodes_[i ^ 1];
            // The opponent of a right child has the lower slots.
            // The mask is all ones if it wins; of a choice compilers would make an unpredictable branch.
            const Time loses =
                -static_cast<Time>(opponent.key < winner.key + static_cast<Time>(i & 1));
            winner.key ^= (winner.key ^ opponent.key) & loses;
            winner.slot ^= (winner.slot ^ opponent.slot) & static_cast<std::uint32_t>(loses);
            i /= 2;
            nodes_[i] = winner;
        }
    }

    // The smallest key of all slots but this one.
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
    std::vector<Entrant> nodes_;  // a heap-shaped tree: the winner at 1, the slots from leaves_ on
    Entrant* slots_ = nullptr;
};

struct Timer {
    Time deadline = kNever;  // when it fires; kNever: off
    Time queued = kNever;    // when the queue will look at it, at or before the deadline
};

// Each of the owners, numbered from 0, has a timer here. They are lazy: a deadline that moves later (the
// retransmission timer moves on every ACK) costs its store and nothing else; the queue looks again when
// the old one is due. Eight of them, which are a line of the cache, send the first of theirs into a tournament.
class TimerQueue {
  public:
    explicit TimerQueue(std::size_t owners) : order_(1) { reserve(owners); }

    // Makes room for so many owners.
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

    // The caller has set the timer's deadline to before `queued`.
    void reschedule(Timer& timer, std::uint32_t owner) {
        const Time at = timer.deadline;
        timer.queued = times_[owner] = at;
        if (at > order_.key(owner / kBucket)) return;  // another one of its bucket is before it
        enter_first_of(owner / kBucket);
    }

    // Takes off the timer of an owner that is no more.
    void remove(Timer& timer, std::uint32_t owner) { put(timer, owner, kNever); }

    // Looks at next_owner()'s timer: true if it is due; it is off then. The caller sets it anew, if at all, and
    // requeues it in any case, before it touches another one.
    bool is_due(Timer& timer) {
        const bool due = timer.deadline <= timer.queued;
        if (due) timer.deadline = kNever;
        timer.queued = kServed;
        return due;
    }
    void requeue(Timer& timer) { put(timer, next_owner(), timer.deadline); }
    bool take(Timer& timer) {
        const bool due = is_due(timer);
        requeue(timer);
        return due;
    }

  private:
    static constexpr Time kServed = -1;  // no deadline is before it, so that nobody reschedules it

    void put(Timer& timer, std::uint32_t owner, Time at) {
        timer.queued = times_[owner] = at;
        enter_first_of(owner / kBucket);
    }

    void enter_first_of(std::uint32_t bucket) {
        std::uint32_t first = bucket * kBucket;
        for (std::uint32_t i = 1; i < kBucket && times_.size() > 1; i++)
            if (times_[bucket * kBucket + i] < times_[first]) first = bucket * kBucket + i;
        order_.set(bucket, times_[first], first);
        next_ = order_.first_key();
    }

    static constexpr std::uint32_t kBucket = 8;

    Time next_ = kNever;
    std::vector<Time> times_;  // as queued, by owner
    Tournament order_;         // of the buckets, by the name of the first in each
};

}  // namespace ww::sim
