// SPDX-License-Identifier: BSD-3-Clause
//
// DualPI2 by Appendix A of RFC 9332: against its pseudocode, and alone.
#include "engine/link/queue/dualpi2.hpp"

#include <array>
#include <deque>
#include <optional>
#include <random>

#include "engine/link/held_packets.hpp"
#include "one_link.hpp"

namespace ww::sim::test::of_dualpi2 {
namespace {

const Place kPlace{[](std::uint32_t) { return kMs; }, Random(1, Stream::queue, 0)};

enum class Ecn : std::uint16_t { not_ect = 0, ect0 = kEct, ect1 = kEct | kEct1, ce = kEct | kCe };
constexpr Ecn kAll[] = {Ecn::not_ect, Ecn::ect0, Ecn::ect1, Ecn::ce};

struct Sent {
    int number;
    bool is_marked;
    bool operator==(const Sent&) const = default;
};

// Figures 2, 3, 5, 7 and 8 in doubles, with queues of their own. The caller calls update(). The scheduler is weighted
// round robin: over the bytes that leave while both queues have packets, the Classic queue has its weight.
class Pseudocode {
  public:
    struct Packet {
        int number;
        Ecn ecn;
        double arrival;
        double bytes;
    };
    struct Queue {
        std::deque<Packet> packets;
        double count = 0;
        double time(double now) const {
            return packets.empty() ? 0 : now - packets.front().arrival;
        }
    };
    double k = 2, target = 0.015, rtt_max = 0.1, min_th = 800e-6, range = 400e-6, weight = 1. / 16;
    std::size_t th_len = 1;
    int drops = 0;

    void enqueue(const Packet& packet) {
        const int bits = packet.ecn == Ecn::ect1   ? 1
                         : packet.ecn == Ecn::ce   ? 3
                         : packet.ecn == Ecn::ect0 ? 2
                                                   : 0;
        (bits % 2 == 1 ? lq : cq).packets.push_back(packet);
    }
    std::optional<Sent> dequeue(double now) {
        while (!lq.packets.empty() || !cq.packets.empty()) {
            const bool both = !lq.packets.empty() && !cq.packets.empty();
            if (both ? credit <= 0 : cq.packets.empty()) {
                const Packet pkt = take(lq);
                bool mark = pkt.ecn == Ecn::ce;
                if (p_CL() < 1) {
                    const double native = lq.packets.size() > th_len ? laqm(now - pkt.arrival) : 0;
                    mark |= recur(lq, std::max(native, p_CL()));
                } else {
                    if (recur(lq, p * p)) {
                        drops++;
                        continue;
                    }
                    mark |= recur(lq, 1);
                }
                pay(both, pkt, now, weight);
                return Sent{pkt.number, mark};
            }
            const Packet pkt = take(cq);
            bool mark = false;
            if (recur(cq, p * p)) {
                if (pkt.ecn == Ecn::not_ect || p * p >= std::min(1 / (k * k), 1.)) {
                    drops++;
                    continue;
                }
                mark = true;
            }
            pay(both, pkt, now, weight - 1);
            return Sent{pkt.number, mark};
        }
        return {};
    }
    void update(double now) {
        const double tupdate = std::min(target, rtt_max / 3);
        const double curq = std::max(cq.time(now), lq.time(now));
        p += 0.1 * tupdate / (rtt_max * rtt_max) * (curq - target) + 0.3 / rtt_max * (curq - prevq);
        p = std::min(std::max(p, 0.0), 1.0);
        prevq = curq;
    }
    bool is_empty() const { return lq.packets.empty() && cq.packets.empty(); }

    Queue lq, cq;
    double p = 0, prevq = 0, credit = 0;

