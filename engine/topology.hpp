// SPDX-License-Identifier: BSD-3-Clause
//
// The topology finds the routes, which are static, and which pipes may run ahead of the clock.
//
// A pipe processes packets in the order of their arrival. Where all of them come from one source that
// is itself in order, that order is known as soon as a packet enters the pipe before, and everything
// up to the far end (and the receiver there, and its ACKs) can be computed at once: the pipe is
// "inlined". Otherwise its packets wait in a ring, and the event loop takes them in global order.
// Sources of a pipe are: another pipe, the receivers behind one pipe, or the senders of its node.
// A pipe that reorders packets is not inlined: what it hands on is not in the order it was given.
// Pipes that bring ACKs to a sender are never inlined: senders live in global order.
// Where all packets of an inlined pipe go on to one pipe, that one may follow it (pipe.hpp).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "network.hpp"

namespace ww::sim {

class Topology {
  public:
    // Pipe 2 i is link i's forward direction, 2 i + 1 its backward one.
    explicit Topology(const Network& network);

    const std::string& error() const { return error_; }
    // Flows between the same nodes go the same way.
    std::size_t ways() const { return routes_.size() / 2; }
    std::uint32_t way_of(std::size_t flow) const { return way_of_[flow]; }
    std::span<const std::uint32_t> to_receiver(std::size_t way) const { return routes_[2 * way]; }
    std::span<const std::uint32_t> to_sender(std::size_t way) const { return routes_[2 * way + 1]; }
    bool inlined(std::size_t pipe) const { return inlined_[pipe]; }
    // The pipe that all packets of this one go on to, and no others; kNone: there is none.
    static constexpr std::uint32_t kNone = UINT32_MAX;
    std::uint32_t only_next(std::size_t pipe) const { return inlined_[pipe] ? next_[pipe] : kNone; }

  private:
    void find_routes(const Network& network);
    std::string add_way(const Network& network, const std::vector<std::uint32_t>& tree,
                        std::uint32_t from, std::uint32_t to);
    void find_inlined(std::size_t pipes);

    std::vector<std::vector<std::uint32_t>> routes_;  // two a way
    std::vector<std::uint32_t> way_of_;               // by flow
    std::vector<bool> inlined_;
    std::vector<std::uint32_t> next_;  // that all its packets go on to, or kNone
    std::string error_;
};

}  // namespace ww::sim
