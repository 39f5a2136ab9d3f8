// SPDX-License-Identifier: BSD-3-Clause
//
// Routes, and which channels may run ahead of the clock, by the definition in sim/topology.hpp.
#include "engine/sim/topology.hpp"

#include <map>
#include <random>
#include <set>
#include <string>

#include "one_link.hpp"

namespace ww::sim::test {
namespace {

using Route = std::vector<std::uint32_t>;  // channels

Route as_route(std::span<const std::uint32_t> channels) {
    return Route(channels.begin(), channels.end());
}

Network graph_of(std::uint32_t nodes,
                 const std::vector<std::pair<std::uint32_t, std::uint32_t>>& links,
                 const std::vector<std::pair<std::uint32_t, std::uint32_t>>& flows) {
    Network network;
    network.nodes = nodes;
    for (const auto& [a, b] : links) network.links.push_back({a, b, 0, {}, {}});
    for (const auto& [from, to] : flows) {
        network.flows.emplace_back();
        network.flows.back().from = from;
        network.flows.back().to = to;
    }
    return network;
}

Network any_graph(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto upto = [&](std::uint32_t n) {
        return static_cast<std::uint32_t>(random() % (n + 1));
    };
    const std::uint32_t nodes = 2 + upto(6);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> links, flows;
    for (std::uint32_t i = 1; i < nodes; i++) {
        const std::uint32_t parent = seed % 2 == 0 ? i - 1 : upto(i - 1);
        links.push_back(upto(1) == 0 ? std::pair{parent, i} : std::pair{i, parent});
    }
    const auto any_pair = [&] {
        const std::uint32_t a = upto(nodes - 1);
        return std::pair{a, (a + 1 + upto(nodes - 2)) % nodes};
    };
    for (std::uint32_t i = upto(2); i > 0; i--) links.push_back(any_pair());
    for (std::uint32_t i = 1 + upto(4); i > 0; i--) flows.push_back(any_pair());
    Network network = graph_of(nodes, links, flows);
    for (Link& link : network.links) {
        if (upto(9) == 0) link.forward.reorder_rate = 0.1;
        if (upto(9) == 0) link.backward.reorder_rate = 0.1;
    }
    return network;
}

std::uint32_t start_of(const Network& network, std::uint32_t channel) {
    const Link& link = network.links[channel / 2];
    return channel % 2 == 0 ? link.a : link.b;
}
std::uint32_t end_of(const Network& network, std::uint32_t channel) {
    return start_of(network, channel ^ 1u);
}

// Returns the number of links of a shortest path.
std::size_t distance(const Network& network, std::uint32_t from, std::uint32_t to) {
    std::set<std::uint32_t> reached{from};
    for (std::size_t links = 0;; links++) {
        if (reached.count(to) != 0) return links;
        std::set<std::uint32_t> more = reached;
        for (std::uint32_t channel = 0; channel < 2 * network.links.size(); channel++)
            if (reached.count(start_of(network, channel)) != 0)
                more.insert(end_of(network, channel));
        reached = more;
    }
}

TEST(Routes, AreShortestPathsAndAcksTakeThemBackwards) {
    for (std::uint64_t seed = 1; seed <= 300; seed++) {
        const Network network = any_graph(seed);
        const Topology topology(network);
        ASSERT_EQ(topology.error(), "");
        std::set<std::pair<std::uint32_t, std::uint32_t>> ends;
        for (std::size_t f = 0; f < network.flows.size(); f++) {
            const Flow& flow = network.flows[f];
            ends.insert({flow.from, flow.to});
            const Route data = as_route(topology.to_receiver(topology.route_of(f)));
            const Route acks = as_route(topology.to_sender(topology.route_of(f)));
            ASSERT_EQ(data.size(), distance(network, flow.from, flow.to)) << "graph " << seed;
            std::uint32_t node = flow.from;
            for (std::size_t i = 0; i < data.size(); i++) {
                ASSERT_EQ(start_of(network, data[i]), node);
                ASSERT_EQ(acks[data.size() - 1 - i], data[i] ^ 1u);
                node = end_of(network, data[i]);
            }
            ASSERT_EQ(node, flow.to);
        }
        EXPECT_EQ(topology.routes(), ends.size()) << "flows between the same nodes share one";
    }
}

TEST(Routes, TakeTheFirstOfEquallyShortLinks) {
    const Network network = graph_of(4, {{0, 1}, {1, 0}, {1, 2}, {1, 3}, {3, 2}}, {{0, 2}, {2, 0}});
    const Topology topology(network);
    EXPECT_EQ(as_route(topology.to_receiver(topology.route_of(0))), (Route{0, 4}));
    EXPECT_EQ(as_route(topology.to_receiver(topology.route_of(1))), (Route{5, 1}));
}

TEST(Routes, AreMissingForTheFirstFlowThatIsNamed) {
    const auto error = [](const std::vector<std::pair<std::uint32_t, std::uint32_t>>& flows) {
        return Topology(graph_of(4, {{0, 1}, {2, 3}}, flows)).error();
    };
    EXPECT_EQ(error({{0, 1}, {3, 2}}), "");
    EXPECT_EQ(error({{1, 0}, {3, 1}, {0, 2}}), "flow 1: no path from node 3 to node 1");
}

// Where a packet goes after a channel, and what else brings packets there.
class Ahead {
  public:
    Ahead(const Network& network, const Topology& topology) {
        for (std::size_t f = 0; f < network.flows.size(); f++) {
            const std::uint32_t route = topology.route_of(f);
            const Route data = as_route(topology.to_receiver(route));
            const Route acks = as_route(topology.to_sender(route));
            feeders_[data[0]].insert("senders");
            feeders_[acks[0]].insert("receivers behind " + std::to_string(data.back()));
            for (const Route& way : {data, acks})
                for (std::size_t i = 1; i < way.size(); i++) {
                    feeders_[way[i]].insert(std::to_string(way[i - 1]));
                    next_[way[i - 1]].insert(way[i]);
                }
            next_[data.back()].insert(acks[0]);
            ends_data_.insert(data.back());
            ends_acks_.insert(acks.back());
        }
    }
    std::set<std::uint32_t> used() const {
        std::set<std::uint32_t> channels;
        for (const auto& [channel, by] : feeders_) channels.insert(channel);
        return channels;
    }
    // A channel may run ahead if it alone brings packets wherever its packets go.
    bool may_run(std::uint32_t channel) const {
        if (ends_acks_.count(channel) != 0) return false;
        for (const std::uint32_t next : next_.at(channel))
            if (feeders_.at(next).size() > 1) return false;
        return true;
    }
    std::uint32_t only_next(std::uint32_t channel) const {
        const bool goes_on = ends_data_.count(channel) == 0 && ends_acks_.count(channel) == 0;
        return goes_on && next_.at(channel).size() == 1 ? *next_.at(channel).begin()
                                                        : Topology::kNone;
    }

