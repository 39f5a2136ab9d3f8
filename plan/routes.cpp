// SPDX-License-Identifier: BSD-3-Clause
#include "routes.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "../engine/link/opportunities.hpp"
#include "natural.hpp"

namespace ww::plan {
namespace {

constexpr std::size_t kMostRouted =
    3'000'000;                 // links x sources; beyond, routing would take too long
constexpr int kMantissa = 53;  // bits of a double

}  // namespace

std::vector<Route> routes(const std::vector<Ends>& links, const std::vector<Ends>& pairs) {
    std::uint32_t nodes = 0;
    for (const std::vector<Ends>* all : {&links, &pairs})
        for (const auto& [a, b] : *all) nodes = std::max({nodes, a + 1, b + 1});
    sim::Routes search(nodes, links);
    std::map<std::uint32_t, std::vector<std::size_t>> of_source;
    for (std::size_t i = 0; i < pairs.size(); i++) of_source[pairs[i].first].push_back(i);
    std::vector<Route> all_routes(pairs.size());
    const bool is_too_large = of_source.size() * links.size() > kMostRouted;
    for (const auto& [source, places] : of_source) {
        if (!is_too_large) search.start(source);
        for (const std::size_t i : places) {
            const std::uint32_t sink = pairs[i].second;
            all_routes[i] = is_too_large ? Route{search.first_from(source), search.first_from(sink)}
                                         : search.to(sink);
        }
    }
    return all_routes;
}

double mean_rate_bps(std::size_t opportunities, std::uint64_t last_ms) {
    const double bits =
        8 * static_cast<double>(sim::Opportunities::kBytes) * static_cast<double>(opportunities);
    return bits / (static_cast<double>(last_ms) / 1000);
}

double mean_rate_bps(const sim::Direction& direction) {
    const std::vector<std::uint64_t>& times_ms = direction.opportunities_ms;
    return times_ms.empty() ? static_cast<double>(direction.rate_bps)
                            : mean_rate_bps(times_ms.size(), times_ms.back());
}

// Returns the longest round-trip propagation delay over each link, ps.
static std::vector<std::uint64_t> longest_round_trips(const sim::Network& network) {
    std::vector<Ends> links;
    std::vector<std::uint64_t> longest;
    const auto round_trip_over = [](const sim::Link& link) {
        return 2 * static_cast<std::uint64_t>(link.forward.delay);
    };
    for (const sim::Link& link : network.links) {
        links.emplace_back(link.a, link.b);
        longest.push_back(round_trip_over(link));
    }
    std::set<Ends> pairs;
    for (const sim::Flow& flow : network.flows) pairs.emplace(flow.from, flow.to);
    for (const Route& route : routes(links, {pairs.begin(), pairs.end()})) {
        std::uint64_t round_trip = 0;
        for (const std::uint32_t channel : route)
            round_trip += round_trip_over(network.links[channel / 2]);
        for (const std::uint32_t channel : route)
            longest[channel / 2] = std::max(longest[channel / 2], round_trip);
    }
    return longest;
}

// Returns what a link holds in this time, in packets.
static std::int64_t packets_held(const sim::Link& link, const Decimal& times, std::uint64_t held_ps,
                                 std::uint64_t packet_bytes) {
    // A double is a whole number times a power of two.
    int exponent = 0;
    const double share =
        std::frexp(std::max(mean_rate_bps(link.forward), mean_rate_bps(link.backward)), &exponent);
    Natural over(static_cast<std::uint64_t>(std::ldexp(share, kMantissa)));
    Natural under(8 * (packet_bytes + link.overhead_bytes));
    const auto scale = [&](std::uint64_t base, int power) {
        for (int i = 0; i < std::abs(power); i++) (power > 0 ? over : under).times(base);
    };
    scale(2, exponent - kMantissa);
    scale(10, times.power);
    over.times(times.digits);
    over.times(held_ps);
    under.times(sim::kSecond);
    return std::max<std::int64_t>(1, rounded_ratio(over, under));
}

void set_limits(sim::Network& network, const std::vector<RelativeLimit>& limits) {
    if (limits.empty()) return;
    const std::vector<std::uint64_t> longest = longest_round_trips(network);
    std::uint64_t largest = 0;
    for (const sim::Flow& flow : network.flows)
        largest = std::max<std::uint64_t>(largest, flow.packet_bytes);
    for (const auto& [place, limit] : limits) {
        sim::Link& link = network.links[place];
        const std::int64_t packets =
            limit.ps ? packets_held(link, {1, 0}, static_cast<std::uint64_t>(*limit.ps), largest)
                     : packets_held(link, *limit.products, longest[place], largest);
        link.forward.queue_packets = link.backward.queue_packets = packets;
    }
}

// Returns the bytes that a route holds in flight and in its queues.
static double bytes_held(const sim::Network& network, const Route& route, double packet_bytes) {
    double rate_bps = static_cast<double>(sim::kFastest), round_trip_s = 0, queued = 0;
    for (const std::uint32_t channel : route) {
        const sim::Link& link = network.links[channel / 2];
        const sim::Direction& ahead = channel % 2 == 0 ? link.forward : link.backward;
        rate_bps = std::min(rate_bps, mean_rate_bps(ahead));
        round_trip_s += static_cast<double>(link.forward.delay + link.backward.delay) /
                        static_cast<double>(sim::kSecond);
        if (ahead.queue_packets != sim::kUnlimited)
            queued += static_cast<double>(ahead.queue_packets) * packet_bytes;
        else if (ahead.queue_bytes != sim::kUnlimited)
            queued += static_cast<double>(ahead.queue_bytes);
    }
    return rate_bps * round_trip_s / 8 + queued;
}

void set_receive_windows(sim::Network& network, const std::vector<std::size_t>& flows) {
    constexpr std::uint32_t kMost = 1u << 30;  // a receive window's bound
    std::vector<Ends> links, pairs;
    for (const sim::Link& link : network.links) links.emplace_back(link.a, link.b);
    for (const std::size_t i : flows)
        pairs.emplace_back(network.flows[i].from, network.flows[i].to);
    const std::vector<Route> all_routes = routes(links, pairs);
    for (std::size_t i = 0; i < flows.size(); i++) {
        sim::Flow& flow = network.flows[flows[i]];
        const double enough = 2 * bytes_held(network, all_routes[i], flow.packet_bytes);
        std::uint32_t& window = flow.receive_window_bytes;
        while (window < enough && window < kMost) window *= 2;
    }
}

}  // namespace ww::plan
