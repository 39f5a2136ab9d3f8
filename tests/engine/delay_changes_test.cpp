// SPDX-License-Identifier: BSD-3-Clause
//
// Compares delays that change with their definition: the delay of the last change before a packet was sent.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/link/delays.hpp"
#include "engine/network.hpp"
#include "one_link.hpp"
#include "units.hpp"

namespace ww::sim::test {
namespace {

// Returns the delay at `sent`, by a search through the whole list.
Time delay_at(const DelayChanges& changes, Time base, Time sent) {
    const auto last_until = [&](Time time, Time before) {
        Time delay = before;
        for (std::size_t i = 0; i < changes.at.size(); i++)
            if (changes.at[i] <= time) delay = changes.delays[i];
        return delay;
    };
    if (changes.period == 0 || sent < changes.period) return last_until(sent, base);
    return last_until(sent % changes.period, changes.delays.back());
}

TEST(DelayChanges, APacketHasTheDelayOfTheMomentAtWhichItIsSent) {
    ChangingDelay delay({{kSecond, 2 * kSecond}, {50 * kMs, 20 * kMs}, 0}, 30 * kMs);
    const auto arrival_of = [&](Time sent) { return delay.arrival(sent + 30 * kMs) - sent; };
    EXPECT_EQ(arrival_of(kSecond - 1), 30 * kMs);
    EXPECT_EQ(arrival_of(kSecond), 50 * kMs);
    EXPECT_EQ(arrival_of(2 * kSecond - 1), 50 * kMs);
    EXPECT_EQ(arrival_of(2 * kSecond), 50 * kMs - 1) << "it does not overtake the one before";
    EXPECT_EQ(arrival_of(1000 * kSecond), 20 * kMs) << "the last change holds until the end";
}

TEST(DelayChanges, FollowTheirListThroughPeriodsAndSilences) {
    std::mt19937_64 random(5);
    for (int run = 0; run < 300; run++) {
        DelayChanges changes;
        Time time = static_cast<Time>(random() % 3) * kMs;
        for (std::uint64_t i = 1 + random() % 6; i > 0;
             i--, time += static_cast<Time>(random() % 50) * kMs) {
            changes.at.push_back(time);
            changes.delays.push_back(static_cast<Time>(random() % 80) * kMs);
        }
        if (run % 3 != 0)
            changes.period = changes.at.back() + static_cast<Time>(1 + random() % 40) * kMs;
        const Time base = static_cast<Time>(random() % 60) * kMs;
        ChangingDelay delay(changes, base);
        Time sent = 0, last = 0;
        for (int i = 0; i < 400; i++) {
            sent += static_cast<Time>(random() % (i % 50 == 0 ? 3000 : 20)) * kMs;
            last = std::max(last, sent + delay_at(changes, base, sent));
            ASSERT_EQ(delay.arrival(sent + base), last) << run << " " << i;
        }
    }
}

// A handover from 20 ms to 50 ms one way at 5 s adds 60 ms to the round trip.
TEST(DelayChanges, OfBothDirectionsChangeTheBaseRoundTrip) {
    Flow flow = bulk();
    flow.delayed_ack = 1;
    flow.receive_window_bytes = 20 * 1460;  // no queue
    Network network = one_link(1'000'000'000, 20 * kMs, 10 * kSecond, {flow});
    network.trace.windows = true;
    Link& link = network.links[0];
    for (Direction* d : {&link.forward, &link.backward})
        d->delay_changes = {{5 * kSecond}, {50 * kMs}, 0};
    const Result result = simulate(network, 1);
    ASSERT_EQ(result.error, "");
    const WindowTrace& trace = result.flows[0].trace;
    double before = 0, after = 0;
    for (std::size_t i = 0; i < trace.time_s.size(); i++)
        (trace.time_s[i] < 5.0 ? before : after) = trace.rtt_s[i];
    EXPECT_NEAR(before, 0.040, 0.001);
    EXPECT_NEAR(after, 0.100, 0.001);
}

}  // namespace
}  // namespace ww::sim::test
