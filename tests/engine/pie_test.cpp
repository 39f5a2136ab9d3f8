// SPDX-License-Identifier: BSD-3-Clause
//
// PIE by the sections of RFC 8033: against the pseudocode of its Appendix A, alone, and in a network.
#include "engine/link/queue/pie.hpp"

#include <deque>
#include <random>

#include "one_link.hpp"

namespace ww::sim::test::of_pie {
namespace {

constexpr std::int64_t kBytes = 1500;

Place place(std::uint64_t seed = 1) {
    return {[](std::uint32_t) { return kMs; }, Random(seed, Stream::queue, 0)};
}

// Appendix A, with a timer that the test calls. Times are in seconds.
class Pseudocode {
  public:
    explicit Pseudocode(std::uint64_t seed) : random_(seed, Stream::queue, 0) {}

    bool drops(std::int64_t queue_bytes) {
        if (drop_prob == 0 && current_qdelay < kRef / 2 && qdelay_old < kRef / 2)
            burst_allowance = kMaxBurst;
        if (burst_allowance > 0) return false;
        if ((qdelay_old < kRef / 2 && drop_prob < 0.2) || queue_bytes <= 2 * kBytes) return false;
        return random_.open_unit() < drop_prob;
    }

    void calculate_drop_prob() {
        double p = 0.125 * (current_qdelay - kRef) + 1.25 * (current_qdelay - qdelay_old);
        if (drop_prob < 0.000001)
            p /= 2048;
        else if (drop_prob < 0.00001)
            p /= 512;
        else if (drop_prob < 0.0001)
            p /= 128;
        else if (drop_prob < 0.001)
            p /= 32;
        else if (drop_prob < 0.01)
            p /= 8;
        else if (drop_prob < 0.1)
            p /= 2;
        else if (p > 0.02)
            p = 0.02;  // 5.5
        drop_prob += p;
        if (current_qdelay == 0 && qdelay_old == 0) drop_prob *= 0.98;
        drop_prob = std::min(std::max(drop_prob, 0.0), 1.0);
        qdelay_old = current_qdelay;
        burst_allowance = std::max<Time>(0, burst_allowance - 15 * kMs);
    }

    double drop_prob = 0, current_qdelay = 0, qdelay_old = 0;
    Time burst_allowance = kMaxBurst;

