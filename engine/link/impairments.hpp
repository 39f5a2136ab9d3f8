// SPDX-License-Identifier: BSD-3-Clause
//
// What few channels have: RED, recorded rates, jitter, reordering, a trace of the queue, a capture.
#pragma once

#include <optional>

#include "capture.hpp"
#include "impairments/jitter.hpp"
#include "impairments/reordering.hpp"
#include "opportunities.hpp"
#include "queue/red.hpp"
#include "queue_recorder.hpp"

namespace ww::sim {

struct Impairments {
    std::optional<RedQueue> red;
    std::optional<Opportunities> opportunities;
    std::optional<Jitter> jitter;
    std::optional<Reordering> reordering;
    std::optional<QueueRecorder> waited;
    std::optional<Capture> capture;
    std::uint64_t early_drops = 0, marked = 0;

    bool only_traces_queue() const {
        return waited && !red && !opportunities && !jitter && !reordering && !capture;
    }
};

}  // namespace ww::sim
