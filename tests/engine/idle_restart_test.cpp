// SPDX-License-Identifier: BSD-3-Clause
//
// Windows after an idle time, and windows of senders that do not fill them.
#include "engine/tcp/idle_restart.hpp"

#include "engine/tcp/rate_limited_increase.hpp"
#include "one_link.hpp"

namespace ww::sim::test {
namespace {

ww_window restarted(std::uint32_t cwnd, Time idle, bool decays) {
    ww_window window{cwnd, 20, 0};
    restart_windows(window, 10, idle, 200 * kMs, decays);
    return window;
}

TEST(IdleRestart, TheWindowFallsToTheInitialOne) {  // RFC 5681, 4.1
    EXPECT_EQ(restarted(100, 201 * kMs, false).cwnd, 10u);
    EXPECT_EQ(restarted(4, kSecond, false).cwnd, 4u) << "it does not grow";
    EXPECT_EQ(restarted(100, kSecond, false).ssthresh, 20u);
}

TEST(IdleRestart, InLinuxTheWindowHalvesOncePerTimeout) {  // tcp_cwnd_restart()
    EXPECT_EQ(restarted(100, 201 * kMs, true).cwnd, 50u);
    EXPECT_EQ(restarted(100, 400 * kMs, true).cwnd, 50u);
    EXPECT_EQ(restarted(100, 401 * kMs, true).cwnd, 25u);
    EXPECT_EQ(restarted(100, 3600 * kSecond, true).cwnd, 10u);
    EXPECT_EQ(restarted(4, kSecond, true).cwnd, 4u);
    EXPECT_EQ(restarted(100, kSecond, true).ssthresh, 75u) << "three quarters are remembered";
    EXPECT_EQ(restarted(16, kSecond, true).ssthresh, 20u);
}

// Returns the windows at the first segment of each response but the first.
std::vector<std::uint32_t> windows_at_starts(Flow flow, Time think) {
    flow.application.kind = ApplicationKind::request;
    flow.application.size_bytes = 200 * 1460;
    flow.application.think_mean = think;
    Network network = one_link(10'000'000, 20 * kMs, 20 * kSecond);
    network.links[0].forward.queue_packets = 300;
    network.flows = {flow};
    network.trace.events = true;
    const Result result = result_of(network);
    EXPECT_GT(result.messages.size(), 5u);
    std::vector<std::uint32_t> windows;
    std::size_t next = 1;
    if (result.messages.size() <= next) return windows;
    for (const Event& event : result.flows[0].events) {
        if (next == result.messages.size()) break;
        if (event.kind != EventKind::send || event.time_s < result.messages[next].start_s) continue;
        windows.push_back(event.cwnd);
        next++;
    }
    return windows;
}

TEST(IdleRestart, AThinkTimeAboveTheTimeoutRestartsTheSender) {
    for (const std::uint32_t cwnd : windows_at_starts(tcp(WW_PROTOCOL_NEWRENO), 2 * kSecond))
        EXPECT_EQ(cwnd, 10u);
    for (const std::uint32_t cwnd : windows_at_starts(tcp(WW_PROTOCOL_NEWRENO), 100 * kMs))
        EXPECT_GT(cwnd, 50u);
}

TEST(IdleRestart, CanBeTurnedOff) {
    Flow flow = tcp(WW_PROTOCOL_NEWRENO);
    flow.idle_restart = false;
    for (const std::uint32_t cwnd : windows_at_starts(flow, 2 * kSecond)) EXPECT_GT(cwnd, 50u);
}

TEST(IdleRestart, AControlThatOwnsItsRecoveryKeepsItsWindow) {
    for (const std::uint32_t cwnd : windows_at_starts(tcp(WW_PROTOCOL_BBR), 2 * kSecond))
        EXPECT_GT(cwnd, 10u);
}

// ---- draft-ietf-ccwg-ratelimited-increase-10

// The draft's appendix, in segments: 4, 8, 4 and 20 are sent in a window of 10 at first.
TEST(RateLimitedIncrease, GrowsAsTheDraftsExample) {
    const ww_config reno = ww_configure(WW_PROTOCOL_NEWRENO);
    RateLimitedIncrease increase(reno, 10);
    ww_window window{10, WW_SSTHRESH_INFINITE, 0};
    std::vector<std::uint32_t> windows;
    for (const std::uint32_t sent : {4u, 8u, 4u, 20u}) {
        for (std::uint32_t flight = sent; flight > 0; flight--)
            window.cwnd = increase.on_ack(window, window.cwnd + 1, flight);
        windows.push_back(window.cwnd);
    }
    EXPECT_EQ(windows, (std::vector<std::uint32_t>{14, 20, 20, 40}));
}

TEST(RateLimitedIncrease, AddsOneSegmentInCongestionAvoidanceAndHalfForCubic) {
    for (const auto& [protocol, most] :
         {std::pair(WW_PROTOCOL_NEWRENO, 51u), std::pair(WW_PROTOCOL_CUBIC, 75u)}) {
        RateLimitedIncrease increase(ww_configure(protocol), 50);
        ww_window window{50, 2, 0};
        for (int i = 0; i < 100; i++) window.cwnd = increase.on_ack(window, window.cwnd + 1, 20);
        EXPECT_EQ(window.cwnd, most);
    }
}

TEST(RateLimitedIncrease, AReductionForgetsTheLargestFlight) {
    RateLimitedIncrease increase(ww_configure(WW_PROTOCOL_NEWRENO), 10);
    ww_window window{100, 50, 0};
    increase.on_ack(window, 100, 100);
    window.cwnd = 50;  // by a loss
    EXPECT_EQ(increase.on_ack(window, 51, 30), 50u) << "30 + 1 is less";
    EXPECT_EQ(increase.on_ack(window, 51, 50), 51u) << "a full window may grow";
    EXPECT_EQ(increase.on_ack({51, 50, 0}, 40, 50), 40u) << "a control may reduce it";
}

TEST(RateLimitedIncrease, LetsAFlowAtAConstantRateGrowToTwiceTheInitialWindow) {
    const auto largest = [](bool increases, bool validates) {
        Flow flow = tcp(WW_PROTOCOL_NEWRENO);
        flow.application.kind = ApplicationKind::rate;
        flow.application.rate_bps = 5'000'000;  // 43 segments in 100 ms
        flow.initial_cwnd = 50;
        flow.rate_limited_increase = increases;
        flow.cc.validate_cwnd = validates;
        Network network = one_link(10'000'000, 50 * kMs, 60 * kSecond, {flow});
        return simulate(network, 1).flows[0].max_cwnd;
    };
    EXPECT_EQ(largest(false, true), 50);
    EXPECT_EQ(largest(true, true), 100);
    EXPECT_GT(largest(false, false), 1000) << "an unlimited window";
}

TEST(RateLimitedIncrease, LeavesControlsAloneThatDoNotValidateTheirWindow) {
    EXPECT_TRUE(validates_cwnd(ww_configure(WW_PROTOCOL_CUBIC)));
    EXPECT_FALSE(validates_cwnd(ww_configure(WW_PROTOCOL_BBR)));
}

}  // namespace
}  // namespace ww::sim::test
