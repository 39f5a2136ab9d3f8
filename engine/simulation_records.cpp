// SPDX-License-Identifier: BSD-3-Clause
//
// What a simulation writes down as it runs: drops and marks on the way, and what an ACK or a timer made the
// sender decide; and how that leaves it. The event loop is in simulation.cpp.
#include <algorithm>
#include <utility>

#include "seconds.hpp"
#include "simulation.hpp"

namespace ww::sim {
namespace {

// Moves the rows before `end` in time out of `all`, in order. Pipes that run ahead of the clock have recorded
// ahead of it, but never behind.
template <class Row, class Key>
std::vector<Row> take_before(std::vector<Row>& all, Key key, decltype(key(Row{})) end) {
    std::stable_sort(all.begin(), all.end(),
                     [&](const Row& a, const Row& b) { return key(a) < key(b); });
    const auto rest =
        std::find_if(all.begin(), all.end(), [&](const Row& row) { return key(row) >= end; });
    std::vector<Row> taken(all.begin(), rest);
    all.erase(all.begin(), rest);
    return taken;
}

template <class T>
void append(std::vector<T>& all, std::vector<T>& more) {
    all.insert(all.end(), more.begin(), more.end());
    more = {};
}

}  // namespace

// Rows of before that time are complete.
Records Simulation::take_records(Time before) {
    Records taken;
    taken.windows = std::move(result_.records.windows);
    taken.windows_of = std::move(result_.records.windows_of);
    taken.events = std::move(result_.records.events);
    taken.events_of = std::move(result_.records.events_of);
    for (const Pipe& pipe : pipes_) {
        if (pipe.extras == nullptr || pipe.extras->trace.bytes.empty()) continue;
        QueueTrace& its = pipe.extras->trace;
        taken.queues_of.resize(taken.queues_of.size() + its.bytes.size(), number_of(pipe));
#define WW_ROW(type, name, what) append(taken.queues.name, its.name);
        WW_QUEUE_COLUMNS(WW_ROW)
#undef WW_ROW
    }
    taken.drops = take_before(
        drops_.all(), [](const Drop& row) { return row.time_s; }, seconds(before));
    // Of two packets at once what arrives is first.
    taken.captured = take_before(result_.records.captured,
                                 [](const Captured& row) { return std::pair(row.at, row.leaving); },
                                 {before, 0});
    return taken;
}

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
    Recorder& recorder = recorders_[c.slot];
    if (due == Due::timeout) recorder.event(now, EventKind::timeout, sender.una(), sender);
    if (due == Due::probe) recorder.event(now, EventKind::probe, sender.una(), sender);
    if (sender.phase() == WW_RECOVERY && phase_before != WW_RECOVERY)
        recorder.event(now, EventKind::recovery, sender.una(), sender);
}

void Simulation::record_ack(Connection& c, Time now, Progress progress, std::uint8_t phase_before,
                            std::uint64_t undone_before) {
    Sender& sender = c.sender();
    Recorder& recorder = recorders_[c.slot];
    if (progress == Progress::dupack) recorder.event(now, EventKind::dupack, sender.una(), sender);
    if (progress == Progress::advanced) recorder.event(now, EventKind::ack, sender.una(), sender);
    if (sender.undone() != undone_before)
        recorder.event(now, EventKind::undo, sender.una(), sender);
    if (sender.phase() == WW_RECOVERY && phase_before != WW_RECOVERY)
        recorder.event(now, EventKind::recovery, sender.una(), sender);
    if (sender.phase() == WW_OPEN && phase_before >= WW_RECOVERY)
        recorder.event(now, EventKind::exit, sender.una(), sender);
}

// Puts each row to the connection or the direction that it is of.
Result simulate(const Network& network, std::uint64_t seed, const Stop& stop) {
    Outcome outcome = run(network, seed, nullptr, stop);
    Result result;
    result.stopped = outcome.stopped;
    result.flows.resize(outcome.connections.size());
    for (std::size_t i = 0; i < result.flows.size(); i++)
        static_cast<FlowCounts&>(result.flows[i]) = outcome.connections[i];
    Records& records = outcome.records;
    if (result.flows.size() == 1) {
        result.flows[0].trace = std::move(records.windows);
        result.flows[0].events = std::move(records.events);
        records.windows_of.clear();
        records.events_of.clear();
    }
    for (std::size_t i = 0; i < records.windows_of.size(); i++) {
        WindowTrace& trace = result.flows[records.windows_of[i]].trace;
#define WW_ROW(type, name, what) trace.name.push_back(records.windows.name[i]);
        WW_WINDOW_COLUMNS(WW_ROW)
#undef WW_ROW
    }
    for (std::size_t i = 0; i < records.events_of.size(); i++)
        result.flows[records.events_of[i]].events.push_back(records.events[i]);
    result.forward = std::move(outcome.forward);
    result.backward = std::move(outcome.backward);
    for (std::size_t i = 0; i < records.queues_of.size(); i++) {
        const std::uint32_t pipe = records.queues_of[i];
        QueueTrace& trace = (pipe % 2 == 0 ? result.forward : result.backward)[pipe / 2].trace;
#define WW_ROW(type, name, what) trace.name.push_back(records.queues.name[i]);
        WW_QUEUE_COLUMNS(WW_ROW)
#undef WW_ROW
    }
    result.drops = std::move(records.drops);
    result.captured = std::move(records.captured);
    result.packets = outcome.packets;
    result.events = outcome.events;
    result.error = std::move(outcome.error);
    return result;
}

}  // namespace ww::sim
