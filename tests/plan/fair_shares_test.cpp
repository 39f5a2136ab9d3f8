// SPDX-License-Identifier: BSD-3-Clause
//
// Max-min fair shares: small networks by hand, random ones beside a filling in small steps.
#include "plan/fair_shares.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "plan/routes.hpp"

namespace ww::plan::test {
namespace {

constexpr double kPayload = 1460.0 / 1500;  // of a packet without framing

sim::Network chain(const std::vector<std::int64_t>& rates_bps) {
    sim::Network network;
    network.nodes = static_cast<std::uint32_t>(rates_bps.size()) + 1;
    network.duration = 100 * sim::kSecond;
    for (const std::int64_t rate_bps : rates_bps) {
        sim::Link link;
        link.a = static_cast<std::uint32_t>(network.links.size());
        link.b = link.a + 1;
        link.forward.rate_bps = link.backward.rate_bps = rate_bps;
        link.forward.delay = link.backward.delay = sim::kSecond / 100;
        network.links.push_back(link);
    }
    return network;
}

sim::Flow& add_flow(sim::Network& network, std::uint32_t from, std::uint32_t to) {
    sim::Flow flow;
    flow.from = from;
    flow.to = to;
    flow.receive_window_bytes = 1u << 30;
    network.flows.push_back(flow);
    return network.flows.back();
}

// Returns the shares in Mb/s of IP packets without framing, if all flows are active all the time.
std::vector<double> shares_mbps(const sim::Network& network) {
    std::vector<double> shares =
        fair_shares_bps(network, std::vector(network.flows.size(), std::pair(0.0, 100.0)));
    for (double& share : shares) share /= 1e6 * kPayload;
    return shares;
}

void expect_near(const std::vector<double>& shares, const std::vector<double>& expected) {
    ASSERT_EQ(shares.size(), expected.size());
    for (std::size_t i = 0; i < shares.size(); i++)
        EXPECT_NEAR(shares[i], expected[i], 1e-6 * expected[i]) << "flow " << i;
}

TEST(FairShares, OnAParkingLotTheLongFlowSharesItsNarrowestLink) {
    sim::Network lot = chain({10'000'000, 4'000'000, 10'000'000});
    add_flow(lot, 0, 3);
    for (std::uint32_t hop = 0; hop < 3; hop++) add_flow(lot, hop, hop + 1);
    expect_near(shares_mbps(lot), {2, 8, 2, 8});
    add_flow(lot, 1, 2);
    expect_near(shares_mbps(lot), {4.0 / 3, 10 - 4.0 / 3, 4.0 / 3, 10 - 4.0 / 3, 4.0 / 3});
}

TEST(FairShares, RoundTripsDoNotMatterOnALink) {
    sim::Network two = chain({10'000'000, 50'000'000});
    two.links[1].forward.delay = two.links[1].backward.delay = sim::kSecond;
    add_flow(two, 0, 1);
    add_flow(two, 0, 2);
    expect_near(shares_mbps(two), {5, 5});
}

TEST(FairShares, WhatALimitedFlowLeavesIsShared) {
    sim::Network link = chain({10'000'000});
    sim::Flow& limited = add_flow(link, 0, 1);
    limited.application.kind = sim::ApplicationKind::rate;
    limited.application.rate_bps = 1'460'000;
    limited.application.off_mean = limited.application.on_mean = sim::kSecond;
    add_flow(link, 0, 1);
    add_flow(link, 0, 1);
    expect_near(shares_mbps(link), {0.75, 4.625, 4.625});
    sim::Flow& datagrams = add_flow(link, 0, 1);
    datagrams.datagrams.on = true;
    datagrams.datagrams.rate_bps = 1'250'000;
    expect_near(shares_mbps(link), {0.75, 4, 4, 1.25});
    link.flows[1].receive_window_bytes = 7'300;  // per round trip of 20 ms: 3 Mb/s of IP packets
    expect_near(shares_mbps(link), {0.75, 3, 5, 1.25});
    link.flows[2].arrivals_mean = sim::kSecond;
    link.flows[2].size_bytes = 146'000;
    expect_near(shares_mbps(link), {0.75, 3, 1.2, 1.25});
    sim::Application& application = link.flows[0].application;
    application.kind = sim::ApplicationKind::request;
    application.size_bytes = 182'500;
    application.think_mean = sim::kSecond;
    expect_near(shares_mbps(link), {1.5, 3, 1.2, 1.25});
    application.kind = sim::ApplicationKind::media;  // a key frame and three others in 1/25 s each
    application.media = {sim::kSecond / 25, 1'460, 7'300, 2'920, 0, 4};
    expect_near(shares_mbps(link), {8 * 25 * (2'920 + 2'920) / 1e6 / kPayload, 3, 1.2, 1.25});
}

TEST(FairShares, ADirectionHasItsPolicersRateAndAPacketItsHeaders) {
    sim::Network link = chain({10'000'000});
    link.links[0].overhead_bytes = 38;
    add_flow(link, 0, 1);
    add_flow(link, 0, 1).packet_bytes = 540;
    add_flow(link, 1, 0);
    std::vector<double> shares = shares_mbps(link);
    EXPECT_NEAR(shares[0], shares[1], 1e-9) << "of goodput";
    const double used = 1538.0 / 1460 + 578.0 / 500;
    EXPECT_NEAR(shares[0], 10 / used / kPayload, 1e-6);
    EXPECT_NEAR(shares[2], 10 * 1500.0 / 1538, 1e-6) << "alone in its direction";
    link.links[0].backward.policer = sim::Policer{2'000'000, 15'000};
    EXPECT_NEAR(shares_mbps(link)[2], 2 * 1500.0 / 1538, 1e-6);
}

TEST(FairShares, AShareIsTheMeanOverTheTimeInWhichAFlowIsActive) {
    sim::Network link = chain({12'000'000});
    for (int i = 0; i < 4; i++) add_flow(link, 0, 1);
    std::vector<double> shares = fair_shares_bps(link, {{0, 100}, {25, 100}, {50, 75}, {100, 100}});
    for (double& share : shares) share /= 1e6 * kPayload;
    EXPECT_NEAR(shares[0], (12 + 6 + 4 + 6) / 4.0, 1e-6);
    EXPECT_NEAR(shares[1], (6 + 4 + 6) / 3.0, 1e-6);
    EXPECT_NEAR(shares[2], 4, 1e-6);
    EXPECT_TRUE(std::isnan(shares[3])) << "never active";
}

// Raises all flows by small steps, each until a link of it is full or it has enough.
std::vector<double> filled_mbps(const sim::Network& network) {
    constexpr double kStep = 1e-4;
    std::vector<Ends> links, pairs;
    std::vector<double> left;
    for (const sim::Link& link : network.links) {
        links.emplace_back(link.a, link.b);
        left.push_back(static_cast<double>(link.forward.rate_bps) / 1e6);
        left.push_back(static_cast<double>(link.backward.rate_bps) / 1e6);
    }
    for (const sim::Flow& flow : network.flows) pairs.emplace_back(flow.from, flow.to);
    const std::vector<Route> ways = routes(links, pairs);
    std::vector<double> rates(pairs.size(), 0);
    std::vector<bool> rises(pairs.size(), true);
    for (bool any = true; any;) {
        any = false;
        for (std::size_t i = 0; i < rates.size(); i++) {
            const sim::Application& app = network.flows[i].application;
            if (app.kind == sim::ApplicationKind::rate)
                rises[i] =
                    rises[i] && rates[i] * kPayload < static_cast<double>(app.rate_bps) / 1e6;
            for (const std::uint32_t channel : ways[i]) rises[i] = rises[i] && left[channel] > 0;
            if (!rises[i]) continue;
            any = true;
            rates[i] += kStep;
            for (const std::uint32_t channel : ways[i]) left[channel] -= kStep;
        }
    }
    return rates;
}

TEST(FairShares, EqualAFillingInSmallSteps) {
    std::mt19937 random(7);
    const auto below = [&](std::uint32_t bound) {
        return static_cast<std::uint32_t>(random() % bound);
    };
    for (int example = 0; example < 40; example++) {
        const std::uint32_t hops = 1 + below(5);
        std::vector<std::int64_t> rates_bps;
        for (std::uint32_t i = 0; i < hops; i++) rates_bps.push_back(500'000 * (1 + below(8)));
        sim::Network network = chain(rates_bps);
        for (std::uint32_t i = 0; i <= below(12); i++) {
            const std::uint32_t from = below(hops + 1);
            sim::Flow& flow = add_flow(network, from, (from + 1 + below(hops)) % (hops + 1));
            if (below(3) > 0) continue;
            flow.application.kind = sim::ApplicationKind::rate;
            flow.application.rate_bps = 100'000 * (1 + below(20));
        }
        const std::vector<double> shares = shares_mbps(network), expected = filled_mbps(network);
        for (std::size_t i = 0; i < shares.size(); i++)
            EXPECT_NEAR(shares[i], expected[i], 0.005) << "network " << example << ", flow " << i;
    }
}

}  // namespace
}  // namespace ww::plan::test
