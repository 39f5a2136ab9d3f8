// SPDX-License-Identifier: BSD-3-Clause
//
// Random networks, and what must hold for any topology, traffic and loss.
#include "engine/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

#include "blocks.hpp"
#include "engine/recovery.hpp"
#include "one_link.hpp"
#include "units.hpp"

namespace ww::sim::test {
namespace {

class Draw {
  public:
    explicit Draw(std::uint64_t seed) : random_(seed) {}
    std::uint32_t upto(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % (n + 1)); }
    bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }
    double between(double a, double b) {
        return std::uniform_real_distribution<double>(a, b)(random_);
    }

  private:
    std::mt19937_64 random_;
};

Loss any_loss(Draw& draw) {
    const std::uint32_t kind = draw.upto(5);
    const double rate = draw.between(0, draw.chance(0.2) ? 0.3 : 0.05);
    const auto state = [&](double sure) { return draw.chance(0.3) ? sure : draw.between(0, 0.1); };
    switch (kind) {
    case 1:
        return Uniform{rate};
    case 2:
        return LossList{{3, 5, 6, 7, 100}};
    case 3: {
        const Time good = (1 + draw.upto(4000)) * kMs, bad = (1 + draw.upto(4000)) * kMs;
        return Markov{good, bad, state(0), state(1), draw.chance(0.5) ? kFixed : kExponential};
    }
    case 4:
        return Gilbert{draw.between(0, 0.02), draw.between(0.2, 1), state(0), state(1)};
    case 5:
        return Bits{rate * 1e-4};
    default:
        return {};
    }
}

std::vector<std::uint64_t> any_opportunities(Draw& draw) {
    std::vector<std::uint64_t> times;
    std::uint64_t time = draw.upto(3);
    for (std::uint32_t i = draw.upto(200); i > 0; i--) times.push_back(time += draw.upto(10));
    times.push_back(time + 1);
    return times;
}

Direction any_direction(Draw& draw) {
    Direction d;
    d.rate_bps = static_cast<std::int64_t>(draw.between(2e5, 2e7));
    d.delay = static_cast<Time>(draw.between(0, 60)) * kMs + draw.upto(999999);
    if (draw.chance(0.6)) d.queue_packets = 1 + draw.upto(60);
    if (draw.chance(0.3)) d.queue_bytes = 2000 + draw.upto(60000);
    if (draw.chance(0.5)) d.loss = any_loss(draw);
    if (draw.chance(0.15)) {
        d.queue_kind = QueueKind::red;
        d.red.min_packets = draw.between(0, 10);
        d.red.max_packets = d.red.min_packets + draw.between(1, 20);
        d.red.gentle = draw.chance(0.5);
        d.red.ecn = draw.chance(0.5);
    }
    if (draw.chance(0.1)) {
        d.opportunities_ms = any_opportunities(draw);
    } else if (d.queue_kind == QueueKind::droptail && draw.chance(0.15)) {
        d.queue_kind = QueueKind::codel;
        d.codel.target = (1 + draw.upto(20)) * kMs;
        d.codel.interval = (10 + draw.upto(200)) * kMs;
        d.codel.ecn = draw.chance(0.5);
    } else if (d.queue_kind == QueueKind::droptail && draw.chance(0.15)) {
        d.queue_kind = QueueKind::pie;
        d.pie.target = (1 + draw.upto(20)) * kMs;
        d.pie.max_burst = draw.upto(200) * kMs;
        d.pie.ecn = draw.chance(0.5);
    } else if (d.queue_kind == QueueKind::droptail && draw.chance(0.15)) {
        d.queue_kind = QueueKind::dualpi2;
        d.dualpi2.target = (1 + draw.upto(20)) * kMs;
    } else if (d.queue_kind == QueueKind::droptail && draw.chance(0.15)) {
        d.queue_kind = QueueKind::fq_codel;
        d.fq_codel.quantum_bytes = 300 + draw.upto(2000);
        d.fq_codel.flows = 1 + draw.upto(8);
        d.fq_codel.ecn = draw.chance(0.5);
    }
    if (draw.chance(0.1)) d.jitter = draw.upto(20) * kMs;
    if (draw.chance(0.1)) {
        d.reorder_rate = draw.between(0, 0.1);
        d.reorder_delay = draw.upto(50) * kMs;
    }
    return d;
}

Link any_link(Draw& draw, std::uint32_t a, std::uint32_t b) {
    return {a, b, draw.upto(20), any_direction(draw), any_direction(draw)};
}

