// SPDX-License-Identifier: BSD-3-Clause
//
// Handles the less common packets: those that open a connection (SYN, SYN-ACK and the ACK of that)
// or end it (FIN), ends of messages, ECN marks, timestamps of retransmissions, datagrams, and the ACKs of
// receivers that misbehave;
// also the timer that opens a connection and repeats what was lost.
#include "simulation.hpp"

namespace ww::sim {

// Returns true if the packet is done; false if it is data, after noting its marks.
bool Simulation::take_control(Connection& c, const Packet& packet, Time now) {
    if (packet.flags & kDatagram) {
        c.receiver.ip_bytes += c.header_bytes + packet.payload;
        c.receiver.delivered_bytes += packet.payload;
        c.receiver.last_arrival = now;
        return true;
    }
    if (packet.flags & kSyn) take_syn(c, packet, now);
    if (packet.flags & kBare) c.receiver.on_established(now);
    if (packet.flags & kCwr) c.receiver.on_reduced();
    if (packet.flags & kCe) c.receiver.on_marked();
    if ((packet.flags & (kAgain | kSyn)) == kAgain) c.receiver.on_again(packet.number);
    if (packet.flags & kPush) c.receiver.on_pushed(packet.number);
    if (packet.flags & kFin) {
        c.receiver.ip_bytes += c.header_bytes + packet.payload;
        c.receiver.last_arrival = now;
        c.receiver.on_fin(now, packet.number, packet.payload);
        send_any_ack(c, now, 0);
        return true;
    }
    return packet.payload == 0;
}

void Simulation::take_syn_ack(Connection& c, Time now, bool again) {
    Sender& sender = c.sender();
    if (!sender.established()) sender.on_syn_ack(now, again);
    Packet last;  // of the handshake; it may be lost, because data acknowledges the SYN-ACK too
    last.number = sender.segments().number(sender.una() + sender.in_flight());
    last.flags = kBare;
    traverse_hop_cold<false>(c, last, c.header_bytes, now, nullptr);
    send_one_by_one(c, now);
    after_sender(c, now);
}

void Simulation::send_syn(Connection& c, Time now) {
    Packet packet;
    packet.number = c.sender().segments().isn();
    packet.flags = c.sender().syns() > 1 ? kSyn | kAgain : kSyn;
    traverse_hop_cold<false>(c, packet, c.header_bytes, now, nullptr);
}

void Simulation::take_syn(Connection& c, const Packet& packet, Time now) {
    if (c.receiver.on_syn(packet.number, (packet.flags & kAgain) != 0))
        send_syn_ack(c, now);
    else
        send_any_ack(c, now, 0);
}

void Simulation::send_syn_ack(Connection& c, Time now) {
    send_any_ack(c, now, c.receiver.syn_ack_flags());
    Timer& timer = c.receiver.timer;
    c.receiver.on_syn_ack_sent(now);
    if (timer.deadline < timer.queued) reschedule(c.group->timers, timer, c.place);
}

void Simulation::next_sender_timer(Connection& c, Time now) {
    Sender& sender = c.sender();
    if (!sender.established()) {
        sender.on_syn_sent(now);
        send_syn(c, now);
    } else {
        const std::uint32_t recoveries = sender.fast_recoveries();
        const Due due = sender.on_timer(now);
        if (records_events_) record_timer(c, now, due, recoveries);
        send_one_by_one(c, now);
    }
    after_sender(c, now);
}

// Sends the ACKs of a receiver that misbehaves: one for each part of what they newly claim.
void Simulation::send_suspect_acks(Connection& c, Time now) {
    Receiver& receiver = c.receiver;
    receiver.unacknowledged = 0;
    receiver.timer.deadline = kNever;
    const bool has_sack = receiver.has_sack();
    const SackBlocks sack = has_sack ? receiver.sack_blocks() : SackBlocks();
    const Misbehaviour::Claim claim = receiver.claim();
    const std::uint32_t parts = has_sack ? 1 : claim.parts;
    Packet packet;
    packet.payload = receiver.marked_so_far();
    packet.flags = kAck | kSuspect | receiver.take_ack_flags() | (has_sack ? kSack : 0);
    for (std::uint32_t part = 1; part <= parts; part++) {
        packet.number = claim.start + claim.part(part);
        traverse_hop_cold<true>(c, packet, c.header_bytes + sack.option_bytes(), now,
                                has_sack ? &sack : nullptr);
    }
}

// Returns true if the ACK of a receiver that misbehaves is to be taken as any other.
bool Simulation::take_suspect_ack(Connection& c, Packet& ack) {
    if (c.sender().admit(ack.at, ack.number)) return true;
    send_one_by_one(c, ack.at);
    after_sender(c, ack.at);
    return false;
}

// The timer is first due at the start of the source, then once per packet.
void Simulation::next_datagram(Connection& c, DatagramSource& source, Time now) {
    if (now > started_.start[c.index]) {
        Packet packet;
        packet.number = static_cast<std::uint32_t>(source.sent++);
        packet.payload = static_cast<std::uint16_t>(source.payload);
        packet.flags = kDatagram;
        traverse_hop_cold<false>(c, packet, source.ip_bytes, now, nullptr);
    }
    source.timer.deadline = source.next(now);
}

}  // namespace ww::sim
