// SPDX-License-Identifier: BSD-3-Clause
//
// The packets of a queue whose discipline also decides when they leave (queue/discipline.hpp). They stand in
// one or more lines, first in first out.
#pragma once

#include <optional>
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

inline std::uint32_t sacked_bytes(const HeldPacket& ack) {
    std::uint32_t bytes = 0;
    for (std::uint32_t i = 0; ack.has_sack && i < ack.sack.count; i++)
        bytes += ack.sack.block[i].end - ack.sack.block[i].start;
    return bytes;
}

// Returns whether an ACK says nothing that a newer one does not say (impairments/ack_filter.hpp).
inline bool is_redundant(const HeldPacket& older, const HeldPacket& newer) {
    constexpr std::uint16_t kMore = kSyn | kFin | kCwr | kDatagram | kBare | kGuest;
    const Packet &old = older.packet, &ack = newer.packet;
    const auto is_after = [](std::uint32_t number, std::uint32_t other) {
        return static_cast<std::int32_t>(number - other) > 0;
    };
    if (old.flow != ack.flow || (old.flags & kAck) == 0 || (old.flags & kMore) != 0 ||
        ((old.flags ^ ack.flags) & ~kSack) != 0 || is_after(old.number, ack.number))
        return false;
    if (ack.number == old.number && sacked_bytes(newer) <= sacked_bytes(older)) return false;
    const auto is_told = [&](const SackBlocks::Block& block) {
        if (!is_after(block.end, ack.number)) return true;
        for (std::uint32_t i = 0; newer.has_sack && i < newer.sack.count; i++)
            if (!is_after(newer.sack.block[i].start, block.start) &&
                !is_after(block.end, newer.sack.block[i].end))
                return true;
        return false;
    };
    for (std::uint32_t i = 0; older.has_sack && i < older.sack.count; i++)
        if (!is_told(older.sack.block[i])) return false;
    return true;
}

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
            for (std::uint32_t node = line.first; node != kNone; node = nodes_[node].next)
                function(nodes_[node].held);
    }

    bool has_room(std::uint32_t ip_bytes) const { return fits(size_ + 1, ip_bytes_ + ip_bytes); }
    bool is_over_limit() const { return !fits(size_, ip_bytes_); }
    void push(const HeldPacket& packet, std::uint32_t to = 0) {
        Line& line = lines_[to];
        const std::uint32_t node = take_node();
        nodes_[node] = {packet, kNone};
        (line.first == kNone ? line.first : nodes_[line.last].next) = node;
        line.last = node;
        newest_line_ = to;
        line.ip_bytes += packet.ip_bytes;
        line.packets++;
        ip_bytes_ += packet.ip_bytes;
        size_++;
    }
    HeldPacket pop(std::uint32_t from = 0) {
        Line& line = lines_[from];
        const std::uint32_t node = line.first;
        line.first = nodes_[node].next;
        return release(node, line);
    }
    // Removes and returns the oldest ACK that the newest packet makes redundant, if `keep` of them or more wait.
    std::optional<HeldPacket> take_redundant(std::uint32_t keep) {
        Line& line = lines_[newest_line_];
        const HeldPacket& newest = nodes_[line.last].held;
        std::uint32_t count = 0, oldest = kNone, before = kNone;
        for (std::uint32_t node = line.first, last = kNone; node != line.last;
             last = node, node = nodes_[node].next) {
            if (!is_redundant(nodes_[node].held, newest)) continue;
            if (count++ == 0) oldest = node, before = last;
        }
        if (count < keep) return std::nullopt;
        if (before == kNone) return pop(newest_line_);
        nodes_[before].next = nodes_[oldest].next;
        return release(oldest, line);
    }
    // Returns the line with the most bytes.
    std::uint32_t longest() const {
        std::uint32_t most = 0;
        for (std::uint32_t line = 1; line < lines_.size(); line++)
            if (lines_[line].ip_bytes > lines_[most].ip_bytes) most = line;
        return most;
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

    // Frees the node of a packet that has left its line, and returns the packet.
    const HeldPacket& release(std::uint32_t node, Line& line) {
        nodes_[node].next = free_;
        free_ = node;
        line.ip_bytes -= nodes_[node].held.ip_bytes;
        line.packets--;
        ip_bytes_ -= nodes_[node].held.ip_bytes;
        size_--;
        return nodes_[node].held;
    }

    std::uint32_t take_node() {
        if (free_ == kNone) {
            nodes_.emplace_back();
            return static_cast<std::uint32_t>(nodes_.size() - 1);
        }
        const std::uint32_t node = free_;
        free_ = nodes_[node].next;
        return node;
    }

    std::int64_t limit_packets_, limit_bytes_, overhead_;
    std::int64_t ip_bytes_ = 0;
    std::size_t size_ = 0;
    std::vector<Line> lines_;
    std::vector<Node> nodes_;
    std::uint32_t free_ = kNone;
    std::uint32_t newest_line_ = 0;  // the line that the newest packet joined
};

}  // namespace ww::sim
