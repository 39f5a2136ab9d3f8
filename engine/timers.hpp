// SPDX-License-Identifier: BSD-3-Clause
//
// A tournament over a fixed set of slots says what happens next; lazy timers stand on top of it.
#pragma once

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
    }

    std::size_t slots() const { return leaves_; }
    std::uint32_t first() const { return nodes_[1].slot; }
    Time first_key() const { return nodes_[1].key; }
    Time key(std::uint32_t slot) const { return nodes_[leaves_ + slot].key; }

    void set(std::uint32_t slot, Time key) {
        Entrant winner{key, slot};
        std::size_t i = leaves_ + slot;
        nodes_[i] = winner;
        while (i > 1) {
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

  private:
    struct Entrant {
        Time key = kNever;
        std::uint32_t slot = 0;
    };

    std::size_t leaves_ = 1;
    std::vector<Entrant> nodes_;  // a heap-shaped tree: the winner at 1, the slots from leaves_ on
};

struct Timer {
    Time deadline = kNever;  // when it fires; kNever: off
    Time queued = kNever;    // when the queue will look at it, at or before the deadline
};

// Each of the owners, numbered from 0, has a timer here. They are lazy: a deadline that moves later (the
// retransmission timer moves on every ACK) costs its store and nothing else; the queue looks again when
// the old one is due.
class TimerQueue {
  public:
    explicit TimerQueue(std::size_t owners) : order_(owners) {}

    // Makes room for so many owners.
    void reserve(std::size_t owners) {
        if (owners <= order_.slots()) return;
        Tournament larger(2 * order_.slots());
        for (std::uint32_t i = 0; i < order_.slots(); i++) larger.set(i, order_.key(i));
        order_ = std::move(larger);
    }

    Time next() const { return next_; }
    std::uint32_t next_owner() const { return order_.first(); }

    // The caller has set the timer's deadline to before `queued`.
    void hasten(Timer& timer, std::uint32_t owner) { put(timer, owner, timer.deadline); }

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
    static constexpr Time kServed = -1;  // no deadline is before it, so that nobody hastens it

    void put(Timer& timer, std::uint32_t owner, Time at) {
        timer.queued = at;
        order_.set(owner, at);
        next_ = order_.first_key();
    }

    Time next_ = kNever;
    Tournament order_;
};

}  // namespace ww::sim