  private:
    static constexpr double kRef = 0.015;
    static constexpr Time kMaxBurst = 150 * kMs;
    Random random_;
};

TEST(Pie, DropsWhatThePseudocodeDrops) {  // Appendix A
    int drops = 0;
    for (std::uint32_t seed = 1; seed <= 20; seed++) {
        std::mt19937 bits(seed);
        PieQueue pie({}, place(seed));
        Pseudocode reference(seed);
        std::deque<Time> queue;  // arrivals
        int first = 0;           // ms; the first packet starts the timer
        for (int ms = 1; ms < 20'000; ms++) {
            const Time now = ms * kMs;
            if (first > 0 && ms > first && (ms - first) % 15 == 0) reference.calculate_drop_prob();
            if (!queue.empty()) {
                const auto behind = kBytes * (static_cast<std::int64_t>(queue.size()) - 1);
                ASSERT_EQ(pie.dequeue(now, {queue.front(), behind, false}), Verdict::pass);
                reference.current_qdelay = behind == 0 ? 0 : seconds(now - queue.front());
                queue.pop_front();
            }
            const std::uint32_t load =
                (seed * 37 + static_cast<std::uint32_t>(ms / 1000) * 61) % 150;
            for (std::uint32_t i = 0; i < 2; i++) {
                if (bits() % 200 >= load) continue;
                if (first == 0) first = ms;
                const auto bytes = kBytes * static_cast<std::int64_t>(queue.size());
                const bool dropped =
                    pie.enqueue(now, {queue.size(), now, bytes}, false) == Verdict::drop;
                ASSERT_EQ(dropped, reference.drops(bytes)) << seed << ' ' << ms;
                ASSERT_EQ(pie.drop_prob(), reference.drop_prob) << seed << ' ' << ms;
                drops += dropped;
                if (!dropped) queue.push_back(now);
            }
        }
    }
    EXPECT_GT(drops, 1000);
}

// Keeps a queue of ten packets at a delay until `end`, without arrivals.
void hold(PieQueue& pie, Time begin, Time end, Time delay) {
    for (Time now = begin; now < end; now += kMs)
        pie.dequeue(now, {now - delay, 10 * kBytes, false});
}

// 4.4: nothing is dropped in the first MAX_BURST, whatever the delay.
TEST(Pie, LetsABurstPass) {
    PieQueue pie({}, place());
    int dropped = 0;
    for (int ms = 0; ms < 150; ms++) {
        hold(pie, ms * kMs, (ms + 1) * kMs, 500 * kMs);
        dropped += pie.enqueue(ms * kMs, {100, 0, 100 * kBytes}, false) == Verdict::drop;
    }
    EXPECT_EQ(dropped, 0);
    EXPECT_GT(pie.drop_prob(), 0.1);
}

// 4.1: a queue of two packets loses none, although every other arrival would be dropped.
TEST(Pie, SparesAShortQueue) {
    PieQueue pie({}, place());
    hold(pie, 0, 10 * kSecond, 500 * kMs);
    EXPECT_EQ(pie.drop_prob(), 1);
    EXPECT_EQ(pie.enqueue(10 * kSecond, {2, 0, 2 * kBytes}, false), Verdict::pass);
    EXPECT_EQ(pie.enqueue(10 * kSecond, {3, 0, 3 * kBytes}, false), Verdict::drop);
}

// 5.5: above 0.1 the probability grows by at most 0.02 per T_UPDATE; without it, faster.
TEST(Pie, TheDropProbabilityGrowsSlowlyAboveATenth) {
    for (const bool is_capped : {true, false}) {
        Pie settings;
        settings.capped = is_capped;
        PieQueue pie(settings, place());
        double last = 0, most = 0;
        for (Time now = 0; now < 2 * kSecond; now += 15 * kMs) {
            hold(pie, now, now + 15 * kMs, 500 * kMs);
            if (last >= 0.1) most = std::max(most, pie.drop_prob() - last);
            last = pie.drop_prob();
        }
        EXPECT_NEAR(most, is_capped ? 0.02 : 0.125 * 0.485, 1e-9);
    }
}

// 4.2: the probability falls to 0 while the link is idle, however long that lasts.
TEST(Pie, ForgetsWhileIdle) {
    PieQueue pie({}, place());
    hold(pie, 0, 2 * kSecond, 500 * kMs);
    const double before = pie.drop_prob();
    pie.dequeue(2 * kSecond, {2 * kSecond - 500 * kMs, 0, false});  // the last one
    pie.enqueue(3 * kSecond, {0, 0, 0}, false);
    EXPECT_LT(pie.drop_prob(), before / 2);
    pie.enqueue(26 * 24 * kHour, {0, 0, 0}, false);
    EXPECT_EQ(pie.drop_prob(), 0);
}

// 5.1: ECN-capable packets are marked while the probability is below mark_ecnth, then dropped.
TEST(Pie, MarksWhileTheProbabilityIsLow) {
    Pie settings;
    settings.ecn = true;
    PieQueue pie(settings, place());
    int marked = 0, dropped = 0;
    for (int ms = 0; ms < 3000; ms++) {
        hold(pie, ms * kMs, (ms + 1) * kMs, 500 * kMs);
        const double before = pie.drop_prob();
        const Verdict verdict = pie.enqueue(ms * kMs, {100, 0, 100 * kBytes}, true);
        if (verdict == Verdict::mark) {
            EXPECT_LT(before, 0.1);
            marked++;
        }
        dropped += verdict == Verdict::drop;
    }
    EXPECT_GT(dropped, 1000);
    EXPECT_EQ(PieQueue({}, place()).enqueue(0, {100, 0, 100 * kBytes}, true), Verdict::pass);
}

}  // namespace
}  // namespace ww::sim::test::of_pie
