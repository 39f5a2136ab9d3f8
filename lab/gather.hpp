// SPDX-License-Identifier: BSD-3-Clause
//
// Reduces a run's records, during the run, to what a picture of a given width can show. So the memory of a run depends
// on the picture and not on the run's length. Zooming in means running it again with another view.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "../engine/network.hpp"

namespace ww::lab {

using namespace ww::sim;

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A part of the run, divided into bins of equal width.
struct View {
    double from_s = 0, to_s = 1;
    std::uint32_t bins = 1;

    double width_s() const { return (to_s - from_s) / bins; }
    bool has(double time_s) const { return time_s >= from_s && time_s < to_s; }
    std::size_t bin(double time_s) const {
        return std::min<std::size_t>(bins - 1,
                                     static_cast<std::size_t>((time_s - from_s) / width_s()));
    }
};

// A step curve with four points per bin, which look like all of its points at this width: the bin's first value, its
// minimum and maximum in their order, and its last value.
class Steps {
  public:
    void reset(const View& view) {
        view_ = view;
        bins_.assign(view.bins, {});
        before_ = kNan;
    }

    void add(double time_s, double value) {
        if (time_s < view_.from_s) before_ = value;
        if (!view_.has(time_s)) return;
        Bin& bin = bins_[view_.bin(time_s)];
        if (!bin.used) {
            bin = {true, false, value, value, value};
            return;
        }
        if (!(value >= bin.least)) bin.least = value, bin.is_least_last = true;
        if (!(value <= bin.most)) bin.most = value, bin.is_least_last = false;
        bin.last = value;
    }

    std::vector<double> points() const {
        std::vector<double> all;
        all.reserve(4 * bins_.size());
        double value = before_;
        for (const Bin& bin : bins_) {
            all.push_back(value);
            if (bin.used) value = bin.last;
            all.push_back(!bin.used ? value : bin.is_least_last ? bin.most : bin.least);
            all.push_back(!bin.used ? value : bin.is_least_last ? bin.least : bin.most);
            all.push_back(value);
        }
        return all;
    }

  private:
    struct Bin {
        bool used = false, is_least_last = false;
        double least = kNan, most = kNan, last = kNan;
    };

    View view_;
    std::vector<Bin> bins_;
    double before_ = kNan;
};

// A sender's decision about its window, and the state before it.
struct Decision {
    std::uint32_t watch;
    double time_s;
    EventKind kind;
    std::int64_t segment;
    double cwnd_before, ssthresh_before, cwnd, ssthresh;
    double estimate_bps, rtt_s, srtt_s, rtt_min_s, in_flight, rto_s;
};
#define WW_DECISION_COLUMNS(X)                                   \
    X(watch, "number of the watch that it belongs to")           \
    X(time_s, "when")                                            \
    X(kind, "enum class EventKind")                              \
    X(segment, "the first unacknowledged one")                   \
    X(cwnd_before, "segments, before this ACK or timer")         \
    X(ssthresh_before, "segments; NaN: unlimited")               \
    X(cwnd, "segments, after it, with inflation")                \
    X(ssthresh, "segments; NaN: unlimited")                      \
    X(estimate_bps, "at this instant; NaN without an estimator") \
    X(rtt_s, "the last sample")                                  \
    X(srtt_s, "smoothed")                                        \
    X(rtt_min_s, "the smallest sample so far")                   \
    X(in_flight, "segments, before it")                          \
    X(rto_s, "the present retransmission timeout")

// Connections that belong together, from `first` up to, but excluding, `last`. Curves are those of the first; goodput is the sum.
struct Watch {
    std::uint32_t first, last;
    double payload_bytes;  // of a segment
    Steps cwnd, ssthresh, estimate, rtt;
    std::vector<Steps> quantities;    // that its control names
    std::vector<double> acked_bytes;  // by coarse bin
    std::vector<std::int64_t> una;    // by connection
    Decision state;                   // the last known values
};

class Gather : public Sink {
  public:
    static constexpr std::uint32_t kMostDecisions = 20'000, kMostDrops = 20'000;
    static constexpr std::uint32_t kCoarser = 8;  // goodput's bins are wider, to span a round trip

