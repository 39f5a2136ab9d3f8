// SPDX-License-Identifier: BSD-3-Clause
#include "topology.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ww::sim {
namespace {

constexpr std::uint32_t kNone = Topology::kNone;
constexpr std::size_t kLongestRoute = 255;  // Packet::hop

// Finds the pipe by which each node is first reached from `source`, breadth first, lower links first.
std::vector<std::uint32_t> reach(const Network& network,
                                 const std::vector<std::vector<std::uint32_t>>& leaving,
                                 std::uint32_t source) {
    std::vector<std::uint32_t> by(network.nodes, kNone);
    std::vector<bool> seen(network.nodes, false);
    std::vector<std::uint32_t> frontier{source};
    seen[source] = true;
    for (std::size_t i = 0; i < frontier.size(); i++) {
        for (const std::uint32_t pipe : leaving[frontier[i]]) {
            const Link& link = network.links[pipe / 2];
            const std::uint32_t far = pipe % 2 == 0 ? link.b : link.a;
            if (seen[far]) continue;
            seen[far] = true;
            by[far] = pipe;
            frontier.push_back(far);
        }
    }
    return by;
}

// What stands on one side of each pipe, where its packets come from or go to: one or several; kNone: none so far.
class Neighbours {
  public:
    explicit Neighbours(std::size_t pipes) : first_(pipes, kNone), single_(pipes, true) {}

    void add(std::uint32_t pipe, std::uint32_t neighbour) {
        if (first_[pipe] == kNone) first_[pipe] = neighbour;
        if (first_[pipe] != neighbour) single_[pipe] = false;
    }
    bool single(std::uint32_t pipe) const { return single_[pipe]; }
    std::uint32_t only(std::uint32_t pipe) const { return single_[pipe] ? first_[pipe] : kNone; }

  private:
    std::vector<std::uint32_t> first_;
    std::vector<bool> single_;
};

}  // namespace

Topology::Topology(const Network& network) {
    find_routes(network);
    if (!error_.empty()) return;
    const std::size_t pipes = 2 * network.links.size();
    inlined_.assign(pipes, false);
    next_.assign(pipes, kNone);
    if (network.event_per_hop) return;
    find_inlined(pipes);
    for (std::size_t i = 0; i < network.links.size(); i++) {
        if (network.links[i].forward.reorder_rate > 0) inlined_[2 * i] = false;
        if (network.links[i].backward.reorder_rate > 0) inlined_[2 * i + 1] = false;
    }
}

void Topology::find_routes(const Network& network) {
    std::vector<std::vector<std::uint32_t>> leaving(network.nodes);
    for (std::uint32_t i = 0; i < network.links.size(); i++) {
        leaving[network.links[i].a].push_back(2 * i);
        leaving[network.links[i].b].push_back(2 * i + 1);
    }
    // By their ends, so that one tree is kept at a time: there may be as many as flows.
    std::vector<std::uint32_t> flows(network.flows.size());
    std::iota(flows.begin(), flows.end(), 0u);
    const auto ends = [&](std::uint32_t f) {
        return std::pair(network.flows[f].from, network.flows[f].to);
    };
    std::stable_sort(flows.begin(), flows.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return ends(a) < ends(b); });
    way_of_.resize(flows.size());
    std::vector<std::uint32_t> tree;
    std::uint32_t wrong = kNone;  // the first flow without a path
    for (std::size_t i = 0; i < flows.size(); i++) {
        const std::uint32_t f = flows[i];
        const auto [from, to] = ends(f);
        if (i == 0 || ends(flows[i - 1]).first != from) tree = reach(network, leaving, from);
        if (i == 0 || ends(flows[i - 1]) != ends(f)) {
            const std::string problem = add_way(network, tree, from, to);
            if (!problem.empty() && f < wrong) {
                wrong = f;
                error_ = "flow " + std::to_string(f) + ": " + problem;
            }
        }
        way_of_[f] = static_cast<std::uint32_t>(ways() - 1);
    }
}

// Returns why there is none; empty if there is.
std::string Topology::add_way(const Network& network, const std::vector<std::uint32_t>& tree,
                              std::uint32_t from, std::uint32_t to) {
    std::vector<std::uint32_t> route;
    for (std::uint32_t node = to; node != from;) {
        const std::uint32_t pipe = tree[node];
        if (pipe == kNone)
            return "no path from node " + std::to_string(from) + " to node " + std::to_string(to);
        route.push_back(pipe);
        const Link& link = network.links[pipe / 2];
        node = pipe % 2 == 0 ? link.a : link.b;
    }
    if (route.size() > kLongestRoute) return "its path has more than 255 links";
    std::vector<std::uint32_t> back(route);
    for (std::uint32_t& pipe : back) pipe ^= 1u;
    std::reverse(route.begin(), route.end());
    routes_.push_back(std::move(route));
    routes_.push_back(std::move(back));
    return "";
}

void Topology::find_inlined(std::size_t pipes) {
    const auto behind = [&](std::uint32_t pipe) {
        return static_cast<std::uint32_t>(pipes) + pipe;
    };
    const auto senders = static_cast<std::uint32_t>(2 * pipes);
    Neighbours feeders(pipes), fed(pipes);
    for (std::size_t way = 0; way < ways(); way++) {
        const auto data = to_receiver(way), acks = to_sender(way);
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
    for (std::uint32_t pipe = 0; pipe < pipes; pipe++)
        if (fed.only(pipe) < pipes) next_[pipe] = fed.only(pipe);
    inlined_.assign(pipes, true);
    for (std::size_t way = 0; way < ways(); way++) {
        const auto data = to_receiver(way), acks = to_sender(way);
        for (std::size_t i = 0; i + 1 < data.size(); i++) {
            if (!feeders.single(data[i + 1])) inlined_[data[i]] = false;
            if (!feeders.single(acks[i + 1])) inlined_[acks[i]] = false;
        }
        if (!feeders.single(acks[0])) inlined_[data.back()] = false;
        inlined_[acks.back()] = false;
    }
}

}  // namespace ww::sim
