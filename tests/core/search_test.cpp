// SPDX-License-Identifier: BSD-3-Clause
//
// Compares SEARCH with the sections and figures of draft-chung-ccwg-search, and with other slow starts on a path.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <random>

#include "rounds.hpp"

namespace {

using ww::test::kMss;
using Delay = std::function<std::uint64_t(std::uint64_t now_us)>;

// A sender of Reno behind one bottleneck, whose queue drops what exceeds it.
class Path {
  public:
    Path(ww_start_rule rule, std::uint32_t bdp, double queue_bdp, std::uint32_t rtt_us = 100000)
        : config_(ww_configure(WW_PROTOCOL_SACK)),
          rtt_us_(rtt_us),
          service_us_(rtt_us / bdp),
          most_queued_us_(static_cast<std::uint64_t>(queue_bdp * rtt_us)) {
        config_.slow_start = static_cast<std::uint8_t>(rule);
        ww_init(&config_, &state_);
    }

    // Runs until slow start ends, a packet is dropped, or `rounds` round trips have passed.
    void run(std::uint32_t rounds = 40) {
        send();
        const std::uint64_t end_us = now_us_ + std::uint64_t{rounds} * rtt_us_;
        while (!has_lost && in_slow_start() && now_us_ < end_us) {
            now_us_ = flight_.front().acked_us;
            const std::uint64_t rtt_us = now_us_ - flight_.front().sent_us;
            flight_.pop_front();
            ww_sample sample{};
            sample.now_us = now_us_;
            sample.mss = kMss;
            sample.acked_segments = 1;
            sample.in_flight = static_cast<std::uint32_t>(flight_.size());
            sample.rtt_us = sample.srtt_us = static_cast<std::uint32_t>(rtt_us);
            sample.is_cwnd_limited = true;
            largest_cwnd = std::max(largest_cwnd, window.cwnd);
            ww_on_ack(&config_, &state_, &window, &sample);
            send();
        }
    }

    bool in_slow_start() const { return window.ssthresh == WW_SSTHRESH_INFINITE; }
    const ww_search_state& search() const { return state_.start.search; }

    ww_window window{10, WW_SSTHRESH_INFINITE, 0};
    bool has_lost = false;
    std::uint32_t largest_cwnd = 0, application_most = UINT32_MAX;  // segments in flight
    Delay delay = [](std::uint64_t) { return std::uint64_t{0}; };

  private:
    struct Packet {
        std::uint64_t sent_us, acked_us;
    };
    void send() {
        while (flight_.size() < std::min(window.cwnd, application_most)) {
            const std::uint64_t begins_us = std::max(now_us_, free_us_);
            if (begins_us - now_us_ > most_queued_us_) {
                has_lost = true;
                return;
            }
            free_us_ = begins_us + service_us_;
            const std::uint64_t back_us = free_us_ + rtt_us_ + delay(now_us_);
            last_back_us_ = std::max(last_back_us_, back_us);  // no reordering
            flight_.push_back({now_us_, last_back_us_});
        }
    }

