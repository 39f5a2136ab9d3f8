// SPDX-License-Identifier: GPL-2.0-only
//
// linux/path/model.hpp is the same network as the simulator's: datagrams that enter at the simulator's times have
// the same fate at the same time, with any model of loss and delay.
#include "linux/path/model.hpp"

#include "engine/traffic/datagrams.hpp"
#include "linux/path/host.hpp"
#include "packets.hpp"

namespace ww::path::test {
namespace {

constexpr std::uint64_t kSeed = 7;
constexpr std::uint32_t kHeader = 28;  // IP and UDP

// Sends a datagram each millisecond for four seconds.
Network network_with(const std::function<void(Direction&)>& change) {
    Network network = sim::test::one_link(10'000'000, 20 * kMs, 4 * kSecond);
    change(network.links[0].forward);
    Flow flow = sim::test::datagrams(8'000'000);
    flow.packet_bytes = 1000;
    flow.header_bytes = kHeader;
    network.flows.push_back(flow);
    network.trace.queues = true;
    return network;
}

struct Emulated {
    std::vector<Drop> drops;
    DirectionResult forward;
    std::vector<Time> arrivals;
    Counts counts;
};

Emulated emulate(const Network& network) {
    const Topology topology(network);
    Model model(network, topology, kSeed);
    Emulated seen;
    const auto deliver = [&](std::uint32_t node, std::span<const std::uint8_t>, Time at) {
        EXPECT_EQ(node, 1u);
        seen.arrivals.push_back(at);
    };
    DatagramSource source(network.flows[0], kSeed, 0, network.duration);
    const Bytes bytes = udp(source_address(0), sink_address(0), network.flows[0].mss());
    for (Time at = source.next(0); at <= network.duration; at = source.next(at)) {
        model.run(at, deliver);
        std::copy(bytes.begin(), bytes.end(), model.room().begin());
        model.enter(at, 0, bytes.size());
    }
    model.run(network.duration, deliver);
    seen.drops = model.drops();
    seen.counts = model.counts(0);
    seen.forward = model.finish()[0];
    return seen;
}

using Fate = std::tuple<double, std::uint32_t, DropKind>;

// Sorts the drops: one side reports them in order of entry, the other as soon as they are certain.
std::vector<Fate> fates(const std::vector<Drop>& drops, Time duration) {
    std::vector<Fate> all;
    for (const Drop& drop : drops)
        if (drop.time_s <= seconds(duration))
            all.emplace_back(drop.time_s, drop.channel, drop.kind);
    std::sort(all.begin(), all.end());
    return all;
}

struct Change {
    const char* name;
    void (*change)(Direction&);
};

void fall_behind(Direction& d) {
    d.rate_bps = 4'000'000;
    d.queue_packets = kUnlimited;
    d.queue_bytes = 20'000;
}
void drop_early(Direction& d) {
    d.rate_bps = 7'000'000;
    d.queue_kind = QueueKind::red;
    d.red.min_packets = 5;
    d.red.max_packets = 30;
}
void mix_up(Direction& d) {
    d.jitter = 5 * kMs;
    d.reorder_rate = 0.1;
    d.reorder_delay = 10 * kMs;
    d.loss = Uniform{0.01};
}
const Markov kFading{200 * kMs, 50 * kMs, 0.001, 0.4};
const Blackout kDark{900 * kMs, 100 * kMs};

const Change kChanges[] = {
    {"none", [](Direction&) {}},
    {"uniform", [](Direction& d) { d.loss = Uniform{0.05}; }},
    {"bits", [](Direction& d) { d.loss = Bits{5e-6}; }},
    {"script",
     [](Direction& d) {
         d.loss.emplace<LossList>().packets = {1, 2, 500, 3999};
     }},
    {"markov", [](Direction& d) { d.loss = kFading; }},
    {"blackout", [](Direction& d) { d.loss = kDark; }},
    {"queue", [](Direction& d) { d.rate_bps = 4'000'000; }},
    {"bytes", fall_behind},
    {"red", drop_early},
    {"jitter", mix_up},
};

class PathModel : public ::testing::TestWithParam<Change> {};

TEST_P(PathModel, DoesWhatTheSimulatorDoes) {
    const Network network = network_with(GetParam().change);
    const Result result = sim::test::result_of(network, kSeed);
    const Emulated seen = emulate(network);
    const auto theirs = fates(result.drops, network.duration);
    EXPECT_EQ(fates(seen.drops, network.duration), theirs);
    EXPECT_EQ(seen.forward.packets, result.forward[0].packets);
    EXPECT_EQ(seen.forward.queue_drops, result.forward[0].queue_drops);
    EXPECT_EQ(seen.counts.ip_bytes_at_sink, result.flows[0].ip_bytes_at_sink);
    EXPECT_GT(seen.arrivals.size(), 500u);
    EXPECT_EQ(theirs.empty(), std::string(GetParam().name) == "none");
}

INSTANTIATE_TEST_SUITE_P(EveryLoss, PathModel, ::testing::ValuesIn(kChanges),
                         [](const auto& info) { return info.param.name; });

// A packet of 1000 B takes 0.8 ms at 10 Mb/s, plus the wire's delay.
TEST(PathModelTimes, AreTheLinksNotTheClocks) {
    const Network network = network_with([](Direction&) {});
    const Emulated seen = emulate(network);
    for (std::size_t i = 0; i < seen.arrivals.size(); i++)
        EXPECT_EQ(seen.arrivals[i], static_cast<Time>(i + 1) * kMs + 800 * kMicrosecond + 20 * kMs);
}

class OfTheFlows : public Emulation {
  protected:
    OfTheFlows() : Emulation(network_with([](Direction&) {}), Packets::of_flows) {}
};

TEST_F(OfTheFlows, APacketOfNoFlowIsCountedAndDropped) {
    enter(0, 0, udp(source_address(1), sink_address(1), 10));  // there is no second flow
    enter(0, 1, udp(source_address(0), sink_address(0), 10));  // from the wrong host
    enter(0, 0, {0x60, 0, 0, 0});
    EXPECT_EQ(model().strangers(), 3u);
    EXPECT_EQ(model().next(), kNever);
}

}  // namespace
}  // namespace ww::path::test
