// SPDX-License-Identifier: BSD-3-Clause
//
// Queues whose discipline decides when packets leave (link/queue/discipline.hpp): a packet enters the
// queue in the order of time, and each departure is an event.
#include "simulation.hpp"

namespace ww::sim {

// Adds a packet to the queue. It counts as in flight until it leaves.
Passage Simulation::enqueue(const Connection& c, Channel& channel, const Packet& packet,
                            const Entry& entry, Time now) {
    HeldPackets& queue = *channel.impairments->held;
    HeldPacket held;
    held.packet = packet;
    held.packet.flow = c.index;
    held.slot = c.slot;
    held.ip_bytes = entry.ip_bytes;
    held.has_sack = entry.sack != nullptr;
    if (held.has_sack) held.sack = *entry.sack;
    // A packet that leaves now makes room, as in a drop-tail queue.
    if (!queue.empty() && queue.departure.deadline <= now) depart(channel, now);
    const bool is_first = queue.empty();
    const Flow& flow = network_.flows[started_.source[c.index]];
    const bool is_ack = (packet.flags & kAck) != 0;
    const Joining joining{std::uint64_t{c.index} << 1 | is_ack, false, is_ack ? flow.to : flow.from,
                          is_ack ? flow.from : flow.to};
    const Passage passage = channel.enqueue(now, held, joining);
    if (passage.fate != Fate::arrives) return passage;
    if (((held.packet.flags ^ packet.flags) & kCe) != 0) record_mark(c, channel, now);
    if (channel.impairments->ack_filter) filter_acks(channel, now);
    const Time batch = channel.impairments->batch();
    const bool is_idle = queue.size() == 1 && channel.opens() <= now && batch == 0;
    while (!is_idle && queue.is_over_limit()) shed(channel, now);
    if (queue.empty() || !is_first) return passage;
    queue.departure.deadline = std::max(now + batch, channel.opens());
    if (queue.departure.deadline < queue.departure.queued)
        reschedule(departures_, queue.departure, queue.owner);
    return passage;
}

// Drops the ACKs that the newest packet makes redundant.
void Simulation::filter_acks(Channel& channel, Time now) {
    const std::uint32_t keep = channel.impairments->ack_filter->settings().keep;
    while (const auto ack = channel.impairments->held->take_redundant(keep))
        leave_queue(connections_[ack->slot], channel, *ack, channel.drop_early(now));
}

// Drops packets of the longest line, because the queue is full.
void Simulation::shed(Channel& channel, Time now) {
    HeldPackets& queue = *channel.impairments->held;
    const std::uint32_t most = std::visit([](const auto& any) { return any.drop_batch(); },
                                          channel.impairments->discipline);
    const std::uint32_t line = queue.longest();
    const std::int64_t keep = queue.ip_bytes(line) - queue.ip_bytes(line) / 2;
    for (std::uint32_t i = 0;
         i < most && !queue.is_empty(line) && (i == 0 || queue.ip_bytes(line) > keep); i++) {
        const HeldPacket held = queue.pop(line);
        std::visit([&](auto& any) { any.shed(now, line); }, channel.impairments->discipline);
        leave_queue(connections_[held.slot], channel, held, channel.drop_held(now));
    }
}

// The transmitter is free: sends the first packet that the discipline does not drop.
void Simulation::depart(Channel& channel, Time now) {
    HeldPackets& queue = *channel.impairments->held;
    while (!queue.empty()) {
        const auto [line, verdict] = std::visit(
            [&](auto& any) {
                const std::uint32_t next = any.next_line(now, queue);
                return std::pair(next, any.dequeue(now, queue.head(next)));
            },
            channel.impairments->discipline);
        channel.impairments->note(now);
        HeldPacket held = queue.pop(line);
        Connection& c = connections_[held.slot];
        const std::uint16_t flags = held.packet.flags;
        const Passage passage = verdict == Verdict::drop ? channel.drop_early(now)
                                                         : channel.send_held(now, held, verdict);
        if (held.packet.flags != flags) record_mark(c, channel, now);
        leave_queue(c, channel, held, passage);
        if (verdict != Verdict::drop) break;
    }
    if (queue.empty()) return;
    queue.departure.deadline = channel.opens();
    if (queue.departure.deadline < queue.departure.queued)
        reschedule(departures_, queue.departure, queue.owner);
}

// Takes a packet from the queue to the end of its hop, which ends with this channel (topology.cpp).
void Simulation::leave_queue(Connection& c, Channel& channel, const HeldPacket& held,
                             const Passage& passage) {
    if (passage.at > end_) return;  // it stays in flight
    const bool ack = (held.packet.flags & kAck) != 0;
    c.in_flight -= !ack && held.packet.payload > 0;
    if (passage.fate != Fate::arrives) {
        account_drop(c, channel, held.packet, passage, ack);
        return;
    }
    const Hop& hop = (ack ? c.to_sender : c.to_receiver)[held.packet.hop];
    wait_for_end(c, held.packet, hop, passage.at, held.has_sack ? &held.sack : nullptr);
}

void Simulation::next_departure() {
    TimerQueue& queue = departures_.queue;
    Channel& channel = *holding_[queue.next_owner()];
    const Time now = queue.next();
    if (queue.take(channel.impairments->held->departure)) depart(channel, now);
    timers_.set(departures_.slot, queue.next());
}

}  // namespace ww::sim