Flow any_flow(Draw& draw, std::uint32_t nodes) {
    Flow f;
    f.from = draw.upto(nodes - 1);
    f.to = (f.from + 1 + draw.upto(nodes - 2)) % nodes;
    f.cc = ww_configure(static_cast<ww_protocol>(draw.upto(WW_PROTOCOL_COUNT - 1)));
    f.cc.byte_counting = draw.chance(0.3);
    f.cc.validate_cwnd = draw.chance(0.5);
    f.recovery = static_cast<Recovery>(draw.upto(WW_RECOVERY_ANY - 1));
    f.ecn = draw.chance(0.3);
    f.start = draw.upto(3000) * kMs;
    if (draw.chance(0.2)) f.stop = f.start + draw.upto(9000) * kMs;
    if (draw.chance(0.4)) f.size_bytes = 1 + draw.upto(300000);
    f.packet_bytes = 100 + draw.upto(1360) + 40;
    f.initial_cwnd = 1 + draw.upto(9);
    f.receive_window_bytes = f.mss() * (1 + draw.upto(200));
    f.delayed_ack = 1 + draw.upto(7);
    f.limited_transmit = draw.chance(0.5);
    f.flight_excludes_sacked = draw.chance(0.5);
    f.ssthresh_from_cwnd = f.mss() % 2 == 0;
    f.min_rto = draw.chance(0.5) ? kSecond : 200 * kMs;
    if (uses_sack(f.recovery)) {
        f.rack = draw.chance(0.6);
        f.frto = draw.chance(0.5);
        f.undo = draw.chance(0.5);
        f.timestamps = draw.chance(0.5);
        if (f.timestamps) f.header_bytes = kStampedHeader;
    }
    if (draw.chance(0.2)) {
        f.datagrams.on = true;
        f.datagrams.rate_bps = 1000 + draw.upto(2'000'000);
        f.datagrams.on_mean = (1 + draw.upto(2000)) * kMs;
        f.datagrams.off_mean = draw.upto(2000) * kMs;
        f.datagrams.spread = static_cast<Spread>(draw.upto(1));
        f.datagrams.spacing = static_cast<Spread>(draw.upto(1));
    } else if (f.size_bytes != kUnlimited && draw.chance(0.5)) {
        f.arrivals_mean = (100 + draw.upto(2000)) * kMs;
        f.size_spread = static_cast<Spread>(draw.upto(1));
    }
    return f;
}

// Draws chains, stars (a dumbbell when two hubs meet) and random trees: the parent of node i is below i.
Network any_network(std::uint64_t seed) {
    Draw draw(seed);
    Network network;
    network.nodes = 2 + draw.upto(6);
    const std::uint32_t shape = draw.upto(2);
    for (std::uint32_t i = 1; i < network.nodes; i++) {
        const std::uint32_t parent = shape == 0   ? i - 1
                                     : shape == 1 ? std::min(i - 1, i % 2)
                                                  : draw.upto(i - 1);
        network.links.push_back(any_link(draw, parent, i));
    }
    const std::uint32_t flows = 1 + draw.upto(7);
    for (std::uint32_t i = 0; i < flows; i++)
        network.flows.push_back(any_flow(draw, network.nodes));
    network.duration = 15 * kSecond;
    network.trace.windows = network.trace.events = true;
    network.trace.queues = draw.chance(0.3);
    if (draw.chance(0.3))
        network.trace.capture_link =
            draw.upto(static_cast<std::uint32_t>(network.links.size()) - 1);
    return network;
}

template <class T>
bool same(T a, T b) {  // NaN: there is none in either
    return a == b || (a != a && b != b);
}
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
    const auto each = [](T x, T y) { return same(x, y); };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), each);
}

bool same_events(const std::vector<Event>& a, const std::vector<Event>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); i++)
        if (a[i].time_s != b[i].time_s || a[i].kind != b[i].kind || a[i].segment != b[i].segment ||
            a[i].cwnd != b[i].cwnd || a[i].ssthresh != b[i].ssthresh)
            return false;
    return true;
}

