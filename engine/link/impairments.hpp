// SPDX-License-Identifier: BSD-3-Clause
//
// What few channels have: a queue discipline, recorded rates, jitter, reordering, a trace of the queue, a
// capture.
#pragma once

#include <optional>

#include "capture.hpp"
#include "held_packets.hpp"
#include "impairments/jitter.hpp"
#include "impairments/reordering.hpp"
#include "opportunities.hpp"
#include "queue/kinds.hpp"
#include "queue_recorder.hpp"

namespace ww::sim {

struct Impairments {
    AnyDiscipline discipline;
    std::optional<HeldPackets> held;  // of a discipline that also decides later
    std::optional<Opportunities> opportunities;
    std::optional<Jitter> jitter;
    std::optional<Reordering> reordering;
    std::optional<QueueRecorder> waited;
    std::optional<Capture> capture;
    std::uint64_t early_drops = 0, marked = 0;

    bool is_managed() const { return discipline.index() != 0; }  // not drop-tail
    bool only_traces_queue() const {
        return waited && !is_managed() && !opportunities && !jitter && !reordering && !capture;
    }
};

}  // namespace ww::sim
