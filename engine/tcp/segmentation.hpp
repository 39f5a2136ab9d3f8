// SPDX-License-Identifier: BSD-3-Clause
//
// Cuts a transfer into segments. They are counted from 0, and all but the last carry mss bytes, so
// a segment's number gives the position of its bytes. On the wire, sequence numbers are 32 bits
// wide and wrap, and the first byte follows the SYN.
#pragma once

#include <limits>

#include "../network.hpp"

namespace ww::sim {

class Segmentation {
  public:
    Segmentation(const Flow& flow, std::uint32_t isn)
        : count_(std::numeric_limits<std::int64_t>::max()),
          first_number_(isn + 1),
          mss_(flow.mss()),
          last_bytes_(flow.mss()) {
        if (flow.size_bytes == kUnlimited) return;
        count_ = (flow.size_bytes + mss_ - 1) / mss_;
        last_bytes_ = static_cast<std::uint32_t>(flow.size_bytes - (count_ - 1) * mss_);
    }

    std::int64_t count() const { return count_; }
    std::uint32_t mss() const { return mss_; }
    std::uint32_t isn() const { return first_number_ - 1; }
    bool is_last(std::int64_t segment) const { return segment == count_ - 1; }
    std::uint32_t payload(std::int64_t segment) const {
        return is_last(segment) ? last_bytes_ : mss_;
    }
    std::uint32_t number(std::int64_t segment) const {
        return first_number_ + static_cast<std::uint32_t>(segment) * mss_;
    }

    // Returns how many segments hold this many bytes; 0 for a negative number. An ACK nearly always
    // covers one or two, and a division would cost more than the rest of the ACK's work.
    std::int64_t segments_in(std::int32_t bytes) const {
        const auto some = static_cast<std::uint32_t>(bytes);
        if (some == 2 * mss_) return 2;
        if (some == mss_) return 1;
        return bytes < 0 ? 0 : (some + mss_ - 1) / mss_;
    }

  private:
    std::int64_t count_;
    std::uint32_t first_number_;
    std::uint32_t mss_;
    std::uint32_t last_bytes_;  // payload of the last segment
};

}  // namespace ww::sim