void expect_same(const Result& a, const Result& b, const std::string& what) {
    ASSERT_EQ(a.error, b.error) << what;
    ASSERT_EQ(a.flows.size(), b.flows.size()) << what;
    EXPECT_EQ(a.packets, b.packets) << what;
    for (std::size_t i = 0; i < a.flows.size(); i++) {
        const FlowResult &x = a.flows[i], &y = b.flows[i];
#define WW_SAME(type, name, ...) EXPECT_TRUE(same(x.name, y.name)) << what << ": " #name;
        WW_FLOW_COLUMNS(WW_SAME)
#undef WW_SAME
#define WW_SAME(type, name, ...) \
    EXPECT_TRUE(same(x.trace.name, y.trace.name)) << what << ": " #name;
        WW_WINDOW_COLUMNS(WW_SAME)
#undef WW_SAME
        EXPECT_TRUE(same_events(x.events, y.events)) << what;
    }
    const auto expect_same_ways = [&](const DirectionResult& x, const DirectionResult& y) {
#define WW_SAME(type, name, ...) EXPECT_TRUE(same(x.name, y.name)) << what << ": " #name;
        WW_DIRECTION_COLUMNS(WW_SAME)
#undef WW_SAME
#define WW_SAME(type, name, ...) \
    EXPECT_TRUE(same(x.trace.name, y.trace.name)) << what << ": " #name;
        WW_QUEUE_COLUMNS(WW_SAME)
#undef WW_SAME
#define WW_SAME(type, name, ...) \
    EXPECT_TRUE(same(x.states.name, y.states.name)) << what << ": " #name;
        WW_STATE_COLUMNS(WW_SAME)
#undef WW_SAME
    };
    for (std::size_t i = 0; i < a.forward.size(); i++) {
        expect_same_ways(a.forward[i], b.forward[i]);
        expect_same_ways(a.backward[i], b.backward[i]);
    }
    ASSERT_EQ(a.drops.size(), b.drops.size()) << what;
    for (std::size_t i = 0; i < a.drops.size(); i++)
        EXPECT_EQ(a.drops[i].time_s, b.drops[i].time_s) << what;
    ASSERT_EQ(a.captured.size(), b.captured.size()) << what;
    for (std::size_t i = 0; i < a.captured.size(); i++)
        EXPECT_EQ(a.captured[i].at, b.captured[i].at) << what;
}

class AnyOf15Networks : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Engine, AnyOf15Networks, testing::Range<std::uint64_t>(0, kBlocks));

TEST_P(AnyOf15Networks, RunsTheSameWithOneEventPerHop) {
    for (std::uint64_t seed = 15 * GetParam() + 1; seed <= 15 * GetParam() + 15; seed++) {
        Network network = any_network(seed);
        const Result inlined = simulate(network, seed);
        ASSERT_EQ(inlined.error, "");
        network.event_per_hop = true;
        expect_same(inlined, simulate(network, seed), "network " + std::to_string(seed));
    }
}

TEST(AnyNetwork, RunsTheSameTwiceAndConcurrently) {
    std::vector<Result> first(40), second(40);
    const auto run = [](std::vector<Result>& into, std::size_t from) {
        for (std::size_t i = from; i < into.size(); i += 2)
            into[i] = simulate(any_network(i + 1), i);
    };
    run(first, 0);
    run(first, 1);
    std::thread left(run, std::ref(second), 0), other(run, std::ref(second), 1);
    left.join();
    other.join();
    for (std::size_t i = 0; i < first.size(); i++)
        expect_same(first[i], second[i], "network " + std::to_string(i + 1));
}

TEST(AnyNetwork, DeliversWhatItSentAndNoMore) {
    for (std::uint64_t seed = 200; seed <= 350; seed++) {
        const Network network = any_network(seed);
        const Result result = simulate(network, seed);
        for (std::size_t i = 0; i < result.flows.size(); i++) {
            const FlowResult& flow = result.flows[i];
            const Flow& input = network.flows[flow.source];
            if (input.datagrams.on) {
                EXPECT_LE(flow.delivered_bytes, flow.sent * input.mss());
                EXPECT_TRUE(flow.events.empty());
                continue;
            }
            std::uint64_t fresh = 0, again = 0, timeouts = 0;
            std::int64_t acknowledged = 0;
            for (const Event& event : flow.events) {
                fresh += event.kind == EventKind::send;
                again += event.kind == EventKind::retransmit;
                timeouts += event.kind == EventKind::timeout;
                if (event.kind == EventKind::ack) acknowledged = event.segment;
                ASSERT_GE(event.cwnd, 1u);
            }
            EXPECT_EQ(flow.sent, fresh + again);
            EXPECT_EQ(flow.retransmitted, again);
            EXPECT_EQ(flow.timeouts, timeouts);
            EXPECT_LE(flow.delivered_bytes, fresh * input.mss());
            const std::uint64_t mss = input.mss();
            const std::uint64_t least = static_cast<std::uint64_t>(acknowledged) * mss;
            EXPECT_LT(least, flow.delivered_bytes + mss) << "an ACK for data that never arrived";
            if (input.size_bytes != kUnlimited && input.arrivals_mean == 0) {
                EXPECT_LE(flow.delivered_bytes, static_cast<std::uint64_t>(input.size_bytes));
            }
        }
    }
}

