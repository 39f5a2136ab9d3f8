// SPDX-License-Identifier: BSD-3-Clause
#include "simulation.hpp"

#include "validate.hpp"

namespace ww::sim {

namespace {

void prefetch(const void* object, std::size_t bytes) {
    const auto* start = static_cast<const char*>(object);
    for (std::size_t line = 0; line < bytes; line += 64) __builtin_prefetch(start + line);
}

}  // namespace

Simulation::Simulation(const Network& network, const Topology& topology, std::uint64_t seed)
    : end_(network.duration) {
    build_pipes(network, topology, seed);
    build_connections(network, topology, seed);
    build_slots(topology);
}

void Simulation::build_pipes(const Network& network, const Topology& topology, std::uint64_t seed) {
    pipes_.reserve(2 * network.links.size());
    for (std::size_t i = 0; i < network.links.size(); i++) {
        const Link& link = network.links[i];
        pipes_.emplace_back(link.forward, link.overhead_bytes,
                            Random(seed, Stream::loss_forward, i));
        pipes_.emplace_back(link.backward, link.overhead_bytes,
                            Random(seed, Stream::loss_backward, i));
    }
    for (std::size_t i = 0; i < pipes_.size(); i++) pipes_[i].inlined = topology.inlined(i);
}

void Simulation::build_connections(const Network& network, const Topology& topology,
                                   std::uint64_t seed) {
    result_.flows.resize(network.flows.size());
    connections_.reserve(network.flows.size());
    sender_timers_ = TimerQueue(network.flows.size());
    many_ = network.flows.size() > 1;
    recording_ = network.trace.windows || network.trace.events;
    for (std::uint32_t i = 0; i < network.flows.size(); i++) {
        const Flow& flow = network.flows[i];
        const std::uint32_t isn =
            flow.random_isn ? static_cast<std::uint32_t>(Random(seed, Stream::isn, i).bits())
                            : flow.isn;
        Connection& c = connections_.emplace_back(Connection{
            Sender(flow, isn), Receiver(), i, flow.header_bytes, nullptr, 0,
            route_of(topology.to_receiver(i)), route_of(topology.to_sender(i)), &result_.flows[i]});
        c.receiver.delayed_ack = flow.delayed_ack;
        c.receiver.delayed_ack_timeout = flow.delayed_ack_timeout;
        c.receiver.sack = flow.recovery == Recovery::sack;
        c.sender.timer.deadline = flow.start;
        sender_timers_.hasten(c.sender.timer, i);
        if (recording_) recorders_.emplace_back(network.trace, result_.flows[i]);
    }
}

const Simulation::Route* Simulation::route_of(std::span<const std::uint32_t> pipes) {
    const auto [place, is_new] = routes_.try_emplace({pipes.begin(), pipes.end()});
    if (is_new)
        for (const std::uint32_t pipe : pipes) place->second.push_back(&pipes_[pipe]);
    if (is_new) place->second.push_back(nullptr);
    return &place->second;
}

void Simulation::build_slots(const Topology& topology) {
    for (Pipe& pipe : pipes_) {
        if (pipe.inlined) continue;
        pipe.slot = static_cast<std::uint32_t>(pipe_of_slot_.size());
        pipe_of_slot_.push_back(&pipe);
    }
    std::vector<std::uint32_t> group_behind(pipes_.size(), UINT32_MAX);
    groups_.reserve(pipes_.size());
    for (Connection& c : connections_) {
        std::uint32_t& number = group_behind[topology.to_receiver(c.index).back()];
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
    timers_ = Tournament(groups_.size() + 1);
    timers_.set(sender_slot_, sender_timers_.next());
}

Result Simulation::run() {
    for (;;) {
        const Time packet_at = packets_.first_key(), timer_at = timers_.first_key();
        if (packet_at <= timer_at) [[likely]] {  // packets before timers
            if (packet_at > end_) break;
            next_packet(*pipe_of_slot_[packets_.first()]);
        } else {
            if (timer_at > end_) break;
            next_timer(timers_.first());
        }
        result_.events++;
    }
    for (Connection& c : connections_) {
        c.sender.finish(end_, *c.result);
        c.result->delivered_bytes = c.receiver.delivered_bytes;
        c.result->ip_bytes_at_sink = c.receiver.ip_bytes;
    }
    for (std::size_t i = 0; i < pipes_.size(); i++) {
        const DirectionResult crossed = pipes_[i].result();
        (i % 2 == 0 ? result_.forward : result_.backward).push_back(crossed);
        result_.packets += crossed.packets;
    }
    return std::move(result_);
}

// ---- The way of a packet

// Inlined into its callers, so that a packet's fields stay in registers along an inlined path.
template <bool ack>
[[gnu::always_inline]] inline void Simulation::carry(Connection& c, Packet packet,
                                                     std::uint32_t ip_bytes, Time now,
                                                     const SackBlocks* sack) {
    Pipe* const* const start = (ack ? c.to_sender : c.to_receiver)->data();
    Pipe* const* route = start + packet.hop;
    while (now <= end_) [[likely]] {
            Pipe& pipe = **route++;
            const Time at = pipe.transmit(now, ip_bytes);
            if (at < 0) [[unlikely]] {
                if (!ack && packet.payload > 0)
                    (at == Pipe::kLost ? c.result->lost : c.result->queue_drops)++;
                return;
            }
            const bool there = *route == nullptr;
            if (!pipe.inlined) {
                packet.at = at;
                packet.flow = c.index;
                packet.hop = static_cast<std::uint8_t>(route - start);
                packet.flags |= there ? kThere : 0;
                if (pipe.in_transit.empty()) packets_.set(pipe.slot, at);
                pipe.in_transit.push(packet);
                if (sack != nullptr) pipe.sack_blocks.push(*sack);
                return;
            }
            now = at;
            if constexpr (!ack) {  // the last pipe of an ACK is not inlined
                if (there) return arrive_at_receiver(c, packet, now);
            }
        }
}

// At the far end of a pipe that is not inlined, in global order.
void Simulation::next_packet(Pipe& pipe) {
    const Packet packet = pipe.in_transit.front();
    pipe.in_transit.pop();
    Connection& c = connections_[packet.flow];
    if (many_) {
        // The flows that come next are known: fetch their state while this one is at work.
        prefetch(&connections_[pipe.in_transit.glance(3).flow], sizeof(c));
        connections_[pipe.in_transit.glance(1).flow].sender.prefetch();
    }
    if ((packet.flags & (kAck | kThere | kSack | kSyn)) == (kAck | kThere)) [[likely]]
        arrive_at_sender(c, packet, nullptr);
    else
        next_rare_packet(c, pipe, packet);
    packets_.set(pipe.slot, pipe.in_transit.empty() ? kNever : pipe.in_transit.front().at);
}

// All but plain ACKs at their sender.
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
        next_delayed_ack(groups_[slot]);
    else
        next_sender_timer();
}

void Simulation::next_delayed_ack(Group& group) {
    Connection& c = *group.members[group.timers.next_owner()];
    const Time now = group.timers.next();
    if (group.timers.take(c.receiver.timer)) send_ack(c, now);
    timers_.set(group.slot, group.timers.next());
}

void Simulation::next_sender_timer() {
    Connection& c = connections_[sender_timers_.next_owner()];
    const Time now = sender_timers_.next();
    if (sender_timers_.take(c.sender.timer)) {
        if (!c.sender.established()) {
            c.sender.on_syn_sent(now);
            send_syn(c, now);
        } else {
            c.sender.on_timeout(now);
            if (recording_)
                recorders_[c.index].event(now, EventKind::timeout, c.sender.una(), c.sender);
            send_what_may(c, now);
        }
        after_sender(c, now);
    }
    timers_.set(sender_slot_, sender_timers_.next());
}

// ---- The receiving end

inline void Simulation::arrive_at_receiver(Connection& c, const Packet& packet, Time now) {
    if (now > end_) [[unlikely]]
        return;
    Group& group = *c.group;
    while (group.timers.next() < now) [[unlikely]] next_delayed_ack(group);
    if (packet.payload == 0) [[unlikely]]
        return take_syn(c, packet, now);
    Receiver& receiver = c.receiver;
    receiver.ip_bytes += c.header_bytes + packet.payload;
    if (receiver.on_data(packet.number, packet.payload, (packet.flags & kLast) != 0)) {
        send_ack(c, now);
    } else if (receiver.unacknowledged == 1) {
        receiver.timer.deadline = now + receiver.delayed_ack_timeout;
        if (receiver.timer.deadline < receiver.timer.queued) [[unlikely]] {
            group.timers.hasten(receiver.timer, c.place);
            timers_.set(group.slot, group.timers.next());
        }
    }
}

void Simulation::take_syn(Connection& c, const Packet& packet, Time now) {
    if (!(packet.flags & kSyn)) return;  // the handshake's last ACK
    if (c.receiver.listening) c.receiver.next_number = packet.number + 1;
    c.receiver.listening = false;
    send_ack(c, now, kSyn);
}

inline void Simulation::send_ack(Connection& c, Time now, std::uint8_t flags) {
    c.receiver.unacknowledged = 0;
    c.receiver.timer.deadline = kNever;
    if (c.receiver.sack && !c.receiver.held.empty()) [[unlikely]]
        return send_sack(c, now);
    Packet packet;
    packet.number = c.receiver.next_number;
    packet.flags = kAck | flags;
    carry<true>(c, packet, c.header_bytes, now, nullptr);
}

void Simulation::send_sack(Connection& c, Time now) {
    const SackBlocks sack = c.receiver.sack_blocks();
    Packet packet;
    packet.number = c.receiver.next_number;
    packet.flags = kAck | kSack;
    carry<true>(c, packet, c.header_bytes + sack.option_bytes(), now, &sack);
}

// ---- The sending end

inline void Simulation::arrive_at_sender(Connection& c, const Packet& packet,
                                         const SackBlocks* sack) {
    const Time now = packet.at;
    const std::uint8_t phase = c.sender.phase();
    const Progress progress = c.sender.on_ack(now, packet.number, sack);
    if (recording_) [[unlikely]]
        record_ack(c, now, progress, phase);
    send_what_may(c, now);
    after_sender(c, now);
}

void Simulation::take_syn_ack(Connection& c, Time now) {
    if (!c.sender.established()) c.sender.on_syn_ack(now);
    Packet last;  // of the handshake; it is lost without harm, data acknowledges the SYN too
    last.number = c.sender.isn() + 1;
    carry<false>(c, last, c.header_bytes, now, nullptr);
    send_what_may(c, now);
    after_sender(c, now);
}

void Simulation::send_syn(Connection& c, Time now) {
    Packet packet;
    packet.number = c.sender.isn();
    packet.flags = kSyn;
    carry<false>(c, packet, c.header_bytes, now, nullptr);
}

void Simulation::send_what_may(Connection& c, Time now) {
    std::int64_t segment;
    if (c.sender.is_plain()) [[likely]] {
        const std::int64_t end = c.sender.new_end(now);
        while ((segment = c.sender.next_new(now, end)) >= 0) send_data(c, now, segment);
    } else {
        while ((segment = c.sender.next_segment(now)) >= 0) send_data(c, now, segment);
    }
}

inline void Simulation::send_data(Connection& c, Time now, std::int64_t segment) {
    const Sender& sender = c.sender;
    if (recording_) [[unlikely]] {
        const bool again = sender.is_retransmission();
        recorders_[c.index].event(now, again ? EventKind::retransmit : EventKind::send, segment,
                                  sender);
    }
    const std::uint32_t payload = sender.payload(segment);
    Packet packet;
    packet.number = sender.number(segment);
    packet.payload = static_cast<std::uint16_t>(payload);
    packet.flags = sender.is_last(segment) ? kLast : 0;
    carry<false>(c, packet, c.header_bytes + payload, now, nullptr);
}

void Simulation::record_ack(Connection& c, Time now, Progress progress, std::uint8_t phase_before) {
    const Sender& sender = c.sender;
    Recorder& recorder = recorders_[c.index];
    if (progress == Progress::dupack) recorder.event(now, EventKind::dupack, sender.una(), sender);
    if (progress == Progress::advanced) recorder.event(now, EventKind::ack, sender.una(), sender);
    if (sender.phase() == WW_RECOVERY && phase_before != WW_RECOVERY)
        recorder.event(now, EventKind::recovery, sender.una(), sender);
    if (sender.phase() == WW_OPEN && phase_before >= WW_RECOVERY)
        recorder.event(now, EventKind::exit, sender.una(), sender);
}

inline void Simulation::after_sender(Connection& c, Time now) {
    Timer& timer = c.sender.timer;
    if (timer.deadline < timer.queued) [[unlikely]] {
        sender_timers_.hasten(timer, c.index);
        timers_.set(sender_slot_, sender_timers_.next());
    }
    if (recording_ && c.sender.established()) [[unlikely]]
        recorders_[c.index].windows(now, c.sender);
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
