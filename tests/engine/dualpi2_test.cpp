// SPDX-License-Identifier: BSD-3-Clause
//
// DualPI2's Classic queue by Appendix A of RFC 9332: against its pseudocode, alone, and in a network.
#include "engine/link/queue/dualpi2.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "engine/network.hpp"
#include "units.hpp"

namespace ww::sim::test::of_dualpi2 {
namespace {

const Place kPlace{[](std::uint32_t) { return kMs; }, Random(1, Stream::queue, 0)};

struct Waiting {
    Time arrival;
    bool is_ecn_capable;
};

// The pseudocode for a queue of Classic packets, with a timer that the test calls.
class Pseudocode {
  public:
    void update(Time now, const std::deque<Waiting>& queue) {
        const double curq = queue.empty() ? 0 : seconds(now - queue.front().arrival);
        p_ += 0.1 * 0.015 / (0.1 * 0.1) * (curq - 0.015) + 0.3 / 0.1 * (curq - prevq_);
        p_ = std::min(std::max(p_, 0.0), 1.0);
        prevq_ = curq;
    }
    Verdict verdict(bool is_ecn_capable) {
        count_ += p_ * p_;
        if (count_ <= 1) return Verdict::pass;
        count_ -= 1;
        return is_ecn_capable && p_ * p_ < 0.25 ? Verdict::mark : Verdict::drop;
    }

  private:
    double p_ = 0, prevq_ = 0, count_ = 0;
};

// Over random loads it passes, marks and drops what the pseudocode does, packet by packet.
TEST(DualPi2, DecidesAsThePseudocode) {
    int drops = 0, marks = 0;
    for (std::uint32_t seed = 1; seed <= 20; seed++) {
        std::mt19937 bits(seed);
        DualPi2Queue dualpi2({}, kPlace);
        Pseudocode reference;
        std::deque<Waiting> queue;
        int first = 0;  // ms; the first packet starts the timer
        for (int ms = 1; ms < 20'000; ms++) {
            const Time now = ms * kMs;
            if (first > 0 && ms > first && (ms - first) % 15 == 0) reference.update(now, queue);
            Verdict verdict = Verdict::drop;
            while (!queue.empty() && verdict == Verdict::drop) {
                const Waiting head = queue.front();
                verdict = dualpi2.dequeue(now, {head.arrival, 0, head.is_ecn_capable});
                ASSERT_EQ(verdict, reference.verdict(head.is_ecn_capable)) << seed << ' ' << ms;
                drops += verdict == Verdict::drop;
                marks += verdict == Verdict::mark;
                queue.pop_front();
            }
            const std::uint32_t load =
                (seed * 37 + static_cast<std::uint32_t>(ms / 1000) * 61) % 150;
            for (std::uint32_t i = 0; i < 2; i++) {
                if (bits() % 200 >= load) continue;
                if (first == 0) first = ms;
                const Time head = queue.empty() ? kNever : queue.front().arrival;
                ASSERT_EQ(dualpi2.enqueue(now, {queue.size(), now, 0, head}, false), Verdict::pass);
                queue.push_back({now, bits() % 2 == 0});
            }
        }
    }
    EXPECT_GT(drops, 1000);
    EXPECT_GT(marks, 1000);
}

// recur: packets are chosen evenly, as many as p_C says.
TEST(DualPi2, ChoosesPacketsEvenly) {
    DualPi2 settings;
    settings.coupling = 1;
    DualPi2Queue dualpi2(settings, kPlace);
    Time now = kSecond;
    while (dualpi2.base_prob() < 0.5) {
        now += kMs;
        dualpi2.dequeue(now, {now - 40 * kMs, 0, true});
    }
    const double likelihood = dualpi2.base_prob() * dualpi2.base_prob();
    int chosen = 0;
    for (int i = 0; i < 1000; i++) chosen += dualpi2.dequeue(now, {now, 0, true}) == Verdict::mark;
    EXPECT_NEAR(chosen, 1000 * likelihood, 1);
}

// p_Cmax: from a probability of 1 / k^2 ECN-capable packets are dropped as well.
TEST(DualPi2, DropsEcnCapablePacketsWhenOverloaded) {
    for (const std::uint32_t coupling : {1u, 2u, 4u}) {
        DualPi2 settings;
        settings.coupling = coupling;
        DualPi2Queue dualpi2(settings, kPlace);
        double last_mark = 0, first_drop = 1;
        for (int ms = 1; ms < 2000; ms++) {
            const Verdict verdict = dualpi2.dequeue(ms * kMs, {ms * kMs - 60 * kMs, 0, true});
            const double likelihood = dualpi2.base_prob() * dualpi2.base_prob();
            if (verdict == Verdict::mark) last_mark = likelihood;
            if (verdict == Verdict::drop) first_drop = std::min(first_drop, likelihood);
        }
        EXPECT_GT(last_mark, 0);
        EXPECT_LT(last_mark, 1.0 / (coupling * coupling));
        EXPECT_GE(first_drop, 1.0 / (coupling * coupling));
    }
}

// update: the probability falls to 0 while the queue is empty, however long that lasts.
TEST(DualPi2, ForgetsWhileIdle) {
    DualPi2Queue dualpi2({}, kPlace);
    for (int ms = 1; ms < 2000; ms++) dualpi2.dequeue(ms * kMs, {ms * kMs - 60 * kMs, 0, false});
    EXPECT_GT(dualpi2.base_prob(), 0.5);
    dualpi2.enqueue(26 * 24 * kHour, {0, 0, 0, kNever}, false);
    EXPECT_EQ(dualpi2.base_prob(), 0);
}

// Bulk flows through a large buffer keep the delay near the target, with drops or with marks.
TEST(DualPi2, KeepsTheDelayNearItsTarget) {
    for (const bool ecn : {false, true}) {
        Network network;
        network.nodes = 2;
        network.duration = 60 * kSecond;
        Link link;
        link.b = 1;
        link.forward.rate_bps = link.backward.rate_bps = 10'000'000;
        link.forward.delay = link.backward.delay = 20 * kMs;
        link.forward.queue_packets = 1000;
        link.forward.queue_kind = QueueKind::dualpi2;
        network.links = {link};
        Flow flow;
        flow.to = 1;
        flow.ecn = ecn;
        network.flows.assign(5, flow);
        const Result result = simulate(network, 1);
        ASSERT_EQ(result.error, "");
        const DirectionResult& forward = result.forward[0];
        EXPECT_NEAR(forward.waited_s / static_cast<double>(forward.packets), 0.015, 0.005);
        EXPECT_GT(forward.utilisation, 0.95);
        EXPECT_GT(ecn ? forward.marked : forward.early_drops, 0u);
        EXPECT_EQ(forward.queue_drops, forward.early_drops);
    }
}

}  // namespace
}  // namespace ww::sim::test::of_dualpi2