    ww_config config_;
    ww_state state_{};
    std::uint32_t rtt_us_;
    std::uint64_t service_us_, most_queued_us_, now_us_ = 5000000, free_us_ = 0, last_back_us_ = 0;
    std::deque<Packet> flight_;
};

ww_sample acked(std::uint64_t now_us, std::uint32_t segments, std::uint32_t in_flight,
                std::uint32_t rtt_us = 100000) {
    ww_sample sample{};
    sample.now_us = now_us;
    sample.mss = kMss;
    sample.acked_segments = segments;
    sample.in_flight = in_flight;
    sample.rtt_us = rtt_us;
    return sample;
}

class Search : public testing::Test {
  protected:
    void ack(std::uint64_t now_us, std::uint32_t segments, std::uint32_t in_flight,
             std::uint32_t rtt_us = 100000) {
        const ww_sample sample = acked(now_us, segments, in_flight, rtt_us);
        ww_search_on_ack(&config, &search, &window, &sample);
    }
    ww_config config = ww_configure(WW_PROTOCOL_SACK);
    ww_search_state search{};
    ww_window window{1000, WW_SSTHRESH_INFINITE, 0};
};

TEST_F(Search, ABinIsATenthOfThreeAndAHalfInitialRoundTrips) {  // 3, lines 1, 2 and 5
    ack(1000, 1, 9);
    EXPECT_EQ(search.bin_us, 35000u);
    ack(36000, 1, 9);
    EXPECT_EQ(search.bin, 0u) << "line 10: not beyond the boundary yet";
    ack(36001, 1, 9, 200000);
    EXPECT_EQ(search.bin, 1u);
    EXPECT_EQ(search.bin_us, 35000u) << "INITIAL_RTT decides";
    EXPECT_EQ(ww_search_acked(&search, 1), 2u);
}

// 4, "Threshold": "The current delivered window is 4+8+16+16 = 44"; 60 were expected, "(60-44)/60 = 0.27".
TEST_F(Search, TheNormalisedDifferenceDecides) {
    ww_search_state s{};
    s.bin_us = 35000;
    s.bin = 20;
    const auto decides = [&](std::uint32_t sent, std::uint32_t delivered, std::uint32_t rtt_us) {
        for (std::uint32_t i = 0; i < WW_SEARCH_SENT_BINS; i++) s.sent_bins[i] = i * sent / 10;
        s.acked_bins[20 % WW_SEARCH_ACKED_BINS] = 100 + delivered;
        s.acked_bins[10 % WW_SEARCH_ACKED_BINS] = 100;
        return ww_search_is_at_chokepoint(&s, rtt_us);
    };
    EXPECT_TRUE(decides(60, 44, 105000)) << "0.27";
    EXPECT_FALSE(decides(60, 45, 105000)) << "0.25";
    EXPECT_TRUE(decides(100, 74, 100000)) << "0.26, between two bins";
    EXPECT_FALSE(decides(100, 75, 100000));
    EXPECT_FALSE(decides(60, 60, 105000)) << "0: before the congestion point";
    EXPECT_FALSE(decides(60, 44, 0)) << "no round trip, no check";
    EXPECT_FALSE(decides(60, 44, 15 * 35000)) << "line 14: beyond EXTRA_BINS";
    s.bin = 13;
    EXPECT_FALSE(ww_search_is_at_chokepoint(&s, 105000)) << "line 13: less than a whole window";
}

TEST_F(Search, TheSentSegmentsAreInterpolatedBetweenBins) {  // 3, lines 16 and 17
    search.bin_us = 100;
    search.bin = 25;
    // Bins 1 to 25 hold n^2, so a window of ten that ends with bin n has 20 n - 100.
    for (std::uint32_t i = 0; i <= 25; i++) search.sent_bins[i] = i * i;
    const auto delivers = [&](std::uint32_t delivered) {
        search.acked_bins[25 % WW_SEARCH_ACKED_BINS] = delivered;
        search.acked_bins[15 % WW_SEARCH_ACKED_BINS] = 0;
        return ww_search_is_at_chokepoint(&search, 275);
    };
    // 2.75 bins ago: three quarters of the window that ends with bin 22, a quarter of that with 23: 345.
    EXPECT_TRUE(delivers(345 - 90));   // 90 / 345 = 0.261
    EXPECT_FALSE(delivers(345 - 89));  // 0.258
}

TEST_F(Search, MissedBinsKeepTheSumsAndTooManyRestart) {
    ack(0, 1, 9);
    ack(35001, 10, 20);
    ack(35000 + 10 * 35000 + 1, 5, 20);
    EXPECT_EQ(search.bin, 11u) << "ten bins at once";
    EXPECT_EQ(ww_search_acked(&search, 1), 5u) << "all in the last of them";
    EXPECT_EQ(ww_search_acked(&search, 9), 5u);
    EXPECT_EQ(ww_search_acked(&search, 10), 5u);
    ack(35000 * 11 + 11 * 35000, 5, 20, 60000);
    EXPECT_EQ(search.bin, 0u) << "eleven";
    EXPECT_EQ(search.bin_us, 21000u) << "the path may have changed";
}

TEST_F(Search, NeverExitsWithoutAWholeWindowBeforeTheLastRoundTrip) {
    int exits = 0;
    for (std::uint64_t seed = 0; seed < 2000; seed++) {
        std::mt19937_64 random(seed);
        const auto upto = [&](std::uint32_t most) {
            return static_cast<std::uint32_t>(random() % (std::uint64_t{most} + 1));
        };
        search = {};
        window = {20 + upto(500), WW_SSTHRESH_INFINITE, 0};
        std::uint64_t now_us = random() >> 1, began_us = 0, last_us = 0;
        const std::uint32_t initial_us = 1000 + upto(200000);
        const auto start_us = now_us;
        for (int i = 0; i < 2000 && window.ssthresh == WW_SSTHRESH_INFINITE; i++) {
            now_us += upto(initial_us / 20);
            if (upto(300) == 0) now_us += upto(20) * std::uint64_t{initial_us};
            const std::uint32_t before = window.cwnd, bin_before = search.bin;
            const std::uint32_t rtt_us = upto(9) == 0 ? 0 : initial_us + upto(initial_us);
            ack(now_us, 1 + upto(2), 10 + upto(400), rtt_us);
            if (search.bin == 0 && (bin_before != 0 || began_us == 0)) began_us = now_us;
            last_us = rtt_us;
            EXPECT_LE(window.cwnd, before);
            EXPECT_GE(window.cwnd, std::min(before, 10u));
        }
        if (window.ssthresh == WW_SSTHRESH_INFINITE) continue;
        exits++;
        EXPECT_EQ(window.ssthresh, window.cwnd);
        EXPECT_GE(now_us - start_us, 7 * initial_us / 2 + last_us - initial_us / 2) << seed;
        EXPECT_GT(search.bin, 10u + last_us / search.bin_us) << seed;
    }
    EXPECT_GT(exits, 200);
}

TEST(SearchOnAPath, ASenderThatDoublesGoesOn) {  // 4: 0 "before the congestion point"
    Path path(WW_SEARCH, 20000, 1);
    path.run(11);
    EXPECT_TRUE(path.in_slow_start());
    EXPECT_GT(path.window.cwnd, 8000u);
}

// 5: "almost always exits after capacity has been reached but before packet loss has occurred". That holds for deep
// queues: by 4 it takes "about 2 RTTs of reaching capacity", but the round trips that it looks back grow with the queue.
TEST(SearchOnAPath, ExitsAfterCapacityIsReachedAndBeforeADeepQueueOverflows) {
    for (const std::uint32_t bdp : {50u, 100u, 400u, 2000u}) {
        Path search(WW_SEARCH, bdp, 6);
        search.run();
        EXPECT_FALSE(search.in_slow_start()) << bdp;
        EXPECT_FALSE(search.has_lost) << bdp;
        EXPECT_NEAR(search.largest_cwnd, 5.6 * bdp, 0.2 * bdp) << "a queue of 4.6 BDP shows it";
        EXPECT_NEAR(search.window.cwnd, 1.05 * bdp, 0.05 * bdp) << "the congestion point";
        Path standard(WW_SLOW_START_STANDARD, bdp, 6);
        standard.run();
        EXPECT_TRUE(standard.has_lost) << bdp;
        EXPECT_GT(standard.window.cwnd, 6.9 * bdp) << "it overshoots by the queue";
        Path shorter(WW_SEARCH, bdp, 4);
        shorter.run();
        EXPECT_TRUE(shorter.has_lost && shorter.in_slow_start()) << "too short to show it: " << bdp;
    }
}

// Abstract: HyStart "can cause premature exit from slow start, especially over wireless links".
TEST(SearchOnAPath, DelayWithoutCongestionEndsHystartOnly) {
    constexpr std::uint32_t bdp = 4000;
    for (const ww_start_rule rule : {WW_HYSTART_LINUX, WW_SEARCH}) {
        Path path(rule, bdp, 6);
        path.delay = [](std::uint64_t now_us) { return now_us / 250000 % 2 * 30000; };
        path.run();
        EXPECT_FALSE(path.in_slow_start()) << rule;
        EXPECT_EQ(path.largest_cwnd > bdp, rule == WW_SEARCH) << path.largest_cwnd;
        EXPECT_EQ(path.largest_cwnd < bdp / 20, rule == WW_HYSTART_LINUX) << path.largest_cwnd;
    }
}

// What draft 09 compares with, so that a sender without data does not seem to be at the chokepoint.
TEST(SearchOnAPath, ASenderThatItsApplicationLimitsGoesOn) {
    Path path(WW_SEARCH, 4000, 2);
    path.application_most = 60;
    path.run();
    EXPECT_TRUE(path.in_slow_start());
    EXPECT_GT(path.search().bin, 50u);
}

}  // namespace
