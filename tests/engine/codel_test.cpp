// SPDX-License-Identifier: BSD-3-Clause
//
// CoDel by the sections of RFC 8289: against its pseudocode, alone, and in a network.
#include "engine/link/queue/codel.hpp"

#include <deque>
#include <random>

#include "../fuzz/difference.hpp"
#include "one_link.hpp"

namespace ww::sim::test::of_codel {
namespace {

constexpr std::int64_t kBytes = 1500;

struct Waiting {
    int number;
    Time arrival;
};

// Sections 5.5 and 5.6 as they are printed, with a queue of its own.
class Pseudocode {
  public:
    explicit Pseudocode(const CoDel& settings) : set_(settings) {}

    std::deque<Waiting> queue;
    std::vector<int> dropped;

    // Returns the packet to send, or -1.
    int deque(Time now) {
        Result r = dodeque(now);
        if (dropping_) {
            if (!r.ok_to_drop) dropping_ = false;
            while (now >= drop_next_ && dropping_) {
                dropped.push_back(r.packet);
                ++count_;
                r = dodeque(now);
                if (!r.ok_to_drop)
                    dropping_ = false;
                else
                    drop_next_ = control_law(drop_next_, count_);
            }
        } else if (r.ok_to_drop) {
            dropped.push_back(r.packet);
            r = dodeque(now);
            dropping_ = true;
            const std::uint32_t delta = count_ - lastcount_;
            count_ = 1;
            if (delta > 1 && now - drop_next_ < 16 * set_.interval) count_ = delta;
            drop_next_ = control_law(now, count_);
            lastcount_ = count_;
        }
        return r.packet;
    }

  private:
    struct Result {
        int packet = -1;
        bool ok_to_drop = false;
    };
    Result dodeque(Time now) {
        Result r;
        if (queue.empty()) {
            first_above_time_ = 0;
            return r;
        }
        const Waiting first = queue.front();
        queue.pop_front();
        r.packet = first.number;
        const std::int64_t bytes = kBytes * static_cast<std::int64_t>(queue.size());
        if (now - first.arrival < set_.target || bytes <= set_.max_packet_bytes)
            first_above_time_ = 0;
        else if (first_above_time_ == 0)
            first_above_time_ = now + set_.interval;
        else if (now >= first_above_time_)
            r.ok_to_drop = true;
        return r;
    }
    Time control_law(Time t, std::uint32_t count) const {
        return t + static_cast<Time>(static_cast<double>(set_.interval) / std::sqrt(count));
    }

