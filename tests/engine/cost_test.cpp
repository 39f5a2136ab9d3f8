// SPDX-License-Identifier: BSD-3-Clause
//
// A packet's cost without a clock: entries into the event loop, and allocations. `make bench`
// measures speed.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "engine/network.hpp"

namespace {
std::atomic<std::uint64_t> allocations{0};
}

// All other forms of new end here. If this were inlined, gcc would report a mismatch of new and
// free.
[[gnu::noinline]] void* operator new(std::size_t size) {
    allocations++;
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
    allocations++;
    const auto step = static_cast<std::size_t>(alignment);
    if (void* memory = std::aligned_alloc(step, (size + step - 1) / step * step)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    allocations++;
    return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}

namespace ww::sim::test {
namespace {

// The path of Table 1 of the 2013 ns-3 paper: 10 Mb/s and 45 ms, then 2 Mb/s and 0.01 ms; 400-byte
// packets.
Network table_1(Recovery recovery, std::uint32_t flows) {
    Network network;
    network.nodes = 2 + flows;  // the sink, the router, the sources
    Direction bottleneck;
    bottleneck.rate_bps = 2'000'000 * static_cast<std::int64_t>(flows);
    bottleneck.delay = 10 * kMicrosecond;
    bottleneck.queue_packets = 100;
    Direction lossy = bottleneck;
    lossy.loss = Uniform{0.005};
    network.links.push_back({1, 0, 0, lossy, bottleneck});
    for (std::uint32_t i = 0; i < flows; i++) {
        Direction access;
        access.rate_bps = 10'000'000;
        access.delay = 45'000 * kMicrosecond;
        network.links.push_back({2 + i, 1, 0, access, access});
        Flow flow;
        flow.from = 2 + i;
        flow.to = 0;
        flow.cc = ww_configure(WW_PROTOCOL_WESTWOOD_PLUS);
        flow.cc.byte_counting = false;
        flow.recovery = recovery;
        flow.packet_bytes = 360 + 40;
        flow.receive_window_bytes = 65535;
        network.flows.push_back(flow);
    }
    network.duration = 600 * kSecond;
    return network;
}

TEST(Cost, ALoneFlowTakesAtMostTwoEventsForThreePackets) {
    for (const Recovery recovery : {Recovery::newreno, Recovery::reno, Recovery::tahoe}) {
        const Result result = simulate(table_1(recovery, 1), 1);
        ASSERT_EQ(result.error, "");
        EXPECT_GT(result.flows[0].sent, 50'000u);
        EXPECT_LE(static_cast<double>(result.events),
                  0.65 * static_cast<double>(result.flows[0].sent));
    }
}

TEST(Cost, EventsPerPacketDoNotGrowWithTheFlows) {
    const auto events_per_packet = [](std::uint32_t flows) {
        Network network = table_1(Recovery::newreno, flows);
        network.duration = 60 * kSecond;
        const Result result = simulate(network, 1);
        std::uint64_t sent = 0;
        for (const FlowResult& flow : result.flows) sent += flow.sent;
        return static_cast<double>(result.events) / static_cast<double>(sent);
    };
    const double ten = events_per_packet(10);
    EXPECT_LT(ten, 2.5);  // one at the access link's far end, and one for the ACK at the sender
    EXPECT_LT(events_per_packet(50), 1.1 * ten);
}

std::uint64_t allocations_of(Network network, Time duration) {
    network.duration = duration;
    const std::uint64_t before = allocations;
    EXPECT_EQ(simulate(network, 1).error, "");
    return allocations - before;
}

// Rings double, and vectors keep their memory. A run twice as long may see a longer queue or one
// more hole, but allocates nothing per packet.
TEST(Cost, NoAllocationInSteadyState) {
    for (const Recovery r : {Recovery::tahoe, Recovery::reno, Recovery::newreno, Recovery::sack,
                             Recovery::rate_halving, Recovery::prr}) {
        for (const std::uint32_t flows : {1u, 10u}) {
            const Network network = table_1(r, flows);
            const std::uint64_t shorter = allocations_of(network, 100 * kSecond);
            const std::uint64_t longer = allocations_of(network, 200 * kSecond);
            EXPECT_GT(shorter, 10u) << "the counter counts";
            EXPECT_LE(longer, shorter + 2 + flows) << static_cast<int>(r);
        }
    }
}

}  // namespace
}  // namespace ww::sim::test
