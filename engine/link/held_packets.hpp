// SPDX-License-Identifier: BSD-3-Clause
//
// The packets of a queue whose discipline also decides when they leave (queue/discipline.hpp). They stand in
// one or more lines, first in first out.
#pragma once

#include <vector>

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
    HeldPackets(std::int64_t limit_packets, std::int64_t limit_bytes, std::uint32_t overhead,
                std::uint32_t lines = 1)
        : limit_packets_(limit_packets),
          limit_bytes_(limit_bytes),
          overhead_(overhead),
          lines_(lines) {}

    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    std::int64_t ip_bytes() const { return ip_bytes_; }
    bool is_empty(std::uint32_t line) const { return lines_[line].first == kNone; }
    std::int64_t ip_bytes(std::uint32_t line) const { return lines_[line].ip_bytes; }
    Head head(std::uint32_t line) const {
        const HeldPacket& first = nodes_[lines_[line].first].held;
        return {first.arrival,
                lines_[line].ip_bytes - first.ip_bytes,
                (first.packet.flags & kEct) != 0,
                first.ip_bytes,
                line,
                lines_[line].packets - 1};
    }
    template <class Function>
    void for_each(Function function) const {
        for (const Line& line : lines_)
            for (std::uint32_t at = line.first; at != kNone; at = nodes_[at].next)
                function(nodes_[at].held);
    }

    bool has_room(std::uint32_t ip_bytes) const { return fits(size_ + 1, ip_bytes_ + ip_bytes); }
    bool is_over_limit() const { return !fits(size_, ip_bytes_); }
    void push(const HeldPacket& packet, std::uint32_t to = 0) {
        Line& line = lines_[to];
        const std::uint32_t at = take_node();
        nodes_[at] = {packet, kNone};
        (line.first == kNone ? line.first : nodes_[line.last].next) = at;
        line.last = at;
        line.ip_bytes += packet.ip_bytes;
        line.packets++;
        ip_bytes_ += packet.ip_bytes;
        size_++;
    }
    HeldPacket pop(std::uint32_t from = 0) {
        Line& line = lines_[from];
        const std::uint32_t at = line.first;
        line.first = nodes_[at].next;
        nodes_[at].next = free_;
        free_ = at;
        line.ip_bytes -= nodes_[at].held.ip_bytes;
        line.packets--;
        ip_bytes_ -= nodes_[at].held.ip_bytes;
        size_--;
        return nodes_[at].held;
    }
    // Returns the line with the most bytes.
    std::uint32_t longest() const {
        std::uint32_t found = 0;
        for (std::uint32_t line = 1; line < lines_.size(); line++)
            if (lines_[line].ip_bytes > lines_[found].ip_bytes) found = line;
        return found;
    }
    // Returns a line that is not empty; there must be one.
    std::uint32_t any_line() const {
        std::uint32_t line = 0;
        while (is_empty(line)) line++;
        return line;
    }

    Timer departure;          // when the transmitter is free, while packets wait
    std::uint32_t owner = 0;  // of the timer

  private:
    static constexpr std::uint32_t kNone = UINT32_MAX;

    struct Node {
        HeldPacket held;
        std::uint32_t next = kNone;  // of its line, or of the free nodes
    };
    struct Line {
        std::uint32_t first = kNone, last = kNone;  // last is meaningless in an empty line
        std::int64_t ip_bytes = 0;
        std::uint32_t packets = 0;
    };

    bool fits(std::size_t packets, std::int64_t ip_bytes) const {
        const auto count = static_cast<std::int64_t>(packets);
        return count <= limit_packets_ && ip_bytes + count * overhead_ <= limit_bytes_;
    }

    std::uint32_t take_node() {
        if (free_ == kNone) {
            nodes_.emplace_back();
            return static_cast<std::uint32_t>(nodes_.size() - 1);
        }
        const std::uint32_t at = free_;
        free_ = nodes_[at].next;
        return at;
    }

    std::int64_t limit_packets_, limit_bytes_, overhead_;
    std::int64_t ip_bytes_ = 0;
    std::size_t size_ = 0;
    std::vector<Line> lines_;
    std::vector<Node> nodes_;
    std::uint32_t free_ = kNone;
};

}  // namespace ww::sim
