// SPDX-License-Identifier: BSD-3-Clause
//
// COBALT and CAKE by the clauses of their files, and FQ-PIE: alone, and in a network.
#include "engine/link/queue/cake.hpp"

#include <map>

#include "engine/link/held_packets.hpp"
#include "engine/link/queue/fq_pie.hpp"
#include "one_link.hpp"

namespace ww::sim::test::of_cake {
namespace {

const Random kRandom(1, Stream::queue, 0);
constexpr Time kTarget = 5 * kMs, kInterval = 100 * kMs;

// The packet at the head, of a queue of ten, that has waited for `wait`.
Head waited(Time now, Time wait, bool is_ecn_capable = false, std::uint32_t behind = 9) {
    return {now - wait, behind * 1500, is_ecn_capable, 1500, 0, behind};
}

// Returns when packets are signalled that leave each millisecond and have waited for `wait`.
std::vector<Time> signals(Cobalt& cobalt, Time begin, Time end, Time wait) {
    std::vector<Time> times;
    for (Time now = begin; now < end; now += kMs)
        if (cobalt.dequeue(now, waited(now, wait)) == Verdict::drop) times.push_back(now);
    return times;
}

TEST(Cobalt, SignalsFollowEachOtherByTheControlLaw) {
    Cobalt cobalt(kTarget, kInterval, 0, kRandom);
    EXPECT_TRUE(signals(cobalt, 0, kSecond, kTarget).empty());
    const std::vector<Time> times = signals(cobalt, kSecond, 2 * kSecond, kTarget + 1);
    EXPECT_EQ(times.at(0), kSecond + kMs);  // the first gap is 0
    double due = seconds(times.at(0)) - 1e-3;
    for (std::size_t i = 1; i < times.size(); i++) {
        due += 0.1 / std::sqrt(static_cast<double>(i + 1));
        EXPECT_NEAR(seconds(times[i]), due, 1.001e-3) << i;
    }
    EXPECT_GT(times.size(), 25u);
}

TEST(Cobalt, CountFallsAsItGrewAndALaterSignalWaitsForAnInterval) {
    Cobalt cobalt(kTarget, kInterval, 0, kRandom);
    signals(cobalt, 0, kSecond, kTarget + 1);
    const std::uint32_t most = cobalt.count();
    EXPECT_TRUE(signals(cobalt, kSecond, kSecond + 200 * kMs, kTarget).empty());
    EXPECT_LT(cobalt.count(), most);
    EXPECT_GT(cobalt.count(), most / 2);
    EXPECT_TRUE(signals(cobalt, kSecond + 200 * kMs, 4 * kSecond, 0).empty());
    EXPECT_EQ(cobalt.count(), 0u);
    EXPECT_FALSE(cobalt.rests(4 * kSecond));
    Cobalt idle = cobalt;
    EXPECT_TRUE(idle.rests(5 * kSecond));
    EXPECT_EQ(signals(cobalt, 4 * kSecond, 5 * kSecond, kTarget + 1).at(0),
              4 * kSecond + kInterval);
    EXPECT_EQ(signals(idle, 5 * kSecond, 6 * kSecond, kTarget + 1).at(0), 5 * kSecond + kMs);
}

TEST(Cobalt, MarksWhereItCanAndSparesTheLastPacketAndASlowShaper) {
    for (const bool is_last : {false, true}) {
        Cobalt cobalt(kTarget, kInterval, 0, kRandom);
        std::map<Verdict, int> counts;
        for (Time now = 0; now < kSecond; now += kMs)
            counts[cobalt.dequeue(
                now, waited(now, kTarget + 1, now % (2 * kMs) == 0, is_last ? 0 : 9))]++;
        EXPECT_GT(counts[Verdict::mark], 5);
        EXPECT_EQ(counts[Verdict::drop] > 5, !is_last);
    }
    Cobalt slow(kTarget, kInterval, 10 * kMs, kRandom);
    EXPECT_TRUE(signals(slow, 0, kSecond, 40 * kMs).empty());
    EXPECT_FALSE(signals(slow, kSecond, 2 * kSecond, 40 * kMs + 1).empty());
}

TEST(Cobalt, BlueDropsMoreWhileTheBufferIsFullAndLessWhileTheQueueIsEmpty) {
    Cobalt cobalt(kTarget, kInterval, 0, kRandom);
    for (Time now = 0; now < kSecond; now += kMs) cobalt.shed(now);
    EXPECT_NEAR(cobalt.drop_prob(), 167 / 256.0, 1e-9);  // once in six milliseconds
    std::map<Verdict, int> counts;
    for (int i = 0; i < 1000; i++) counts[cobalt.dequeue(kSecond, waited(kSecond, 0, true))]++;
    EXPECT_NEAR(counts[Verdict::drop], 652, 50);
    const double before = cobalt.drop_prob();
    for (Time now = kSecond; now < 2 * kSecond; now += kMs) EXPECT_FALSE(cobalt.rests(now));
    EXPECT_NEAR(before - cobalt.drop_prob(), 167 / 4096.0, 2.0 / 4096);
}

// A queue whose packets leave when the test asks.
class Bench {
  public:
    explicit Bench(const Cake& settings = {})
        : cake_(settings, {[](std::uint32_t) { return kMs; }, kRandom}),
          held_(100'000, kUnlimited, 0, cake_.lines()) {}

    std::uint32_t arrive(const Joining& from, int count = 1, std::uint32_t bytes = 1500) {
        HeldPacket packet;
        packet.packet.flow = static_cast<std::uint32_t>(from.flow);
        packet.ip_bytes = bytes;
        packet.arrival = now_;
        const std::uint32_t line = cake_.line_of(from);
        for (; count > 0; count--) {
            cake_.enqueue(now_, {held_.size(), 0, held_.ip_bytes(line), line}, false);
            cake_.join(line);
            held_.push(packet, line);
        }
        return line;
    }
    // Returns the packets that leave, by flow.
    std::map<std::uint32_t, int> leave(int count = 1) {
        std::map<std::uint32_t, int> flows;
        for (; count > 0; count--) {
            now_ = std::max(now_, cake_.opens());
            const std::uint32_t line = cake_.next_line(now_, held_);
            EXPECT_EQ(cake_.dequeue(now_, held_.head(line)), Verdict::pass);
            flows[held_.pop(line).packet.flow]++;
        }
        return flows;
    }
    Time now_ = 0;

  private:
    CakeQueue cake_;
    HeldPackets held_;
};

Cake patient() {
    Cake settings;
    settings.target = settings.interval = kHour;  // COBALT signals nothing
    return settings;
}

TEST(Cake, AHostGetsItsShareWhateverTheNumberOfItsFlows) {
    for (const bool is_fair : {true, false}) {
        Cake settings = patient();
        settings.hosts = is_fair;
        Bench queue(settings);
        for (std::uint32_t flow = 0; flow < 5; flow++)
            queue.arrive({flow, false, flow == 0 ? 1u : 2u, 3}, 3000);
        queue.leave(100);
        const int left = queue.leave(3000)[0];
        // All five go to one sink: its load makes all quanta equal. So only sources differ below.
        EXPECT_NEAR(left, 600, 30) << is_fair;
        Bench apart(settings);
        for (std::uint32_t flow = 0; flow < 5; flow++)
            apart.arrive({flow, false, flow == 0 ? 1u : 2u, 3 + flow}, 3000);
        apart.leave(100);
        EXPECT_NEAR(apart.leave(3000)[0], is_fair ? 1500 : 600, 40);
    }
}

TEST(Cake, AFlowThatComesBackIsNew) {
    Bench queue(patient());
    queue.arrive({1}, 100);
    queue.leave(5);
    for (int i = 0; i < 20; i++) {
        queue.arrive({2});
        EXPECT_EQ(queue.leave()[2], 1) << i;
        queue.leave(2);  // flow 2 is found empty, and leaves
    }
}

TEST(Cake, EightFlowsOfOneSetHaveQueuesOfTheirOwn) {
    Bench queue(patient());
    std::map<std::uint32_t, int> flows_of_line;
    for (std::uint32_t flow = 0; flow < 300; flow++) flows_of_line[queue.arrive({flow})]++;
    EXPECT_EQ(flows_of_line.size(), 300u);  // without the sets 40 flows collide
}

TEST(Cake, TheShaperSpacesPacketsByTheirFramedSizeWithoutBursts) {
    Cake settings = patient();
    settings.bandwidth_bps = 8'000'000;  // a byte in a microsecond
    settings.overhead_bytes = 38;
    settings.mpu_bytes = 84;
    Bench queue(settings);
    queue.arrive({1}, 10);
    queue.leave(10);
    EXPECT_EQ(queue.now_, 9 * 1538 * kMicrosecond);
    queue.now_ = kSecond;
    queue.arrive({1}, 3, 40);
    queue.leave(3);
    EXPECT_EQ(queue.now_, kSecond + 2 * 84 * kMicrosecond);
}

Result shared(QueueKind kind, std::vector<Flow> flows, std::int64_t bandwidth_bps = 0,
              std::int64_t packets = 1000) {
    Network network =
        managed_link(kind, 10'000'000, 20 * kMs, 20 * kSecond, std::move(flows), packets);
    network.links[0].forward.cake.bandwidth_bps = bandwidth_bps;
    return result_of(network);
}

TEST(Cake, ItsShaperKeepsTheLinkBelowItsRateAndItsFlowsAreEqual) {
    const Result result =
        shared(QueueKind::cake, {datagrams(12'000'000), datagrams(8'000'000)}, 9'000'000);
    EXPECT_NEAR(result.forward[0].utilisation, 0.9, 0.002);
    const double first = static_cast<double>(result.flows[0].delivered_bytes);
    EXPECT_NEAR(static_cast<double>(result.flows[1].delivered_bytes) / first, 1, 0.01);
}

TEST(Cake, AFullBufferDropsFromTheFloodAndBlueFollows) {
    const Result result =
        shared(QueueKind::cake, {datagrams(20'000'000), datagrams(1'000'000)}, 0, 50);
    EXPECT_EQ(result.flows[1].queue_drops, 0u);
    EXPECT_GT(result.flows[0].queue_drops, 10'000u);
    // Without BLUE the full buffer drops nearly all of them.
    EXPECT_GT(result.forward[0].early_drops, result.flows[0].queue_drops / 4);
}

TEST(FqPie, DropsFromTheFlowThatExceedsItsShareAndHoldsItsDelay) {
    const Result result = shared(QueueKind::fq_pie, {datagrams(12'000'000), datagrams(1'000'000)});
    EXPECT_EQ(result.flows[1].queue_drops, 0u);
    EXPECT_NEAR(static_cast<double>(result.flows[0].queue_drops) /
                    static_cast<double>(result.flows[0].sent),
                0.25, 0.04);
    EXPECT_NEAR(result.forward[0].waited_s / static_cast<double>(result.forward[0].packets), 0.015,
                0.006);
}

// RFC 8033, 5.4: at a probability of 0.1 at least 8 packets pass between drops, and at most 85.
TEST(FqPie, SpacesDrops) {
    for (const bool is_spaced : {true, false}) {
        Pie settings;
        settings.spaced = is_spaced;
        settings.max_burst = 0;
        PieQueue pie(settings, {[](std::uint32_t) { return kMs; }, kRandom});
        Time now = 0;
        for (; pie.drop_prob() < 0.09; now += kMs)
            pie.dequeue(now, {now - 40 * kMs, 15'000, false});
        int gap = 0, least = 1000;
        for (int i = 0; i < 20'000; i++, gap++) {
            if (pie.enqueue(now, {100, 0, 150'000}, false) != Verdict::drop) continue;
            least = std::min(least, gap);
            gap = 0;
        }
        EXPECT_EQ(least >= 7, is_spaced) << least;
    }
}

TEST(FqPie, IsSteepAboveAQuarterOfASecond) {
    const auto grown = [](bool is_steep, Time delay) {
        Pie settings;
        settings.steep = is_steep;
        PieQueue pie(settings, {[](std::uint32_t) { return kMs; }, kRandom});
        for (Time now = 0; now < 150 * kMs; now += kMs)
            pie.dequeue(now, {now - delay, 15'000, false});
        return pie.drop_prob();
    };
    EXPECT_GT(grown(true, 251 * kMs), grown(false, 251 * kMs) + 9 * 0.02);
    EXPECT_EQ(grown(true, 250 * kMs), grown(false, 250 * kMs));
}

}  // namespace
}  // namespace ww::sim::test::of_cake
