// SPDX-License-Identifier: BSD-3-Clause
//
// Lazy timers. A deadline that moves later (the retransmission timer moves on every ACK) costs a store:
// the queue keeps the entry it has and looks at the deadline when that comes up.
// Entries that arrive in order of time go to a ring; the few that do not, to a heap.
#pragma once

#include <algorithm>
#include <vector>

#include "network.hpp"
#include "ring.hpp"

namespace ww::sim {

struct Timer {
    Time deadline = kNever;  // when it fires; kNever: off
    Time queued = kNever;    // the queue's entry for it, at or before the deadline
};

class TimerQueue {
  public:
    struct Entry {
        Time at = kNever;
        std::uint32_t owner = 0;
    };

    Time next() const { return next_; }

    // To be called after the timer's deadline changed.
    void keep(Timer& timer, std::uint32_t owner) {
        if (timer.deadline < timer.queued) [[unlikely]] insert(timer, owner, timer.deadline);
    }

    // Takes the earliest entry. True if the owner's timer is due at that entry's time; it is off then.
    template <class TimerOf>
    bool take(Entry& entry, TimerOf&& timer_of) {
        entry = remove();
        Timer& timer = timer_of(entry.owner);
        if (timer.queued != entry.at) return false;  // an earlier entry has replaced this one
        timer.queued = kNever;
        if (timer.deadline > entry.at) {
            if (timer.deadline != kNever) insert(timer, entry.owner, timer.deadline);
            return false;
        }
        timer.deadline = kNever;
        return true;
    }

  private:
    static bool later(const Entry& a, const Entry& b) {
        return a.at != b.at ? a.at > b.at : a.owner > b.owner;
    }

    void insert(Timer& timer, std::uint32_t owner, Time at) {
        timer.queued = at;
        const Entry entry{at, owner};
        if (ordered_.empty() || !later(ordered_.back(), entry)) {
            ordered_.push(entry);
        } else {
            heap_.push_back(entry);
            std::push_heap(heap_.begin(), heap_.end(), later);
        }
        next_ = std::min(next_, at);
    }

    Entry remove() {
        Entry entry;
        if (heap_.empty() || (!ordered_.empty() && !later(ordered_.front(), heap_.front()))) {
            entry = ordered_.front();
            ordered_.pop();
        } else {
            std::pop_heap(heap_.begin(), heap_.end(), later);
            entry = heap_.back();
            heap_.pop_back();
        }
        next_ = ordered_.empty() ? kNever : ordered_.front().at;
        if (!heap_.empty()) next_ = std::min(next_, heap_.front().at);
        return entry;
    }

    Ring<Entry> ordered_;
    std::vector<Entry> heap_;
    Time next_ = kNever;
};

// Which of a fixed set of slots holds the smallest key: a tournament with one comparison a level.
class Tournament {
  public:
    explicit Tournament(std::size_t slots) {
        while (leaves_ < slots) leaves_ *= 2;
        keys_.assign(leaves_, kNever);
        winner_.assign(2 * leaves_, 0);
        for (std::size_t i = 0; i < leaves_; i++) winner_[leaves_ + i] = static_cast<std::uint32_t>(i);
        for (std::size_t i = leaves_ - 1; i > 0; i--) play(i);
    }

    std::uint32_t first() const { return winner_[1]; }
    Time first_key() const { return keys_[winner_[1]]; }

    void set(std::uint32_t slot, Time key) {
        if (keys_[slot] == key) return;
        keys_[slot] = key;
        for (std::size_t i = (leaves_ + slot) / 2; i > 0; i /= 2) play(i);
    }

  private:
    void play(std::size_t i) {  // ties go to the lower slot
        const std::uint32_t left = winner_[2 * i], right = winner_[2 * i + 1];
        winner_[i] = keys_[right] < keys_[left] ? right : left;
    }

    std::size_t leaves_ = 1;
    std::vector<Time> keys_;
    std::vector<std::uint32_t> winner_;
};

}  // namespace ww::sim
