// SPDX-License-Identifier: BSD-3-Clause
//
// A packet's cost without a clock: events and allocations. `make bench` measures speed.
#include <atomic>
#include <cstdlib>
#include <new>

#include "one_link.hpp"

namespace {
std::atomic<std::uint64_t> allocations{0};
}

// All other forms of new end here. Inlined, gcc would report a mismatch of new and free.
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

TEST(Cost, ALoneFlowTakesAtMostTwoEventsForThreePackets) {
    for (const Recovery recovery : {Recovery::newreno, Recovery::reno, Recovery::tahoe}) {
        const Result result = result_of(table_1(recovery, 1, 0.005, 600 * kSecond));
        EXPECT_GT(result.flows[0].sent, 50'000u);
        EXPECT_LE(static_cast<double>(result.events),
                  0.65 * static_cast<double>(result.flows[0].sent));
    }
}

TEST(Cost, EventsPerPacketDoNotGrowWithTheFlows) {
    const auto events_per_packet = [](std::uint32_t flows) {
        const Result result = result_of(table_1(Recovery::newreno, flows, 0.005, 60 * kSecond));
        std::uint64_t sent = 0;
        for (const FlowResult& flow : result.flows) sent += flow.sent;
        return static_cast<double>(result.events) / static_cast<double>(sent);
    };
    const double ten = events_per_packet(10);
    EXPECT_LT(ten, 2.5);  // one at the access link's far end, and one for the ACK at the sender
    EXPECT_LT(events_per_packet(50), 1.1 * ten);
}

std::uint64_t allocations_of(Recovery recovery, std::uint32_t flows, Time duration) {
    const Network network = table_1(recovery, flows, 0.005, duration);
    const std::uint64_t before = allocations;
    result_of(network);
    return allocations - before;
}

// Rings double, and vectors keep their memory. A run twice as long may see a longer queue or one
// more hole, but allocates nothing per packet.
TEST(Cost, NoAllocationInSteadyState) {
    for (const Recovery r : {Recovery::tahoe, Recovery::reno, Recovery::newreno, Recovery::sack,
                             Recovery::rate_halving, Recovery::prr}) {
        for (const std::uint32_t flows : {1u, 10u}) {
            const std::uint64_t shorter = allocations_of(r, flows, 100 * kSecond);
            const std::uint64_t longer = allocations_of(r, flows, 200 * kSecond);
            EXPECT_GT(shorter, 10u) << "the counter counts";
            EXPECT_LE(longer, shorter + 2 + flows) << static_cast<int>(r);
        }
    }
}

}  // namespace
}  // namespace ww::sim::test