    void reset(const View& view, std::uint32_t channel, bool keeps_rows) {
        *this = Gather();
        view_ = view;
        coarse_ = {view.from_s, view.to_s, std::max(1u, view.bins / kCoarser)};
        channel_ = channel;
        keeps_rows_ = keeps_rows;
        waiting_s_.assign(view.bins, 0);
        longest_.assign(view.bins, 0);
    }

    void watch(std::uint32_t first, std::uint32_t last, double payload_bytes,
               std::uint32_t quantities) {
        Watch& watch = watches_.emplace_back();
        watch.first = first;
        watch.last = last;
        watch.payload_bytes = payload_bytes;
        for (Steps* steps : {&watch.cwnd, &watch.ssthresh, &watch.estimate, &watch.rtt})
            steps->reset(view_);
        watch.quantities.resize(quantities);
        for (Steps& steps : watch.quantities) steps.reset(view_);
        watch.acked_bytes.assign(coarse_.bins, 0);
        watch.una.assign(last - first, 0);
        watch.state = {static_cast<std::uint32_t>(watches_.size() - 1),
                       0,
                       EventKind::send,
                       0,
                       kNan,
                       kNan,
                       kNan,
                       kNan,
                       kNan,
                       kNan,
                       kNan,
                       kNan,
                       kNan,
                       kNan};
    }

    void take(Records records) override {
        take_senders(records);
        for (std::size_t i = 0; i < records.queues_of.size(); i++)
            if (records.queues_of[i] == channel_)
                take_wait(records.queues.arrival_s[i], records.queues.start_s[i]);
        for (const Drop& drop : records.drops)
            if (view_.has(drop.time_s) && drop.packet == PacketKind::data &&
                drops.size() < kMostDrops)
                drops.push_back(drop);
    }

    double reached_s() const { return reached_s_; }
    const std::vector<Watch>& watches() const { return watches_; }

    // Returns the mean number of waiting packets in each bin.
    std::vector<double> mean_queue() const {
        std::vector<double> mean = waiting_s_;
        for (double& bin : mean) bin /= view_.width_s();
        return mean;
    }
    const std::vector<double>& longest_queue() const { return longest_; }

    std::vector<Decision> decisions;  // within the view
    std::vector<Drop> drops;          // of data, within the view
    Records kept;                     // windows within the view, if requested

  private:
    Watch* watch_of(std::uint32_t connection) {
        for (Watch& watch : watches_)
            if (connection >= watch.first && connection < watch.last) return &watch;
        return nullptr;
    }

    // Merges windows and events by time; at the same instant the events come first.
    void take_senders(const Records& records) {
        const std::size_t windows = records.windows_of.size();
        std::size_t row = 0;
        for (std::size_t i = 0; i < records.events.size(); i++) {
            const Event& event = records.events[i];
            while (row < windows && records.windows.time_s[row] < event.time_s)
                take_window(records, row++);
            take_event(records, event, records.events_of[i], row);
            reached_s_ = event.time_s;
        }
        while (row < windows) take_window(records, row++);
    }

    void take_window(const Records& records, std::size_t row) {
        Watch* watch = watch_of(records.windows_of[row]);
        if (watch == nullptr || records.windows_of[row] != watch->first) return;
        const WindowTrace& all = records.windows;
        const double time_s = all.time_s[row];
        watch->cwnd.add(time_s, all.cwnd[row]);
        watch->ssthresh.add(time_s, all.ssthresh[row]);
        watch->estimate.add(time_s, all.estimate_bps[row]);
        watch->rtt.add(time_s, all.rtt_s[row]);
        if (!watch->quantities.empty()) take_shown(*watch, time_s, records.shown, row);
        set_state(watch->state, all, row);
        if (!keeps_rows_ || !view_.has(time_s)) return;
        kept.windows_of.push_back(records.windows_of[row]);
#define WW_ROW(type, name, what) kept.windows.name.push_back(all.name[row]);
        WW_WINDOW_COLUMNS(WW_ROW)
#undef WW_ROW
    }

