// SPDX-License-Identifier: BSD-3-Clause
//
// What a simulation writes down as it runs: drops and marks on the way, and what an ACK or a timer made the
// sender decide. The event loop is in simulation.cpp.
#include "simulation.hpp"

namespace ww::sim {

void Simulation::record_mark(const Connection& c, const Pipe& pipe, Time now) {
    drops_.add(now, number_of(pipe), c.index, DropKind::mark, false);
}

void Simulation::account_drop(Connection& c, const Pipe& pipe, std::uint32_t payload,
                              const Passage& passage, bool ack) {
    const DropKind kind = drop_kind(passage.fate);
    if (!ack && payload > 0) (kind == DropKind::wire ? c.result->lost : c.result->queue_drops)++;
    drops_.add(passage.at, number_of(pipe), c.index, kind, ack);
}

void Simulation::record_timer(Connection& c, Time now, Due due, std::uint8_t phase_before) {
    Sender& sender = c.sender();
    Recorder& recorder = recorders_[c.index];
    if (due == Due::timeout) recorder.event(now, EventKind::timeout, sender.una(), sender);
    if (due == Due::probe) recorder.event(now, EventKind::probe, sender.una(), sender);
    if (sender.phase() == WW_RECOVERY && phase_before != WW_RECOVERY)
        recorder.event(now, EventKind::recovery, sender.una(), sender);
}

void Simulation::record_ack(Connection& c, Time now, Progress progress, std::uint8_t phase_before,
                            std::uint64_t undone_before) {
    Sender& sender = c.sender();
    Recorder& recorder = recorders_[c.index];
    if (progress == Progress::dupack) recorder.event(now, EventKind::dupack, sender.una(), sender);
    if (progress == Progress::advanced) recorder.event(now, EventKind::ack, sender.una(), sender);
    if (sender.undone() != undone_before)
        recorder.event(now, EventKind::undo, sender.una(), sender);
    if (sender.phase() == WW_RECOVERY && phase_before != WW_RECOVERY)
        recorder.event(now, EventKind::recovery, sender.una(), sender);
    if (sender.phase() == WW_OPEN && phase_before >= WW_RECOVERY)
        recorder.event(now, EventKind::exit, sender.una(), sender);
}

}  // namespace ww::sim
