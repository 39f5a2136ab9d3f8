// SPDX-License-Identifier: BSD-3-Clause
//
// Delivery rate samples (draft-cheng-iccrg-delivery-rate-estimation-00, section 3), in segments. Only
// congestion controls that need them (ww_needs_rate) have them.
//
//   each segment remembers   delivered, delivered_time and first_sent_time of the connection when sent
//   an ACK's sample          from the last-sent segment that it delivered, cumulatively or by SACK:
//     send_elapsed = its sent time - its first_sent_time
//     ack_elapsed  = now - its delivered_time
//     rate = (delivered - its delivered) / max(send_elapsed, ack_elapsed)
//
// An interval shorter than the smallest RTT cannot be right and gives no sample (as in Linux).
#pragma once

#include <algorithm>
#include <vector>

#include "../network.hpp"

namespace ww::sim {

class RateSampler {
  public:
    // Makes room in the ring for all segments in flight.
    void reserve(std::size_t segments, std::int64_t una, std::int64_t high) {
        std::vector<Sent> larger(segments);
        for (std::int64_t s = una; s < high; s++)
            larger[static_cast<std::size_t>(s) & (segments - 1)] = of(s);
        sent_.swap(larger);
        mask_ = segments - 1;
    }

    // draft-ietf-ccwg-bbr, 4.1.2.2: OnPacketSent().
    // pipe: segments in flight, this one included; found_lost: segments found lost since the start;
    // `idle`: nothing was in flight.
    void on_sent(Time now, std::int64_t segment, std::uint32_t pipe, std::uint32_t found_lost,
                 bool idle, bool again) {
        if (idle) first_sent_ = delivered_at_ = now;
        of(segment) = {now,        first_sent_,  delivered_at_, delivered_, pipe,
                       found_lost, is_limited(), again,         false};
    }

    // draft-ietf-ccwg-bbr, 4.1.2.3: UpdateRateSample(), IsNewestPacket().
    void on_delivered(Time now, std::int64_t segment) {
        Sent& sent = of(segment);
        if (sent.counted) return;
        sent.counted = true;
        delivered_++;
        newly_delivered_++;
        delivered_at_ = now;
        // Segments sent at the same time are ordered by their place in the ring.
        if (newest_ < 0 || sent.sent >= of(newest_).sent) set_newest(segment);
    }
    // Takes `count` segments up to `last`, delivered in order and sent once. Then the last one is
    // enough.
    void on_delivered_in_order(Time now, std::int64_t last, std::int64_t count) {
        delivered_ += static_cast<std::uint32_t>(count);
        newly_delivered_ += static_cast<std::uint32_t>(count);
        delivered_at_ = now;
        set_newest(last);
    }

    // The application had nothing to send, and what was in flight then has not all arrived.
    bool is_limited() const { return static_cast<std::int32_t>(limited_until_ - delivered_) > 0; }
    std::uint32_t delivered() const { return delivered_; }

    // Fills in what was known when the segment was sent; found_lost: as above, this one included.
    void fill(std::int64_t segment, std::uint32_t found_lost, ww_lost& lost) {
        const Sent& sent = of(segment);
        lost.delivered = delivered_;
        lost.prior_delivered = sent.delivered;
        lost.prior_pipe = sent.pipe;
        lost.lost_since = found_lost - sent.found_lost;
        lost.is_app_limited = sent.limited;
    }

    // draft-ietf-ccwg-bbr, 4.1.2.4: MarkConnectionAppLimited().
    // Notes that the application had nothing to send with `pipe` segments in flight.
    void on_application_limited(std::uint32_t pipe) {
        limited_until_ = delivered_ + std::max(pipe, 1u);
    }

    // draft-ietf-ccwg-bbr, 4.1.2.3: InitRateSample(), GenerateRateSample(); 4.1.3.5: "by discarding
    // samples whose RS.interval is lower than the minimum RTT".
    // Fills in the sample of the ACK at `now` and starts the next one. found_lost: segments found
    // lost since the start.
    void fill(Time now, Time min_rtt, std::uint32_t found_lost, ww_sample& sample) {
        sample.newly_lost = found_lost - reported_lost_;
        reported_lost_ = found_lost;
        sample.delivered = delivered_;
        sample.newly_delivered = newly_delivered_;
        newly_delivered_ = 0;
        if (newest_ < 0) return;
        const Sent& sent = of(newest_);
        const Time interval = std::max(sent.sent - sent.first_sent, now - sent.delivered_at);
        sample.prior_delivered = sent.delivered;
        sample.rate_segments = delivered_ - sent.delivered;
        sample.is_app_limited = sent.limited;
        sample.prior_pipe = sent.pipe;
        sample.lost_since = found_lost - sent.found_lost;
        if (!sent.again) sample.rate_rtt_us = in_microseconds(now - sent.sent);
        if (interval >= min_rtt) sample.rate_interval_us = in_microseconds(interval);
        newest_ = -1;
    }

  private:
    struct Sent {
        Time sent = -1;
        Time first_sent = 0, delivered_at = 0;
        std::uint32_t delivered = 0, pipe = 0, found_lost = 0;
        bool limited = false;
        bool again = false;  // a retransmission
        bool counted = true;
    };

    static std::uint32_t in_microseconds(Time span) {
        const auto us = static_cast<std::uint64_t>(span) / kMicrosecond;
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(us, UINT32_MAX));
    }

    Sent& of(std::int64_t segment) { return sent_[static_cast<std::size_t>(segment) & mask_]; }
    void set_newest(std::int64_t segment) {
        newest_ = segment;
        first_sent_ = of(segment).sent;
    }

    std::vector<Sent> sent_;
    std::size_t mask_ = 0;
    std::int64_t newest_ = -1;  // last-sent of the segments that this ACK delivered; -1: none
    Time first_sent_ = 0, delivered_at_ = 0;
    std::uint32_t delivered_ = 0, newly_delivered_ = 0, limited_until_ = 0;
    std::uint32_t reported_lost_ = 0;
};

}  // namespace ww::sim
