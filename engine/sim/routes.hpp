// SPDX-License-Identifier: BSD-3-Clause
//
// Routes: the fewest links, and among equals the lower ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace ww::sim {

// The channels of a path. Channel 2 i is link i's forward direction, 2 i + 1 its backward one.
using Route = std::vector<std::uint32_t>;
using Ends = std::pair<std::uint32_t, std::uint32_t>;  // nodes of a link: a, b

// Finds the routes from one node after another, so only one tree is in memory at a time.
class Routes {
  public:
    Routes(std::uint32_t nodes, std::vector<Ends> links)
        : links_(std::move(links)), leaving_(nodes), by_(nodes, kNone) {
        for (std::uint32_t i = 0; i < links_.size(); i++) {
            leaving_[links_[i].first].push_back(2 * i);
            leaving_[links_[i].second].push_back(2 * i + 1);
        }
    }

    // Searches the network from this node.
    void start(std::uint32_t source) {
        source_ = source;
        by_.assign(leaving_.size(), kNone);
        std::vector<std::uint32_t> frontier{source};
        for (std::size_t i = 0; i < frontier.size(); i++)
            for (const std::uint32_t channel : leaving_[frontier[i]]) {
                const std::uint32_t far = end_of(channel);
                if (by_[far] != kNone || far == source) continue;
                by_[far] = channel;
                frontier.push_back(far);
            }
    }

    // Returns the route to another node; an empty one if there is none.
    Route to(std::uint32_t sink) const {
        Route route;
        for (std::uint32_t node = sink; node != source_; node = end_of(route.back() ^ 1u)) {
            if (by_[node] == kNone) return {};
            route.push_back(by_[node]);
        }
        std::reverse(route.begin(), route.end());
        return route;
    }

    // Returns the first channel that leaves a node, which some link connects.
    std::uint32_t first_from(std::uint32_t node) const { return leaving_[node].front(); }

  private:
    static constexpr std::uint32_t kNone = UINT32_MAX;

    std::uint32_t end_of(std::uint32_t channel) const {
        const Ends& link = links_[channel / 2];
        return channel % 2 == 0 ? link.second : link.first;
    }

    std::vector<Ends> links_;
    std::vector<Route> leaving_;  // the channels that leave each node
    Route by_;                    // the channel by which each node is first reached
    std::uint32_t source_ = 0;
};

}  // namespace ww::sim
