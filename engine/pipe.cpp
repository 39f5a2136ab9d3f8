// SPDX-License-Identifier: BSD-3-Clause
#include "pipe.hpp"

#include "seconds.hpp"

namespace ww::sim {

namespace {

const Direction& direction(const Network& network, std::uint32_t number) {
    const Link& link = network.links[number / 2];
    return number % 2 == 0 ? link.forward : link.backward;
}

// A packet of so many bytes takes this long; a recorded rate counts by its average.
Time mean_duration(const Direction& d, std::uint32_t bytes) {
    if (d.opportunities_ms.empty())
        return std::max<Time>(1, static_cast<Time>(bytes) * 8 * kSecond / d.rate_bps);
    const double period = static_cast<double>(d.opportunities_ms.back()) * 1e9;
    const double opportunity = period / static_cast<double>(d.opportunities_ms.size());
    return std::max<Time>(1, static_cast<Time>(opportunity * bytes / Opportunities::kBytes));
}

std::unique_ptr<Extras> extras_of(const Network& network, std::uint32_t number,
                                  std::uint64_t seed) {
    const Direction& d = direction(network, number);
    const bool captured = network.trace.capture_link == static_cast<std::int64_t>(number / 2);
    if (!d.red.on && d.opportunities_ms.empty() && d.jitter == 0 && d.reorder_rate <= 0 &&
        !network.trace.queues && !captured)
        return nullptr;
    auto extras = std::make_unique<Extras>(seed, number);
    if (d.red.on)
        extras->red.emplace(d.red, mean_duration(d, d.red.mean_packet_bytes),
                            Random(seed, Stream::red, number));
    if (!d.opportunities_ms.empty()) extras->opportunities.emplace(d.opportunities_ms);
    extras->jitter = d.jitter;
    extras->reorder_rate = d.reorder_rate;
    extras->reorder_delay = d.reorder_delay;
    extras->trace_queue = network.trace.queues;
    extras->leaving = number % 2 == 0;
    return extras;
}

}  // namespace

Pipe::Pipe(const Network& network, std::uint32_t number, std::uint64_t seed, Stop* stop)
    : extras(extras_of(network, number, seed)),
      delay_(direction(network, number).delay),
      overhead_(network.links[number / 2].overhead_bytes),
      rate_bps_(direction(network, number).rate_bps),
      limit_packets_(direction(network, number).queue_packets),
      limit_bytes_(direction(network, number).queue_bytes),
      loss_(
          direction(network, number).loss,
          Random(seed, number % 2 == 0 ? Stream::loss_forward : Stream::loss_backward, number / 2),
          Random(seed, Stream::link_state, number / 2), stop) {
    if (limit_bytes_ != kUnlimited || extras != nullptr)
        limit_ = Limit::bytes;  // and packets, if they are limited too
    else if (limit_packets_ != kUnlimited)
        limit_ = Limit::packets;
    if (extras != nullptr) busy_until_ = kNever;
    if (direction(network, number).reorder_rate > 0) far = Far::reordering;
}

Passage Pipe::transmit_with_extras(Time now, std::uint32_t ip_bytes, Packet& packet,
                                   const SackBlocks* sack) {
    Extras& x = *extras;
    const std::uint32_t bytes = ip_bytes + overhead_;
    if (x.busy_until > kFar) return {Fate::arrives, kNever};
    remove_started(now);
    if (x.red) {
        const Verdict verdict =
            x.red->arrive(now, waiting_.size(), x.busy_until, (packet.flags & kEct) != 0);
        if (verdict == Verdict::drop) {
            queue_drops_++;
            x.early_drops++;
            return {Fate::dropped_early, now};
        }
        if (verdict == Verdict::mark) {
            packet.flags |= kCe;
            x.marked++;
        }
    }
    if ((x.busy_until > now || x.opportunities) && full_of_bytes(now, bytes)) return dropped(now);
    Time start = std::max(now, x.busy_until);
    if (x.opportunities) {
        const Opportunities::Span span = x.opportunities->send(now, bytes);
        start = span.start;
        x.busy_until = span.end;
        (void)duration(bytes);  // bytes() needs to know the size
    } else {
        x.busy_until = start + duration(bytes);
    }
    if (start > now) {
        waiting_.push({start, bytes});
        waiting_bytes_ += bytes;
        account_wait(start - now);
        if (x.trace_queue) {
            x.trace.arrival_s.push_back(seconds(now));
            x.trace.start_s.push_back(seconds(start));
            x.trace.bytes.push_back(bytes);
        }
    }
    if (x.captured != nullptr && x.leaving) x.capture(packet, sack, start);
    if (loss_.is_due() && loss_.lose(x.busy_until, bytes)) {
        lost_++;
        return {Fate::lost, x.busy_until + delay_};
    }
    Time at = x.busy_until + delay_;
    if (x.jitter > 0) {
        const double drawn = x.jitter_draws.open_unit() * static_cast<double>(x.jitter);
        at = std::max(x.last_arrival, at + static_cast<Time>(drawn));
        x.last_arrival = at;
    }
    if (x.reorder_rate > 0 && x.reorder_draws.open_unit() < x.reorder_rate) at += x.reorder_delay;
    if (x.captured != nullptr && !x.leaving) x.capture(packet, sack, at);
    return {Fate::arrives, at};
}

bool Pipe::hold_in_order(const Packet& packet, const SackBlocks* sack) {
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

std::uint64_t Pipe::bytes() const { return bytes_ + (loss_.crossed() - counted_) * size_[0]; }

double Pipe::utilisation(Time end) const {
    const auto sent = static_cast<double>(bytes());
    if (extras != nullptr && extras->opportunities) {
        const std::int64_t offered = extras->opportunities->count(end) * Opportunities::kBytes;
        return offered == 0 ? 0.0 : std::min(1.0, sent / static_cast<double>(offered));
    }
    const double beyond = seconds(std::max<Time>(0, busy_until() - end));
    const double busy = sent * 8.0 / static_cast<double>(rate_bps_) - beyond;
    return std::clamp(busy / seconds(end), 0.0, 1.0);
}

DirectionResult Pipe::result(Time end) {
    DirectionResult result;
    result.packets = loss_.crossed();
    result.bytes = bytes();
    result.queue_drops = queue_drops_;
    result.lost = lost_;
    result.waited_s = static_cast<double>(waited_) * seconds(Time{1} << kWaitShift);
    result.longest_wait_s = seconds(longest_wait_);
    result.utilisation = utilisation(end);
    if (extras != nullptr) {
        result.early_drops = extras->early_drops;
        result.marked = extras->marked;
        result.trace = std::move(extras->trace);
    }
    return result;
}

}  // namespace ww::sim
