// SPDX-License-Identifier: BSD-3-Clause
//
// A connection whose two ends another program simulates, such as those of a QUIC stack. The engine carries its packets
// over the links, among those of all other flows, and calls it when a packet arrives or its timer is due. The guest
// keeps the contents of its packets and gives them numbers.
//
// Both ends live in the order of time, so every hop of such a network is an event (Network::event_per_hop).
#pragma once

#include <memory>
#include <utility>

#include "../base/timers.hpp"
#include "../network.hpp"

namespace ww::sim {

enum class End : std::uint8_t { sender, receiver };

class Guest {
  public:
    struct Sent {
        std::uint32_t number;   // of the packet, for the guest
        std::uint16_t payload;  // bytes in the IP packet after the flow's header_bytes
        bool is_ecn_capable;
    };

    virtual ~Guest() = default;
    virtual Time next() = 0;  // when it has something to do at an end; kNever
    virtual void on_timer(Time now) = 0;
    virtual void on_packet(Time now, End to, std::uint32_t number, bool is_ecn_capable,
                           bool is_marked) = 0;
    virtual void on_drop(std::uint32_t number) = 0;           // the network has dropped the packet
    virtual bool is_over() const = 0;                         // it will never do anything again
    virtual bool send(Time now, End from, Sent& packet) = 0;  // false: nothing may leave now
    // Fills in what it measured. Returns the payload that has reached the receiving application.
    virtual std::uint64_t finish(Time end, FlowCounts& result, std::vector<Message>& messages) = 0;
};

// Makes the guests of a flow.
class GuestFactory {
  public:
    virtual ~GuestFactory() = default;
    // `flow` is this one connection, with its start and size; `connection` is its index.
    virtual std::unique_ptr<Guest> open(const Flow& flow, std::uint32_t connection) = 0;
};

// A guest as the source of a connection's packets.
struct GuestSource {
    explicit GuestSource(std::unique_ptr<Guest> source) : guest(std::move(source)) {}

    std::unique_ptr<Guest> guest;
    Timer timer = {};  // its start, then next()

    void finish(Time, FlowCounts&) const {}  // Guest::finish has the messages, too
};

}  // namespace ww::sim
