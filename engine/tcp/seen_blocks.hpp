// SPDX-License-Identifier: BSD-3-Clause
//
// The SACK blocks that a sender has taken last. An ACK repeats most blocks of the one before (RFC 2018,
// section 4), and these bring nothing new. Linux remembers them too (recv_sack_cache).
#pragma once

#include <array>

#include "../link/packet.hpp"

namespace ww::sim {

class SeenBlocks {
  public:
    // True if the last SACK had the block. SND.UNA is now `una`; past the segments of that time the same
    // numbers may mean other data.
    bool has(const SackBlocks::Block& block, std::int64_t una) const {
        bool is_repeated = false;
        for (const SackBlocks::Block& seen : blocks_)
            is_repeated |= seen.start == block.start && seen.end == block.end;
        return is_repeated && una < high_;
    }

    // Takes the blocks from `first` on, all below `high`, one past the highest segment sent.
    void remember(const SackBlocks& sack, std::uint32_t first, std::int64_t high) {
        blocks_ = {};
        for (std::uint32_t i = first; i < sack.count; i++) blocks_[i] = sack.block[i];
        high_ = high;
    }

  private:
    std::array<SackBlocks::Block, kMaxSackBlocks> blocks_{};
    std::int64_t high_ = 0;
};

}  // namespace ww::sim
