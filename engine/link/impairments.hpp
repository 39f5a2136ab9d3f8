// SPDX-License-Identifier: BSD-3-Clause
//
// What few channels have: a queue discipline, recorded rates, impairments, a trace of the queue, a
// capture.
#pragma once

#include <optional>

#include "capture.hpp"
#include "delays.hpp"
#include "held_packets.hpp"
#include "impairments/jitter.hpp"
#include "impairments/kinds.hpp"
#include "impairments/reordering.hpp"
#include "opportunities.hpp"
#include "queue/kinds.hpp"
#include "queue_recorder.hpp"
#include "state_recorder.hpp"

namespace ww::sim {

struct Impairments {
    // Makes what drops and delays the packets of a direction; `number` is its channel's.
    Impairments(const Direction& d, std::uint32_t number, std::uint64_t seed) {
        if (!d.delay_changes.at.empty()) delay.emplace(d.delay_changes, d.delay);
        std::uint64_t place = number;
#define WW_IMPAIRMENT(name, ...)                                                \
    if (d.name) name.emplace(*d.name, Random(seed, Stream::impairment, place)); \
    place += std::uint64_t{1} << 32;
        WW_IMPAIRMENT_KINDS(WW_IMPAIRMENT)
#undef WW_IMPAIRMENT
        if (d.jitter > 0) jitter.emplace(d.jitter, Random(seed, Stream::jitter, number));
        if (d.reorder_rate > 0)
            reordering.emplace(d.reorder_rate, d.reorder_delay,
                               Random(seed, Stream::reordering, number));
    }

    AnyDiscipline discipline;
    std::optional<HeldPackets> held;  // of a discipline that also decides later
    std::optional<Opportunities> opportunities;
    std::optional<ChangingDelay> delay;
#define WW_IMPAIRMENT(name, Settings, Class, ...) std::optional<Class> name;
    WW_IMPAIRMENT_KINDS(WW_IMPAIRMENT)
#undef WW_IMPAIRMENT
    std::optional<Jitter> jitter;
    std::optional<Reordering> reordering;
    std::optional<QueueRecorder> waited;
    std::optional<StateRecorder> states;  // of the discipline
    std::optional<Capture> capture;
    std::uint64_t early_drops = 0, marked = 0;

    // Marks a packet. One that an earlier queue marked stays so (RFC 3168, 5), and counts only there.
    void mark(Packet& packet) {
        marked += (packet.flags & kCe) == 0;
        packet.flags |= kCe;
    }

    // Records the state of the discipline after it has decided.
    void note(Time now) {
        if (states) states->note(now, discipline);
    }

    bool is_managed() const { return discipline.index() != 0; }  // not drop-tail
    bool sheds() const {
        return std::visit([](const auto& any) { return any.kSheds; }, discipline);
    }
    Time opens() const {
        return std::visit([](const auto& any) { return any.opens(); }, discipline);
    }
    bool only_traces_queue() const {
        return waited && !is_managed() && !opportunities && !capture && !has_any();
    }

    // Returns whether an impairment drops or delays packets.
    bool has_any() const { return delay || jitter || reordering || has_kinds(); }

#define WW_IMPAIRMENT(name, ...) || name
    bool has_kinds() const { return false WW_IMPAIRMENT_KINDS(WW_IMPAIRMENT); }
#undef WW_IMPAIRMENT

    // How long an empty queue collects packets.
    Time batch() const { return ack_filter ? ack_filter->settings().batch : 0; }

    // Returns whether an impairment drops a packet that arrives.
    bool drops([[maybe_unused]] Time now, [[maybe_unused]] std::uint32_t bytes) {
#define WW_IMPAIRMENT(name, Settings, Class, ...) \
    if (Class::kDrops && name && name->drops(now, bytes)) return true;
        WW_IMPAIRMENT_KINDS(WW_IMPAIRMENT)
#undef WW_IMPAIRMENT
        return false;
    }

    // Returns when a packet arrives at the far end that would arrive at `time` without impairments.
    Time arrival(Time time) {
        if (delay) time = delay->arrival(time);
#define WW_IMPAIRMENT(name, Settings, Class, ...) \
    if (Class::kDelays && name) time = name->arrival(time);
        WW_IMPAIRMENT_KINDS(WW_IMPAIRMENT)
#undef WW_IMPAIRMENT
        if (jitter) time = jitter->arrival(time);
        if (reordering) time += reordering->delay();
        return time;
    }
};

}  // namespace ww::sim
