// SPDX-License-Identifier: BSD-3-Clause
//
// One direction of a link while it runs: drop-tail queue, transmitter, wire.
//
//   start     = max(arrival, busy_until)        busy_until = start + 8 size / rate
//   reaches the far end at busy_until + delay
//
// Departures are computed when a packet arrives, never scheduled. A packet waits from its arrival to
// its start; those that wait at a moment are the queue. An idle transmitter keeps nothing.
#pragma once

#include "network.hpp"
#include "packet.hpp"
#include "random.hpp"
#include "ring.hpp"

namespace ww::sim {

class LossProcess {
  public:
    LossProcess(const Loss& loss, const Random& random) : loss_(loss), random_(random) {
        if (loss_.kind == LossKind::uniform && loss_.rate > 0 && loss_.rate < 1)
            log_pass_ = natural_log(1.0 - loss_.rate);
        draw();
    }

    // True if the packet that crosses now is lost. One draw a loss: the gaps are geometric.
    bool lose() {
        if (--until_loss_ != 0) [[likely]]
            return false;
        draw();
        return true;
    }

    std::uint64_t crossed() const { return drawn_ - until_loss_; }

  private:
    [[gnu::noinline]] void draw() {
        until_loss_ = UINT64_MAX;
        if (loss_.kind == LossKind::script) {
            if (script_next_ < loss_.packets.size()) {
                until_loss_ = loss_.packets[script_next_] - script_last_;
                script_last_ = loss_.packets[script_next_++];
            }
        } else if (loss_.kind == LossKind::uniform && loss_.rate > 0) {
            const double gap = loss_.rate < 1 ? natural_log(random_.open_unit()) / log_pass_ : 0.0;
            if (gap < 0x1p62) until_loss_ = 1 + static_cast<std::uint64_t>(gap);
        }
        drawn_ += until_loss_;
    }

    Loss loss_;
    Random random_;
    double log_pass_ = 0;
    std::uint64_t until_loss_ = UINT64_MAX;
    std::uint64_t drawn_ = 0;  // all gaps so far; it may wrap, differences stay right
    std::uint64_t script_last_ = 0;
    std::size_t script_next_ = 0;
};

class Pipe {
  public:
    static constexpr Time kDropped = -1;         // by the queue
    static constexpr Time kLost = -2;            // on the wire
    static constexpr Time kFar = INT64_MAX / 4;  // a transmission and a delay more still fit

    Pipe(const Direction& direction, std::uint32_t overhead_bytes, const Random& random)
        : delay_(direction.delay),
          overhead_(overhead_bytes),
          rate_bps_(direction.rate_bps),
          limit_packets_(direction.queue_packets),
          limit_bytes_(direction.queue_bytes),
          loss_(direction.loss, random) {
        if (limit_bytes_ != kUnlimited)
            limit_ = Limit::bytes;  // and packets, if they are limited too
        else if (limit_packets_ != kUnlimited)
            limit_ = Limit::packets;
    }

    // A packet of ip_bytes arrives at now (never before the last one): when it reaches the far end,
    // or kDropped or kLost; kNever if that is beyond any run.
    Time transmit(Time now, std::uint32_t ip_bytes) {
        const std::uint32_t bytes = ip_bytes + overhead_;
        Time start = now;
        if (busy_until_ > now) {
            start = busy_until_;
            if (start > kFar) [[unlikely]]
                return kNever;  // it waits beyond any duration
            if (limit_ == Limit::packets) {
                if (full_of_packets(now)) [[unlikely]]
                    return dropped();
                waiting_.push({start, bytes});
            } else if (limit_ == Limit::bytes) {
                if (full_of_bytes(now, bytes)) [[unlikely]]
                    return dropped();
                waiting_.push({start, bytes});
                waiting_bytes_ += bytes;
            }
        }
        busy_until_ = start + duration(bytes);
        if (loss_.lose()) [[unlikely]] {
            lost_++;
            return kLost;
        }
        return busy_until_ + delay_;
    }

    bool inlined = false;    // arrivals at the far end are acted on at once: see topology.hpp
    std::uint32_t slot = 0;  // otherwise: its place in the event loop
    Ring<Packet> in_transit;
    Ring<SackBlocks> sack_blocks;  // of those packets that carry some, in their order

    DirectionResult result() const { return {loss_.crossed(), queue_drops_, lost_}; }

  private:
    struct Waiting {
        Time start;
        std::uint32_t bytes;
    };

    enum class Limit : std::uint8_t { none, packets, bytes };

    // What waits is at most what was pushed and not yet removed: look closer only at the limit.
    bool full_of_packets(Time now) {
        if (static_cast<std::int64_t>(waiting_.size()) < limit_packets_) [[likely]]
            return false;
        remove_started(now);
        return static_cast<std::int64_t>(waiting_.size()) >= limit_packets_;
    }

    bool full_of_bytes(Time now, std::uint32_t bytes) {
        if (full_of_packets(now)) return true;
        if (waiting_bytes_ + bytes <= limit_bytes_) return false;
        remove_started(now);
        return waiting_bytes_ + bytes > limit_bytes_;
    }

    [[gnu::noinline]] void remove_started(Time now) {
        while (!waiting_.empty() && waiting_.front().start <= now) {
            waiting_bytes_ -= limit_ == Limit::bytes ? waiting_.front().bytes : 0;
            waiting_.pop();
        }
    }

    Time dropped() {
        queue_drops_++;
        return kDropped;
    }

    // Transmission time; nearly all packets of a direction have one of two sizes.
    Time duration(std::uint32_t bytes) {
        if (bytes == size_[0]) [[likely]]
            return duration_[0];
        return other_duration(bytes);
    }

    [[gnu::noinline]] Time other_duration(std::uint32_t bytes) {
        if (bytes != size_[1]) {
            // 131070 * 8 * 10^12 < 2^63
            size_[1] = bytes;
            duration_[1] = (static_cast<Time>(bytes) * 8 * kSecond + rate_bps_ / 2) / rate_bps_;
        }
        std::swap(size_[0], size_[1]);
        std::swap(duration_[0], duration_[1]);
        return duration_[0];
    }

    Time busy_until_ = 0;
    Time delay_;
    std::uint32_t overhead_;
    Limit limit_ = Limit::none;
    std::uint32_t size_[2] = {0, 0};
    Time duration_[2] = {0, 0};
    std::int64_t rate_bps_;
    std::int64_t limit_packets_, limit_bytes_;
    std::int64_t waiting_bytes_ = 0;
    std::uint64_t queue_drops_ = 0, lost_ = 0;
    Ring<Waiting> waiting_;
    LossProcess loss_;
};

}  // namespace ww::sim
