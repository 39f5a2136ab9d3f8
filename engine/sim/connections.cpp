// SPDX-License-Identifier: BSD-3-Clause
//
// Opens connections. A new one takes a free slot or that of a finished connection, so memory grows
// with the connections that are alive at a time, not with all that arrive. Finished connections are
// looked for only when slots run out, so the others pay nothing. A connection is finished once all
// its data is acknowledged, none of its timers runs and none of its packets is in a channel:
// nothing can change its results then.
#include <algorithm>
#include <memory>

#include "simulation.hpp"

namespace ww::sim {

Simulation::Connection& Simulation::open(std::uint32_t connection) {
    const Flow flow = started_.flow(network_, connection);
    const SenderSettings& settings = *settings_of_[started_.source[connection]];
    const Route& route = routes_[topology_.route_of(started_.source[connection])];
    Group& group = groups_[route.group];
    if (group.free.empty() && connections_.size() == connections_.capacity()) free_finished();
    std::uint32_t slot, place;
    if (group.free.empty()) {
        slot = static_cast<std::uint32_t>(connections_.size());
        place = static_cast<std::uint32_t>(group.members.size());
        group.members.push_back(slot);
        connections_.emplace_back(flow, settings, seed_, connection, slot, end_, &stop_);
        source_timers_.queue.reserve(connections_.size());
        if (pacing_) pacing_timers_.queue.reserve(connections_.size());
        group.timers.queue.reserve(group.members.size());
        if (records_windows_ || records_events_)
            recorders_.emplace_back(network_, connection, result_.records);
    } else {
        place = group.free.back();
        group.free.pop_back();
        slot = group.members[place];
        Connection* const instance = &connections_[slot];
        conclude(*instance);
        std::destroy_at(instance);
        std::construct_at(instance, flow, settings, seed_, connection, slot, end_, &stop_);
        if (records_windows_ || records_events_)
            recorders_[slot] = Recorder(network_, connection, result_.records);
    }
    Connection& c = connections_[slot];
    c.group = &group;
    c.place = place;
    c.to_receiver = route.to_receiver;
    c.to_sender = route.to_sender;
    return c;
}

void Simulation::next_arrival() {
    const std::vector<std::uint32_t>& arriving = started_.arriving;
    Connection& c = open(arriving[arrived_++]);
    timers_.set(arrivals_slot_,
                arrived_ < arriving.size() ? started_.start[arriving[arrived_]] : kNever);
    const Time now = started_.start[c.index];
    if (GuestSource* const source = std::get_if<GuestSource>(&c.source)) {
        next_guest_timer(c, *source->guest, now);
        source->timer.deadline = std::max(now, source->guest->next());
        reschedule(source_timers_, source->timer, c.slot);
    } else {
        next_sender_timer(c, now);
    }
    timers_.set(source_timers_.slot, source_timers_.queue.next());
}

bool Simulation::is_finished(const Connection& c) {
    if (const GuestSource* const source = std::get_if<GuestSource>(&c.source))
        return source->guest->is_over();
    const Sender& sender = std::get<Sender>(c.source);
    return sender.is_complete() && sender.timer.deadline == kNever &&
           sender.pace.deadline == kNever && c.receiver.timer.deadline == kNever;
}

// Takes a finished connection's timers out of their queues.
void Simulation::remove_timers(Connection& c) {
    if (GuestSource* const source = std::get_if<GuestSource>(&c.source))
        return source_timers_.queue.remove(source->timer, c.slot);
    Sender& sender = c.sender();
    source_timers_.queue.remove(sender.timer, c.slot);
    if (pacing_) pacing_timers_.queue.remove(sender.pace, c.slot);
    c.group->timers.queue.remove(c.receiver.timer, c.place);
    timers_.set(c.group->timers.slot, c.group->timers.queue.next());
}

// Frees the slots of finished connections, and reserves more slots if few were free.
void Simulation::free_finished() {
    std::vector<bool> is_busy(connections_.size(), false);
    for (Channel& channel : channels_)
        for (std::size_t i = 0; i < channel.in_transit.size(); i++)
            is_busy[channel.in_transit.at(i).flow] = true;
    for (const Channel* channel : holding_)
        channel->impairments->held->for_each(
            [&](const HeldPacket& held) { is_busy[held.slot] = true; });
    for (const Group& group : groups_)
        for (const std::uint32_t place : group.free) is_busy[group.members[place]] = true;
    std::size_t freed = 0;
    for (Connection& c : connections_) {
        if (is_busy[c.slot] || network_.flows[started_.source[c.index]].arrivals_mean == 0 ||
            !is_finished(c))
            continue;
        remove_timers(c);
        c.group->free.push_back(c.place);
        freed++;
    }
    if (pacing_) timers_.set(pacing_timers_.slot, pacing_timers_.queue.next());
    constexpr std::size_t kLeast = 256;
    if (freed < connections_.capacity() / 4)
        connections_.reserve(std::max(kLeast, 2 * connections_.capacity()));
}

}  // namespace ww::sim
