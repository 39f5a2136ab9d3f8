// SPDX-License-Identifier: BSD-3-Clause
//
// Carries the packets of connections whose ends other programs simulate (traffic/guest.hpp).
#include <algorithm>

#include "simulation.hpp"

namespace ww::sim {

void Simulation::next_guest_timer(Connection& c, Guest& guest, Time now) {
    guest.on_timer(now);
    serve_guest(c, guest, now);
}

// Takes a packet of a guest that has reached the end of its channel.
void Simulation::next_guest_packet(Connection& c, const Packet& packet) {
    const bool back = (packet.flags & kAck) != 0;
    const std::uint32_t bytes = c.header_bytes + packet.payload;
    if ((packet.flags & kThere) == 0)
        return back ? traverse_hop_cold<true>(c, packet, bytes, packet.at, nullptr)
                    : traverse_hop_cold<false>(c, packet, bytes, packet.at, nullptr);
    if (!back) {
        c.receiver.ip_bytes += bytes;
        c.receiver.last_arrival = packet.at;
    }
    GuestSource& source = std::get<GuestSource>(c.source);
    source.guest->on_packet(packet.at, back ? End::sender : End::receiver, packet.number,
                            (packet.flags & kEct) != 0, (packet.flags & kCe) != 0);
    serve_guest(c, *source.guest, packet.at);
    source.timer.deadline = std::max(packet.at, source.guest->next());
    if (source.timer.deadline < source.timer.queued)
        reschedule(source_timers_, source.timer, c.slot);
}

// Sends what both ends may send now.
void Simulation::serve_guest(Connection& c, Guest& guest, Time now) {
    Guest::Sent sent;
    for (const End from : {End::sender, End::receiver}) {
        while (guest.send(now, from, sent)) {
            Packet packet;
            packet.number = sent.number;
            packet.payload = sent.payload;
            packet.flags = kGuest;
            if (sent.is_ecn_capable) packet.flags |= kEct;
            const std::uint32_t bytes = c.header_bytes + sent.payload;
            if (from == End::sender) {
                traverse_hop_cold<false>(c, packet, bytes, now, nullptr);
            } else {
                packet.flags |= kAck;
                traverse_hop_cold<true>(c, packet, bytes, now, nullptr);
            }
        }
    }
}

}  // namespace ww::sim
