// SPDX-License-Identifier: BSD-3-Clause
//
// Scripted loss: the packets named are lost, counted from 1.
#pragma once

#include <utility>
#include <vector>

#include "model.hpp"

namespace ww::sim {

struct LossList {
    std::vector<std::uint64_t> packets;  // ascending
};

class ScriptedLoss : public LossModel {
  public:
    ScriptedLoss(const LossList& settings, const LossPlace&) : packets_(settings.packets) {}

    std::uint64_t packets_until_due() {
        if (next_ == packets_.size()) return kNoLoss;
        const std::uint64_t before = std::exchange(last_, packets_[next_++]);
        return last_ - before - 1;
    }

  private:
    std::vector<std::uint64_t> packets_;
    std::size_t next_ = 0;
    std::uint64_t last_ = 0;
};

}  // namespace ww::sim
