// SPDX-License-Identifier: BSD-3-Clause
#include "simulation.hpp"

#include "validate.hpp"

namespace ww::sim {

namespace {

template <std::size_t bytes>
void prefetch(const void* object) {
    const auto* start = static_cast<const char*>(object);
    for (std::size_t line = 0; line < bytes; line += 64) __builtin_prefetch(start + line);
}

}  // namespace

Outcome Simulation::run(Sink* sink) {
    // Events between the pieces of records that a sink gets, and between the merges of captures: what was
    // captured is still in the cache then.
    constexpr std::uint32_t kPiece = 1u << 14, kMerge = 1u << 10;
    std::uint32_t untaken = 0;
    while (!stop_.asked()) {
        const std::uint32_t some = std::min(stop_.events(), capturing() ? kMerge : kPiece);
        const bool goes_on = advance(some);
        if (stop_.events() == 0) break;  // within an event, which then is not whole
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

// Takes the next events, so many at most; false if none is left before the end. All that a plain ACK leads to is
// in this one function, as if it stood here; what is rare is not.
[[gnu::flatten]] bool Simulation::advance(std::uint32_t most) {
    std::uint32_t left = most;
    for (; left > 0; left--) {
        const Time packet_at = packets_.first_key(), timer_at = timers_.first_key();
        if (packet_at <= timer_at) [[likely]] {  // packets before timers
            if (packet_at > end_) break;
            next_packet(*pipe_of_slot_[packets_.first()]);
        } else {
            if (timer_at > end_) break;
            next_timer(timers_.first());
        }
    }
    result_.events += most - left;
    return left == 0;
}

// ---- The way of a packet

// Takes a packet over the leg of its way that it stands before. It is inlined into the callers that matter, so
// that a packet's fields stay in registers: what needs them in memory gets a copy.
template <bool ack>
[[gnu::always_inline]] inline void Simulation::carry(Connection& c, Packet packet,
                                                     std::uint32_t ip_bytes, Time now,
                                                     const SackBlocks* sack) {
    const Leg& leg = (ack ? c.to_sender : c.to_receiver)[packet.hop];
    Pipe* const* pipe = leg.pipes.data();
    for (; pipe != leg.end && now <= end_; ++pipe) {
        if (!(*pipe)->is_free(now, ip_bytes)) [[unlikely]]
            break;
        now = (*pipe)->pass(now);
    }
    if (pipe != leg.end) [[unlikely]] {
        Packet seen = packet;
        now = carry_on(c, seen, {now, ip_bytes, sack, ack}, leg, pipe);
        packet.flags = seen.flags;
        if (now < 0) return;
    }
    if constexpr (!ack) {
        if (leg.arrives) [[likely]]
            return arrive_at_receiver(c, packet, now);
    }
    packet.at = now;
    packet.flow = c.slot;
    packet.hop++;
    packet.flags |= leg.there;
    Pipe& last = *leg.pipes.back();
    if (last.hold(packet, sack)) packets_.set(last.slot, now);
}

inline Passage Simulation::meet(const Connection& c, Pipe& pipe, Packet& packet, const Entry& entry,
                                Time now) {
    if (pipe.extras == nullptr) return pipe.transmit(now, entry.ip_bytes);
    const std::uint16_t flags = packet.flags;
    packet.flow = c.index;
    const Passage passage = pipe.transmit_with_extras(now, entry.ip_bytes, packet, entry.sack);
    if (packet.flags != flags) record_mark(c, pipe, now);
    return passage;
}

// Goes on from a pipe of the leg that has something to decide. Returns when the packet is at the leg's end; -1: it
// does not get there.
[[gnu::noinline]] Time Simulation::carry_on(Connection& c, Packet& packet, const Entry& entry,
                                            const Leg& leg, Pipe* const* pipe) {
    Time now = entry.at;
    for (; pipe != leg.end; ++pipe) {
        if (now > end_) return -1;
        const Passage passage = meet(c, **pipe, packet, entry, now);
        if (passage.fate != Fate::arrives) {
            account_drop(c, **pipe, packet.payload, passage, entry.ack);
            return -1;
        }
        now = passage.at;
    }
    return now;
}

// The same for callers that do not matter.
template <bool ack>
[[gnu::noinline]] void Simulation::carry_rarely(Connection& c, const Packet& packet,
                                                std::uint32_t ip_bytes, Time now,
                                                const SackBlocks* sack) {
    carry<ack>(c, packet, ip_bytes, now, sack);
}
template void Simulation::carry_rarely<false>(Connection& c, const Packet& packet,
                                              std::uint32_t ip_bytes, Time now,
                                              const SackBlocks* sack);

// The next packet in global order reaches the far end of a pipe that is not inlined.
[[gnu::always_inline]] inline void Simulation::next_packet(Pipe& pipe) {
    const Packet packet = pipe.in_transit.front();
    pipe.in_transit.pop();
    Connection& c = connections_[packet.flow];
    if (many_) {
        // The flows that come next are known: fetch their state while this one is at work.
        prefetch<Connection::kOftenUsed>(&connections_[pipe.in_transit.glance(3).flow]);
        const Packet& next = pipe.in_transit.glance(1);
        if ((next.flags & kAck) != 0) connections_[next.flow].sender().prefetch();
    }
    if ((packet.flags & (kAck | kThere | kSack | kSyn | kCe | kAgain)) == (kAck | kThere))
        [[likely]]
        arrive_at_sender(c, packet, nullptr);
    else
        next_rare_packet(c, pipe, packet);
    packets_.set(pipe.slot, pipe.in_transit.empty() ? kNever : pipe.in_transit.front().at);
}

// Here go all packets but plain ACKs at their sender.
[[gnu::noinline]] void Simulation::next_rare_packet(Connection& c, Pipe& pipe,
                                                    const Packet& packet) {
    SackBlocks blocks;
    const bool has_sack = (packet.flags & kSack) != 0;
    if (has_sack) {
        blocks = pipe.sack_blocks.front();
        pipe.sack_blocks.pop();
    }
    const bool ack = (packet.flags & kAck) != 0, there = (packet.flags & kThere) != 0;
    const std::uint32_t bytes = c.header_bytes + packet.payload + blocks.option_bytes();
    if (there && (packet.flags & kSyn) && ack)
        take_syn_ack(c, packet.at);
    else if (there && ack && (packet.flags & kCe))
        arrive_with_echo(c, packet, has_sack ? &blocks : nullptr);
    else if (there && ack)
        arrive_rarely(c, packet, has_sack ? &blocks : nullptr);
    else if (there)
        arrive_at_receiver(c, packet, packet.at);
    else if (ack)
        carry_rarely<true>(c, packet, bytes, packet.at, has_sack ? &blocks : nullptr);
    else
        carry_rarely<false>(c, packet, bytes, packet.at, nullptr);
}

// ---- Timers

[[gnu::noinline]] void Simulation::next_timer(std::uint32_t slot) {
    if (slot < groups_.size())
        next_receiver_timer(groups_[slot]);
    else if (slot == source_timers_.slot)
        next_source_timer();
    else if (pacing_ && slot == pacing_timers_.slot)
        next_pacing_timer();
    else
        next_arrival();
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
    if (DatagramSource* datagrams = std::get_if<DatagramSource>(&c.source)) {
        if (queue.take(datagrams->timer)) next_datagram(c, *datagrams, now);
    } else {
        if (queue.take(c.sender().timer)) next_sender_timer(c, now);
    }
    timers_.set(source_timers_.slot, queue.next());
}

void Simulation::next_sender_timer(Connection& c, Time now) {
    Sender& sender = c.sender();
    if (!sender.established()) {
        sender.on_syn_sent(now);
        send_syn(c, now);
    } else {
        const std::uint8_t phase = sender.phase();
        const Due due = sender.on_timer(now);
        if (recording_) record_timer(c, now, due, phase);
        send_one_by_one(c, now);
    }
    after_sender(c, now);
}

// The timer is first due at the start of the source, and then for each packet.
void Simulation::next_datagram(Connection& c, DatagramSource& source, Time now) {
    if (now > c.start) {
        Packet packet;
        packet.number = static_cast<std::uint32_t>(source.sent++);
        packet.payload = static_cast<std::uint16_t>(source.payload);
        packet.flags = kDatagram;
        carry_rarely<false>(c, packet, source.ip_bytes, now, nullptr);
    }
    source.timer.deadline = source.next(now);
    // next_source_timer() sets the slot anew.
    if (source.timer.deadline < source.timer.queued)
        source_timers_.queue.hasten(source.timer, c.slot);
}

[[gnu::flatten]] void Simulation::next_pacing_timer() {
    TimerQueue& queue = pacing_timers_.queue;
    Connection& c = connections_[queue.next_owner()];
    Sender& sender = c.sender();
    const Time now = queue.next();
    if (queue.is_due(sender.pace)) {
        send_what_may(c, now);
        after_sender(c, now);
    }
    queue.requeue(sender.pace);
    timers_.set(pacing_timers_.slot, queue.next());
}

// ---- The receiving end

[[gnu::always_inline]] inline void Simulation::arrive_at_receiver(Connection& c, Packet packet,
                                                                  Time now) {
    if (now > end_) [[unlikely]]
        return;
    Group& group = *c.group;
    while (group.timers.queue.next() < now) [[unlikely]] next_receiver_timer(group);
    if ((packet.flags & kUnusual) != 0) [[unlikely]] {
        const Packet seen = packet;
        if (take_unusual(c, seen, now)) return;
    }
    Receiver& receiver = c.receiver;
    receiver.ip_bytes += c.header_bytes + packet.payload;
    if (receiver.on_data(now, packet.number, packet.payload)) {
        send_ack(c, now);
    } else if (receiver.unacknowledged == 1) {
        receiver.timer.deadline = now + receiver.delayed_ack_timeout;
        if (receiver.timer.deadline < receiver.timer.queued) [[unlikely]]
            hasten(group.timers, receiver.timer, c.place);
    }
}

[[gnu::always_inline]] inline void Simulation::send_ack(Connection& c, Time now) {
    if (!c.receiver.is_plain()) [[unlikely]]
        return send_unusual_ack(c, now, 0);
    c.receiver.unacknowledged = 0;
    c.receiver.timer.deadline = kNever;
    Packet packet;
    packet.number = c.receiver.next_number;
    packet.flags = kAck;
    carry<true>(c, packet, c.header_bytes, now, nullptr);
}

// An ACK with SACK blocks or flags; and any other.
[[gnu::noinline]] void Simulation::send_unusual_ack(Connection& c, Time now, std::uint16_t flags) {
    c.receiver.unacknowledged = 0;
    c.receiver.timer.deadline = kNever;
    const bool has_sack = c.receiver.has_sack();
    const SackBlocks sack = has_sack ? c.receiver.sack_blocks() : SackBlocks();
    Packet packet;
    packet.number = c.receiver.next_number;
    packet.flags = kAck | flags | c.receiver.take_ack_flags() | (has_sack ? kSack : 0);
    carry<true>(c, packet, c.header_bytes + sack.option_bytes(), now, has_sack ? &sack : nullptr);
}

// ---- The sending end

[[gnu::always_inline]] inline void Simulation::arrive_at_sender(Connection& c, const Packet& packet,
                                                                const SackBlocks* sack) {
    Sender& sender = c.sender();
    const Time now = packet.at;
    const std::uint8_t phase = sender.phase();
    const std::uint64_t undone = recording_ ? sender.undone() : 0;
    const Progress progress = sender.on_ack(now, packet.number, sack, (packet.flags & kAgain) != 0);
    if (recording_) [[unlikely]]
        record_ack(c, now, progress, phase, undone);
    send_what_may(c, now);
    after_sender(c, now);
}

[[gnu::noinline]] void Simulation::arrive_rarely(Connection& c, const Packet& packet,
                                                 const SackBlocks* sack) {
    arrive_at_sender(c, packet, sack);
}

[[gnu::always_inline]] inline void Simulation::send_what_may(Connection& c, Time now) {
    Sender::Burst burst;
    if (!c.sender().take_burst(now, burst)) [[unlikely]]
        return send_one_by_one(c, now);
    for (std::int64_t s = burst.first; s < burst.end; s++) send_new(c, now, s);
}

[[gnu::noinline]] void Simulation::send_one_by_one(Connection& c, Time now) {
    std::int64_t segment;
    while ((segment = c.sender().next_segment(now)) >= 0) send_data(c, now, segment);
}

// A full segment, for the first time.
[[gnu::always_inline]] inline void Simulation::send_new(Connection& c, Time now,
                                                        std::int64_t segment) {
    Sender& sender = c.sender();
    if (recording_) [[unlikely]]
        recorders_[c.slot].event(now, EventKind::send, segment, sender);
    const std::uint32_t payload = sender.segments().mss();
    Packet packet;
    packet.number = sender.segments().number(segment);
    packet.payload = static_cast<std::uint16_t>(payload);
    if (c.ecn) [[unlikely]]
        packet.flags = sender.ecn_flags();
    carry<false>(c, packet, c.header_bytes + payload, now, nullptr);
}

// Any segment.
[[gnu::noinline]] void Simulation::send_data(Connection& c, Time now, std::int64_t segment) {
    Sender& sender = c.sender();
    const bool again = sender.is_retransmission();
    if (recording_)
        recorders_[c.slot].event(now, again ? EventKind::retransmit : EventKind::send, segment,
                                 sender);
    const std::uint32_t payload = sender.segments().payload(segment);
    Packet packet;
    packet.number = sender.segments().number(segment);
    packet.payload = static_cast<std::uint16_t>(payload);
    packet.flags = sender.segments().is_last(segment) ? kFin : 0;
    if (c.ecn) packet.flags |= sender.ecn_flags();
    if (c.timestamps && again) packet.flags |= kAgain;
    carry<false>(c, packet, c.header_bytes + payload, now, nullptr);
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
