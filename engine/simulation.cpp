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
    constexpr std::uint32_t kPiece = 1u << 14;  // events between the pieces that a sink gets
    std::uint32_t untaken = 0;
    while (!stop_.asked()) {
        const std::uint32_t some = std::min(stop_.events(), kPiece);
        const bool goes_on = advance(some);
        if (stop_.events() == 0) break;  // within an event, which then is not whole
        if (!goes_on) {
            finish();
            if (sink != nullptr) sink->take(std::move(result_.records));
            return std::move(result_);
        }
        untaken += some;
        if (sink == nullptr || untaken < kPiece) continue;
        // What is captured after the end, by pipes that run ahead, is no part of the run.
        const Time next = std::min(packets_.first_key(), timers_.first_key());
        sink->take(take_records(std::min(next, end_ + 1)));
        untaken = 0;
    }
    Outcome stopped;
    stopped.stopped = true;
    return stopped;
}

// Takes the next events, so many at most; false if none is left before the end.
bool Simulation::advance(std::uint32_t most) {
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

// It is inlined into its callers so that a packet's fields stay in registers along an inlined path.
template <bool ack>
[[gnu::always_inline]] inline void Simulation::carry(Connection& c, Packet packet,
                                                     std::uint32_t ip_bytes, Time now,
                                                     const SackBlocks* sack) {
    Pipe* const* const start = (ack ? c.to_sender : c.to_receiver)->data();
    Pipe* const* route = start + packet.hop;
    while (now <= end_) [[likely]] {
            Pipe& pipe = **route++;
            Passage passage = pipe.transmit(now, ip_bytes);
            if (passage.fate != Fate::arrives) [[unlikely]] {
                if (passage.fate == Fate::undecided) {
                    Packet seen = packet;  // a copy, so that the packet itself stays in registers
                    seen.flow = c.index;
                    passage = pipe.transmit_with_extras(now, ip_bytes, seen, sack);
                    if (seen.flags != packet.flags) record_mark(c, pipe, now);
                    packet.flags = seen.flags;
                }
                if (passage.fate != Fate::arrives)
                    return account_drop(c, pipe, packet.payload, passage, ack);
            }
            const bool there = *route == nullptr;
            if (pipe.far != Pipe::Far::inlined) {
                packet.at = passage.at;
                packet.flow = c.slot;
                packet.hop = static_cast<std::uint8_t>(route - start);
                packet.flags |= there ? kThere : 0;
                if (pipe.hold(packet, sack)) packets_.set(pipe.slot, passage.at);
                return;
            }
            now = passage.at;
            if constexpr (!ack) {  // the last pipe of an ACK is not inlined
                if (there) return arrive_at_receiver(c, packet, now);
            }
        }
}

// The next packet in global order reaches the far end of a pipe that is not inlined.
void Simulation::next_packet(Pipe& pipe) {
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
void Simulation::next_rare_packet(Connection& c, Pipe& pipe, const Packet& packet) {
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
        arrive_at_sender(c, packet, has_sack ? &blocks : nullptr);
    else if (there)
        arrive_at_receiver(c, packet, packet.at);
    else if (ack)
        carry<true>(c, packet, bytes, packet.at, has_sack ? &blocks : nullptr);
    else
        carry<false>(c, packet, bytes, packet.at, nullptr);
}

// ---- Timers

void Simulation::next_timer(std::uint32_t slot) {
    if (slot < groups_.size())
        next_receiver_timer(groups_[slot]);
    else if (slot == source_timers_.slot)
        next_source_timer();
    else if (pacing_ && slot == pacing_timers_.slot)
        next_pacing_timer();
    else
        next_arrival();
}

void Simulation::next_receiver_timer(Group& group) {
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
        send_what_may(c, now);
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
        carry<false>(c, packet, source.ip_bytes, now, nullptr);
    }
    source.timer.deadline = source.next(now);
    // next_source_timer() sets the slot anew.
    if (source.timer.deadline < source.timer.queued)
        source_timers_.queue.hasten(source.timer, c.slot);
}

void Simulation::next_pacing_timer() {
    TimerQueue& queue = pacing_timers_.queue;
    Connection& c = connections_[queue.next_owner()];
    const Time now = queue.next();
    if (queue.take(c.sender().pace)) {
        send_what_may(c, now);
        after_sender(c, now);
    }
    timers_.set(pacing_timers_.slot, queue.next());
}

// ---- The receiving end

inline void Simulation::arrive_at_receiver(Connection& c, const Packet& packet, Time now) {
    if (now > end_) [[unlikely]]
        return;
    Group& group = *c.group;
    while (group.timers.queue.next() < now) [[unlikely]] next_receiver_timer(group);
    if ((packet.flags & kUnusual) != 0 && take_unusual(c, packet, now)) [[unlikely]]
        return;
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

// True if the packet is done with; false if it is data, whose marks have been noted.
[[gnu::noinline]] bool Simulation::take_unusual(Connection& c, const Packet& packet, Time now) {
    if (packet.flags & kSyn) take_syn(c, packet, now);
    if (packet.flags & kBare) c.receiver.on_established(now);
    if (packet.flags & kDatagram) {
        c.receiver.ip_bytes += c.header_bytes + packet.payload;
        c.receiver.delivered_bytes += packet.payload;
    }
    if (packet.flags & kCwr) c.receiver.ack_flags &= kFin;  // RFC 3168, 6.1.3
    if (packet.flags & kCe) c.receiver.ack_flags |= kCe;
    if (packet.flags & kAgain) c.receiver.on_again(packet.number);
    if (packet.flags & kFin) {
        c.receiver.ip_bytes += c.header_bytes + packet.payload;
        c.receiver.on_fin(now, packet.number, packet.payload);
        send_ack(c, now);
        return true;
    }
    return packet.payload == 0 || (packet.flags & kDatagram) != 0;
}

void Simulation::take_syn(Connection& c, const Packet& packet, Time now) {
    if (c.receiver.on_syn(packet.number))
        send_syn_ack(c, now);
    else
        send_ack(c, now);
}

void Simulation::send_syn_ack(Connection& c, Time now) {
    send_ack(c, now, kSyn);
    Timer& timer = c.receiver.timer;
    c.receiver.on_syn_ack_sent(now);
    if (timer.deadline < timer.queued) hasten(c.group->timers, timer, c.place);
}

[[gnu::always_inline]] inline void Simulation::send_ack(Connection& c, Time now,
                                                        std::uint16_t flags) {
    c.receiver.unacknowledged = 0;
    c.receiver.timer.deadline = kNever;
    if (c.receiver.has_sack()) [[unlikely]]
        return send_sack(c, now);
    Packet packet;
    packet.number = c.receiver.next_number;
    packet.flags = kAck | flags | c.receiver.take_ack_flags();
    carry<true>(c, packet, c.header_bytes, now, nullptr);
}

void Simulation::send_sack(Connection& c, Time now) {
    const SackBlocks sack = c.receiver.sack_blocks();
    Packet packet;
    packet.number = c.receiver.next_number;
    packet.flags = kAck | kSack | c.receiver.take_ack_flags();
    carry<true>(c, packet, c.header_bytes + sack.option_bytes(), now, &sack);
}

// ---- The sending end

inline void Simulation::arrive_at_sender(Connection& c, const Packet& packet,
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

void Simulation::arrive_with_echo(Connection& c, const Packet& packet, const SackBlocks* sack) {
    Sender& sender = c.sender();
    const Time now = packet.at;
    const std::uint8_t phase = sender.phase();
    const std::uint64_t undone = sender.undone();
    Progress progress;
    const bool reduced =
        sender.on_echo(now, packet.number, sack, (packet.flags & kAgain) != 0, progress);
    if (recording_) {
        record_ack(c, now, progress, phase, undone);
        if (reduced) recorders_[c.slot].event(now, EventKind::ecn, sender.una(), sender);
    }
    send_what_may(c, now);
    after_sender(c, now);
}

void Simulation::take_syn_ack(Connection& c, Time now) {
    Sender& sender = c.sender();
    if (!sender.established()) sender.on_syn_ack(now);
    Packet last;  // the handshake's; its loss does no harm, since data acknowledges the SYN too
    last.number = sender.segments().number(sender.una() + sender.in_flight());
    last.flags = kBare;
    carry<false>(c, last, c.header_bytes, now, nullptr);
    send_what_may(c, now);
    after_sender(c, now);
}

void Simulation::send_syn(Connection& c, Time now) {
    Packet packet;
    packet.number = c.sender().segments().isn();
    packet.flags = kSyn;
    carry<false>(c, packet, c.header_bytes, now, nullptr);
}

void Simulation::send_what_may(Connection& c, Time now) {
    Sender& sender = c.sender();
    std::int64_t segment;
    if (sender.is_plain()) [[likely]] {
        const std::int64_t end = sender.new_end(now);
        while ((segment = sender.next_new(now, end)) >= 0) send_data(c, now, segment);
    } else {
        while ((segment = sender.next_segment(now)) >= 0) send_data(c, now, segment);
    }
}

[[gnu::always_inline]] inline void Simulation::send_data(Connection& c, Time now,
                                                         std::int64_t segment) {
    Sender& sender = c.sender();
    if (recording_) [[unlikely]] {
        const bool again = sender.is_retransmission();
        recorders_[c.slot].event(now, again ? EventKind::retransmit : EventKind::send, segment,
                                 sender);
    }
    const std::uint32_t payload = sender.segments().payload(segment);
    Packet packet;
    packet.number = sender.segments().number(segment);
    packet.payload = static_cast<std::uint16_t>(payload);
    packet.flags = sender.segments().is_last(segment) ? kFin : 0;
    if (c.ecn) [[unlikely]]
        packet.flags |= sender.ecn_flags();
    if (c.timestamps && sender.is_retransmission()) [[unlikely]]
        packet.flags |= kAgain;
    carry<false>(c, packet, c.header_bytes + payload, now, nullptr);
}

inline void Simulation::after_sender(Connection& c, Time now) {
    Sender& sender = c.sender();
    if (sender.timer.deadline < sender.timer.queued) [[unlikely]]
        hasten(source_timers_, sender.timer, c.slot);
    if (pacing_ && sender.pace.deadline < sender.pace.queued) [[unlikely]]
        hasten(pacing_timers_, sender.pace, c.slot);
    if (recording_ && sender.established()) [[unlikely]]
        recorders_[c.slot].windows(now, sender);
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