  private:
    std::map<std::uint32_t, std::set<std::string>> feeders_;
    std::map<std::uint32_t, std::set<std::uint32_t>> next_;
    std::set<std::uint32_t> ends_data_, ends_acks_;
};

TEST(Topology, LetsAChannelRunAheadWhereItAloneBringsPackets) {
    std::size_t ahead_of_the_clock = 0, in_order = 0;
    for (std::uint64_t seed = 1; seed <= 500; seed++) {
        Network network = any_graph(seed);
        const Topology topology(network);
        const Ahead model(network, topology);
        for (const std::uint32_t channel : model.used()) {
            const Link& link = network.links[channel / 2];
            const bool reorders =
                (channel % 2 == 0 ? link.forward : link.backward).reorder_rate > 0;
            const bool runs = !reorders && model.may_run(channel);
            ASSERT_EQ(topology.inlined(channel), runs) << "graph " << seed << ", " << channel;
            ASSERT_EQ(topology.only_next(channel),
                      runs ? model.only_next(channel) : Topology::kNone)
                << "graph " << seed << ", " << channel;
            (runs ? ahead_of_the_clock : in_order)++;
        }
        network.event_per_hop = true;
        const Topology plain(network);
        for (const std::uint32_t channel : model.used()) ASSERT_FALSE(plain.inlined(channel));
    }
    EXPECT_GT(ahead_of_the_clock, 300u);
    EXPECT_GT(in_order, 300u);
}

}  // namespace
}  // namespace ww::sim::test
