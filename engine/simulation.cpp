// SPDX-License-Identifier: BSD-3-Clause
#include "simulation.hpp"

#include "validate.hpp"

namespace ww::sim {

Simulation::Simulation(const Network& network, const Topology& topology, std::uint64_t seed)
    : end_(network.duration) {
    pipes_.reserve(2 * network.links.size());
    for (std::size_t i = 0; i < network.links.size(); i++) {
        const Link& link = network.links[i];
        pipes_.emplace_back(link.forward, link.overhead_bytes, Random(seed, Stream::loss_forward, i));
        pipes_.emplace_back(link.backward, link.overhead_bytes, Random(seed, Stream::loss_backward, i));
    }
    for (std::size_t i = 0; i < pipes_.size(); i++) pipes_[i].inlined = topology.inlined(i);

    result_.flows.resize(network.flows.size());
    connections_.reserve(network.flows.size());
    for (std::uint32_t i = 0; i < network.flows.size(); i++) {
        const Flow& flow = network.flows[i];
        const std::uint32_t isn = flow.random_isn
                                      ? static_cast<std::uint32_t>(Random(seed, Stream::isn, i).bits())
                                      : flow.isn;
        const auto data = topology.to_receiver(i), acks = topology.to_sender(i);
        Receiver receiver;
        receiver.delayed_ack = flow.delayed_ack;
        receiver.delayed_ack_timeout = flow.delayed_ack_timeout;
        receiver.sack = flow.recovery == Recovery::sack;
        connections_.push_back({Sender(flow, isn), std::move(receiver), flow.header_bytes,
                                group_behind(data.back()), {}, {}, &result_.flows[i]});
        for (const std::uint32_t pipe : data) connections_.back().to_receiver.push_back(&pipes_[pipe]);
        for (const std::uint32_t pipe : acks) connections_.back().to_sender.push_back(&pipes_[pipe]);
        Timer& timer = connections_.back().sender.timer;
        timer.deadline = flow.start;
        sender_timers_.keep(timer, i);
        if (network.trace.windows || network.trace.events)
            recorders_.emplace_back(network.trace, result_.flows[i]);
    }
    build_slots();
}

// A group's number is its pipe's until build_slots gives it a slot.
std::uint32_t Simulation::group_behind(std::uint32_t pipe) {
    for (std::uint32_t g = 0; g < groups_.size(); g++)
        if (groups_[g].slot == pipe) return g;
    groups_.emplace_back().slot = pipe;
    return static_cast<std::uint32_t>(groups_.size() - 1);
}

// Packets before timers: lower slots win ties.
void Simulation::build_slots() {
    for (Pipe& pipe : pipes_) {
        if (pipe.inlined) continue;
        pipe.slot = static_cast<std::uint32_t>(pipe_of_slot_.size());
        pipe_of_slot_.push_back(&pipe);
    }
    auto slot = static_cast<std::uint32_t>(pipe_of_slot_.size());
    for (Group& group : groups_) group.slot = slot++;
    sender_slot_ = slot;
    order_ = Tournament(slot + 1);
    order_.set(sender_slot_, sender_timers_.next());
}

Result Simulation::run() {
    for (;;) {
        const std::uint32_t slot = order_.first();
        if (order_.key(slot) > end_) break;
        result_.events++;
        if (slot < pipe_of_slot_.size()) [[likely]]
            next_packet(*pipe_of_slot_[slot]);
        else if (slot < sender_slot_)
            next_delayed_ack(slot - static_cast<std::uint32_t>(pipe_of_slot_.size()));
        else
            next_sender_timer();
    }
    for (Connection& c : connections_) {
        c.sender.finish(end_, *c.result);
        c.result->delivered_bytes = c.receiver.delivered_bytes;
        c.result->ip_bytes_at_sink = c.receiver.ip_bytes;
    }
    for (std::size_t i = 0; i < pipes_.size(); i++) {
        (i % 2 == 0 ? result_.forward : result_.backward).push_back(pipes_[i].result);
        result_.packets += pipes_[i].result.packets;
    }
    return std::move(result_);
}

// Inlined into its callers, so that a packet's fields stay in registers along an inlined path.
template <bool ack>
[[gnu::always_inline]] inline void Simulation::carry(Packet packet, std::uint32_t ip_bytes, Time now,
                                                     const SackBlocks* sack) {
    Connection& c = connections_[packet.flow];
    Pipe* const* route = ack ? c.to_sender.data() : c.to_receiver.data();
    const std::size_t hops = c.to_receiver.size();
    for (;;) {
        if (now > end_) [[unlikely]] return;
        Pipe& pipe = *route[packet.hop];
        const Time at = pipe.transmit(now, ip_bytes);
        if (at < 0) [[unlikely]] {
            if (!ack) on_failure(c, at);
            return;
        }
        packet.hop++;
        if (!pipe.inlined) {
            packet.at = at;
            if (pipe.in_transit.empty()) order_.set(pipe.slot, at);
            pipe.in_transit.push(packet);
            if (sack != nullptr) pipe.sack_blocks.push(*sack);
            return;
        }
        now = at;
        if constexpr (!ack) {  // the last pipe of an ACK is not inlined
            if (packet.hop == hops) return arrive_at_receiver(packet, now);
        }
    }
}

void Simulation::on_failure(Connection& c, Time outcome) {
    if (outcome == Pipe::kDropped) c.result->queue_drops++;
    if (outcome == Pipe::kLost) c.result->lost++;
}

// At the far end of a pipe that is not inlined, in global order.
void Simulation::arrive(const Packet& packet, Time now, const SackBlocks* sack) {
    const Connection& c = connections_[packet.flow];
    const bool there = packet.hop == c.to_receiver.size();
    const std::uint32_t bytes = c.header_bytes + packet.payload;
    if (packet.flags & kAck) {
        if (there) return arrive_at_sender(packet, now, sack);
        carry<true>(packet, bytes + (sack == nullptr ? 0 : sack->option_bytes()), now, sack);
    } else {
        if (there) return arrive_at_receiver(packet, now);
        carry<false>(packet, bytes, now, nullptr);
    }
}

inline void Simulation::arrive_at_receiver(const Packet& packet, Time now) {
    if (now > end_) [[unlikely]] return;
    Connection& c = connections_[packet.flow];
    Group& group = groups_[c.group];
    while (group.timers.next() < now) [[unlikely]] next_delayed_ack(c.group);
    if (packet.payload == 0) [[unlikely]] return take_syn(packet, now);
    Receiver& receiver = c.receiver;
    receiver.ip_bytes += c.header_bytes + packet.payload;
    if (receiver.on_data(packet.number, packet.payload, (packet.flags & kLast) != 0)) {
        send_ack(packet.flow, now);
    } else if (receiver.timer.deadline == kNever) {
        receiver.timer.deadline = now + receiver.delayed_ack_timeout;
        group.timers.keep(receiver.timer, packet.flow);
        order_.set(group.slot, group.timers.next());
    }
}

void Simulation::take_syn(const Packet& packet, Time now) {
    if (!(packet.flags & kSyn)) return;  // the handshake's last ACK
    Receiver& receiver = connections_[packet.flow].receiver;
    if (receiver.listening) receiver.next_number = packet.number + 1;
    receiver.listening = false;
    send_ack(packet.flow, now, kSyn);
}

inline void Simulation::send_ack(std::uint32_t flow, Time now, std::uint8_t flags) {
    Connection& c = connections_[flow];
    c.receiver.unacknowledged = 0;
    c.receiver.timer.deadline = kNever;
    if (c.receiver.sack && !c.receiver.held.empty()) [[unlikely]] return send_sack(flow, now);
    Packet packet;
    packet.flow = flow;
    packet.number = c.receiver.next_number;
    packet.flags = kAck | flags;
    carry<true>(packet, c.header_bytes, now, nullptr);
}

void Simulation::send_sack(std::uint32_t flow, Time now) {
    Connection& c = connections_[flow];
    const SackBlocks sack = c.receiver.sack_blocks();
    Packet packet;
    packet.flow = flow;
    packet.number = c.receiver.next_number;
    packet.flags = kAck | kSack;
    carry<true>(packet, c.header_bytes + sack.option_bytes(), now, &sack);
}

void Simulation::next_packet(Pipe& pipe) {
    Packet packet = pipe.in_transit.front();
    pipe.in_transit.pop();
    // The flows that come next are known: fetch their state while this one is at work.
    if (connections_.size() > 1) {
        const auto* soon = reinterpret_cast<const char*>(&connections_[pipe.in_transit.glance(2).flow]);
        for (std::size_t line = 0; line < sizeof(Connection); line += 64) __builtin_prefetch(soon + line);
    }
    SackBlocks sack;
    const bool has_sack = (packet.flags & kSack) != 0;
    if (has_sack) {
        sack = pipe.sack_blocks.front();
        pipe.sack_blocks.pop();
    }
    arrive(packet, packet.at, has_sack ? &sack : nullptr);
    order_.set(pipe.slot, pipe.in_transit.empty() ? kNever : pipe.in_transit.front().at);
}

void Simulation::next_delayed_ack(std::uint32_t group) {
    TimerQueue::Entry due;
    TimerQueue& timers = groups_[group].timers;
    const auto timer_of = [&](std::uint32_t flow) -> Timer& { return connections_[flow].receiver.timer; };
    if (timers.take(due, timer_of)) send_ack(due.owner, due.at);
    order_.set(groups_[group].slot, timers.next());
}

void Simulation::next_sender_timer() {
    TimerQueue::Entry due;
    const auto timer_of = [&](std::uint32_t flow) -> Timer& { return connections_[flow].sender.timer; };
    if (sender_timers_.take(due, timer_of)) {
        Sender& sender = connections_[due.owner].sender;
        if (!sender.established()) {
            sender.on_syn_sent(due.at);
            send_syn(due.owner, due.at);
        } else {
            sender.on_timeout(due.at);
            if (!recorders_.empty())
                recorders_[due.owner].event(due.at, EventKind::timeout, sender.una(), sender);
            send_what_may(due.owner, due.at);
        }
        after_sender(due.owner, due.at);
    }
    order_.set(sender_slot_, sender_timers_.next());
}

void Simulation::arrive_at_sender(const Packet& packet, Time now, const SackBlocks* sack) {
    Sender& sender = connections_[packet.flow].sender;
    if (packet.flags & kSyn) [[unlikely]] {
        if (!sender.established()) sender.on_syn_ack(now);
        Packet last;  // of the handshake; it is lost without harm, data acknowledges the SYN too
        last.flow = packet.flow;
        last.number = sender.isn() + 1;
        carry<false>(last, connections_[packet.flow].header_bytes, now, nullptr);
    } else {
        const std::uint8_t before = sender.phase();
        const Progress progress = sender.on_ack(now, packet.number, sack);
        if (!recorders_.empty()) [[unlikely]] {
            Recorder& recorder = recorders_[packet.flow];
            if (progress == Progress::dupack)
                recorder.event(now, EventKind::dupack, sender.una(), sender);
            else if (progress == Progress::advanced)
                recorder.event(now, EventKind::ack, sender.una(), sender);
            if (sender.phase() == WW_RECOVERY && before != WW_RECOVERY)
                recorder.event(now, EventKind::recovery, sender.una(), sender);
            if (sender.phase() == WW_OPEN && before >= WW_RECOVERY)
                recorder.event(now, EventKind::exit, sender.una(), sender);
        }
    }
    send_what_may(packet.flow, now);
    after_sender(packet.flow, now);
}

void Simulation::send_syn(std::uint32_t flow, Time now) {
    const Connection& c = connections_[flow];
    Packet packet;
    packet.flow = flow;
    packet.number = c.sender.isn();
    packet.flags = kSyn;
    carry<false>(packet, c.header_bytes, now, nullptr);
}

void Simulation::send_what_may(std::uint32_t flow, Time now) {
    Connection& c = connections_[flow];
    Sender& sender = c.sender;
    for (std::int64_t segment; (segment = sender.next_segment(now)) >= 0;) {
        if (!recorders_.empty()) [[unlikely]]
            recorders_[flow].event(now,
                                   sender.is_retransmission() ? EventKind::retransmit : EventKind::send,
                                   segment, sender);
        const std::uint32_t payload = sender.payload(segment);
        Packet packet;
        packet.flow = flow;
        packet.number = sender.number(segment);
        packet.payload = static_cast<std::uint16_t>(payload);
        packet.flags = sender.is_last(segment) ? kLast : 0;
        carry<false>(packet, c.header_bytes + payload, now, nullptr);
    }
}

void Simulation::after_sender(std::uint32_t flow, Time now) {
    Sender& sender = connections_[flow].sender;
    sender_timers_.keep(sender.timer, flow);
    order_.set(sender_slot_, sender_timers_.next());
    if (!recorders_.empty() && sender.established()) [[unlikely]]
        recorders_[flow].windows(now, sender);
}

Result simulate(const Network& network, std::uint64_t seed) {
    Result failed;
    failed.error = validate(network);
    if (!failed.error.empty()) return failed;
    const Topology topology(network);
    failed.error = topology.error();
    if (!failed.error.empty()) return failed;
    return Simulation(network, topology, seed).run();
}

}  // namespace ww::sim
