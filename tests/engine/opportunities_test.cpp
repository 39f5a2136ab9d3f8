// SPDX-License-Identifier: BSD-3-Clause
//
// Compares recorded rates with Mahimahi's link queue, written out opportunity by opportunity.
#include "engine/link/opportunities.hpp"

#include <deque>
#include <random>

#include "one_link.hpp"

namespace ww::sim::test {
namespace {

struct Arrival {
    Time at;
    std::int64_t bytes;
};

// Mahimahi's loop: each opportunity gives a budget of 1504 bytes to the waiting packets, in order.
// The rest of a packet waits for the next one; budget left with nothing waiting is lost.
std::vector<Time> departures(const std::vector<std::uint64_t>& trace,
                             const std::vector<Arrival>& arrivals) {
    std::vector<Time> left;
    std::deque<Arrival> waiting;
    std::size_t next = 0;
    for (Time base = 0; left.size() < arrivals.size();
         base += static_cast<Time>(trace.back()) * kMs) {
        for (const std::uint64_t ms : trace) {
            const Time now = base + static_cast<Time>(ms) * kMs;
            while (next < arrivals.size() && arrivals[next].at <= now)
                waiting.push_back(arrivals[next++]);
            std::int64_t budget = Opportunities::kBytes;
            while (!waiting.empty() && budget > 0) {
                const std::int64_t sent = std::min(budget, waiting.front().bytes);
                budget -= sent;
                waiting.front().bytes -= sent;
                if (waiting.front().bytes > 0) break;
                waiting.pop_front();
                left.push_back(now);
            }
        }
    }
    return left;
}

void expect_as_mahimahi(const std::vector<std::uint64_t>& trace,
                        const std::vector<Arrival>& arrivals, const std::string& what) {
    const std::vector<Time> expected = departures(trace, arrivals);
    Opportunities link(trace, kLongest);
    for (std::size_t i = 0; i < arrivals.size(); i++) {
        // A packet is sent after those before it.
        const Time from = i == 0 ? arrivals[i].at : std::max(arrivals[i].at, expected[i - 1]);
        ASSERT_EQ(link.send(from, arrivals[i].bytes).end, expected[i]) << what << ", packet " << i;
    }
}

TEST(Opportunities, AreWhole) {
    expect_as_mahimahi({3, 5, 9}, {{0, 1504}, {0, 1504}, {0, 1504}, {0, 1504}}, "a packet each");
    expect_as_mahimahi({2}, {{0, 500}, {0, 500}, {0, 500}, {0, 500}}, "three of them and a rest");
    expect_as_mahimahi({2, 2, 2, 10}, {{0, 4000}, {0, 9000}}, "three, then six");
    expect_as_mahimahi({1, 2, 3}, {{0, 100}, {5 * kMs / 2, 1504}, {20 * kMs, 1504}}, "lost ones");
}

TEST(Opportunities, FollowMahimahiOnAnyTrace) {
    for (std::uint64_t seed = 1; seed <= 300; seed++) {
        std::mt19937_64 random(seed);
        std::vector<std::uint64_t> trace;
        std::uint64_t ms = 0;
        for (std::uint64_t n = 1 + random() % 20; n > 0; n--) trace.push_back(ms += random() % 5);
        trace.back() += 1;
        std::vector<Arrival> arrivals;
        Time now = 0;
        for (int i = 0; i < 200; i++) {
            if (random() % 3 == 0) now += static_cast<Time>(random() % 9'000'000'000);
            if (random() % 40 == 0) now += static_cast<Time>(random() % 5) * kSecond;
            arrivals.push_back({now, 1 + static_cast<std::int64_t>(random() % 4000)});
        }
        expect_as_mahimahi(trace, arrivals, "seed " + std::to_string(seed));
    }
}

TEST(Opportunities, CountWhatARunOffersAndUses) {
    const auto offered = [](Time end) { return Opportunities({2, 2, 5}, end).offered() / 1504; };
    EXPECT_EQ(offered(0), 0);
    EXPECT_EQ(offered(2 * kMs), 2);
    EXPECT_EQ(offered(5 * kMs), 3);
    EXPECT_EQ(offered(7 * kMs), 5);
    EXPECT_EQ(offered(50 * kMs), 30);
    Opportunities link({2, 2, 5}, 5 * kMs);
    link.send(0, 2000);
    EXPECT_EQ(link.used(), 2000);
    link.send(3 * kMs,
              2000);  // the last bytes leave in the next pass through the list, after the end
    EXPECT_EQ(link.used(), 3504);
}

}  // namespace
}  // namespace ww::sim::test
