// SPDX-License-Identifier: BSD-3-Clause
//
// A simulation is put together here before its first event, and hands out its results after its last.
#include "seconds.hpp"
#include "simulation.hpp"

namespace ww::sim {

Simulation::Simulation(const Network& network, const Connections& connections,
                       const Topology& topology, std::uint64_t seed)
    : end_(network.duration), drops_(network.trace.queues) {
    build_pipes(network, topology, seed);
    build_connections(network, connections, topology, seed);
    build_groups(topology);
    build_slots();
}

void Simulation::build_pipes(const Network& network, const Topology& topology, std::uint64_t seed) {
    pipes_.reserve(2 * network.links.size());
    for (std::uint32_t i = 0; i < 2 * network.links.size(); i++) {
        pipes_.emplace_back(network, i, seed);
        if (topology.inlined(i)) pipes_[i].far = Pipe::Far::inlined;
        if (network.trace.capture_link == static_cast<std::int64_t>(i / 2))
            pipes_[i].extras->captured = &result_.captured;
    }
}

Simulation::Connection::Source Simulation::Connection::source_of(const Flow& flow,
                                                                 std::uint64_t seed,
                                                                 std::uint32_t connection) {
    if (flow.datagrams.on)
        return Source(std::in_place_type<DatagramSource>, flow, seed, connection);
    const auto drawn = static_cast<std::uint32_t>(Random(seed, Stream::isn, connection).bits());
    return Source(std::in_place_type<Sender>, flow, flow.random_isn ? drawn : flow.isn);
}

Simulation::Connection::Connection(const Flow& flow, std::uint64_t seed, std::uint32_t number,
                                   FlowResult& result_of_flow)
    : receiver(flow),
      index(number),
      header_bytes(flow.header_bytes),
      ecn(flow.ecn),
      timestamps(flow.timestamps),
      start(flow.start),
      result(&result_of_flow),
      source(source_of(flow, seed, number)) {
    timer().deadline = flow.start;
}

void Simulation::build_connections(const Network& network, const Connections& connections,
                                   const Topology& topology, std::uint64_t seed) {
    const std::size_t count = connections.flows.size();
    result_.flows.resize(count);
    connections_.reserve(count);
    source_timers_.queue = TimerQueue(count);
    many_ = count > 1;
    recording_ = network.trace.windows || network.trace.events;
    for (std::uint32_t i = 0; i < count; i++) {
        const Flow& flow = connections.flows[i];
        const std::uint32_t source = connections.source[i];
        FlowResult& result = result_.flows[i];
        Connection& c = connections_.emplace_back(flow, seed, i, result);
        c.to_receiver = route_of(topology.to_receiver(source));
        c.to_sender = route_of(topology.to_sender(source));
        source_timers_.queue.hasten(c.timer(), i);
        if (const Sender* sender = std::get_if<Sender>(&c.source)) pacing_ |= sender->is_paced();
        result.source = source;
        if (recording_) recorders_.emplace_back(network.trace, result);
    }
    if (pacing_) pacing_timers_.queue = TimerQueue(count);
}

const Simulation::Route* Simulation::route_of(std::span<const std::uint32_t> pipes) {
    const auto [place, is_new] = routes_.try_emplace({pipes.begin(), pipes.end()});
    if (is_new) {
        for (const std::uint32_t pipe : pipes) place->second.push_back(&pipes_[pipe]);
        place->second.push_back(nullptr);
    }
    return &place->second;
}

void Simulation::build_groups(const Topology& topology) {
    std::vector<std::uint32_t> group_behind(pipes_.size(), UINT32_MAX);
    groups_.reserve(pipes_.size());
    for (Connection& c : connections_) {
        std::uint32_t& number = group_behind[topology.to_receiver(c.result->source).back()];
        if (number == UINT32_MAX) {
            number = static_cast<std::uint32_t>(groups_.size());
            groups_.emplace_back();
        }
        c.group = &groups_[number];
        c.place = static_cast<std::uint32_t>(c.group->members.size());
        c.group->members.push_back(&c);
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
    for (Group& group : groups_)
        group.timers = {.slot = slots++, .queue = TimerQueue(group.members.size())};
    source_timers_.slot = slots++;
    if (pacing_) pacing_timers_.slot = slots++;
    timers_ = Tournament(slots);
    timers_.set(source_timers_.slot, source_timers_.queue.next());
}

// ---- Results

void Simulation::finish() {
    for (Connection& c : connections_) {
        FlowResult& result = *c.result;
        std::visit([&](auto& source) { source.finish(end_, result); }, c.source);
        result.start_s = seconds(c.start);
        result.delivered_bytes = c.receiver.delivered_bytes;
        result.ip_bytes_at_sink = c.receiver.ip_bytes;
    }
    for (std::size_t i = 0; i < pipes_.size(); i++) {
        DirectionResult crossed = pipes_[i].result(end_);
        result_.packets += crossed.packets;
        (i % 2 == 0 ? result_.forward : result_.backward).push_back(std::move(crossed));
    }
    // Pipes that run ahead of the clock have also captured ahead of it.
    const auto by_time = [](const Captured& a, const Captured& b) { return a.at < b.at; };
    std::erase_if(result_.captured, [&](const Captured& row) { return row.at > end_; });
    std::stable_sort(result_.captured.begin(), result_.captured.end(), by_time);
    result_.drops = drops_.take();
}

}  // namespace ww::sim
