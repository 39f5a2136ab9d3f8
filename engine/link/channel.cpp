// SPDX-License-Identifier: BSD-3-Clause
#include "channel.hpp"

#include <utility>

#include "../base/seconds.hpp"

namespace ww::sim {

namespace {

const Direction& direction(const Network& network, std::uint32_t number) {
    const Link& link = network.links[number / 2];
    return number % 2 == 0 ? link.forward : link.backward;
}

// Returns how long a packet of this size takes to send. A recorded rate counts by its average.
Time mean_duration(const Direction& d, std::uint32_t bytes) {
    if (d.opportunities_ms.empty())
        return std::max<Time>(1, static_cast<Time>(bytes) * 8 * kSecond / d.rate_bps);
    const double period = static_cast<double>(d.opportunities_ms.back()) * 1e9;
    const double opportunity = period / static_cast<double>(d.opportunities_ms.size());
    return std::max<Time>(1, static_cast<Time>(opportunity * bytes / Opportunities::kBytes));
}

AnyDiscipline discipline_of(const Direction& d, const Random& random) {
    const Place place{[&](std::uint32_t bytes) { return mean_duration(d, bytes); }, random};
    switch (d.queue_kind) {
#define WW_QUEUE(name, Settings, Queue, ...) \
    case QueueKind::name:                    \
        return Queue(d.name, place);
        WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE
    case QueueKind::droptail:
        break;
    }
    return Discipline();
}

std::unique_ptr<Impairments> impairments_of(const Network& network, std::uint32_t number,
                                            std::uint64_t seed) {
    const Direction& d = direction(network, number);
    const bool captured = network.trace.capture_link == static_cast<std::int64_t>(number / 2);
    auto impairments = std::make_unique<Impairments>(d, number, seed);
    if (d.queue_kind == QueueKind::droptail && d.opportunities_ms.empty() &&
        !network.trace.queues && !captured && !impairments->has_any())
        return nullptr;
    impairments->discipline = discipline_of(d, Random(seed, Stream::queue, number));
    if (holds(d))
        impairments->held.emplace(
            d.queue_packets, d.queue_bytes, network.links[number / 2].overhead_bytes,
            std::visit([](const auto& any) { return any.lines(); }, impairments->discipline));
    if (!d.opportunities_ms.empty())
        impairments->opportunities.emplace(d.opportunities_ms, network.duration);
    if (network.trace.queues) impairments->waited.emplace();
    if (network.trace.queues && impairments->is_managed()) impairments->states.emplace();
    if (captured) impairments->capture.emplace(number % 2 == 0);
    return impairments;
}

}  // namespace

Channel::Channel(const Network& network, std::uint32_t number, std::uint64_t seed, Stop* stop)
    : impairments(impairments_of(network, number, seed)),
      loss_(
          direction(network, number).loss,
          Random(seed, number % 2 == 0 ? Stream::loss_forward : Stream::loss_backward, number / 2),
          Random(seed, Stream::link_state, number / 2), stop),
      delay_(direction(network, number).delay),
      overhead_(network.links[number / 2].overhead_bytes),
      rate_bps_(direction(network, number).rate_bps),
      end_(network.duration),
      queue_(direction(network, number).queue_packets, direction(network, number).queue_bytes) {
    if (impairments != nullptr && impairments->opportunities) queue_.keep_list();
    show_room();
    if (reorders(direction(network, number))) far = Far::reordering;
}

Channel::Size Channel::size_of(std::uint32_t ip_bytes) const {
    constexpr Time most = kFar - kLongest;  // the clock plus the longest wait must still fit
    const std::uint32_t bytes = ip_bytes + overhead_;
    // 131070 * 8 * 10^12 < 2^63
    const Time duration = (static_cast<Time>(bytes) * 8 * kSecond + rate_bps_ / 2) / rate_bps_;
    return {ip_bytes, duration, queue_.room(bytes, duration, most)};
}

void Channel::change_size(Time now, std::uint32_t ip_bytes) {
    const bool is_queue_needed =
        queue_.is_limited() || (impairments != nullptr && impairments->is_managed());
    if (busy_until_ > now && is_queue_needed)
        queue_.mix(now, busy_until_, size_.ip_bytes + overhead_, size_.duration);
    // All packets that crossed since the last change had the old size.
    const std::uint64_t more = loss_.crossed() - counted_;
    bytes_ += more * (size_.ip_bytes + overhead_);
    sending_ += static_cast<Time>(more) * size_.duration;
    counted_ += more;
    if (ip_bytes != other_size_.ip_bytes) other_size_ = size_of(ip_bytes);
    std::swap(size_, other_size_);
    loss_.set_size(ip_bytes + overhead_);
    queue_.end_mix(now);
    show_room();
}

// Tells the followers which packets passed.
void Channel::tell_followers() {
    const std::uint64_t passed = loss_.crossed() - in_step_;
    in_step_ += passed;
    for (Channel* channel = this; passed > 0 && channel->follower != nullptr;
         channel = channel->follower) {
        Channel& next = *channel->follower;
        next.busy_until_ = channel->busy_until_ + channel->delay_ + next.size_.duration;
        next.loss_.on_passed(passed);
    }
}

// Lets packets pass through all followers, unless one of them would make a packet wait.
void Channel::join_followers() {
    in_step_ = loss_.crossed();
    const Time next =
        busy_until_ +
        size_.duration;  // when the next packet leaves the transmitter, at the earliest
    for (Channel* channel = follower; channel != nullptr && open_for_ != kShut;
         channel = channel->follower) {
        const bool waits = channel->busy_until_ > next + transit_;
        transit_ += channel->size_.duration + channel->delay_;
        if (channel->size_.ip_bytes != size_.ip_bytes || waits || transit_ > kFar)
            open_for_ = kShut;
    }
}

Passage Channel::decide_when_busy(Time now) {
    if (busy_until_ > kFar) return admit_for_ever(now, size_.ip_bytes);
    queue_.end_mix(now);
    if (queue_.is_mixed()) {
        const std::uint32_t bytes = size_.ip_bytes + overhead_;
        if (!queue_.admits(now, bytes)) return dropped(now);
        queue_.add(busy_until_, bytes);
    } else {
        show_room();
        if (queue_.is_full(waiting(now), size_.ip_bytes + overhead_)) return dropped(now);
    }
    return {Fate::arrives, now};
}

Passage Channel::admit_for_ever(Time now, std::uint32_t ip_bytes) {
    const std::uint32_t bytes = ip_bytes + overhead_;
    const bool is_listed =
        queue_.is_limited() || (impairments != nullptr && impairments->is_managed());
    if (is_listed) queue_.mix(now, busy_until_, size_.ip_bytes + overhead_, size_.duration);
    if (is_listed && !queue_.admits(now, bytes)) return dropped(now);
    if (is_listed) queue_.add(kNever, bytes);
    for_ever_++;
    bytes_for_ever_ += bytes;
    account_wait(end_ - now);
    return {Fate::arrives, kNever};
}

bool Channel::hold_in_order(Packet packet, const SackBlocks* sack) {
    in_transit.push(packet);
    std::size_t place = in_transit.size() - 1, sacks_behind = 0;
    for (; place > 0 && in_transit.at(place - 1).at > packet.at; place--) {
        if ((in_transit.at(place - 1).flags & kSack) != 0) sacks_behind++;
        in_transit.at(place) = in_transit.at(place - 1);
    }
    in_transit.at(place) = packet;
    if (sack != nullptr) {
        sack_blocks.push(*sack);
        std::size_t i = sack_blocks.size() - 1;
        for (; sacks_behind > 0; sacks_behind--, i--) sack_blocks.at(i) = sack_blocks.at(i - 1);
        sack_blocks.at(i) = *sack;
    }
    return place == 0;
}

std::uint64_t Channel::bytes() const {
    return bytes_ + bytes_for_ever_ + (loss_.crossed() - counted_) * (size_.ip_bytes + overhead_);
}

// Nothing arrives after the end, so what is sent beyond it is sent without a gap.
double Channel::utilisation() const {
    if (impairments != nullptr && impairments->opportunities) {
        const std::int64_t offered = impairments->opportunities->offered();
        return offered == 0 ? 0.0
                            : static_cast<double>(impairments->opportunities->used()) /
                                  static_cast<double>(offered);
    }
    const Time sending = sending_ + static_cast<Time>(loss_.crossed() - counted_) * size_.duration;
    const Time busy = sending - std::max<Time>(0, busy_until_ - end_);
    return static_cast<double>(busy) / static_cast<double>(end_);
}

// ---- A queue whose discipline decides when packets leave

Passage Channel::enqueue(Time now, HeldPacket& packet, Joining joining) {
    if (impairments->drops(now, packet.ip_bytes + overhead_)) return drop_early(now);
    HeldPackets& held = *impairments->held;
    joining.is_l4s = is_l4s(packet.packet.flags);
    const std::uint32_t line =
        std::visit([&](auto& any) { return any.line_of(joining); }, impairments->discipline);
    const Backlog backlog{held.size(), busy_until_, held.ip_bytes(line), line};
    const Verdict verdict = decide_on_arrival(now, backlog, (packet.packet.flags & kEct) != 0);
    if (verdict == Verdict::drop) return drop_early(now);
    const bool is_idle = held.empty() && opens() <= now && impairments->batch() == 0;
    if (!is_idle && !impairments->sheds() && !held.has_room(packet.ip_bytes)) return dropped(now);
    packet.arrival = now;
    if (verdict == Verdict::mark) impairments->mark(packet.packet);
    std::visit([&](auto& any) { any.join(line); }, impairments->discipline);
    held.push(packet, line);
    return {Fate::arrives, kNever};
}

Passage Channel::send_held(Time now, HeldPacket& packet, Verdict verdict) {
    account_wait(now - packet.arrival);
    if (impairments->waited && now > packet.arrival)
        impairments->waited->add(packet.arrival, now, packet.ip_bytes + overhead_);
    return send_impaired(now, packet.ip_bytes, packet.packet,
                         packet.has_sack ? &packet.sack : nullptr, verdict);
}

void Channel::leave_waiting(const HeldPacket& packet) {
    for_ever_++;
    bytes_for_ever_ += packet.ip_bytes + overhead_;
    in_flight_++;
    account_wait(end_ - packet.arrival);
    if (impairments->waited)
        impairments->waited->add(packet.arrival, kNever, packet.ip_bytes + overhead_);
}

DirectionResult Channel::result() {
    DirectionResult result;
    result.packets = packets();
    result.bytes = bytes();
    result.queue_drops = queue_drops_;
    result.lost = lost_;
    result.in_flight = in_flight_;
    result.waited_s = waited_.seconds();
    result.longest_wait_s = seconds(longest_wait_);
    result.utilisation = utilisation();
    if (impairments != nullptr) {
        result.early_drops = impairments->early_drops;
        result.marked = impairments->marked;
        if (impairments->waited) impairments->waited->move_to(result.trace, end_);
    }
    return result;
}

}  // namespace ww::sim
