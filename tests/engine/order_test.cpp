// SPDX-License-Identifier: BSD-3-Clause
//
// Ring, tournament and timers keep things in order. Models from the standard library check them.
#include <deque>
#include <random>
#include <set>

#include "engine/base/ring.hpp"
#include "engine/base/timers.hpp"
#include "one_link.hpp"

namespace ww::sim::test {
namespace {

TEST(Ring, IsAQueue) {
    for (std::uint64_t seed = 1; seed <= 20; seed++) {
        std::mt19937_64 random(seed);
        Ring<std::uint64_t> ring;
        std::deque<std::uint64_t> model;
        for (int i = 0; i < 20'000; i++) {
            const bool growing =
                (i / 500) % 2 == 0;  // up to about a hundred items, wrapping several times
            if (model.empty() || random() % 10 < (growing ? 7u : 3u)) {
                const std::uint64_t item = random();
                ring.push(item);
                model.push_back(item);
            } else {
                ring.pop();
                model.pop_front();
            }
            ASSERT_EQ(ring.size(), model.size());
            ASSERT_EQ(ring.empty(), model.empty());
            if (model.empty()) continue;
            ASSERT_EQ(ring.front(), model.front());
            ASSERT_EQ(ring.at(ring.size() - 1), model.back());
            const std::size_t place = random() % model.size();
            ASSERT_EQ(ring.glance(place), model[place]);
        }
    }
}

TEST(Ring, MayGlanceBeyondItsEnd) {
    Ring<int> ring;
    ring.push(1);
    EXPECT_EQ(ring.glance(1000), ring.glance(1000));
}

TEST(Ring, KeepsItsItemsWhenMoved) {
    Ring<int> ring;
    for (int i = 0; i < 100; i++) ring.push(i);
    Ring<int> moved(std::move(ring));
    for (int i = 0; i < 100; i++, moved.pop()) EXPECT_EQ(moved.front(), i);
    EXPECT_TRUE(moved.empty());
}

TEST(Tournament, FindsTheSmallestKeyAndOnATieTheLowestSlot) {
    for (std::size_t slots = 1; slots <= 40; slots++) {
        std::mt19937_64 random(slots);
        Tournament tournament(slots);
        std::vector<Time> keys(slots, kNever);
        EXPECT_EQ(tournament.first_key(), kNever);
        for (int i = 0; i < 2'000; i++) {
            const auto slot = static_cast<std::uint32_t>(random() % slots);
            const std::uint64_t kind = random() % 8;
            keys[slot] = kind == 0   ? kNever
                         : kind == 1 ? kNever - 1
                                     : static_cast<Time>(random() % 20);  // many ties
            tournament.set(slot, keys[slot]);
            const auto best = std::min_element(keys.begin(), keys.end());
            ASSERT_EQ(tournament.first_key(), *best);
            const Time before = std::exchange(keys[slot], kNever);
            ASSERT_EQ(tournament.first_key_but(slot), *std::min_element(keys.begin(), keys.end()));
            keys[slot] = before;
            if (*best == kNever) continue;  // nothing to take
            ASSERT_EQ(tournament.first(), static_cast<std::uint32_t>(best - keys.begin()));
        }
    }
}

// Owners move their deadlines; timers fire in time, on a tie the lowest owner's first.
TEST(TimerQueue, FiresAsASortedSetWould) {
    for (std::uint64_t seed = 1; seed <= 100; seed++) {
        std::mt19937_64 random(seed);
        const std::size_t owners = 1 + random() % 20;
        TimerQueue queue(owners);
        std::vector<Timer> timers(owners);
        std::multiset<std::pair<Time, std::size_t>> model;  // deadline, owner
        Time now = 0;
        const auto move = [&](std::size_t owner, Time deadline) {
            if (timers[owner].deadline != kNever)
                model.erase(model.find({timers[owner].deadline, owner}));
            timers[owner].deadline = deadline;
            if (deadline != kNever) model.insert({deadline, owner});
            if (deadline < timers[owner].queued)
                queue.reschedule(timers[owner], static_cast<std::uint32_t>(owner));
        };
        int fired = 0;
        for (int i = 0; i < 5'000; i++) {
            const std::uint64_t what = random() % 10;
            if (what < 6) {
                move(random() % owners, now + static_cast<Time>(random() % 50));
            } else if (what == 6) {
                move(random() % owners, kNever);
            } else {
                now += static_cast<Time>(random() % 10);
                while (queue.next() <= now) {
                    const std::uint32_t owner = queue.next_owner();
                    const Time time = queue.next();
                    if (!queue.take(timers[owner])) continue;  // it had moved
                    ASSERT_FALSE(model.empty());
                    ASSERT_EQ(*model.begin(), (std::pair<Time, std::size_t>{time, owner}));
                    ASSERT_EQ(timers[owner].deadline, kNever);
                    model.erase(model.begin());
                    fired++;
                }
                ASSERT_TRUE(model.empty() || model.begin()->first > now);
            }
            ASSERT_TRUE(model.empty() || queue.next() <= model.begin()->first);
        }
        EXPECT_GT(fired, 100);
    }
}

TEST(TimerQueue, ChecksOnceForADeadlineThatMovedOften) {
    TimerQueue queue(1);
    Timer timer;
    timer.deadline = 10;
    queue.reschedule(timer, 0);
    for (Time later = 11; later <= 1000; later++) timer.deadline = later;  // each costs one store
    EXPECT_EQ(queue.next(), 10);
    EXPECT_FALSE(queue.take(timer));
    EXPECT_EQ(queue.next(), 1000);
    EXPECT_TRUE(queue.take(timer));
    EXPECT_EQ(queue.next(), kNever);
}

}  // namespace
}  // namespace ww::sim::test
