// SPDX-License-Identifier: BSD-3-Clause
//
// Builds a simulation before its first event, and collects its results after the last one.
#include <algorithm>

#include "../base/seconds.hpp"
#include "../validate.hpp"
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
    build_channels(network, topology, seed);
    build_routes(topology);
    build_groups(topology);
    build_connections();
    build_slots();
}

void Simulation::build_channels(const Network& network, const Topology& topology,
                                std::uint64_t seed) {
    channels_.reserve(2 * network.links.size());
    for (std::uint32_t i = 0; i < 2 * network.links.size(); i++) {
        channels_.emplace_back(network, i, seed, &stop_);
        if (topology.inlined(i)) channels_[i].far = Channel::Far::inlined;
    }
    for (std::uint32_t i = 0; i < channels_.size(); i++) find_followers(topology, i);
}

// Chains the channels that may follow `first`. None of them is slower than `first`.
void Simulation::find_followers(const Topology& topology, std::uint32_t first) {
    for (std::uint32_t i = first, next; (next = topology.only_next(i)) != Topology::kNone;
         i = next) {
        if (channels_[i].follower != nullptr || !channels_[next].can_follow(channels_[first]))
            return;
        channels_[i].follower = &channels_[next];
    }
}

Simulation::Connection::Source Simulation::Connection::source_of(const Flow& flow,
                                                                 const SenderSettings& settings,
                                                                 std::uint64_t seed,
                                                                 std::uint32_t connection, Time end,
                                                                 Stop* stop) {
    if (flow.datagrams.on)
        return Source(std::in_place_type<DatagramSource>, flow, seed, connection, end, stop);
    if (flow.guests != nullptr)
        return Source(std::in_place_type<GuestSource>, flow.guests->open(flow, connection));
    const auto drawn = static_cast<std::uint32_t>(Random(seed, Stream::isn, connection).bits());
    return Source(std::in_place_type<Sender>, settings, flow, flow.random_isn ? drawn : flow.isn);
}

Simulation::Connection::Connection(const Flow& flow, const SenderSettings& settings,
                                   std::uint64_t seed, std::uint32_t number,
                                   std::uint32_t slot_of_it, Time end, Stop* stop)
    : slot(slot_of_it),
      header_bytes(static_cast<std::uint16_t>(flow.header_bytes)),
      ecn(flow.ecn),
      timestamps(flow.timestamps),
      index(number),
      receiver(flow),
      source(source_of(flow, settings, seed, number, end, stop)) {
    timer().deadline = flow.start;
}

void Simulation::build_routes(const Topology& topology) {
    hops_.reserve(2 * topology.routes());  // no reallocation: routes point into it
    for (std::size_t i = 0; i < topology.routes(); i++)
        routes_.push_back({hops_of(topology.to_receiver(i)), hops_of(topology.to_sender(i)), 0});
}

const Simulation::Hop* Simulation::hops_of(std::span<const std::uint32_t> channels) {
    Hops& hops = hops_.emplace_back();
    bool waits = true;
    const Channel* before = nullptr;
    for (const std::uint32_t number : channels) {
        Channel& channel = channels_[number];
        if (waits) hops.emplace_back();
        if (before == nullptr || before->follower != &channel)
            hops.back().channels.push_back(&channel);
        hops.back().last = &channel;
        waits = channel.far != Channel::Far::inlined;
        before = &channel;
    }
    for (Hop& hop : hops) hop.end = hop.channels.data() + hop.channels.size();
    hops.back().there = kThere;
    hops.back().arrives = !waits;
    return hops.data();
}

void Simulation::build_groups(const Topology& topology) {
    std::vector<std::uint32_t> group_behind(channels_.size(), UINT32_MAX);
    groups_.reserve(channels_.size());
    for (std::size_t f = 0; f < network_.flows.size(); f++) {
        const std::uint32_t route = topology.route_of(f);
        std::uint32_t& number = group_behind[topology.to_receiver(route).back()];
        if (number == UINT32_MAX) {
            number = static_cast<std::uint32_t>(groups_.size());
            groups_.emplace_back();
        }
        routes_[route].group = number;
    }
}