  private:
    double p_CL() const { return k * p; }
    double laqm(double delay) const {
        if (delay >= min_th + range) return 1;
        return delay > min_th ? (delay - min_th) / range : 0;
    }
    static bool recur(Queue& q, double likelihood) {
        q.count += likelihood;
        if (q.count <= 1) return false;
        q.count -= 1;
        return true;
    }
    static Packet take(Queue& q) {
        const Packet packet = q.packets.front();
        q.packets.pop_front();
        return packet;
    }
    void pay(bool both, const Packet& packet, double now, double share) {
        if (both)
            credit += share * packet.bytes;
        else if (packet.arrival == now)
            credit = 0;
    }
};

// A queue whose packets leave when the test asks.
class Bench {
  public:
    explicit Bench(const DualPi2& settings) : dualpi2(settings, kPlace) {}

    void arrive(Time now, int number, Ecn ecn, std::uint32_t bytes) {
        HeldPacket held;
        held.packet.number = static_cast<std::uint32_t>(number);
        held.packet.flags = static_cast<std::uint16_t>(ecn);
        held.arrival = now;
        held.ip_bytes = bytes;
        ASSERT_EQ(dualpi2.enqueue(now, {held_.size(), now}, false), Verdict::pass);
        held_.push(held, dualpi2.line_of({0, is_l4s(held.packet.flags)}));
    }
    std::optional<Sent> leave(Time now) {
        while (!held_.empty()) {
            const std::uint32_t line = dualpi2.next_line(now, held_);
            const Verdict verdict = dualpi2.dequeue(now, held_.head(line));
            const Packet packet = held_.pop(line).packet;
            if (verdict == Verdict::drop) {
                drops++;
                continue;
            }
            marks[line] += verdict == Verdict::mark;
            return Sent{static_cast<int>(packet.number),
                        verdict == Verdict::mark || (packet.flags & kCe) != 0};
        }
        return {};
    }
    // Lets packets of one kind wait for a time, until the base probability has reached a value.
    void raise(Time& now, double prob) {
        for (; dualpi2.base_prob() < prob; now += kMs) {
            arrive(now - 60 * kMs, 0, Ecn::not_ect, 1500);
            leave(now);
        }
    }

    DualPi2Queue dualpi2;
    int drops = 0;
    std::array<int, 2> marks{};

