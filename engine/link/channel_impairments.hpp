// SPDX-License-Identifier: BSD-3-Clause
//
// How a packet crosses a channel with impairments. Inlined where packets go from channel to
// channel.
#pragma once

#include "channel.hpp"

namespace ww::sim {

// Returns how many packets wait.
inline std::size_t Channel::waiting(Time now) {
    if (busy_until_ <= now) return 0;
    queue_.end_mix(now);
    if (queue_.is_mixed()) return queue_.listed(now);
    return static_cast<std::size_t>((busy_until_ - now - 1) / size_.duration);
}

// A recorded rate has no fixed durations, so its queue is always a list. Sets `start` to when the
// packet leaves the queue.
inline Passage Channel::enter_by_opportunity(Time now, std::uint32_t ip_bytes, Time& start) {
    const std::uint32_t bytes = ip_bytes + overhead_;
    if (busy_until_ > kFar) {
        start = busy_until_;
        return admit_for_ever(now, ip_bytes);
    }
    if (!queue_.admits(now, bytes)) return dropped(now);
    if (ip_bytes != size_.ip_bytes) change_size(now, ip_bytes);
    const Opportunities::Span span = impairments->opportunities->send(now, bytes);
    start = span.start;
    busy_until_ = span.end;
    if (start > now) {
        queue_.add(start, bytes);
        account_wait(std::min(start, end_) - now);
    }
    return arrival_or_loss(busy_until_ + delay_);
}

inline Passage Channel::transmit_impaired(Time now, std::uint32_t ip_bytes, Packet& packet,
                                          const SackBlocks* sack) {
    if (impairments->drops(now, ip_bytes + overhead_)) return drop_early(now);
    Verdict verdict = Verdict::pass;
    if (impairments->is_managed()) {
        const Backlog backlog{waiting(now), busy_until_};
        verdict = decide_on_arrival(now, backlog, (packet.flags & kEct) != 0);
        if (verdict == Verdict::drop) return drop_early(now);
    }
    return send_impaired(now, ip_bytes, packet, sack, verdict);
}

inline Verdict Channel::decide_on_arrival(Time now, const Backlog& backlog, bool is_ecn_capable) {
    const Verdict verdict =
        std::visit([&](auto& any) { return any.enqueue(now, backlog, is_ecn_capable); },
                   impairments->discipline);
    impairments->note(now);
    return verdict;
}

inline Passage Channel::drop_early(Time now) {
    queue_drops_++;
    impairments->early_drops++;
    return {Fate::dropped_early, now};
}

// Sends a packet that its queue discipline does not drop.
inline Passage Channel::send_impaired(Time now, std::uint32_t ip_bytes, Packet& packet,
                                      const SackBlocks* sack, Verdict verdict) {
    Impairments& x = *impairments;
    Time start = now;
    Passage passage;
    if (x.opportunities) {
        passage = enter_by_opportunity(now, ip_bytes, start);
    } else {
        passage = admit_and_send(now, ip_bytes);
        start = busy_until_ - size_.duration;
    }
    if (passage.fate == Fate::dropped) return passage;
    if (verdict == Verdict::mark) x.mark(packet);
    if (x.waited && start > now) x.waited->add(now, start, ip_bytes + overhead_);
    if (x.capture && x.capture->leaving) x.capture->add(packet, sack, start);
    if (passage.fate == Fate::lost || passage.at == kNever) return counted(passage);
    passage.at = x.arrival(passage.at);
    if (x.capture && !x.capture->leaving) x.capture->add(packet, sack, passage.at);
    return counted(passage);
}

}  // namespace ww::sim
