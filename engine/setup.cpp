// SPDX-License-Identifier: BSD-3-Clause
//
// A simulation before its first event and after its last: what it is built of, what it hands out.
#include <limits>

#include "seconds.hpp"
#include "simulation.hpp"

namespace ww::sim {

Simulation::Simulation(const Network& network, const Connections& connections,
                       const Topology& topology, std::uint64_t seed)
    : end_(network.duration), drops_(network.trace.queues) {
    build_pipes(network, topology, seed);
    build_connections(network, connections, topology, seed);
    build_slots(topology);
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

void Simulation::build_connections(const Network& network, const Connections& connections,
                                   const Topology& topology, std::uint64_t seed) {
    const std::size_t count = connections.flows.size();
    result_.flows.resize(count);
    connections_.reserve(count);
    datagram_sources_.reserve(count);
    sender_timers_ = TimerQueue(count);
    many_ = count > 1;
    recording_ = network.trace.windows || network.trace.events;
    for (std::uint32_t i = 0; i < count; i++) {
        const Flow& flow = connections.flows[i];
        const std::uint32_t isn =
            flow.random_isn ? static_cast<std::uint32_t>(Random(seed, Stream::isn, i).bits())
                            : flow.isn;
        const std::uint32_t source = connections.source[i];
        FlowResult& result = result_.flows[i];
        Connection& c = connections_.emplace_back(Connection{.sender = Sender(flow, isn),
                                                             .receiver = Receiver(),
                                                             .index = i,
                                                             .header_bytes = flow.header_bytes,
                                                             .ecn = flow.ecn,
                                                             .start = flow.start,
                                                             .to_receiver = nullptr,
                                                             .to_sender = nullptr,
                                                             .result = &result});
        c.to_receiver = route_of(topology.to_receiver(source));
        c.to_sender = route_of(topology.to_sender(source));
        c.receiver.delayed_ack = flow.delayed_ack;
        c.receiver.delayed_ack_timeout = flow.delayed_ack_timeout;
        c.receiver.sack = uses_sack(flow.recovery);
        c.sender.timer.deadline = flow.start;
        sender_timers_.hasten(c.sender.timer, i);
        pacing_ |= c.sender.is_paced();
        if (flow.datagrams.on)
            c.datagrams = &datagram_sources_.emplace_back(flow, Random(seed, Stream::datagrams, i));
        result.source = source;
        if (recording_) recorders_.emplace_back(network.trace, result);
    }
    if (pacing_) pacing_timers_ = TimerQueue(count);
}

const Simulation::Route* Simulation::route_of(std::span<const std::uint32_t> pipes) {
    const auto [place, is_new] = routes_.try_emplace({pipes.begin(), pipes.end()});
    if (is_new) {
        for (const std::uint32_t pipe : pipes) place->second.push_back(&pipes_[pipe]);
        place->second.push_back(nullptr);
    }
    return &place->second;
}

void Simulation::build_slots(const Topology& topology) {
    for (Pipe& pipe : pipes_) {
        if (pipe.far == Pipe::Far::inlined) continue;
        pipe.slot = static_cast<std::uint32_t>(pipe_of_slot_.size());
        pipe_of_slot_.push_back(&pipe);
    }
    std::vector<std::uint32_t> group_behind(pipes_.size(), UINT32_MAX);
    groups_.reserve(pipes_.size());
    for (Connection& c : connections_) {
        std::uint32_t& number = group_behind[topology.to_receiver(c.result->source).back()];
        if (number == UINT32_MAX) {
            number = static_cast<std::uint32_t>(groups_.size());
            groups_.emplace_back().slot = number;
        }
        c.group = &groups_[number];
        c.place = static_cast<std::uint32_t>(c.group->members.size());
        c.group->members.push_back(&c);
    }
    for (Group& group : groups_) group.timers = TimerQueue(group.members.size());
    sender_slot_ = static_cast<std::uint32_t>(groups_.size());
    packets_ = Tournament(pipe_of_slot_.size());
    pacing_slot_ = sender_slot_ + 1;
    timers_ = Tournament(groups_.size() + (pacing_ ? 2 : 1));
    timers_.set(sender_slot_, sender_timers_.next());
}

// ---- Results

void Simulation::finish() {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (Connection& c : connections_) {
        FlowResult& result = *c.result;
        c.sender.finish(end_, result);
        result.start_s = seconds(c.start);
        result.delivered_bytes = c.receiver.delivered_bytes;
        result.ip_bytes_at_sink = c.receiver.ip_bytes;
        if (c.datagrams == nullptr) continue;
        result.sent = c.datagrams->sent;
        result.established_s = result.completed_s = nan;
    }
    for (std::size_t i = 0; i < pipes_.size(); i++) {
        DirectionResult crossed = pipes_[i].result(end_);
        result_.packets += crossed.packets;
        (i % 2 == 0 ? result_.forward : result_.backward).push_back(std::move(crossed));
    }
    // Pipes that run ahead of the clock recorded ahead of it.
    const auto by_time = [](const Captured& a, const Captured& b) { return a.at < b.at; };
    std::erase_if(result_.captured, [&](const Captured& row) { return row.at > end_; });
    std::stable_sort(result_.captured.begin(), result_.captured.end(), by_time);
    result_.drops = drops_.take();
}

}  // namespace ww::sim