TEST(AnyNetwork, CompletesATransferToTheByteWhateverTheRecovery) {
    for (std::uint64_t seed = 400; seed <= 480; seed++) {
        Network network = any_network(seed);
        network.duration = 40'000 * kSecond;  // Karn's rule may keep a backed-off timer for long
        for (Flow& flow : network.flows) {
            flow.stop = kNever;
            flow.datagrams.on = false;
            flow.arrivals_mean = 0;
            flow.size_bytes = 1 + static_cast<std::int64_t>(seed) * 137 % 50000;
        }
        for (Link& link : network.links) {
            for (Direction* d : {&link.forward, &link.backward}) {
                if (Uniform* const uniform = std::get_if<Uniform>(&d->loss))
                    uniform->rate = std::min(uniform->rate, 0.1);
                if (Markov* const markov = std::get_if<Markov>(&d->loss))
                    markov->bad = std::min(markov->bad, markov->good);
                d->queue_bytes = kUnlimited;
            }
        }
        const Result result = simulate(network, seed);
        for (std::size_t i = 0; i < result.flows.size(); i++) {
            EXPECT_EQ(result.flows[i].delivered_bytes,
                      static_cast<std::uint64_t>(network.flows[i].size_bytes))
                << "network " << seed << " flow " << i;
            EXPECT_GT(result.flows[i].completed_s, 0);
        }
    }
}

Network lone_flow(Recovery recovery, double loss, Time duration) {
    Flow flow = bulk();
    flow.packet_bytes = 360 + 40;
    flow.recovery = recovery;
    flow.receive_window_bytes = 65535;
    Network network = one_link(2'000'000, 45 * kMs, duration, {flow});
    network.links[0].forward.loss = Uniform{loss};
    return network;
}

TEST(LoneFlow, NeverStalls) {
    for (int recovery = 0; recovery < 4; recovery++) {
        std::uint64_t before = 0;
        for (int period = 1; period <= 6; period++) {
            const Time duration = period * 100 * kSecond;
            const Result result =
                simulate(lone_flow(static_cast<Recovery>(recovery), 0.05, duration), 7);
            EXPECT_GT(result.flows[0].delivered_bytes, before + 100000) << recovery;
            before = result.flows[0].delivered_bytes;
        }
    }
}

TEST(LoneFlow, DecidesTheSameWhereverItsSequenceNumbersBegin) {  // RFC 9293, 3.4: they wrap
    for (int recovery = 0; recovery < 4; recovery++) {
        Network network = lone_flow(static_cast<Recovery>(recovery), 0.01, 60 * kSecond);
        network.trace.events = true;
        network.flows[0].random_isn = false;
        const Result zero = simulate(network, 3);
        for (const std::uint32_t isn : {UINT32_MAX - 5000, UINT32_MAX, UINT32_C(0x7fffff00)}) {
            network.flows[0].isn = isn;
            EXPECT_TRUE(same_events(zero.flows[0].events, simulate(network, 3).flows[0].events))
                << isn;
        }
    }
}

TEST(LoneFlow, PassesFourGibibytes) {
    Network network = lone_flow(Recovery::sack, 1e-7, 5 * kSecond);
    for (Direction* d : {&network.links[0].forward, &network.links[0].backward})
        d->rate_bps = 10'000'000'000, d->delay = kMs, d->queue_packets = 20000;
    network.flows[0].packet_bytes = 9000;
    network.flows[0].receive_window_bytes = 1 << 27;
    const FlowResult flow = simulate(network, 1).flows[0];
    EXPECT_GT(flow.delivered_bytes, UINT64_C(5'000'000'000));
    EXPECT_EQ(flow.delivered_bytes % 8960, 0u);
}

TEST(LoneFlow, CostsNoMoreThanTwoEventsForThreeSegments) {
    const Result result = simulate(lone_flow(Recovery::newreno, 0.005, 600 * kSecond), 1);
    EXPECT_LT(static_cast<double>(result.events), 0.66 * static_cast<double>(result.flows[0].sent));
}

}  // namespace
}  // namespace ww::sim::test
