// SPDX-License-Identifier: BSD-3-Clause
#include "simulation.hpp"

namespace ww::sim {

namespace {
template <std::size_t bytes>
void prefetch(const void* object) {
    const auto* start = static_cast<const char*>(object);
    for (std::size_t line = 0; line < bytes; line += 64) __builtin_prefetch(start + line);
}
}  // namespace

Outcome Simulation::run(Sink* sink) {
    // Number of events between two pieces of records for a sink, and between two merges of
    // captures. Merging often keeps the captures in the cache.
    constexpr std::uint32_t kPiece = 1u << 14, kMerge = 1u << 10;
    std::uint32_t untaken = 0;
    while (!stop_.asked()) {
        const std::uint32_t some = std::min(stop_.events(), capturing() ? kMerge : kPiece);
        const bool goes_on = advance(some);
        if (stop_.events() == 0) break;  // in the middle of an event
        if (!goes_on) {
            finish();
            if (sink != nullptr) sink->take(std::move(result_.records));
            return std::move(result_);
        }
        const Time next = std::min(packets_.first_key(), timers_.first_key());
        if (capturing()) merge_captured(next);
        untaken += some;
        if (sink == nullptr || untaken < kPiece) continue;
        sink->take(take_records(next));
        untaken = 0;
    }
    Outcome stopped;
    stopped.stopped = true;
    return stopped;
}

// Takes up to `most` events; false if none is left before the end. The work for plain ACKs is inlined.
template <bool loaded>
[[gnu::noinline, gnu::flatten]] bool Simulation::advance_with(std::uint32_t most) {
    const bool only_one = channel_of_slot_.size() == 1;  // only timers compete with its packets
    std::uint32_t left = most;
    while (left > 0) {
        if (packets_.first_key() > timers_.first_key()) [[unlikely]] {  // packets before timers
            if (timers_.first() == end_slot_) break;
            left -= 1 + next_timer(timers_.first(), left - 1);
            continue;
        }
        Channel& channel = *channel_of_slot_[packets_.first()];
        Time next;
        do {
            next_packet<loaded>(channel);
            next = channel.in_transit.empty() ? kNever : channel.in_transit.front().at;
        } while (--left > 0 && only_one && next <= timers_.first_key());
        packets_.set(channel.slot, next);
    }
    result_.events += most - left;
    return left == 0;
}

template bool Simulation::advance_with<false>(std::uint32_t most);
template bool Simulation::advance_with<true>(std::uint32_t most);

// ---- The path of a packet

// Takes a packet over its next hop. Inlined where it matters, so that its fields stay in registers.
template <bool ack>
[[gnu::always_inline]] inline void Simulation::traverse_hop(Connection& c, Packet packet,
                                                            std::uint32_t ip_bytes, Time now,
                                                            const SackBlocks* sack) {
    const Hop& hop = (ack ? c.to_sender : c.to_receiver)[packet.hop];
    Channel* const* channel = hop.channels.data();
    do {
        if (!(*channel)->pass_if_open(now, ip_bytes, end_)) [[unlikely]]
            return resume_hop<ack>(c, packet, {now, ip_bytes, sack}, hop, channel);
    } while (++channel != hop.end);
    end_hop<ack>(c, packet, ip_bytes, hop, now, sack);
}

template <bool ack>
[[gnu::always_inline]] inline void Simulation::end_hop(Connection& c, Packet packet,
                                                       std::uint32_t ip_bytes, const Hop& hop,
                                                       Time now, const SackBlocks* sack) {
    if constexpr (!ack) {
        if (hop.arrives) [[likely]]
            return arrive_at_receiver(c, packet, ip_bytes, now);
    }
    wait_for_end(c, packet, hop, now, sack);
}

inline Passage Simulation::traverse_channel(const Connection& c, Channel& channel, Packet& packet,
                                            const Entry& entry, Time now) {
    if (channel.impairments == nullptr) return channel.transmit(now, entry.ip_bytes);
    if (channel.impairments->held) return enqueue(c, channel, packet, entry, now);
    const std::uint16_t flags = packet.flags;
    packet.flow = c.index;
    const Passage passage = channel.transmit_impaired(now, entry.ip_bytes, packet, entry.sack);
    if (packet.flags != flags) record_mark(c, channel, now);
    return passage;
}

// Continues from a channel of the hop that has a decision to make.
template <bool ack>
[[gnu::noinline, gnu::flatten]] void Simulation::resume_hop(Connection& c, Packet packet,
                                                            const Entry& entry, const Hop& hop,
                                                            Channel* const* channel) {
    Time now = entry.at;
    do {
        now = traverse_with_followers<ack>(c, packet, entry, **channel, now);
        if (now > end_) return;
        while (++channel != hop.end && (*channel)->pass_if_open(now, entry.ip_bytes, end_)) {
        }
    } while (channel != hop.end);
    end_hop<ack>(c, packet, entry.ip_bytes, hop, now, entry.sack);
}

// Takes a packet through a channel and its followers. Returns its arrival there, or kNever.
template <bool ack>
inline Time Simulation::traverse_with_followers(Connection& c, Packet& packet, const Entry& entry,
                                                Channel& first, Time now) {
    first.leave_step();
    for (Channel* channel = &first; channel != nullptr && now <= end_;
         channel = channel->follower) {
        const Passage passage = traverse_channel(c, *channel, packet, entry, now);
        now = passage.at;
        if (now > end_)
            c.in_flight += !ack && packet.payload > 0;
        else if (passage.fate != Fate::arrives)
            now = account_drop(c, *channel, packet, passage, ack);
    }
    first.join();
    return now;
}

// The same without inlining, for callers that do not matter.
template <bool ack>
[[gnu::noinline]] void Simulation::traverse_hop_cold(Connection& c, const Packet& packet,
                                                     std::uint32_t ip_bytes, Time now,
                                                     const SackBlocks* sack) {
    traverse_hop<ack>(c, packet, ip_bytes, now, sack);
}
template void Simulation::traverse_hop_cold<false>(Connection& c, const Packet& packet,
                                                   std::uint32_t ip_bytes, Time now,
                                                   const SackBlocks* sack);
template void Simulation::traverse_hop_cold<true>(Connection& c, const Packet& packet,
                                                  std::uint32_t ip_bytes, Time now,
                                                  const SackBlocks* sack);

// Takes the next packet, in global order, that reaches the far end of a channel that is not inlined.
template <bool loaded>
[[gnu::always_inline]] inline void Simulation::next_packet(Channel& channel) {
    const Packet& packet = channel.in_transit.front();
    Connection& c = connections_[packet.flow];
    if (many_) {
        // The next flows are known, so their state is prefetched.
        prefetch<Connection::kOftenUsed>(&connections_[channel.in_transit.glance(4).flow]);
        const Packet& next = channel.in_transit.glance(2);
        if ((next.flags & (kAck | kGuest)) == kAck) connections_[next.flow].sender().prefetch();
    }
    if ((packet.flags & (kAck | kThere | kSack | kSyn | kCe | kAgain | kGuest | kSuspect)) ==
        (kAck | kThere)) [[likely]] {
        const Time now = packet.at;
        const std::uint32_t number = packet.number;
        channel.in_transit.pop();  // other packets may take its place
        arrive_on_fast_path<loaded>(c, now, number);
    } else {
        next_packet_on_slow_path(c, channel);
    }
}

// Handles all packets but plain ACKs at their sender.
[[gnu::noinline]] void Simulation::next_packet_on_slow_path(Connection& c, Channel& channel) {
    Packet packet = channel.in_transit.front();
    channel.in_transit.pop();
    if ((packet.flags & kGuest) != 0) return next_guest_packet(c, packet);
    const bool there = (packet.flags & kThere) != 0;
    if ((packet.flags & kAck) == 0) {
        const std::uint32_t bytes = c.header_bytes + packet.payload;
        if (there) return arrive_at_receiver(c, packet, bytes, packet.at);
        return traverse_hop_cold<false>(c, packet, bytes, packet.at, nullptr);
    }
    SackBlocks blocks;
    const bool has_sack = (packet.flags & kSack) != 0;
    if (has_sack) {
        blocks = channel.sack_blocks.front();
        channel.sack_blocks.pop();
    }
    const SackBlocks* const sack = has_sack ? &blocks : nullptr;
    if (!there)
        traverse_hop_cold<true>(c, packet, c.header_bytes + blocks.option_bytes(), packet.at, sack);
    else if ((packet.flags & kSyn) != 0)
        take_syn_ack(c, packet.at, (packet.flags & kAgain) != 0);
    else if ((packet.flags & kSuspect) == 0 || take_suspect_ack(c, packet))
        arrive_at_sender(c, packet.at,
                         {packet.number, sack, (packet.flags & kAgain) != 0,
                          (packet.flags & kCe) != 0, packet.payload});
}

// ---- Timers

// Takes the next timer, and up to `more` further events. Returns the number of further events.
[[gnu::noinline]] std::uint32_t Simulation::next_timer(std::uint32_t slot, std::uint32_t more) {
    if (slot < groups_.size())
        next_receiver_timer(groups_[slot]);
    else if (slot == source_timers_.slot)
        next_source_timer();
    else if (pacing_ && slot == pacing_timers_.slot)
        return next_pacing_timers(more);
    else if (!writers_.empty() && slot == application_timers_.slot)
        next_application_timer();
    else if (!holding_.empty() && slot == departures_.slot)
        next_departure();
    else
        next_arrival();
    return 0;
}

[[gnu::noinline]] void Simulation::next_receiver_timer(Group& group) {
    TimerQueue& queue = group.timers.queue;
    Connection& c = connections_[group.members[queue.next_owner()]];
    const Time now = queue.next();
    if (queue.take(c.receiver.timer)) {
        if (c.receiver.on_timer()) [[unlikely]]
            send_syn_ack(c, now);
        else
            send_ack(c, now);
    }
    timers_.set(group.timers.slot, queue.next());
}

void Simulation::next_source_timer() {
    TimerQueue& queue = source_timers_.queue;
    Connection& c = connections_[queue.next_owner()];
    const Time now = queue.next();
    Timer* timer;
    if (DatagramSource* datagrams = std::get_if<DatagramSource>(&c.source)) {
        timer = &datagrams->timer;
        if (queue.is_due(*timer)) next_datagram(c, *datagrams, now);
    } else if (GuestSource* source = std::get_if<GuestSource>(&c.source)) {
        timer = &source->timer;
        if (queue.is_due(*timer)) next_guest_timer(c, *source->guest, now);
        timer->deadline = std::max(now, source->guest->next());
    } else {
        timer = &c.sender().timer;
        if (queue.is_due(*timer)) next_sender_timer(c, now);
    }
    queue.requeue(*timer);
    timers_.set(source_timers_.slot, queue.next());
}

// The same timer is often due again before any other event.
[[gnu::flatten]] std::uint32_t Simulation::next_pacing_timers(std::uint32_t more) {
    TimerQueue& queue = pacing_timers_.queue;
    for (std::uint32_t taken = 0;; taken++) {
        Connection& c = connections_[queue.next_owner()];
        Sender& sender = c.sender();
        const Time now = queue.next();
        if (queue.is_due(sender.pace)) {
            send_what_may<false>(c, now);
            after_sender(c, now);
        }
        queue.requeue(sender.pace);
        const Time next = queue.next();
        // On a tie everything else goes first, except the end of the run.
        if (taken == more || next >= packets_.first_key() ||
            next >= timers_.first_key_but(pacing_timers_.slot)) {
            timers_.set(pacing_timers_.slot, next);
            return taken;
        }
    }
}

// ---- The receiving end

[[gnu::always_inline]] inline void Simulation::arrive_at_receiver(Connection& c, Packet packet,
                                                                  std::uint32_t ip_bytes,
                                                                  Time now) {
    Group& group = *c.group;
    while (group.timers.queue.next() < now) [[unlikely]] next_receiver_timer(group);
    if ((packet.flags & kSlowPath) != 0) [[unlikely]] {
        const Packet seen = packet;
        if (take_control(c, seen, now)) return;
    }
    Receiver& receiver = c.receiver;
    receiver.ip_bytes += ip_bytes;
    receiver.last_arrival = now;
    if (receiver.on_data(now, packet.number, packet.payload)) {
        send_ack(c, now);
    } else if (receiver.unacknowledged == 1) {
        receiver.timer.deadline = now + receiver.delayed_ack_timeout;
        if (receiver.timer.deadline < receiver.timer.queued) [[unlikely]]
            reschedule(group.timers, receiver.timer, c.place);
    }
}

[[gnu::always_inline]] inline void Simulation::send_ack(Connection& c, Time now) {
    if (!c.receiver.is_on_fast_path()) [[unlikely]]
        return send_any_ack(c, now, 0);
    c.receiver.unacknowledged = 0;
    c.receiver.timer.deadline = kNever;
    Packet packet;
    packet.number = c.receiver.next_number;
    packet.flags = kAck;
    traverse_hop<true>(c, packet, c.header_bytes, now, nullptr);
}

// Sends an ACK with SACK blocks or flags, or any other ACK.
[[gnu::noinline]] void Simulation::send_any_ack(Connection& c, Time now, std::uint16_t flags) {
    if (flags == 0 && c.receiver.misbehaves()) [[unlikely]]
        return send_suspect_acks(c, now);
    if (!writers_.empty()) [[unlikely]]
        if (Writer* const writer = writer_of(c))
            writer->on_arrived(now, c.receiver.delivered_bytes);
    c.receiver.unacknowledged = 0;
    c.receiver.timer.deadline = kNever;
    const bool has_sack = c.receiver.has_sack();
    const SackBlocks sack = has_sack ? c.receiver.sack_blocks() : SackBlocks();
    Packet packet;
    packet.number = c.receiver.next_number;
    packet.payload = c.receiver.marked_so_far();
    packet.flags = kAck | flags | c.receiver.take_ack_flags() | (has_sack ? kSack : 0);
    traverse_hop<true>(c, packet, c.header_bytes + sack.option_bytes(), now,
                       has_sack ? &sack : nullptr);
}

// ---- The sending end

template <bool loaded>
[[gnu::always_inline]] inline void Simulation::arrive_on_fast_path(Connection& c, Time now,
                                                                   std::uint32_t number) {
    if (!c.sender().take_fast_path<false, loaded>(now, number)) [[unlikely]]
        return arrive_at_sender(c, now, {number});
    if (!fast_path_) [[unlikely]]
        return leave_fast_path(c, now);
    send_what_may<true>(c, now);
    after_sender<true>(c, now);
}

// Goes on after the sender's fast path where something is recorded or marked.
[[gnu::noinline, gnu::flatten]] void Simulation::leave_fast_path(Connection& c, Time now) {
    if (records_events_)
        recorders_[c.slot].event(now, EventKind::ack, c.sender().una(), c.sender());
    send_what_may<false>(c, now);
    after_sender(c, now);
}

[[gnu::noinline, gnu::flatten]] void Simulation::arrive_at_sender(Connection& c, Time now,
                                                                  const AckHeader& header) {
    const Ack ack = c.sender().on_ack(now, header);
    if (records_events_) [[unlikely]]
        record_ack(c, ack);
    send_what_may<false>(c, now);
    after_sender(c, now);
}

template <bool fast>
[[gnu::always_inline]] inline void Simulation::send_what_may(Connection& c, Time now) {
    Sender::Burst burst;
    if (!c.sender().take_burst<fast>(now, burst)) [[unlikely]]
        return send_one_by_one(c, now);
    Sender& sender = c.sender();
    const std::uint32_t mss = sender.segments().mss(), ip_bytes = c.header_bytes + mss;
    Packet packet{.number = sender.segments().number(burst.first)};
    packet.payload = static_cast<std::uint16_t>(mss);
    for (std::int64_t s = burst.first; s < burst.end; s++, packet.number += mss) {
        if (!fast && records_events_) recorders_[c.slot].event(now, EventKind::send, s, sender);
        if (!fast && c.ecn) packet.flags = sender.ecn_flags();
        if (!fast && burst.together > 1) burst.push(s, packet.flags);
        traverse_hop<false>(c, packet, ip_bytes, now, nullptr);
    }
}

[[gnu::noinline]] void Simulation::send_one_by_one(Connection& c, Time now) {
    std::int64_t segment;
    while ((segment = c.sender().next_segment(now)) >= 0) send_data(c, now, segment);
}

// Sends any segment, new or not.
[[gnu::noinline]] void Simulation::send_data(Connection& c, Time now, std::int64_t segment) {
    Sender& sender = c.sender();
    const bool again = sender.is_retransmission();
    if (records_events_)
        recorders_[c.slot].event(now, again ? EventKind::retransmit : EventKind::send, segment,
                                 sender);
    const std::uint32_t payload = sender.segments().payload(segment);
    Packet packet;
    packet.number = sender.segments().number(segment);
    packet.payload = static_cast<std::uint16_t>(payload);
    packet.flags = sender.segments().is_last(segment) ? kFin : 0;
    if (c.ecn) packet.flags |= sender.ecn_flags();
    if (c.timestamps && again) packet.flags |= kAgain;
    if (!writers_.empty()) [[unlikely]]
        if (const Writer* const writer = writer_of(c); writer && writer->ends_message(segment))
            packet.flags |= kPush;
    traverse_hop<false>(c, packet, c.header_bytes + payload, now, nullptr);
}

}  // namespace ww::sim
