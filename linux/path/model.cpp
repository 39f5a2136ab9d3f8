// SPDX-License-Identifier: GPL-2.0-only
#include "model.hpp"

#include <algorithm>

#include "../../engine/base/seconds.hpp"
#include "queues.hpp"

namespace ww::path {

namespace {

// Returns the network with queues that never drop in place of the kernel's.
sim::Network without_kernel_queues(sim::Network network) {
    for (sim::Link& link : network.links)
        for (sim::Direction* direction : {&link.forward, &link.backward})
            if (waits_in_kernel(*direction)) {
                direction->queue_kind = sim::QueueKind::droptail;
                direction->queue_packets = direction->queue_bytes = sim::kUnlimited;
            }
    return network;
}

}  // namespace

Model::Model(const sim::Network& network, const sim::Topology& topology, std::uint64_t seed,
             Packets packets, Enqueue enqueue)
    : network_(network),
      topology_(topology),
      packets_(packets),
      enqueue_(std::move(enqueue)),
      counts_(network.flows.size()) {
    const sim::Network sends_on = without_kernel_queues(network);
    channels_.reserve(2 * network.links.size());
    for (std::uint32_t i = 0; i < 2 * network.links.size(); i++) {
        const sim::Link& link = network.links[i / 2];
        const sim::Direction& direction = i % 2 == 0 ? link.forward : link.backward;
        channels_.emplace_back(sends_on, i, seed);
        waiting_.push_back(waits_in_kernel(direction)
                               ? std::make_unique<Waiting>(direction.queue_packets,
                                                           link.overhead_bytes,
                                                           network.trace.queues)
                               : nullptr);
    }
}

std::optional<Seen> Model::parse_from(std::uint32_t node, std::size_t size) const {
    const std::span<const std::uint8_t> packet(room_.get(), size);
    if (packets_ == Packets::of_others)
        return parse_any(packet, node == network_.flows.front().from);
    const auto seen = parse(packet);
    if (!seen || seen->flow >= network_.flows.size()) return {};
    const sim::Flow& flow = network_.flows[seen->flow];
    if (node != (seen->to_sink ? flow.from : flow.to)) return {};
    return seen;
}

void Model::enter(sim::Time now, std::uint32_t node, std::size_t size) {
    const auto seen = parse_from(node, size);
    if (!seen) {
        strangers_++;
        return;
    }
    if (now > network_.duration) return;
    now_ = std::max(now_, now);  // channels expect packets in order of time
    const std::uint32_t held = take_slot();
    held_[held].data.assign(room_.get(), room_.get() + size);
    held_[held].hop = 0;
    held_[held].entered = now_;
    held_[held].seen = *seen;
    forward(held, now_);
}

void Model::run(sim::Time now, const Deliver& deliver) {
    const sim::Time until = std::min(now, network_.duration);
    while (!due_.empty() && due_.front().at <= until) {
        const Due due = due_.front();
        std::pop_heap(due_.begin(), due_.end(), later);
        due_.pop_back();
        now_ = std::max(now_, due.at);
        Held& packet = held_[due.held];
        if (packet.hop < route(packet.seen).size()) {
            forward(due.held, due.at);
        } else {
            arrive(packet, due.at, deliver);
            free_.push_back(due.held);
        }
    }
}

void Model::forward(std::uint32_t held, sim::Time now) {
    Held& packet = held_[held];
    const std::uint32_t channel = route(packet.seen)[packet.hop++];
    if (waiting_[channel])
        wait(held, channel, now);
    else
        cross(held, channel, now);
}

void Model::wait(std::uint32_t held, std::uint32_t channel, sim::Time now) {
    const std::vector<std::uint8_t>& data = held_[held].data;
    Waiting& waiting = *waiting_[channel];
    if (enqueue_(channel, data))
        waiting.add(held, conversation(data), static_cast<std::uint32_t>(data.size()), now);
    else
        drop(held, channel, now, waiting.note_refused());
}

void Model::leave(sim::Time now, std::uint32_t channel, std::size_t size) {
    if (now > network_.duration) return;
    now_ = std::max(now_, now);
    const std::span<const std::uint8_t> packet(room_.get(), size);
    Waiting& waiting = *waiting_[channel];
    const auto is_this = [&](std::uint32_t held) { return is_same(held_[held].data, packet); };
    const auto left = waiting.leave(conversation(packet), now_, is_this);
    for (const std::uint32_t held : left.dropped) drop(held, channel, now_, sim::DropKind::early);
    if (!left.found) {
        strangers_++;
        return;
    }
    Held& found = held_[*left.found];
    if (packet[1] != found.data[1]) {
        waiting.note_marked();
        account(found, channel, now_, sim::DropKind::mark);
        found.data.assign(packet.begin(), packet.end());
    }
    cross(*left.found, channel, now_);
}

void Model::drop(std::uint32_t held, std::uint32_t channel, sim::Time now, sim::DropKind kind) {
    account(held_[held], channel, now, kind);
    free_.push_back(held);
}

void Model::cross(std::uint32_t held, std::uint32_t number, sim::Time now) {
    Held& packet = held_[held];
    sim::Channel& channel = channels_[number];
    const auto bytes = static_cast<std::uint32_t>(packet.data.size());
    sim::Passage passage = channel.transmit(now, bytes);
    if (passage.fate == sim::Fate::undecided) {
        sim::Packet seen_by_red;
        seen_by_red.flags = packet.seen.ecn_capable ? sim::kEct : 0;
        passage = channel.transmit_impaired(now, bytes, seen_by_red, nullptr);
        if ((seen_by_red.flags & sim::kCe) != 0) {
            mark(packet.data);
            account(packet, number, now, sim::DropKind::mark);
        }
    }
    if (passage.at > network_.duration) {
        counts_[packet.seen.flow].in_flight += packet.seen.to_sink && packet.seen.has_payload;
    } else if (passage.fate != sim::Fate::arrives) {
        account(packet, number, passage.at, sim::drop_kind(passage.fate));
    } else {
        due_.push_back({passage.at, order_++, held});
        std::push_heap(due_.begin(), due_.end(), later);
        return;
    }
    free_.push_back(held);
}

void Model::account(const Held& packet, std::uint32_t channel, sim::Time now, sim::DropKind kind) {
    const Seen& seen = packet.seen;
    if (kind != sim::DropKind::mark) {
        Carried& direction = carried_[seen.to_sink ? 0 : 1];
        (kind == sim::DropKind::wire ? direction.lost : direction.dropped)++;
    }
    const bool is_data = seen.to_sink && seen.has_payload;
    if (is_data && kind != sim::DropKind::mark) {
        Counts& counts = counts_[seen.flow];
        (kind == sim::DropKind::wire ? counts.lost : counts.queue_drops)++;
    }
    if (!network_.trace.queues) return;
    const double at_s = sim::seconds(now);
    const sim::PacketKind what = seen.is_syn ? sim::PacketKind::syn
                                 : is_data   ? sim::PacketKind::data
                                             : sim::PacketKind::ack;
    drops_.push_back({at_s, channel, seen.flow, kind, what});
}

void Model::arrive(Held& packet, sim::Time at, const Deliver& deliver) {
    const Seen& seen = packet.seen;
    Carried& direction = carried_[seen.to_sink ? 0 : 1];
    const double delay_s = sim::seconds(at - packet.entered);
    direction.packets++;
    direction.bytes += packet.data.size();
    direction.delay_s += delay_s;
    direction.longest_s = std::max(direction.longest_s, delay_s);
    if (seen.to_sink && seen.has_payload) {
        Counts& counts = counts_[seen.flow];
        counts.packets_at_sink++;
        counts.ip_bytes_at_sink += packet.data.size();
        counts.last_arrival = at;
    }
    const sim::Flow& flow = network_.flows[seen.flow];
    deliver(seen.to_sink ? flow.to : flow.from, packet.data, at);
}

std::uint32_t Model::take_slot() {
    if (free_.empty()) {
        held_.emplace_back();
        return static_cast<std::uint32_t>(held_.size() - 1);
    }
    const std::uint32_t held = free_.back();
    free_.pop_back();
    return held;
}

sim::Time Model::backlog(sim::Time now, bool to_sink) const {
    sim::Time waits = 0;
    for (const std::uint32_t channel : route({0, to_sink, true, false}))
        waits += channels_[channel].backlog(now);
    return waits;
}

std::vector<sim::DirectionResult> Model::finish() {
    run(network_.duration, [](std::uint32_t, std::span<const std::uint8_t>, sim::Time) {});
    std::vector<sim::DirectionResult> results;
    for (std::size_t i = 0; i < channels_.size(); i++) {
        results.push_back(channels_[i].result());
        if (!waiting_[i]) continue;
        for (const std::uint32_t held : waiting_[i]->finish(network_.duration, results.back())) {
            const Seen& seen = held_[held].seen;
            counts_[seen.flow].in_flight += seen.to_sink && seen.has_payload;
        }
    }
    return results;
}

}  // namespace ww::path