    CoDel set_;
    Time first_above_time_ = 0, drop_next_ = 0;
    std::uint32_t count_ = 0, lastcount_ = 0;
    bool dropping_ = false;
};

const Place kPlace{[](std::uint32_t) { return kMs; }, Random(1, Stream::queue, 0)};

// Takes packets off as the engine does; returns the one to send, or -1.
int take(CoDelQueue& codel, std::deque<Waiting>& queue, std::vector<int>& dropped, Time now) {
    while (!queue.empty()) {
        const Waiting first = queue.front();
        const auto behind = kBytes * (static_cast<std::int64_t>(queue.size()) - 1);
        const Verdict verdict = codel.dequeue(now, {first.arrival, behind, false});
        queue.pop_front();
        if (verdict != Verdict::drop) return first.number;
        dropped.push_back(first.number);
    }
    return -1;
}

// 5.5, 5.6: over random loads it drops and sends what the pseudocode does, packet by packet.
TEST(CoDel, DropsWhatThePseudocodeDrops) {
    std::size_t drops = 0;
    for (std::uint32_t seed = 1; seed <= 40; seed++) {
        std::mt19937 random(seed);
        const CoDel settings;
        CoDelQueue codel(settings, kPlace);
        Pseudocode reference(settings);
        std::deque<Waiting> queue;
        std::vector<int> dropped;
        int number = 0;
        for (Time now = kSecond; now < 20 * kSecond; now += kMs) {
            // The load changes between 0.5 and 1.5 packets per ms.
            const std::uint32_t load =
                50 + (seed * 37 + static_cast<std::uint32_t>(now / kSecond) * 61) % 100;
            for (std::uint32_t i = 0; i < 2; i++)
                if (random() % 200 < load) {
                    queue.push_back({number, now});
                    reference.queue.push_back({number++, now});
                }
            ASSERT_EQ(take(codel, queue, dropped, now), reference.deque(now)) << seed;
            ASSERT_EQ(dropped, reference.dropped) << seed;
        }
        drops += dropped.size();
    }
    EXPECT_GT(drops, 1000u);
}

// A queue whose packet at the head has waited `wait`; `behind` packets wait behind it.
Verdict leave(CoDelQueue& codel, Time now, Time wait, std::int64_t behind = 10, bool ecn = false) {
    return codel.dequeue(now, {now - wait, kBytes * behind, ecn});
}

// 5.6: packets are dropped once delays were above TARGET for an INTERVAL.
TEST(CoDel, DropsOnlyAfterAnIntervalAboveTarget) {
    CoDelQueue codel({}, kPlace);
    for (int ms = 0; ms < 500; ms++) EXPECT_EQ(leave(codel, ms * kMs, 4 * kMs), Verdict::pass);
    for (int ms = 500; ms < 600; ms++) EXPECT_EQ(leave(codel, ms * kMs, 6 * kMs), Verdict::pass);
    EXPECT_EQ(leave(codel, 600 * kMs, 6 * kMs), Verdict::drop);
}

// 5.6: one delay below TARGET restarts the interval, and so does a queue of one packet.
TEST(CoDel, OneShortDelayOrQueueRestartsTheInterval) {
    for (const bool is_delay : {true, false}) {
        CoDelQueue codel({}, kPlace);
        for (int ms = 0; ms < 99; ms++) leave(codel, ms * kMs, 6 * kMs);
        is_delay ? leave(codel, 99 * kMs, 4 * kMs) : leave(codel, 99 * kMs, 6 * kMs, 1);
        for (int ms = 100; ms < 200; ms++)
            EXPECT_EQ(leave(codel, ms * kMs, 6 * kMs), Verdict::pass) << is_delay;
        EXPECT_EQ(leave(codel, 200 * kMs, 6 * kMs), Verdict::drop) << is_delay;
    }
}

// control_law: the n-th drop follows the one before by INTERVAL / sqrt(n).
TEST(CoDel, DropsFollowEachOtherByTheSquareRoot) {
    CoDelQueue codel({}, kPlace);
    std::vector<double> drops_ms;
    for (int tenth = 0; tenth < 5000; tenth++)
        if (leave(codel, tenth * kMs / 10, 20 * kMs) == Verdict::drop)
            drops_ms.push_back(tenth / 10.0);
    ASSERT_GT(drops_ms.size(), 5u);
    EXPECT_EQ(drops_ms[0], 100);
    for (std::size_t n = 1; n < 6; n++)
        EXPECT_NEAR(drops_ms[n] - drops_ms[n - 1], 100 / std::sqrt(static_cast<double>(n)), 0.11);
}

// ECN: packets of ECN-capable flows are marked when the others would be dropped.
TEST(CoDel, MarksWhatIsEcnCapable) {
    CoDel settings;
    settings.ecn = true;
    for (const bool is_capable : {true, false}) {
        CoDelQueue codel(settings, kPlace);
        int acted = 0;
        for (int ms = 0; ms <= 200; ms++) {
            const Verdict verdict = leave(codel, ms * kMs, 20 * kMs, 10, is_capable);
            EXPECT_NE(verdict, is_capable ? Verdict::drop : Verdict::mark);
            acted += verdict != Verdict::pass;
        }
        EXPECT_EQ(acted, 2);
    }
}

// CE_THRESHOLD, as in Linux: each packet of an ECN-capable flow that waited longer is marked, also below TARGET and
// without ECN; the law's drops stay, and its state is not changed.
TEST(CoDel, MarksWhatWaitedLongerThanTheThreshold) {
    CoDel settings;
    settings.ce_threshold = kMs;
    for (const bool is_capable : {true, false}) {
        CoDelQueue codel(settings, kPlace), without({}, kPlace);
        EXPECT_EQ(leave(codel, 0, kMs, 10, is_capable), Verdict::pass);
        EXPECT_EQ(leave(codel, kMs, kMs + 1, 10, is_capable),
                  is_capable ? Verdict::mark : Verdict::pass);
        for (int ms = 2; ms <= 300; ms++) {
            const Verdict law = leave(without, ms * kMs, 20 * kMs, 10, is_capable);
            const Verdict verdict = leave(codel, ms * kMs, 20 * kMs, 10, is_capable);
            EXPECT_EQ(verdict, law == Verdict::pass && is_capable ? Verdict::mark : law) << ms;
        }
    }
}

Network bottleneck(QueueKind kind, std::int64_t packets = 1000) {
    return managed_link(kind, 10'000'000, 20 * kMs, 30 * kSecond, {bulk()}, packets);
}

TEST(CoDel, IsDropTailBelowTarget) {
    Network with = bottleneck(QueueKind::codel, 20);
    with.links[0].forward.codel.target = kHour;
    const Result a = simulate(with, 1), b = simulate(bottleneck(QueueKind::droptail, 20), 1);
    EXPECT_GT(b.forward[0].queue_drops, 0u);
    EXPECT_EQ(fuzz::difference(a, b), "");
}

TEST(CoDel, NeedsARate) {  // departures are computed one by one
    Network network = bottleneck(QueueKind::codel);
    network.links[0].forward.opportunities_ms = {1};
    EXPECT_EQ(simulate(network, 1).error,
              "link 0: this kind of queue needs a rate, not delivery opportunities");
}

}  // namespace
}  // namespace ww::sim::test::of_codel
