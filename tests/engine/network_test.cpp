// SPDX-License-Identifier: BSD-3-Clause
//
// Random networks, and what must hold for any topology, traffic and loss.
#include <thread>

#include "../fuzz/any_network.hpp"
#include "../fuzz/difference.hpp"
#include "blocks.hpp"
#include "one_link.hpp"

namespace ww::sim::test {
namespace {

class AnyOf15Networks : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Engine, AnyOf15Networks, testing::Range<std::uint64_t>(0, kBlocks));

TEST_P(AnyOf15Networks, RunsTheSameWithOneEventPerHop) {
    for (std::uint64_t seed = 15 * GetParam() + 1; seed <= 15 * GetParam() + 15; seed++) {
        Network network = fuzz::any_network(seed);
        network.trace.windows = network.trace.events = true;
        const Result inlined = result_of(network, seed);
        network.event_per_hop = true;
        EXPECT_EQ(fuzz::difference(inlined, simulate(network, seed)), "") << "network " << seed;
    }
}

TEST_P(AnyOf15Networks, RunsTheSameWhateverItRecords) {
    for (std::uint64_t seed = 15 * GetParam() + 1; seed <= 15 * GetParam() + 15; seed++) {
        Network network = fuzz::any_network(seed);
        network.trace = {};
        const Result plain = result_of(network, seed);
        network.trace = {.windows = true, .events = true, .queues = true, .capture_link = 0};
        Result traced = simulate(network, seed);
        for (FlowResult& flow : traced.flows) flow.trace = {}, flow.events.clear();
        for (const auto ways : {&Result::forward, &Result::backward})
            for (DirectionResult& way : traced.*ways) way.trace = {}, way.states = {};
        traced.drops.clear(), traced.captured.clear();
        EXPECT_EQ(fuzz::difference(plain, traced), "") << "network " << seed;
    }
}

TEST(AnyNetwork, RunsTheSameTwiceAndConcurrently) {
    std::vector<Result> first(40), second(40);
    const auto run = [](std::vector<Result>& into, std::size_t from) {
        for (std::size_t i = from; i < into.size(); i += 2)
            into[i] = simulate(fuzz::any_network(i + 1), i);
    };
    run(first, 0);
    run(first, 1);
    std::thread left(run, std::ref(second), 0), other(run, std::ref(second), 1);
    left.join();
    other.join();
    for (std::size_t i = 0; i < first.size(); i++)
        EXPECT_EQ(fuzz::difference(first[i], second[i]), "") << "network " << i + 1;
}

TEST(AnyNetwork, CompletesATransferToTheByteWhateverTheRecovery) {
    for (std::uint64_t seed = 400; seed <= 480; seed++) {
        Network network = fuzz::any_network(seed);
        network.duration = 40'000 * kSecond;  // Karn's rule may keep a backed-off timer for long
        for (Flow& flow : network.flows) {
            flow.stop = kNever;
            flow.datagrams.on = false;
            flow.arrivals_mean = 0;
            flow.application = {};
            flow.optimistic_acks = 0;
            flow.size_bytes = 1 + static_cast<std::int64_t>(seed) * 137 % 50000;
        }
        for (Link& link : network.links) {
            for (Direction* d : {&link.forward, &link.backward}) {
                if (Uniform* const uniform = std::get_if<Uniform>(&d->loss))
                    uniform->rate = std::min(uniform->rate, 0.1);
                if (Markov* const markov = std::get_if<Markov>(&d->loss))
                    markov->bad = std::min(markov->bad, markov->good), markov->good_rate *= 0.1;
                if (Gilbert* const gilbert = std::get_if<Gilbert>(&d->loss))
                    gilbert->r = std::max(gilbert->r, 0.2);
                d->queue_bytes = d->queue_packets = kUnlimited;
                d->policer.reset();
            }
        }
        const Result result = result_of(network, seed);
        for (std::size_t i = 0; i < result.flows.size(); i++) {
            EXPECT_EQ(result.flows[i].delivered_bytes,
                      static_cast<std::uint64_t>(network.flows[i].size_bytes))
                << "network " << seed << " flow " << i;
            EXPECT_GT(result.flows[i].completed_s, 0);
        }
    }
}

TEST(LoneFlow, DecidesTheSameWhereverItsSequenceNumbersBegin) {  // RFC 9293, 3.4: they wrap
    for (int recovery = 0; recovery < 4; recovery++) {
        Network network = table_1(static_cast<Recovery>(recovery), 1, 0.01, 60 * kSecond);
        network.trace.events = true;
        network.flows[0].random_isn = false;
        const Result zero = simulate(network, 3);
        for (const std::uint32_t isn : {UINT32_MAX - 5000, UINT32_MAX, UINT32_C(0x7fffff00)}) {
            network.flows[0].isn = isn;
            EXPECT_EQ(fuzz::difference(zero, simulate(network, 3)), "") << isn;
        }
    }
}

TEST(LoneFlow, PassesFourGibibytes) {
    Flow flow_of_jumbos = tcp(WW_PROTOCOL_SACK);
    flow_of_jumbos.packet_bytes = 9000;
    flow_of_jumbos.receive_window_bytes = 1 << 27;
    Network network = one_link(10'000'000'000, kMs, 5 * kSecond, {flow_of_jumbos});
    network.links[0].forward.queue_packets = 20000;
    network.links[0].forward.loss = Uniform{1e-7};
    const FlowResult flow = simulate(network, 1).flows[0];
    EXPECT_GT(flow.delivered_bytes, UINT64_C(5'000'000'000));
    EXPECT_EQ(flow.delivered_bytes % 8960, 0u);
}

}  // namespace
}  // namespace ww::sim::test
