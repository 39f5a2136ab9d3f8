// SPDX-License-Identifier: BSD-3-Clause
//
// What a simulation records while it runs: drops and marks, and the decisions of the sender on an
// ACK or a timer; and how the records are handed over. The event loop is in simulation.cpp.
#include <algorithm>
#include <utility>

#include "../base/seconds.hpp"
#include "simulation.hpp"

namespace ww::sim {
namespace {

// Moves the drops before `end` out of `all`, in order of time. Channels that run ahead of the clock
// record drops early, but never late.
std::vector<Drop> take_drops(std::vector<Drop>& all, double end) {
    std::stable_sort(all.begin(), all.end(),
                     [](const Drop& a, const Drop& b) { return a.time_s < b.time_s; });
    const auto rest = std::partition_point(all.begin(), all.end(),
                                           [&](const Drop& row) { return row.time_s < end; });
    std::vector<Drop> taken(all.begin(), rest);
    all.erase(all.begin(), rest);
    return taken;
}

// Appends the rows [first, last) of a column.
template <class T>
void append(std::vector<T>& column, const std::vector<T>& rows, std::size_t first,
            std::size_t last) {
    const auto begin = rows.begin();
    column.insert(column.end(), begin + static_cast<std::ptrdiff_t>(first),
                  begin + static_cast<std::ptrdiff_t>(last));
}

// Calls take(side, first, last) for the rows of each channel, the rows [first, last).
template <class Take>
void by_channel(const std::vector<std::uint32_t>& channels, Result& result, Take take) {
    for (std::size_t i = 0, end; i < channels.size(); i = end) {
        const std::uint32_t channel = channels[i];
        for (end = i; end < channels.size() && channels[end] == channel;) end++;
        take((channel % 2 == 0 ? result.forward : result.backward)[channel / 2], i, end);
    }
}

}  // namespace

// Rows before that time are complete.
Records Simulation::take_records(Time before) {
    Records taken;
    taken.windows = std::move(result_.records.windows);
    taken.shown = std::move(result_.records.shown);
    taken.has_shown = result_.records.has_shown;
    taken.windows_of = std::move(result_.records.windows_of);
    taken.events = std::move(result_.records.events);
    taken.events_of = std::move(result_.records.events_of);
    if (network_.trace.queues) {
        std::size_t rows = 0;
        for (const Channel& channel : channels_) rows += channel.impairments->waited->size();
        taken.queues_of.reserve(rows);
#define WW_ROW(type, name, what) taken.queues.name.reserve(rows);
        WW_QUEUE_COLUMNS(WW_ROW)
#undef WW_ROW
        for (const Channel& channel : channels_) {
            taken.queues_of.resize(taken.queues_of.size() + channel.impairments->waited->size(),
                                   number_of(channel));
            channel.impairments->waited->move_to(taken.queues, end_);
            if (std::optional<StateRecorder>& states = channel.impairments->states)
                states->move_to(taken.states, taken.states_of, number_of(channel));
        }
    }
    taken.drops = take_drops(drops_.all(), seconds(before));
    if (capturing()) merge_captured(before);
    taken.captured = std::move(result_.records.captured);
    last_piece_ = taken.captured.size();
    return taken;
}

// Appends the packets captured before that time, up to the end of the run. If two packets have the
// same time, the arriving one comes first.
void Simulation::merge_captured(Time before) {
    std::vector<Captured>& all = result_.records.captured;
    const auto forward = static_cast<std::size_t>(2 * network_.trace.capture_link);
    std::vector<Captured>& leaving = channels_[forward].impairments->capture->rows;
    std::vector<Captured>& arriving = channels_[forward + 1].impairments->capture->rows;
    const auto end_of = [&](std::vector<Captured>& rows) {
        const Time end = std::min(before, end_ + 1);  // channels run ahead, even beyond the end
        return std::partition_point(rows.begin(), rows.end(),
                                    [&](const Captured& row) { return row.at < end; });
    };
    const auto left = end_of(leaving), arrived = end_of(arriving);
    if (all.empty()) all.reserve(last_piece_);
    const auto before_them = static_cast<std::ptrdiff_t>(all.size());
    all.resize(all.size() +
               static_cast<std::size_t>((left - leaving.begin()) + (arrived - arriving.begin())));
    std::merge(arriving.begin(), arrived, leaving.begin(), left, all.begin() + before_them,
               [](const Captured& a, const Captured& b) { return a.at < b.at; });
    leaving.erase(leaving.begin(), left);
    arriving.erase(arriving.begin(), arrived);
}

void Simulation::record_mark(const Connection& c, const Channel& channel, Time now) {
    drops_.add(now, number_of(channel), c.index, DropKind::mark, PacketKind::data);
}

// Records a drop. Returns when the packet goes on: kNever.
Time Simulation::account_drop(Connection& c, const Channel& channel, const Packet& packet,
                              const Passage& passage, bool ack) {
    const DropKind kind = drop_kind(passage.fate);
    if (!ack && packet.payload > 0) (kind == DropKind::wire ? c.lost : c.queue_drops)++;
    if ((packet.flags & kGuest) != 0) std::get<GuestSource>(c.source).guest->on_drop(packet.number);
    const bool is_data = !ack && packet.payload > 0;
    const PacketKind what = (packet.flags & kSyn) != 0 ? PacketKind::syn
                            : is_data                  ? PacketKind::data
                                                       : PacketKind::ack;
    drops_.add(passage.at, number_of(channel), c.index, kind, what);
    return kNever;
}

void Simulation::record_timer(Connection& c, Time now, Due due, std::uint32_t recoveries_before) {
    Sender& sender = c.sender();
    Recorder& recorder = recorders_[c.slot];
    if (due == Due::timeout) recorder.event(now, EventKind::timeout, sender.una(), sender);
    if (due == Due::probe) recorder.event(now, EventKind::probe, sender.una(), sender);
    if (sender.fast_recoveries() != recoveries_before)
        recorder.event(now, EventKind::recovery, sender.una(), sender);
}

void Simulation::record_ack(Connection& c, const Ack& ack) {
    Sender& sender = c.sender();
    const auto record = [&](EventKind kind) {
        recorders_[c.slot].event(ack.now, kind, sender.una(), sender);
    };
    if (ack.progress == Progress::dupack) record(EventKind::dupack);
    if (ack.progress == Progress::advanced) record(EventKind::ack);
    if (ack.undone) record(EventKind::undo);
    if (ack.ended_recovery) record(EventKind::exit);
    if (ack.began_recovery) record(EventKind::recovery);
    if (ack.reduced) record(EventKind::ecn);
}

// Sorts the rows into their connections and directions.
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
        result.flows[0].shown = std::move(records.shown);
        result.flows[0].events = std::move(records.events);
        records.windows_of.clear();
        records.events_of.clear();
    }
    for (std::size_t i = 0; i < records.windows_of.size(); i++) {
        WindowTrace& trace = result.flows[records.windows_of[i]].trace;
#define WW_ROW(type, name, what) trace.name.push_back(records.windows.name[i]);
        WW_WINDOW_COLUMNS(WW_ROW)
#undef WW_ROW
        if (!records.has_shown) continue;
        ShownTrace& shown = result.flows[records.windows_of[i]].shown;
#define WW_ROW(type, name, what) shown.name.push_back(records.shown.name[i]);
        WW_SHOWN_COLUMNS(WW_ROW)
#undef WW_ROW
    }
    for (std::size_t i = 0; i < records.events_of.size(); i++)
        result.flows[records.events_of[i]].events.push_back(records.events[i]);
    result.messages = std::move(outcome.messages);
    result.forward = std::move(outcome.forward);
    result.backward = std::move(outcome.backward);
    by_channel(records.queues_of, result, [&](DirectionResult& side, auto first, auto last) {
#define WW_ROW(type, name, what) append(side.trace.name, records.queues.name, first, last);
        WW_QUEUE_COLUMNS(WW_ROW)
#undef WW_ROW
    });
    by_channel(records.states_of, result, [&](DirectionResult& side, auto first, auto last) {
#define WW_ROW(type, name, what) append(side.states.name, records.states.name, first, last);
        WW_STATE_COLUMNS(WW_ROW)
#undef WW_ROW
    });
    result.drops = std::move(records.drops);
    result.captured = std::move(records.captured);
    result.packets = outcome.packets;
    result.events = outcome.events;
    result.error = std::move(outcome.error);
    return result;
}

}  // namespace ww::sim
