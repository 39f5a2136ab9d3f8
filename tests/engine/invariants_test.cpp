// SPDX-License-Identifier: BSD-3-Clause
//
// In thousands of random networks, each run must conserve packets and stay within its time.
#include "../fuzz/invariants.hpp"

#include "../fuzz/any_network.hpp"
#include "blocks.hpp"
#include "one_link.hpp"

namespace ww::sim::test {
namespace {

void expect_sound(const Network& network, std::uint64_t seed, const std::string& what) {
    const Result result = result_of(network, seed);
    const fuzz::Invariants seen(network, result);
    for (const std::string& problem : seen.broken()) ADD_FAILURE() << what << ": " << problem;
}

// Up to 3000 networks, in blocks that can run side by side.
class InvariantsOf300 : public testing::TestWithParam<std::uint64_t> {
  protected:
    const std::uint64_t first_ = 300 * GetParam() + 1, last_ = 300 * GetParam() + 300;
};
INSTANTIATE_TEST_SUITE_P(Engine, InvariantsOf300, testing::Range<std::uint64_t>(0, kBlocks));

TEST_P(InvariantsOf300, HoldForAnyNetwork) {
    for (std::uint64_t seed = first_; seed <= last_; seed++) {
        Network network = fuzz::any_network(seed);
        network.trace.queues = seed % 2 == 0;
        if (seed % 3 == 0) network.trace.windows = true, network.trace.interval = 0;
        expect_sound(network, seed, "network " + std::to_string(seed));
    }
}

// Extremes that no scenario has: runs of picoseconds and weeks, queues longer than any run.
class Extreme {
  public:
    explicit Extreme(std::uint64_t seed) : random_(seed) {}

    Network network() {
        Network network;
        network.nodes = 2 + upto(2);
        network.duration = chance(0.7) ? time(1e9, 1e14) : time(1, static_cast<double>(kLongest));
        for (std::uint32_t i = 1; i < network.nodes; i++)
            network.links.push_back({i - 1, i, upto(60), direction(), direction()});
        for (std::uint32_t i = 1 + upto(3); i > 0; i--)
            network.flows.push_back(flow(network.nodes, network.duration));
        network.trace.queues = chance(0.5);
        network.trace.events = chance(0.5);
        network.trace.capture_link = chance(0.3) ? 0 : -1;
        return network;
    }

  private:
    double unit() { return std::uniform_real_distribution<double>(0, 1)(random_); }
    bool chance(double p) { return unit() < p; }
    std::uint32_t upto(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % (n + 1)); }
    double between(double a, double b) { return a * std::pow(b / a, unit()); }  // log-uniform
    Time time(double a, double b) { return static_cast<Time>(between(a, b)); }

    Direction direction() {
        std::vector<std::uint8_t> bytes(200);
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random_());
        fuzz::Input input(bytes.data(), bytes.size());
        Direction d;
        fuzz::any_queue(input, d);
        d.rate_bps = static_cast<std::int64_t>(between(1e3, chance(0.5) ? 1e6 : 1e12));
        d.delay = chance(0.2) ? 0 : time(1, 1e13);
        if (chance(0.6)) d.queue_packets = static_cast<std::int64_t>(between(1, 1e9)) - 1;
        if (chance(0.3)) d.queue_bytes = static_cast<std::int64_t>(between(1, 1e12));
        if (chance(0.3)) d.loss = Uniform{unit() * unit()};
        d.red.min_packets = between(1, 1e3) - 1;
        d.red.max_packets = d.red.min_packets + between(1, 1e3);
        d.codel.target = d.pie.target = d.fq_codel.target = d.cake.target = time(1, 1e12);
        d.codel.interval = time(1, 1e13);
        d.pie.max_burst = time(1, 1e13) - 1;
        d.dualpi2.target = time(1e9, 1e12);
        d.dualpi2.max_rtt = time(1e9, 1e13);
        d.fq_codel.quantum_bytes = 1 + upto(65534);
        if (chance(0.2)) d.jitter = time(1, 1e13);
        if (chance(0.2)) d.reorder_rate = unit();
        d.reorder_delay = time(1, 1e13);
        return d;
    }

    Flow flow(std::uint32_t nodes, Time duration) {
        Flow f = tcp(static_cast<ww_protocol>(upto(WW_PROTOCOL_COUNT - 1)));
        f.from = upto(nodes - 1);
        f.to = (f.from + 1 + upto(nodes - 2)) % nodes;
        f.packet_bytes = static_cast<std::uint32_t>(between(64, 65535));
        f.initial_cwnd = static_cast<std::uint32_t>(between(1, 1000));
        f.receive_window_bytes = std::max(f.mss(), static_cast<std::uint32_t>(between(1e3, 1e7)));
        f.ecn = chance(0.3);
        f.start = chance(0.5) ? 0 : static_cast<Time>(unit() * 1.2 * static_cast<double>(duration));
        f.start = std::min(f.start, kLongest);
        if (chance(0.4))
            f.stop = f.start + static_cast<Time>(unit() * static_cast<double>(duration));
        f.stop = f.stop == kNever ? kNever : std::min(f.stop, kLongest);
        f.size_bytes = static_cast<std::int64_t>(between(1, 1e6));
        if (chance(0.5)) {
            constexpr double kMost = 5000;  // packets
            const double active_s = static_cast<double>(duration) / 1e12;
            const double most_bps = std::min(1e12, kMost * 8 * f.packet_bytes / active_s);
            f.size_bytes = kUnlimited;
            f.datagrams.on = true;
            f.datagrams.rate_bps = static_cast<std::int64_t>(between(1, std::max(2.0, most_bps)));
            f.datagrams.spacing = static_cast<Spread>(upto(1));
        } else if (chance(0.2)) {
            f.arrivals_mean = std::max<Time>(1, std::min(kLongest, duration / (1 + upto(50))));
        }
        return f;
    }

