// SPDX-License-Identifier: BSD-3-Clause
//
// Finds the routes, which are static, and the channels that may run ahead of the clock.
//
// A channel processes packets in the order of their arrival. If they all come from one source that is itself
// in order, that order is known as soon as a packet enters the channel before. Then everything up to the far
// end (and the receiver there, and its ACKs) can be computed at once: the channel is "inlined". Otherwise its
// packets wait in a ring, and the event loop takes them in global order. A source of a channel is another
// channel, the receivers behind one channel, or the senders at its node.
// A channel that reorders packets is not inlined, because they leave it in another order.
// Channels that bring ACKs to a sender are never inlined: senders live in global order.
// If all packets of an inlined channel go on to one other channel, that channel may follow it (channel.hpp).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "../network.hpp"
#include "routes.hpp"

namespace ww::sim {

class Topology {
  public:
    // Channel 2 i is link i's forward direction, 2 i + 1 its backward one.
    explicit Topology(const Network& network);

    const std::string& error() const { return error_; }
    // Flows between the same nodes share a route.
    std::size_t routes() const { return paths_.size() / 2; }
    std::uint32_t route_of(std::size_t flow) const { return route_of_[flow]; }
    std::span<const std::uint32_t> to_receiver(std::size_t route) const {
        return paths_[2 * route];
    }
    std::span<const std::uint32_t> to_sender(std::size_t route) const {
        return paths_[2 * route + 1];
    }
    bool inlined(std::size_t channel) const { return inlined_[channel]; }
    // Returns the only channel that this one's packets go on to; kNone if there is no such channel.
    static constexpr std::uint32_t kNone = UINT32_MAX;
    std::uint32_t only_next(std::size_t channel) const {
        return inlined_[channel] ? next_[channel] : kNone;
    }

  private:
    void find_routes(const Network& network);
    std::string add_route(Route route, std::uint32_t from, std::uint32_t to);
    void find_inlined(std::size_t channels);
    void order_held_queues(const Network& network);

    std::vector<Route> paths_;             // two per route: there and back
    std::vector<std::uint32_t> route_of_;  // by flow
    std::vector<bool> inlined_;
    std::vector<std::uint32_t> next_;  // the only channel that its packets go on to, or kNone
    std::string error_;
};

}  // namespace ww::sim