// Opens the flows that are single connections, in their order; connections.cpp opens the others.
void Simulation::build_connections() {
    const std::size_t count = started_.source.size();
    connections_.reserve(count - started_.arriving.size());
    many_ = count > 1;
    records_windows_ = network_.trace.windows;
    result_.records.has_shown =
        records_windows_ && std::any_of(network_.flows.begin(), network_.flows.end(),
                                        [](const Flow& flow) { return ww_shows(&flow.cc); });
    records_events_ = network_.trace.events;
    fast_path_ = !(records_windows_ || records_events_);
    settings_of_.reserve(network_.flows.size());
    for (const Flow& flow : network_.flows) {
        settings_of_.push_back(&settings_.of(flow));
        const bool is_tcp = !flow.datagrams.on && flow.guests == nullptr;
        const bool paces = is_tcp && settings_of_.back()->paced;
        pacing_ |= paces;
        loads_ |= flow.cc.algorithm == WW_ALG_LOADED;
        fast_path_ &=
            !paces && !flow.ecn && !flow.tso && flow.application.kind == ApplicationKind::bulk;
    }
    for (std::uint32_t i = 0; i < count; i++) {
        if (network_.flows[started_.source[i]].arrivals_mean != 0) continue;
        Connection& c = open(i);
        source_timers_.queue.reschedule(c.timer(), c.slot);
        const Flow& flow = network_.flows[started_.source[i]];
        if (flow.application.kind == ApplicationKind::bulk || flow.guests != nullptr) continue;
        writers_.resize(count);
        application_timers_.queue.reserve(count);
        writers_[c.slot] = std::make_unique<Writer>(flow, seed_, i, end_, &stop_);
    }
}

// The order of the slots decides ties, and next_timer() relies on it.
void Simulation::build_slots() {
    for (Channel& channel : channels_) {
        if (channel.far == Channel::Far::inlined) continue;
        channel.slot = static_cast<std::uint32_t>(channel_of_slot_.size());
        channel_of_slot_.push_back(&channel);
    }
    packets_ = Tournament(channel_of_slot_.size());
    std::uint32_t slots = 0;
    for (Group& group : groups_) group.timers.slot = slots++;
    if (!started_.arriving.empty()) arrivals_slot_ = slots++;
    source_timers_.slot = slots++;
    if (pacing_) pacing_timers_.slot = slots++;
    if (!writers_.empty()) application_timers_.slot = slots++;
    for (Channel& channel : channels_) {
        if (channel.impairments == nullptr || !channel.impairments->held) continue;
        channel.impairments->held->owner = static_cast<std::uint32_t>(holding_.size());
        holding_.push_back(&channel);
    }
    if (!holding_.empty()) departures_.slot = slots++;
    departures_.queue.reserve(holding_.size());
    end_slot_ = slots++;
    timers_ = Tournament(slots);
    timers_.set(end_slot_, end_);
    timers_.set(source_timers_.slot, source_timers_.queue.next());
    if (!started_.arriving.empty())
        timers_.set(arrivals_slot_, started_.start[started_.arriving.front()]);
}

// ---- Results

// The results are allocated when the first connection is finished: the others need no more memory
// then.
void Simulation::conclude(Connection& c) {
    if (result_.connections.empty()) result_.connections.resize(started_.source.size());
    FlowCounts& result = result_.connections[c.index];
    std::visit([&](auto& source) { source.finish(end_, result); }, c.source);
    if (Writer* const writer = writer_of(c)) writer->finish(end_, result, result_.messages);
    if (GuestSource* const source = std::get_if<GuestSource>(&c.source))
        c.receiver.delivered_bytes = source->guest->finish(end_, result, result_.messages);
    result.source = started_.source[c.index];
    result.start_s = seconds(started_.start[c.index]);
    result.delivered_bytes = c.receiver.delivered_bytes;
    result.ip_bytes_at_sink = c.receiver.ip_bytes;
    result.queue_drops = c.queue_drops;
    result.lost = c.lost;
    result.in_flight = c.in_flight;
    if (c.receiver.last_arrival >= 0) result.last_arrival_s = seconds(c.receiver.last_arrival);
}

void Simulation::finish() {
    for (Channel& channel : channels_) channel.empty();  // makes room for the results
    for (const Hops& hops : hops_)
        for (const Hop& hop : hops)
            for (Channel* channel : hop.channels) channel->leave_step();
    for (Channel* channel : holding_)
        for (HeldPackets& held = *channel->impairments->held; !held.empty();)
            channel->leave_waiting(held.pop(held.any_line()));
    for (Connection& c : connections_) conclude(c);
    result_.records = take_records(kNever);
    for (std::size_t i = 0; i < channels_.size(); i++) {
        DirectionResult crossed = channels_[i].result();
        result_.packets += crossed.packets;
        (i % 2 == 0 ? result_.forward : result_.backward).push_back(std::move(crossed));
    }
}

Outcome run(const Network& network, std::uint64_t seed, Sink* sink, const Stop& stop) {
    Outcome failed;
    failed.error = validate(network);
    if (!failed.error.empty()) return failed;
    Connections connections = connections_of(network, seed);
    failed.error = connections.error;
    if (!failed.error.empty()) return failed;
    const Topology topology(network);
    failed.error = topology.error();
    if (!failed.error.empty()) return failed;
    return Simulation(network, std::move(connections), topology, seed, stop).run(sink);
}

}  // namespace ww::sim