  private:
    HeldPackets held_{100'000, kUnlimited, 0, 2};
};

// Packets with all four ECN fields are passed, marked or dropped exactly when the pseudocode says so.
TEST(DualPi2, DecidesAsThePseudocode) {
    int drops = 0, classic_marks = 0, l4s_marks = 0;
    for (std::uint32_t seed = 1; seed <= 24; seed++) {
        std::mt19937 bits(seed);
        DualPi2 settings;
        Pseudocode reference;
        if (seed % 3 == 0) {
            settings.coupling = 1 + seed % 4;
            settings.l4s_range = 0;  // a step
            reference.range = 0;
            settings.l4s_spared = 3;
            reference.k = settings.coupling;
            reference.th_len = 3;
        }
        Bench bench(settings);
        const auto l4s_share = static_cast<std::uint32_t>(bits() % 101);
        int first = 0;  // ms; the first packet starts the timer
        for (int ms = 1; ms < 20'000; ms++) {
            const Time now = ms * kMs;
            if (first > 0 && ms > first && (ms - first) % 15 == 0) reference.update(ms * 1e-3);
            if (!reference.is_empty()) {
                ASSERT_EQ(bench.leave(now), reference.dequeue(ms * 1e-3)) << seed << ' ' << ms;
            }
            const std::uint32_t load =
                (seed * 37 + static_cast<std::uint32_t>(ms / 1000) * 61) % 150;
            for (int i = 0; i < 2; i++) {
                if (bits() % 200 >= load) continue;
                if (first == 0) first = ms;
                const Ecn ecn = kAll[bits() % 2 + (bits() % 100 < l4s_share ? 2 : 0)];
                const auto bytes = static_cast<std::uint32_t>(100 + bits() % 1400);
                reference.enqueue({2 * ms + i, ecn, ms * 1e-3, static_cast<double>(bytes)});
                bench.arrive(now, 2 * ms + i, ecn, bytes);
            }
        }
        EXPECT_EQ(bench.drops, reference.drops);
        drops += bench.drops;
        classic_marks += bench.marks[DualPi2Queue::kClassic];
        l4s_marks += bench.marks[DualPi2Queue::kL4s];
    }
    EXPECT_GT(drops, 1000);
    EXPECT_GT(classic_marks, 1000);
    EXPECT_GT(l4s_marks, 1000);
}

TEST(DualPi2, ChoosesPacketsEvenly) {  // recur: as many as p_C says
    DualPi2 settings;
    settings.coupling = 1;
    Bench bench(settings);
    Time now = kSecond;
    bench.raise(now, 0.5);
    const double likelihood = bench.dualpi2.base_prob() * bench.dualpi2.base_prob();
    for (int i = 0; i < 1000; i++) bench.arrive(now, i, Ecn::ect0, 1500);
    while (bench.leave(now)) continue;
    EXPECT_NEAR(bench.marks[DualPi2Queue::kClassic], 1000 * likelihood, 1);
}

// The coupling: of L4S packets that do not wait, k p' are marked, and of Classic ones p'^2.
TEST(DualPi2, MarksL4sPacketsByTheCoupledProbability) {
    for (const std::uint32_t coupling : {1u, 2u, 4u}) {
        DualPi2 settings;
        settings.coupling = coupling;
        Bench bench(settings);
        Time now = kSecond;
        bench.raise(now, 0.1);
        const double base = bench.dualpi2.base_prob();
        bench.marks = {};
        bench.drops = 0;
        for (int i = 0; i < 10'000; i++) {
            bench.arrive(now, i, i % 2 == 0 ? Ecn::ect1 : Ecn::not_ect, 1500);
            bench.leave(now);
        }
        EXPECT_NEAR(bench.marks[DualPi2Queue::kL4s], 5000 * coupling * base, 1.5);
        EXPECT_NEAR(bench.drops, 5000 * base * base, 1.5);
    }
}

// laqm: a ramp from minTh to minTh + range, or a step, for queues of more than Th_len packets.
TEST(DualPi2, MarksL4sPacketsByTheirDelay) {
    const auto marked = [](const DualPi2& settings, Time delay, int behind) {
        Bench bench(settings);
        int marks = 0;
        for (int i = 0; i < 1000; i++) {
            const Time now = (i + 1) * 20 * kMs;
            for (int number = 0; number <= behind; number++)
                bench.arrive(now - delay, i, Ecn::ect1, 100);
            const auto before = bench.marks[DualPi2Queue::kL4s];
            bench.leave(now);
            marks += bench.marks[DualPi2Queue::kL4s] - before;
            while (bench.leave(now)) continue;
        }
        return marks / 1000.0;
    };
    const DualPi2 ramp;
    EXPECT_EQ(marked(ramp, 800 * kMicrosecond, 2), 0);
    EXPECT_NEAR(marked(ramp, 1000 * kMicrosecond, 2), 0.5, 0.002);
    EXPECT_NEAR(marked(ramp, 1200 * kMicrosecond, 2), 1, 0.002);
    EXPECT_EQ(marked(ramp, 1200 * kMicrosecond, 1), 0);
    DualPi2 step;
    step.l4s_range = 0;
    step.l4s_spared = 0;
    EXPECT_EQ(marked(step, 799 * kMicrosecond, 1), 0);
    EXPECT_NEAR(marked(step, 800 * kMicrosecond, 1), 1, 0.002);
}

// A.2: while both queues have packets, the Classic one has its share of the bytes, whatever their sizes.
TEST(DualPi2, TheClassicQueueHasItsShare) {
    for (const double share : {1. / 16, 0.5}) {
        DualPi2 settings;
        settings.classic_share = share;
        Bench bench(settings);
        for (int i = 0; i < 20'000; i++)
            bench.arrive(kMs, i, i % 2 == 0 ? Ecn::ect1 : Ecn::not_ect, i % 2 == 0 ? 200 : 1500);
        double classic = 0, all = 0;
        for (int i = 0; i < 9'000; i++) {
            const bool is_l4s = bench.leave(kMs)->number % 2 == 0;
            classic += is_l4s ? 0 : 1500;
            all += is_l4s ? 200 : 1500;
        }
        EXPECT_NEAR(classic / all, share, 2000 / all);
    }
}

// A.1: the credit is "reset in favour of the L queue when the link is idle".
TEST(DualPi2, AnIdleLinkServesTheL4sQueueFirst) {
    for (const bool idles : {false, true}) {
        Bench bench({});
        bench.arrive(kMs, 1, Ecn::ect1,
                     1500);  // sends with a Classic packet waiting: the next is Classic
        bench.arrive(kMs, 2, Ecn::ect0, 1500);
        EXPECT_EQ(bench.leave(2 * kMs)->number, 1);
        EXPECT_EQ(bench.leave(3 * kMs)->number, 2);
        if (idles) {
            bench.arrive(9 * kMs, 3, Ecn::ect0, 1500);
            EXPECT_EQ(bench.leave(9 * kMs)->number, 3);
        }
        bench.arrive(10 * kMs, 4, Ecn::ect0, 1500);
        bench.arrive(10 * kMs, 5, Ecn::ect1, 1500);
        EXPECT_EQ(bench.leave(11 * kMs)->number, idles ? 5 : 4);
    }
}

// p_Cmax: from a probability of 1 / k^2 ECN-capable packets are dropped as well, in both queues.
TEST(DualPi2, DropsEcnCapablePacketsWhenOverloaded) {
    for (const Ecn ecn : {Ecn::ect0, Ecn::ect1}) {
        for (const std::uint32_t coupling : {1u, 2u, 4u}) {
            DualPi2 settings;
            settings.coupling = coupling;
            Bench bench(settings);
            double last_mark = 0, first_drop = 1;
            for (int ms = 100; ms < 2000; ms++) {
                bench.arrive(ms * kMs - 60 * kMs, ms, ecn, 1500);
                const int drops = bench.drops;
                const auto sent = bench.leave(ms * kMs);
                const double likelihood = bench.dualpi2.base_prob() * bench.dualpi2.base_prob();
                if (sent && sent->is_marked) last_mark = likelihood;
                if (bench.drops > drops) first_drop = std::min(first_drop, likelihood);
            }
            EXPECT_GT(last_mark, 0);
            if (ecn == Ecn::ect0) {
                EXPECT_LT(last_mark, 1.0 / (coupling * coupling));
            }
            EXPECT_GE(first_drop, 1.0 / (coupling * coupling));
        }
    }
}

// 8c to 8i of Figure 7: in overload p_C of the L4S packets are dropped, and the others are marked.
TEST(DualPi2, OverloadDropsL4sPacketsAsClassicOnes) {
    Bench bench({});
    Time now = kSecond;
    bench.raise(now, 0.6);
    bench.drops = 0;
    const double likelihood = bench.dualpi2.base_prob() * bench.dualpi2.base_prob();
    for (int i = 0; i < 10'000; i++) {
        bench.arrive(now, i, Ecn::ect1, 1500);
        bench.leave(now);
    }
    EXPECT_NEAR(bench.drops, 10'000 * likelihood, 2);
    EXPECT_NEAR(bench.marks[DualPi2Queue::kL4s], 10'000 * (1 - likelihood), 2);
}

// update: the probability falls to 0 while the queues are empty, however long that lasts.
TEST(DualPi2, ForgetsWhileIdle) {
    Bench bench({});
    Time now = kSecond;
    bench.raise(now, 0.5);
    now = 26 * 24 * kHour;
    bench.arrive(now, 1, Ecn::ect0, 1500);
    bench.leave(now);
    EXPECT_EQ(bench.dualpi2.base_prob(), 0);
}

}  // namespace
}  // namespace ww::sim::test::of_dualpi2
