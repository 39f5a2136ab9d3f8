// SPDX-License-Identifier: BSD-3-Clause
#include "topology.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ww::sim {
namespace {

constexpr std::uint32_t kNone = Topology::kNone;
constexpr std::size_t kLongestRoute = 255;  // Packet::hop

// The neighbours of each channel on one side: none so far (kNone), one, or several.
class Neighbours {
  public:
    explicit Neighbours(std::size_t channels) : first_(channels, kNone), single_(channels, true) {}

    void add(std::uint32_t channel, std::uint32_t neighbour) {
        if (first_[channel] == kNone) first_[channel] = neighbour;
        if (first_[channel] != neighbour) single_[channel] = false;
    }
    bool single(std::uint32_t channel) const { return single_[channel]; }
    std::uint32_t only(std::uint32_t channel) const {
        return single_[channel] ? first_[channel] : kNone;
    }

  private:
    std::vector<std::uint32_t> first_;
    std::vector<bool> single_;
};

}  // namespace

Topology::Topology(const Network& network) {
    find_routes(network);
    if (!error_.empty()) return;
    const std::size_t channels = 2 * network.links.size();
    inlined_.assign(channels, false);
    next_.assign(channels, kNone);
    const bool has_guests = std::any_of(network.flows.begin(), network.flows.end(),
                                        [](const Flow& flow) { return flow.guests != nullptr; });
    if (network.event_per_hop || has_guests) return;
    find_inlined(channels);
    order_held_queues(network);
    for (std::size_t i = 0; i < network.links.size(); i++) {
        if (reorders(network.links[i].forward)) inlined_[2 * i] = false;
        if (reorders(network.links[i].backward)) inlined_[2 * i + 1] = false;
    }
}

void Topology::find_routes(const Network& network) {
    std::vector<Ends> links;
    for (const Link& link : network.links) links.emplace_back(link.a, link.b);
    Routes search(network.nodes, std::move(links));
    // Flows are sorted by their ends, so each node is searched from once.
    std::vector<std::uint32_t> flows(network.flows.size());
    std::iota(flows.begin(), flows.end(), 0u);
    const auto ends = [&](std::uint32_t f) {
        return std::pair(network.flows[f].from, network.flows[f].to);
    };
    std::stable_sort(flows.begin(), flows.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return ends(a) < ends(b); });
    route_of_.resize(flows.size());
    std::uint32_t wrong = kNone;  // the first flow without a path
    for (std::size_t i = 0; i < flows.size(); i++) {
        const std::uint32_t f = flows[i];
        const auto [from, to] = ends(f);
        if (i == 0 || ends(flows[i - 1]).first != from) search.start(from);
        if (i == 0 || ends(flows[i - 1]) != ends(f)) {
            const std::string problem = add_route(search.to(to), from, to);
            if (!problem.empty() && f < wrong) {
                wrong = f;
                error_ = "flow " + std::to_string(f) + ": " + problem;
            }
        }
        route_of_[f] = static_cast<std::uint32_t>(routes() - 1);
    }
}

// Returns why there is no route, or an empty string.
std::string Topology::add_route(Route route, std::uint32_t from, std::uint32_t to) {
    if (route.empty())
        return "no path from node " + std::to_string(from) + " to node " + std::to_string(to);
    if (route.size() > kLongestRoute) return "its path has more than 255 links";
    Route back(route.rbegin(), route.rend());
    for (std::uint32_t& channel : back) channel ^= 1u;
    paths_.push_back(std::move(route));
    paths_.push_back(std::move(back));
    return "";
}

// A queue that decides when packets leave takes them in the order of time, and ends their hop.
void Topology::order_held_queues(const Network& network) {
    for (std::uint32_t channel = 0; channel < inlined_.size(); channel++) {
        const Link& link = network.links[channel / 2];
        if (!holds(channel % 2 == 0 ? link.forward : link.backward)) continue;
        inlined_[channel] = false;
        for (std::size_t route = 0; route < routes(); route++) {
            const auto data = to_receiver(route), acks = to_sender(route);
            for (std::size_t i = 1; i < data.size(); i++) {
                if (data[i] == channel) inlined_[data[i - 1]] = false;
                if (acks[i] == channel) inlined_[acks[i - 1]] = false;
            }
            if (acks[0] == channel) inlined_[data.back()] = false;
        }
    }
}

void Topology::find_inlined(std::size_t channels) {
    const auto behind = [&](std::uint32_t channel) {
        return static_cast<std::uint32_t>(channels) + channel;
    };
    const auto senders = static_cast<std::uint32_t>(2 * channels);
    Neighbours feeders(channels), fed(channels);
    for (std::size_t route = 0; route < routes(); route++) {
        const auto data = to_receiver(route), acks = to_sender(route);
        feeders.add(data[0], senders);
        feeders.add(acks[0], behind(data.back()));
        for (std::size_t i = 1; i < data.size(); i++) {
            feeders.add(data[i], data[i - 1]);
            feeders.add(acks[i], acks[i - 1]);
            fed.add(data[i - 1], data[i]);
            fed.add(acks[i - 1], acks[i]);
        }
        fed.add(data.back(), behind(data.back()));
        fed.add(acks.back(), senders);
    }
    for (std::uint32_t channel = 0; channel < channels; channel++)
        if (fed.only(channel) < channels) next_[channel] = fed.only(channel);
    inlined_.assign(channels, true);
    for (std::size_t route = 0; route < routes(); route++) {
        const auto data = to_receiver(route), acks = to_sender(route);
        for (std::size_t i = 0; i + 1 < data.size(); i++) {
            if (!feeders.single(data[i + 1])) inlined_[data[i]] = false;
            if (!feeders.single(acks[i + 1])) inlined_[acks[i]] = false;
        }
        if (!feeders.single(acks[0])) inlined_[data.back()] = false;
        inlined_[acks.back()] = false;
    }
}

}  // namespace ww::sim
