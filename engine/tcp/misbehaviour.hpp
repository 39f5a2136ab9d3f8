// SPDX-License-Identifier: BSD-3-Clause
//
// A receiver that misbehaves to get data sooner (Savage, Cardwell, Wetherall and Anderson 1999, "TCP Congestion
// Control with a Misbehaving Receiver"):
//
//   ack_division      one segment is acknowledged by several ACKs, each of an equal part of its bytes. A sender that
//                     grows with each ACK grows that many times as fast. RFC 3465 and RFC 5681, 3.1, count bytes
//                     instead, and Linux counts segments
//   optimistic_acks   an ACK covers up to that many segments that have yet to arrive, and conceals losses. The
//                     sender sees shorter round trips and no congestion. Data that is lost stays lost
//
// Too much optimism harms the receiver: a sender drops ACKs of data that it never sent (RFC 9293, 3.10.7.4). So the
// receiver runs ahead by no more than half of what came since the last retransmission.
#pragma once

#include <algorithm>

#include "../network.hpp"

namespace ww::sim {

class Misbehaviour {
  public:
    explicit Misbehaviour(const Flow& flow)
        : parts_(flow.ack_division), most_ahead_(flow.optimistic_acks), mss_(flow.mss()) {}

    static bool is_needed(const Flow& flow) {
        return flow.ack_division > 1 || flow.optimistic_acks > 0;
    }
    bool conceals_losses() const { return most_ahead_ > 0; }

    // What the next ACKs claim: `bytes` from `start` on, in parts.
    struct Claim {
        std::uint32_t start, bytes, parts;
        std::uint32_t part(std::uint32_t count) const {  // bytes of the first parts
            return static_cast<std::uint32_t>(std::uint64_t{bytes} * count / parts);
        }
    };
    Claim claim(std::uint32_t number) {
        const auto news = static_cast<std::int32_t>(number - claimed_);
        if (news <= 0) return {number, 0, 1};
        const auto bytes = static_cast<std::uint32_t>(news);
        const Claim claim{claimed_, bytes, std::min(parts_, bytes)};
        claimed_ = number;
        return claim;
    }

    void on_syn(std::uint32_t first_number) { claimed_ = first_number; }
    void on_new() { came_++; }
    void on_repeated() { came_ = 0; }
    std::uint32_t bytes_ahead() const { return std::min(most_ahead_, came_ / 2) * mss_; }

  private:
    std::uint32_t parts_, most_ahead_, mss_;
    std::uint32_t came_ = 0;     // segments since the last retransmission
    std::uint32_t claimed_ = 0;  // the highest number that an ACK has had
};

}  // namespace ww::sim