    std::mt19937_64 random_;
};

TEST_P(InvariantsOf300, HoldAtTheExtremes) {
    for (std::uint64_t seed = first_; seed <= last_; seed++)
        expect_sound(Extreme(seed).network(), seed, "extreme " + std::to_string(seed));
}

Network overloaded(std::int64_t rate_bps, std::int64_t queue, std::int64_t sent_bps, Time time) {
    Network network = one_link(rate_bps, 10 * kMs, time);
    network.links[0].forward.queue_packets = queue;
    network.flows = {datagrams(sent_bps)};
    network.trace.queues = true;
    return network;
}

TEST(Invariants, AQueueCountsUpToTheEndOfTheRun) {
    // A packet takes 12 ms, and one arrives every 6 ms: at 10 s half of them wait.
    const Result filling = simulate(overloaded(1'000'000, 1000, 2'000'000, 10 * kSecond), 1);
    EXPECT_NEAR(filling.forward[0].waited_s / 10, 416.2, 0.5);
    EXPECT_NEAR(filling.forward[0].longest_wait_s, 5, 0.02);
    const Network slow = overloaded(1000, 100, 1'000'000, 10 * kSecond);
    const DirectionResult row = simulate(slow, 1).forward[0];
    EXPECT_LE(row.waited_s / 10, 100);
    EXPECT_GT(row.waited_s / 10, 90);
    EXPECT_LE(row.longest_wait_s, 10);
    expect_sound(slow, 1, "1 kb/s");
}

TEST(Invariants, AQueueThatOutlastsAnyRunIsCountedInFull) {
    Network network = overloaded(1000, kUnlimited, 3'000'000'000, kSecond);  // 12 s per packet
    const Result result = simulate(network, 1);
    const DirectionResult& row = result.forward[0];
    EXPECT_EQ(row.packets, result.flows[0].sent);
    EXPECT_GT(row.packets, 200'000u) << "the last would leave after a month";
    EXPECT_NEAR(row.waited_s, static_cast<double>(row.packets) / 2, 10);
    expect_sound(network, 1, "unlimited");
    network.links[0].forward.queue_packets = 210'000;
    const DirectionResult limited = simulate(network, 1).forward[0];
    EXPECT_EQ(limited.packets, 210'001u) << "what waits and what is sent";
    expect_sound(network, 1, "limited");
}

TEST(Invariants, SumsOfWaitsDoNotWrap) {  // 9000 packets for 26 days exceeded the unit used before
    Network network = overloaded(1000, 20'000, 2000, kLongest);
    network.trace.queues = false;
    const DirectionResult row = simulate(network, 1).forward[0];
    const double seconds = static_cast<double>(kLongest) / 1e12;
    EXPECT_GT(row.waited_s / seconds, 15'000);
    EXPECT_LE(row.waited_s / seconds, 20'000);
}

TEST(Invariants, WhatArrivesAfterTheStopIsMeasuredUntilItArrives) {
    Network network = one_link(1'000'000, 10 * kMs, 10 * kSecond);
    Flow reno = tcp(WW_PROTOCOL_RENO);
    reno.initial_cwnd = 100;
    reno.stop = 30 * kMs;
    network.flows = {reno, datagrams(100'000'000)};
    network.flows[1].stop = 30 * kMs;
    for (const FlowResult& flow : simulate(network, 1).flows) {
        EXPECT_GT(flow.last_arrival_s, 0.1);
        EXPECT_LE(static_cast<double>(flow.ip_bytes_at_sink) * 8, 1e6 * flow.last_arrival_s);
    }
}

TEST(Invariants, TheSamplesIncludeTheHandshake) {
    Network network = one_link(100'000, 10 * kMs, 5 * kSecond);  // a SYN takes 3.2 ms, data 120 ms
    network.flows = {tcp(WW_PROTOCOL_RENO)};
    const FlowResult flow = simulate(network, 1).flows[0];
    EXPECT_NEAR(flow.min_rtt_s, 0.0264, 1e-9);
    EXPECT_LE(flow.min_rtt_s, flow.mean_srtt_s);
}

TEST(Invariants, ARepeatedSynDoesNotShortenTheRoundTrip) {
    Network network = one_link(1'000'000, 2 * kSecond, 60 * kSecond);
    Flow flow = tcp(WW_PROTOCOL_RENO);
    flow.header_bytes = kStampedHeader;
    flow.timestamps = flow.timed_syn = true;
    network.flows = {flow};
    EXPECT_GT(simulate(network, 1).flows[0].min_rtt_s, 4) << "the first SYN-ACK answers the first";
}

}  // namespace
}  // namespace ww::sim::test
