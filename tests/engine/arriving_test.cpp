// SPDX-License-Identifier: BSD-3-Clause
//
// Connections that arrive give the results of separate flows, and records taken during a run those
// taken at its end.

#include "../fuzz/difference.hpp"
#include "engine/traffic/arrivals.hpp"
#include "one_link.hpp"

namespace ww::sim::test {
namespace {

// Losses, a bulk flow each way, and many short transfers of two controls, one of which paces.
Network many_transfers() {
    Network network = one_link(20'000'000, 5 * kMs, 20 * kSecond);
    Link& link = network.links[0];
    for (Direction* way : {&link.forward, &link.backward}) {
        way->queue_packets = 50;
        way->loss = Uniform{0.01};
    }
    for (const ww_protocol protocol :
         {WW_PROTOCOL_NEWRENO, WW_PROTOCOL_CUBIC, WW_PROTOCOL_BBR, WW_PROTOCOL_WESTWOOD_PLUS}) {
        Flow& flow = network.flows.emplace_back();
        flow.cc = ww_configure(protocol);
        flow.recovery = Recovery::sack;
        const bool arrives = protocol == WW_PROTOCOL_CUBIC || protocol == WW_PROTOCOL_BBR;
        flow.from = protocol == WW_PROTOCOL_WESTWOOD_PLUS ? 1 : 0;
        flow.to = 1 - flow.from;
        if (!arrives) continue;
        flow.arrivals_mean = 15 * kMs;
        flow.size_bytes = 9000;
        flow.size_spread = Spread::exponential;
    }
    return network;
}

// The same with a separate flow for each transfer, which keeps its memory to the end.
Network one_by_one(const Network& network, std::uint64_t seed) {
    Network same = network;
    same.flows.clear();
    const Connections all = connections_of(network, seed);
    for (std::uint32_t i = 0; i < all.source.size(); i++)
        same.flows.push_back(all.flow(network, i));
    return same;
}

void expect_same(const FlowCounts& a, const FlowCounts& b, std::size_t i) {
#define WW_ROW(type, name, ...) EXPECT_TRUE(fuzz::same(a.name, b.name)) << #name << " of " << i;
    WW_FLOW_COLUMNS(WW_ROW)
#undef WW_ROW
}

TEST(Arriving, ReusedMemoryChangesNothing) {
    const Network network = many_transfers();
    for (std::uint64_t seed = 1; seed <= 3; seed++) {
        const Outcome reused = sim::run(network, seed),
                      kept = sim::run(one_by_one(network, seed), seed);
        ASSERT_GT(reused.connections.size(), 2000u);
        ASSERT_EQ(reused.connections.size(), kept.connections.size());
        for (std::size_t i = 0; i < reused.connections.size(); i++)
            expect_same(reused.connections[i], kept.connections[i], i);
        EXPECT_EQ(reused.packets, kept.packets);
    }
}

// Recording windows or events alone gives the rows of both, also in reused memory.
TEST(Arriving, EachKindOfRecordIsTheSameAlone) {
    Network network = many_transfers();
    network.trace.windows = network.trace.events = true;
    const Records both = sim::run(network, 1).records;
    network.trace.events = false;
    const Records windows = sim::run(network, 1).records;
    network.trace.events = true;
    network.trace.windows = false;
    const Records events = sim::run(network, 1).records;
    EXPECT_TRUE(windows.windows_of == both.windows_of);
    EXPECT_TRUE(windows.windows.time_s == both.windows.time_s);
    EXPECT_TRUE(events.events_of == both.events_of);
}

// A source that sends twice what the link carries, so that channels run ahead of the end.
Network overloaded(Time duration) {
    Network network = one_link(6'000'000, 10 * kMs, duration);
    network.links[0].forward.queue_packets = 1'000'000;
    network.flows.push_back(datagrams(12'000'000));
    network.trace.capture_link = 0;
    return network;
}

// Keeps everything it is given, in order.
struct Keeper : Sink {
    Records all;
    int times = 0;
    Time latest = 0;  // of the captured packets

    template <class T>
    static void add(std::vector<T>& to, const std::vector<T>& from) {
        to.insert(to.end(), from.begin(), from.end());
    }
    void take(Records more) override {
        times++;
        add(all.windows.time_s, more.windows.time_s);
        add(all.windows.cwnd, more.windows.cwnd);
        add(all.windows_of, more.windows_of);
        add(all.events, more.events);
        add(all.events_of, more.events_of);
        add(all.drops, more.drops);
        add(all.queues_of, more.queues_of);
        for (const Captured& packet : more.captured) {
            EXPECT_GE(packet.at, latest) << "a packet came behind one that was later";
            latest = packet.at;
        }
        add(all.captured, more.captured);
    }
};

TEST(Sink, ReceivesWhatTheRunWouldHaveKept) {
    Network network = many_transfers();
    network.trace.windows = network.trace.events = network.trace.queues = true;
    network.trace.capture_link = 0;
    for (const bool event_per_hop : {false, true}) {
        network.event_per_hop = event_per_hop;
        Keeper keeper;
        const Outcome outcome = sim::run(network, 1, &keeper);
        const Records kept = sim::run(network, 1).records;
        EXPECT_GT(keeper.times, 2);
        EXPECT_EQ(keeper.times, outcome.events / (1u << 14) + 1) << "a piece each 16384 events";
        EXPECT_EQ(keeper.all.windows.time_s, kept.windows.time_s);
        EXPECT_EQ(keeper.all.windows.cwnd, kept.windows.cwnd);
        EXPECT_EQ(keeper.all.windows_of, kept.windows_of);
        EXPECT_EQ(keeper.all.events_of, kept.events_of);
        EXPECT_EQ(keeper.all.queues_of.size(), kept.queues_of.size());
        EXPECT_TRUE(fuzz::same(keeper.all.drops, kept.drops));
        EXPECT_TRUE(fuzz::same(keeper.all.captured, kept.captured));
    }
}

// The last piece has no packet from after the end, wherever pieces are cut.
TEST(Sink, ReceivesNoPacketFromAfterTheEnd) {
    for (Time ms = 16'300; ms < 16'500; ms++) {
        const Network network = overloaded(ms * kMs);
        Keeper keeper;
        run(network, 1, &keeper);
        ASSERT_EQ(keeper.all.captured.size(), run(network, 1).records.captured.size()) << ms;
    }
}

}  // namespace
}  // namespace ww::sim::test
