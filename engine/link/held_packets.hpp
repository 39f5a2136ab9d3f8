// SPDX-License-Identifier: BSD-3-Clause
//
// The packets of a queue whose discipline also decides when they leave (queue/discipline.hpp).
#pragma once

#include "../base/ring.hpp"
#include "../base/timers.hpp"
#include "packet.hpp"
#include "queue/discipline.hpp"

namespace ww::sim {

struct HeldPacket {
    Packet packet;
    Time arrival = 0;
    std::uint32_t slot = 0;  // of its connection
    std::uint32_t ip_bytes = 0;
    bool has_sack = false;
    SackBlocks sack;
};

class HeldPackets {
  public:
    HeldPackets(std::int64_t limit_packets, std::int64_t limit_bytes, std::uint32_t overhead)
        : limit_packets_(limit_packets), limit_bytes_(limit_bytes), overhead_(overhead) {}

    bool empty() const { return waiting_.empty(); }
    std::size_t size() const { return waiting_.size(); }
    std::int64_t ip_bytes() const { return ip_bytes_; }
    Time first_arrival() const { return empty() ? kNever : waiting_.front().arrival; }
    HeldPacket& at(std::size_t i) { return waiting_.at(i); }
    Head head() const {
        const HeldPacket& first = waiting_.front();
        return {first.arrival, ip_bytes_ - first.ip_bytes, (first.packet.flags & kEct) != 0};
    }

    bool has_room(std::uint32_t ip_bytes) const {
        const auto after = static_cast<std::int64_t>(waiting_.size()) + 1;
        return after <= limit_packets_ && ip_bytes_ + ip_bytes + after * overhead_ <= limit_bytes_;
    }
    void push(const HeldPacket& packet) {
        ip_bytes_ += packet.ip_bytes;
        waiting_.push(packet);
    }
    HeldPacket pop() {
        const HeldPacket first = waiting_.front();
        waiting_.pop();
        ip_bytes_ -= first.ip_bytes;
        return first;
    }

    Timer departure;          // when the transmitter is free, while packets wait
    std::uint32_t owner = 0;  // of the timer

  private:
    std::int64_t limit_packets_, limit_bytes_, overhead_;
    std::int64_t ip_bytes_ = 0;
    Ring<HeldPacket> waiting_;
};

}  // namespace ww::sim
