// SPDX-License-Identifier: BSD-3-Clause
//
// A simulation is put together here before its first event, and hands out its results after its last.
#include "seconds.hpp"
#include "simulation.hpp"

namespace ww::sim {

Simulation::Simulation(const Network& network, Connections connections, const Topology& topology,
                       std::uint64_t seed, const Stop& stop)
    : network_(network),
      topology_(topology),
      started_(std::move(connections)),
      seed_(seed),
      stop_(stop),
      end_(network.duration),
      drops_(network.trace.queues) {
    build_pipes(network, topology, seed);
    build_routes(topology);
    build_groups(topology);
    build_connections();
    build_slots();
}

void Simulation::build_pipes(const Network& network, const Topology& topology, std::uint64_t seed) {
    pipes_.reserve(2 * network.links.size());
    for (std::uint32_t i = 0; i < 2 * network.links.size(); i++) {
        pipes_.emplace_back(network, i, seed, &stop_);
        if (topology.inlined(i)) pipes_[i].far = Pipe::Far::inlined;
    }
}

Simulation::Connection::Source Simulation::Connection::source_of(const Flow& flow,
                                                                 std::uint64_t seed,
                                                                 std::uint32_t connection, Time end,
                                                                 Stop* stop) {
    if (flow.datagrams.on)
        return Source(std::in_place_type<DatagramSource>, flow, seed, connection, end, stop);
    const auto drawn = static_cast<std::uint32_t>(Random(seed, Stream::isn, connection).bits());
    return Source(std::in_place_type<Sender>, flow, flow.random_isn ? drawn : flow.isn);
}

Simulation::Connection::Connection(const Flow& flow, std::uint64_t seed, std::uint32_t number,
                                   std::uint32_t slot_of_it, Time end, Stop* stop,
                                   FlowCounts& result_of_it)
    : slot(slot_of_it),
      header_bytes(flow.header_bytes),
      ecn(flow.ecn),
      timestamps(flow.timestamps),
      receiver(flow),
      index(number),
      start(flow.start),
      result(&result_of_it),
      source(source_of(flow, seed, number, end, stop)) {
    timer().deadline = flow.start;
}

void Simulation::build_routes(const Topology& topology) {
    routes_.reserve(2 * topology.ways());  // ways point into them
    for (std::size_t i = 0; i < topology.ways(); i++)
        ways_.push_back({route_of(topology.to_receiver(i)), route_of(topology.to_sender(i)), 0});
}

const Simulation::Leg* Simulation::route_of(std::span<const std::uint32_t> pipes) {
    Route& route = routes_.emplace_back();
    bool waits = true;
    for (const std::uint32_t pipe : pipes) {
        if (waits) route.emplace_back();
        route.back().pipes.push_back(&pipes_[pipe]);
        waits = pipes_[pipe].far != Pipe::Far::inlined;
    }
    for (Leg& leg : route) leg.end = leg.pipes.data() + leg.pipes.size();
    route.back().there = kThere;
    route.back().arrives = !waits;
    return route.data();
}

void Simulation::build_groups(const Topology& topology) {
    std::vector<std::uint32_t> group_behind(pipes_.size(), UINT32_MAX);
    groups_.reserve(pipes_.size());
    for (std::size_t f = 0; f < network_.flows.size(); f++) {
        const std::uint32_t way = topology.way_of(f);
        std::uint32_t& number = group_behind[topology.to_receiver(way).back()];
        if (number == UINT32_MAX) {
            number = static_cast<std::uint32_t>(groups_.size());
            groups_.emplace_back();
        }
        ways_[way].group = number;
    }
}

// Those of flows that are one connection are made here, in their order; arrivals.cpp makes the others.
void Simulation::build_connections() {
    const std::size_t count = started_.source.size();
    result_.connections.resize(count);
    for (std::size_t i = 0; i < count; i++) result_.connections[i].source = started_.source[i];
    connections_.reserve(count - started_.arriving.size());
    many_ = count > 1;
    recording_ = network_.trace.windows || network_.trace.events;
    for (const Flow& flow : network_.flows)
        pacing_ |= !flow.datagrams.on && ww_needs_rate(&flow.cc);
    for (std::uint32_t i = 0; i < count; i++) {
        if (network_.flows[started_.source[i]].arrivals_mean != 0) continue;
        Connection& c = open(i);
        source_timers_.queue.hasten(c.timer(), c.slot);
    }
}

// The order of the slots decides ties, and next_timer() knows it.
void Simulation::build_slots() {
    for (Pipe& pipe : pipes_) {
        if (pipe.far == Pipe::Far::inlined) continue;
        pipe.slot = static_cast<std::uint32_t>(pipe_of_slot_.size());
        pipe_of_slot_.push_back(&pipe);
    }
    packets_ = Tournament(pipe_of_slot_.size());
    std::uint32_t slots = 0;
    for (Group& group : groups_) group.timers.slot = slots++;
    if (!started_.arriving.empty()) arrivals_slot_ = slots++;
    source_timers_.slot = slots++;
    if (pacing_) pacing_timers_.slot = slots++;
    timers_ = Tournament(slots);
    timers_.set(source_timers_.slot, source_timers_.queue.next());
    if (!started_.arriving.empty())
        timers_.set(arrivals_slot_, started_.start[started_.arriving.front()]);
}

// ---- Results

void Simulation::conclude(Connection& c) {
    FlowCounts& result = *c.result;
    std::visit([&](auto& source) { source.finish(end_, result); }, c.source);
    result.start_s = seconds(c.start);
    result.delivered_bytes = c.receiver.delivered_bytes;
    result.ip_bytes_at_sink = c.receiver.ip_bytes;
}

void Simulation::finish() {
    for (Connection& c : connections_) conclude(c);
    result_.records = take_records(kNever);
    for (std::size_t i = 0; i < pipes_.size(); i++) {
        DirectionResult crossed = pipes_[i].result(end_);
        result_.packets += crossed.packets;
        (i % 2 == 0 ? result_.forward : result_.backward).push_back(std::move(crossed));
    }
}

}  // namespace ww::sim
