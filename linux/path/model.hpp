// SPDX-License-Identifier: GPL-2.0-only
//
// The model is the network between the hosts, without a clock or device. The engine's own channels
// (../../engine/link/channel.hpp, with their queues, losses, jitter and recorded rates) take real packets instead of
// simulated ones.
//
// A packet enters the first channel of its flow's route when its host sends it. It enters each further channel at the
// exact time at which the previous one releases it, and is due at the other host when the last one releases it.
// The channels compute these times regardless of when they are asked, so a late packet delays no other.
//
// Where packets wait in a queue of the kernel (queues.hpp), the model learns when they leave it. The channel then only
// sends them on.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "../../engine/link/channel.hpp"
#include "../../engine/sim/topology.hpp"
#include "packet.hpp"
#include "waiting.hpp"

namespace ww::path {

// Counts a flow's packets with data towards its sink.
struct Counts {
    std::uint64_t packets_at_sink = 0, ip_bytes_at_sink = 0;
    std::uint64_t queue_drops = 0, lost = 0, in_flight = 0;
    sim::Time last_arrival = -1;  // at the sink; -1: nothing arrived
};

// Totals of one direction.
struct Carried {
    std::uint64_t packets = 0, bytes = 0;  // that arrived
    std::uint64_t dropped = 0, lost = 0;   // by queues, on wires
    double delay_s = 0, longest_s = 0;     // sum and maximum over the arrivals
};

// Tells whose packets the path carries: those of the plan's flows, or those of other programs. The latter follow the
// first flow's route: forward from its first node, back from its second.
enum class Packets : std::uint8_t { of_flows, of_others };

class Model {
  public:
    // Bytes of the largest IPv4 packet, rounded up.
    static constexpr std::size_t kRoom = 65536;

    // Puts a packet into the kernel's queue of a channel; returns false if the queue drops it at once.
    using Enqueue = std::function<bool(std::uint32_t channel, std::span<const std::uint8_t>)>;

    // Expects a validated network in which every flow has a route.
    Model(const sim::Network& network, const sim::Topology& topology, std::uint64_t seed,
          Packets packets = Packets::of_flows, Enqueue enqueue = {});

    // Returns the buffer for the next packet, to be filled before enter().
    std::span<std::uint8_t> room() { return {room_.get(), kRoom}; }

    // Sends the packet in the first `size` bytes of room() from the host of `node` at `now`. A packet that belongs
    // to no flow is counted and dropped.
    void enter(sim::Time now, std::uint32_t node, std::size_t size);

    // Takes the packet in the first `size` bytes of room() back from the kernel's queue of a channel.
    void leave(sim::Time now, std::uint32_t channel, std::size_t size);

    // Returns when the next packet is due at a channel or host; kNever: none is in transit.
    sim::Time next() const { return due_.empty() ? sim::kNever : due_.front().at; }

    using Deliver =
        std::function<void(std::uint32_t node, std::span<const std::uint8_t>, sim::Time)>;

    // Moves every packet that is due up to `now`, in order; passes those that reach their host to `deliver`. Nothing
    // enters or moves after the run's end.
    void run(sim::Time now, const Deliver& deliver);

    const Counts& counts(std::size_t flow) const { return counts_[flow]; }
    const Carried& carried(bool to_sink) const { return carried_[to_sink ? 0 : 1]; }

    // Returns how long a packet of the first flow would wait in queues if it entered now.
    sim::Time backlog(sim::Time now, bool to_sink) const;

    std::uint64_t strangers() const { return strangers_; }  // packets that belong to no flow

    // Lists every dropped, lost or marked packet if queues are traced; `flow` is the flow's number.
    const std::vector<sim::Drop>& drops() const { return drops_; }

    // Moves the remaining packets to the end of the run without delivering them, and returns the final counts.
    std::vector<sim::DirectionResult> finish();

  private:
    struct Held {
        std::vector<std::uint8_t> data;
        std::uint32_t hop = 0;  // number of channels that it has passed
        sim::Time entered = 0;
        Seen seen{};
    };
    struct Due {
        sim::Time at;
        std::uint64_t order;
        std::uint32_t held;
    };
    static bool later(const Due& a, const Due& b) {
        return a.at != b.at ? a.at > b.at : a.order > b.order;
    }

    std::span<const std::uint32_t> route(const Seen& seen) const {
        const std::uint32_t route = topology_.route_of(seen.flow);
        return seen.to_sink ? topology_.to_receiver(route) : topology_.to_sender(route);
    }
    std::optional<Seen> parse_from(std::uint32_t node, std::size_t size) const;
    void forward(std::uint32_t held, sim::Time now);
    void wait(std::uint32_t held, std::uint32_t channel, sim::Time now);
    void cross(std::uint32_t held, std::uint32_t channel, sim::Time now);
    void drop(std::uint32_t held, std::uint32_t channel, sim::Time now, sim::DropKind kind);
    void arrive(Held& packet, sim::Time at, const Deliver& deliver);
    void account(const Held& packet, std::uint32_t channel, sim::Time now, sim::DropKind kind);
    std::uint32_t take_slot();

    const sim::Network& network_;
    const sim::Topology& topology_;
    const Packets packets_;
    const Enqueue enqueue_;
    std::vector<sim::Channel> channels_;
    std::vector<std::unique_ptr<Waiting>>
        waiting_;  // by channel; null: it has no queue of the kernel
    std::vector<Counts> counts_;
    std::array<Carried, 2> carried_;   // to the sinks, to the sources
    std::vector<Held> held_;           // packets in transit, each in a slot
    std::vector<std::uint32_t> free_;  // unused slots of held_
    std::vector<Due> due_;             // a heap, soonest first
    std::vector<sim::Drop> drops_;
    std::unique_ptr<std::uint8_t[]> room_ = std::make_unique<std::uint8_t[]>(kRoom);
    sim::Time now_ = 0;
    std::uint64_t order_ = 0, strangers_ = 0;
};

}  // namespace ww::path
