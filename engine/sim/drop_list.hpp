// SPDX-License-Identifier: BSD-3-Clause
//
// Lists all packets that queues dropped or marked and that wires lost, in a run that traces queues.
#pragma once

#include <vector>

#include "../base/seconds.hpp"
#include "../network.hpp"

namespace ww::sim {

class DropList {
  public:
    explicit DropList(bool traced) : traced_(traced) {}

    void add(Time time, std::uint32_t channel, std::uint32_t flow, DropKind kind,
             PacketKind packet) {
        if (traced_) drops_.push_back({seconds(time), channel, flow, kind, packet});
    }

    std::vector<Drop>& all() { return drops_; }

  private:
    bool traced_;
    std::vector<Drop> drops_;
};

}  // namespace ww::sim
