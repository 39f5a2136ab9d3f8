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

constexpr std::uint32_t kNone = UINT32_MAX;
constexpr std::size_t kMostRouted =
    3'000'000;                 // links x sources; beyond, routing would take too long
constexpr int kMantissa = 53;  // bits of a double

// The channels that leave each node.
using Leaving = std::vector<std::vector<std::uint32_t>>;

Leaving leaving_of(const std::vector<Ends>& links) {
    Leaving leaving;
    for (std::uint32_t i = 0; i < links.size(); i++) {
        const auto [a, b] = links[i];
        leaving.resize(std::max<std::size_t>(leaving.size(), std::max(a, b) + 1));
        leaving[a].push_back(2 * i);
        leaving[b].push_back(2 * i + 1);
    }
    return leaving;
}

std::uint32_t end_of(const std::vector<Ends>& links, std::uint32_t channel) {
    return channel % 2 == 0 ? links[channel / 2].second : links[channel / 2].first;
}

// Returns the channel by which each node is first reached from `source`.
Route reach(const std::vector<Ends>& links, const Leaving& leaving, std::uint32_t source) {
    Route by(leaving.size(), kNone);
    std::vector<std::uint32_t> frontier{source};
    for (std::size_t i = 0; i < frontier.size(); i++)
        for (const std::uint32_t channel : leaving[frontier[i]]) {
            const std::uint32_t far = end_of(links, channel);
            if (by[far] != kNone || far == source) continue;
            by[far] = channel;
            frontier.push_back(far);
        }
    return by;
}

Route route_to(const std::vector<Ends>& links, const Route& by, std::uint32_t source,
               std::uint32_t sink) {
    Route route;
    for (std::uint32_t node = sink; node != source; node = end_of(links, route.back() ^ 1u)) {
        if (by[node] == kNone) return {};
        route.push_back(by[node]);
    }
    std::reverse(route.begin(), route.end());
    return route;
}

}  // namespace

std::vector<Route> routes(const std::vector<Ends>& links, const std::vector<Ends>& pairs) {
    const Leaving leaving = leaving_of(links);
    std::map<std::uint32_t, std::vector<std::size_t>> of_source;
    for (std::size_t i = 0; i < pairs.size(); i++) of_source[pairs[i].first].push_back(i);
    std::vector<Route> found(pairs.size());
    const bool is_too_large = of_source.size() * links.size() > kMostRouted;
    for (const auto& [source, places] : of_source) {
        const Route by = is_too_large ? Route() : reach(links, leaving, source);
        for (const std::size_t i : places) {
            const std::uint32_t sink = pairs[i].second;
            found[i] = is_too_large ? Route{leaving[source][0], leaving[sink][0]}
                                    : route_to(links, by, source, sink);
        }
    }
    return found;
}

double mean_rate_bps(const sim::Direction& direction) {
    const std::vector<std::uint64_t>& times_ms = direction.opportunities_ms;
    if (times_ms.empty()) return static_cast<double>(direction.rate_bps);
    const auto bits =
        8 * static_cast<double>(sim::Opportunities::kBytes) * static_cast<double>(times_ms.size());
    return bits / (static_cast<double>(times_ms.back()) / 1000);
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

}  // namespace ww::plan
