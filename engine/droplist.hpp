// SPDX-License-Identifier: BSD-3-Clause
//
// The list of all packets that queues dropped or marked and wires lost, for a run that traces queues.
#pragma once

#include <algorithm>
#include <vector>

#include "network.hpp"
#include "seconds.hpp"

namespace ww::sim {

class DropList {
  public:
    explicit DropList(bool traced) : traced_(traced) {}

    void add(Time at, std::uint32_t pipe, std::uint32_t flow, DropKind kind, bool ack) {
        if (traced_) drops_.push_back({seconds(at), pipe, flow, kind, ack});
    }

    // Pipes that run ahead of the clock add ahead of it, so the list is sorted at the end.
    std::vector<Drop> take() {
        const auto earlier = [](const Drop& a, const Drop& b) { return a.time_s < b.time_s; };
        std::stable_sort(drops_.begin(), drops_.end(), earlier);
        return std::move(drops_);
    }

  private:
    bool traced_;
    std::vector<Drop> drops_;
};

}  // namespace ww::sim