    static void take_shown(Watch& watch, double time_s, const ShownTrace& shown, std::size_t row) {
        const std::vector<double>* const columns[] = {&shown.quantity_1, &shown.quantity_2,
                                                      &shown.quantity_3, &shown.quantity_4};
        for (std::size_t i = 0; i < watch.quantities.size(); i++)
            watch.quantities[i].add(time_s, (*columns[i])[row]);
    }

    static void set_state(Decision& state, const WindowTrace& all, std::size_t row) {
        state.cwnd_before = all.cwnd[row];
        state.ssthresh_before = all.ssthresh[row];
        state.in_flight = all.in_flight[row];
        set_knowledge(state, all, row);
    }

    static void set_knowledge(Decision& state, const WindowTrace& all, std::size_t row) {
        state.estimate_bps = all.estimate_bps[row];
        state.rtt_s = all.rtt_s[row];
        state.srtt_s = all.srtt_s[row];
        state.rtt_min_s = std::fmin(state.rtt_min_s, all.rtt_s[row]);
        state.rto_s = all.rto_s[row];
    }

    void take_event(const Records& records, const Event& event, std::uint32_t connection,
                    std::size_t row) {
        Watch* watch = watch_of(connection);
        if (watch == nullptr) return;
        if (event.kind == EventKind::ack) take_ack(*watch, event, connection);
        const bool decides = event.kind != EventKind::ack && event.kind != EventKind::dupack &&
                             event.kind != EventKind::send && event.kind != EventKind::retransmit;
        if (!decides || connection != watch->first || !view_.has(event.time_s) ||
            decisions.size() >= kMostDecisions)
            return;
        Decision decision = watch->state;
        // The row of the same instant has the sender's state, if this ACK changed something.
        for (; row < records.windows_of.size() && records.windows.time_s[row] <= event.time_s;
             row++)
            if (records.windows_of[row] == connection)
                set_knowledge(decision, records.windows, row);
        decision.time_s = event.time_s;
        decision.kind = event.kind;
        decision.segment = event.segment;
        decision.cwnd = event.cwnd;
        decision.ssthresh = event.ssthresh >= WW_SSTHRESH_INFINITE ? kNan : event.ssthresh;
        decisions.push_back(decision);
    }

    void take_ack(Watch& watch, const Event& event, std::uint32_t connection) {
        std::int64_t& una = watch.una[connection - watch.first];
        if (view_.has(event.time_s))
            watch.acked_bytes[coarse_.bin(event.time_s)] +=
                static_cast<double>(event.segment - una) * watch.payload_bytes;
        una = event.segment;
    }

    // A packet counts in every bin in which it waited; one that has not started waits to the end.
    void take_wait(double arrival_s, double started_s) {
        const double start_s =
            std::isnan(started_s) ? std::numeric_limits<double>::infinity() : started_s;
        while (!starts_.empty() && starts_.front() <= arrival_s) starts_.pop_front();
        starts_.push_back(start_s);
        if (view_.has(arrival_s)) {
            double& longest = longest_[view_.bin(arrival_s)];
            longest = std::max(longest, static_cast<double>(starts_.size()));
        }
        const double first_s = std::max(arrival_s, view_.from_s);
        const double last_s = std::min(start_s, view_.to_s);
        if (first_s >= last_s) return;
        const double width_s = view_.width_s();
        for (std::size_t bin = view_.bin(first_s); bin < view_.bins; bin++) {
            const double begin_s = view_.from_s + static_cast<double>(bin) * width_s;
            if (begin_s >= last_s) break;
            waiting_s_[bin] += std::min(last_s, begin_s + width_s) - std::max(first_s, begin_s);
        }
    }

    View view_, coarse_;
    std::uint32_t channel_ = 0;
    bool keeps_rows_ = false;
    std::vector<Watch> watches_;
    std::vector<double> waiting_s_, longest_;
    std::deque<double> starts_;
    double reached_s_ = 0;
};

}  // namespace ww::lab
