// SPDX-License-Identifier: BSD-3-Clause
//
// The engine for a browser: a WebAssembly module that takes a scenario value by value (given.hpp), makes its network
// (plan/scenario.hpp), runs it, and returns the addresses of its result columns. All columns are doubles, in the
// order of their declarations.
//
// There are no exceptions: throwing one stores its message for `error` and ends the module.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "../engine/base/seconds.hpp"
#include "../metrics/observers.hpp"
#include "../metrics/rows.hpp"
#include "../metrics/statistics.hpp"
#include "../plan/completion.hpp"
#include "../plan/fair_shares.hpp"
#include "../plan/quantities.hpp"
#include "../plan/routes.hpp"
#include "../plan/scenario.hpp"
#include "gather.hpp"
#include "given.hpp"
#include "own_control.hpp"

#define WW_EXPORT(name) extern "C" __attribute__((export_name(#name)))

// Returns how many events may pass until the next call; 0 ends the run.
extern "C" __attribute__((import_module("page"), import_name("ask"))) std::uint32_t page_ask(
    double reached_s);

namespace {

using namespace ww::sim;
using ww::lab::Decision;
using ww::lab::Gather;

struct Lab {
    std::string text;  // of a key or a value that follows
    ww::lab::Given given;
    ww::plan::Profile profile = ww::plan::Profile({});
    ww::wire::Plan plan;
    ww::lab::OwnControls own_controls;
    Gather gather;
    Outcome outcome;
    std::vector<ww::metrics::Row> rows;
    std::vector<std::size_t> firsts;  // number of each flow's first connection, and of all
    std::vector<double> numbers;      // that the page hands over
    std::vector<double> column;       // the last one returned
};

Lab lab;
char error[400];

std::uint32_t ask(void* /*caller*/) { return page_ask(lab.gather.reached_s()); }

void explain(const char* what) { std::strncpy(error, what, sizeof error - 1); }

template <class Row, class Field>
void show(const std::vector<Row>& rows, Field Row::*field) {
    lab.column.clear();
    lab.column.reserve(rows.size());
    for (const Row& row : rows) lab.column.push_back(static_cast<double>(row.*field));
}

template <class Number>
void show(const std::vector<Number>& column) {
    lab.column.assign(column.begin(), column.end());
}

// Each function below shows the column with the given number.
#define WW_NTH(...) \
    if (column-- == 0) return show(__VA_ARGS__);

void show_rows(std::uint32_t column) { show(lab.rows, ww::metrics::columns()[column].value); }

void show_decisions(std::uint32_t column) {
#define WW_ROW(name, what) WW_NTH(lab.gather.decisions, &Decision::name)
    WW_DECISION_COLUMNS(WW_ROW)
#undef WW_ROW
}

void show_drops(std::uint32_t column) {
#define WW_ROW(type, name, what) WW_NTH(lab.gather.drops, &Drop::name)
    WW_DROP_COLUMNS(WW_ROW)
#undef WW_ROW
}

void show_windows(std::uint32_t column){WW_NTH(lab.gather.kept.windows_of)
#define WW_ROW(type, name, what) WW_NTH(lab.gather.kept.windows.name)
                                            WW_WINDOW_COLUMNS(WW_ROW)
#undef WW_ROW
}

ww::metrics::Messages messages() {
    const std::vector<Message>& all = lab.outcome.messages;
    ww::metrics::Messages columns;
    if (all.empty()) return columns;
    columns.count = all.size();
#define WW_ROW(type, name, ...) columns.name = {&all.data()->name, sizeof(Message)};
    WW_MESSAGE_COLUMNS(WW_ROW)
#undef WW_ROW
    return columns;
}

ww::metrics::Connections connections() {
    const std::vector<FlowCounts>& all = lab.outcome.connections;
    const auto field = [&](auto FlowCounts::*member) -> ww::metrics::Numbers {
        return {&(all.data()->*member), sizeof(FlowCounts)};
    };
    ww::metrics::Connections columns;
    if (all.empty()) return columns;
    columns.count = all.size();
    columns.source = field(&FlowCounts::source);
#define WW_ROW(type, name, ...) columns.name = field(&FlowCounts::name);
    WW_FLOW_COLUMNS(WW_ROW)
#undef WW_ROW
    columns.messages = messages();
    return columns;
}

std::vector<ww::metrics::Row> rows() {
    const Network& network = lab.plan.network;
    std::vector<ww::metrics::Planned> flows;
    for (const Flow& flow : network.flows)
        flows.push_back({!flow.datagrams.on, flow.arrivals_mean > 0, seconds(flow.start),
                         seconds(flow.stop), flow.application.kind >= ApplicationKind::request});
    std::vector<ww::metrics::Used> directions;
    for (const auto* side : {&lab.outcome.forward, &lab.outcome.backward})
        for (const DirectionResult& direction : *side)
            directions.push_back({direction.utilisation, direction.waited_s});
    const auto fair = [&](const auto& spans) { return ww::plan::fair_shares_bps(network, spans); };
    return ww::metrics::rows(flows, connections(), directions, seconds(network.duration), fair);
}

// What the page has to know about flows and links, in numbers.
#define WW_FLOW_NUMBERS(X)             \
    X(arrives, flow.arrivals_mean > 0) \
    X(payload_bytes, flow.mss())
#define WW_LINK_NUMBERS(X) \
    X(queue_packets, link.forward.queue_packets == kUnlimited ? 0 : link.forward.queue_packets)

template <class Rows, class Number>
void show_each(const Rows& rows, Number number) {
    for (const auto& row : rows) lab.column.push_back(static_cast<double>(number(row)));
}

void show_flows(std::uint32_t column) {
#define WW_ROW(name, number) \
    if (column-- == 0)       \
        return show_each(lab.plan.network.flows, [](const Flow& flow) { return number; });
    WW_FLOW_NUMBERS(WW_ROW)
#undef WW_ROW
}

void show_links(std::uint32_t column) {
#define WW_ROW(name, number) \
    if (column-- == 0)       \
        return show_each(lab.plan.network.links, [](const Link& link) { return number; });
    WW_LINK_NUMBERS(WW_ROW)
#undef WW_ROW
}

void show_curves(const ww::lab::Watch& watch, std::uint32_t column) {
    WW_NTH(watch.cwnd.points())
    WW_NTH(watch.ssthresh.points())
    WW_NTH(watch.estimate.points())
    WW_NTH(watch.rtt.points())
    WW_NTH(watch.acked_bytes)
    show(watch.quantities.at(column).points());
}

void show_queue(std::uint32_t column) {
    WW_NTH(lab.gather.mean_queue())
    WW_NTH(lab.gather.longest_queue())
}

}  // namespace

// Allocates a text, which is then a key or a value.
WW_EXPORT(text) char* lab_text(std::uint32_t bytes) {
    lab.text.assign(bytes, ' ');
    return lab.text.data();
}

// Hand over a scenario: see Given. `text` comes before a key and a value of text.
WW_EXPORT(give_key) void lab_give_key() { lab.given.key(lab.text); }
WW_EXPORT(give_text) void lab_give_text() { lab.given.add({lab.text}); }
WW_EXPORT(give_number) void lab_give_number(double number) { lab.given.add_number(number); }
WW_EXPORT(give_flag) void lab_give_flag(bool flag) { lab.given.add({flag}); }
WW_EXPORT(open_table) void lab_open_table() { lab.given.open({ww::plan::Table()}); }
WW_EXPORT(open_list) void lab_open_list() { lab.given.open({ww::plan::List()}); }
WW_EXPORT(close) void lab_close() { lab.given.close(); }

// Makes the network of a scenario. The profile's defaults are handed over before it, and a call of `profile` after them.
WW_EXPORT(profile) void lab_profile() { lab.profile = ww::plan::Profile(lab.given.take()); }
WW_EXPORT(read) void lab_read() {
    ww::plan::Table scenario = lab.given.take();
    lab.profile.complete(scenario);
    lab.plan = ww::plan::read_scenario(scenario);
}

// Adds the control whose facts were handed over.
WW_EXPORT(add_control) void lab_add_control() { lab.own_controls.add(lab.given.take()); }

// The frame of a call of a control (own_control.hpp).
WW_EXPORT(frame) const ww_frame* lab_frame() { return &ww::lab::frame; }
WW_EXPORT(frame_bytes) std::uint32_t lab_frame_bytes() { return sizeof(ww_frame); }

// Returns a quantity in base units: the text of a rate (0), a time (1) or a fraction (2).
WW_EXPORT(quantity) double lab_quantity(std::uint32_t kind) {
    const ww::plan::Table table = {{"", {lab.text}}};
    const ww::plan::Section section(table, "");
    const ww::plan::Item item = section[""];
    if (kind == 2) return ww::plan::fraction(item);
    return static_cast<double>(kind == 0 ? ww::plan::rate_bps(item, 0, kFastest)
                                         : ww::plan::time_ps(item, 0, kLongest));
}

// Returns the number of a quantity of any kind; `text_of` then has the kind.
WW_EXPORT(measure) double lab_measure() {
    const ww::plan::Measure measure = ww::plan::measure(lab.text);
    lab.text = measure.kind;
    return measure.number;
}

// Writes a rate (0) or a time (1) in base units as text.
WW_EXPORT(written) const char* lab_written(std::uint32_t kind, double number) {
    const auto value = static_cast<std::int64_t>(number);
    lab.text = kind == 0 ? ww::plan::written_rate(value) : ww::plan::written_time(value);
    return lab.text.c_str();
}

// Allocates numbers, for `spread` and `compare`.
WW_EXPORT(numbers) double* lab_numbers(std::uint32_t count) {
    lab.numbers.assign(count, 0);
    return lab.numbers.data();
}

// Shows the mean of the numbers, half its interval and how many are known.
WW_EXPORT(spread) void lab_spread() {
    const ww::metrics::Spread spread = ww::metrics::spread(lab.numbers);
    lab.column = {spread.mean, ww::metrics::half_width(spread.deviation, spread.runs),
                  static_cast<double>(spread.runs)};
}

// Compares the first half of the numbers with the second: shows the ratio of their means, half its interval and how
// many pairs are known.
WW_EXPORT(compare) void lab_compare() {
    const std::size_t half = lab.numbers.size() / 2;
    std::vector<std::pair<double, double>> pairs;
    for (std::size_t i = 0; i < half; i++)
        pairs.emplace_back(lab.numbers[i], lab.numbers[half + i]);
    const ww::metrics::Comparison gain = ww::metrics::compare(pairs);
    const std::size_t runs = gain.difference.runs;
    lab.column = {gain.ratio, ww::metrics::half_width(gain.residual, runs) / std::abs(gain.second),
                  static_cast<double>(runs)};
}

WW_EXPORT(text_of) const char* lab_text_of() { return lab.text.c_str(); }
WW_EXPORT(duration_s) double lab_duration_s() { return seconds(lab.plan.network.duration); }

// Returns the channel by which data crosses a link, of TCP before datagrams: 2 link, + 1 backward.
WW_EXPORT(crossing) std::uint32_t lab_crossing(std::uint32_t link) {
    std::vector<ww::plan::Ends> links, flows;
    for (const Link& link : lab.plan.network.links) links.emplace_back(link.a, link.b);
    for (const bool datagrams : {false, true})
        for (const Flow& flow : lab.plan.network.flows)
            if (flow.datagrams.on == datagrams) flows.emplace_back(flow.from, flow.to);
    for (const ww::plan::Route& route : ww::plan::routes(links, flows))
        for (const std::uint32_t channel : route)
            if (channel / 2 == link) return channel;
    return 2 * link;
}

// Begins a view: of this part of the run, with the queue of this channel (2 link, + 1 backward).
WW_EXPORT(begin)
void lab_begin(double from_s, double to_s, std::uint32_t bins, std::uint32_t channel,
               bool keeps_rows) {
    lab.gather.reset({from_s, to_s, bins}, channel, keeps_rows);
}

// Watches the connections from first up to, but excluding, last.
WW_EXPORT(watch)
void lab_watch(std::uint32_t first, std::uint32_t last, double payload_bytes,
               std::uint32_t quantities) {
    lab.gather.watch(first, last, payload_bytes, quantities);
}

// Runs the plan, with a trace or only with its counts. Returns 0: done; 1: stopped; 2: rejected by the engine.
WW_EXPORT(run) std::uint32_t lab_run(double seed, bool traced) {
    error[0] = '\0';
    lab.outcome = {};
    TraceOptions& trace = lab.plan.network.trace;
    trace.windows = trace.events = trace.queues = traced;
    lab.outcome =
        run(lab.plan.network, static_cast<std::uint64_t>(seed), &lab.gather, Stop(ask, nullptr));
    explain(lab.outcome.error.c_str());
    lab.rows = rows();
    lab.firsts = ww::metrics::spans(connections(), lab.rows.size());
    return lab.outcome.stopped ? 1 : error[0] != '\0' ? 2 : 0;
}

// Returns an observed column of the first flow, by the name in `text`; the run has kept its rows. The link is that
// whose rate UDP takes from.
WW_EXPORT(observe) double lab_observe(std::uint32_t link) {
    const Network& network = lab.plan.network;
    const Records& kept = lab.gather.kept;
    std::vector<double> time_s, cwnd, ssthresh, estimate_bps;
    for (std::size_t i = 0; i < kept.windows_of.size(); i++) {
        if (kept.windows_of[i] != 0) continue;
        time_s.push_back(kept.windows.time_s[i]);
        cwnd.push_back(kept.windows.cwnd[i]);
        ssthresh.push_back(kept.windows.ssthresh[i]);
        estimate_bps.push_back(kept.windows.estimate_bps[i]);
    }
    ww::metrics::Surroundings run;
    run.duration_s = seconds(network.duration);
    run.min_rtt_s = lab.rows.at(0).min_rtt_s;
    run.packet_bytes = network.flows[0].packet_bytes;
    run.payload_bytes = static_cast<double>(network.flows[0].mss());
    run.slowest_bps = ww::plan::mean_rate_bps(network.links[0].forward);
    for (const Link& link : network.links)
        run.slowest_bps = std::min(run.slowest_bps, ww::plan::mean_rate_bps(link.forward));
    run.link_bps = ww::plan::mean_rate_bps(network.links.at(link).forward);
    run.overhead_bytes = static_cast<double>(network.links[link].overhead_bytes);
    for (const Flow& flow : network.flows)
        if (flow.datagrams.on && flow.datagrams.off_mean > 0) {
            run.udp_bps = static_cast<double>(flow.datagrams.rate_bps);
            run.udp_start_s = seconds(flow.start);
            run.udp_on_s = seconds(flow.datagrams.on_mean);
            run.udp_off_s = seconds(flow.datagrams.off_mean);
        }
    return ww::metrics::observe(
        lab.text, {time_s.size(), time_s.data(), cwnd.data(), ssthresh.data(), estimate_bps.data()},
        run);
}

WW_EXPORT(error) const char* lab_error() { return error; }
WW_EXPORT(packets) double lab_packets() { return static_cast<double>(lab.outcome.packets); }

// Selects a column: returns its length; `column` then returns its address. Tables: 0 rows, 1 queue, 2 decisions,
// 3 drops, 4 windows, 5 flows and 6 links of the plan, 7... of each watch.
WW_EXPORT(show) std::uint32_t lab_show(std::uint32_t table, std::uint32_t column) {
    constexpr void (*kShow[])(std::uint32_t) = {
        show_rows, show_queue, show_decisions, show_drops, show_windows, show_flows, show_links};
    lab.column.clear();
    if (table < std::size(kShow))
        kShow[table](column);
    else
        show_curves(lab.gather.watches().at(table - std::size(kShow)), column);
    return static_cast<std::uint32_t>(lab.column.size());
}

// Returns the number of a flow's first connection in the last run; for the number of flows, that of connections.
WW_EXPORT(first_connection) std::uint32_t lab_first_connection(std::uint32_t flow) {
    return static_cast<std::uint32_t>(lab.firsts.at(flow));
}

// Returns the names of the columns of a table.
WW_EXPORT(names) const char* lab_names(std::uint32_t table) {
#define WW_ROW(name, ...) #name " "
#define WW_TRACE_ROW(type, name, what) #name " "
    switch (table) {
    case 0:
        lab.text.clear();
        for (const auto& row : ww::metrics::columns()) lab.text += std::string(row.name) + ' ';
        return lab.text.c_str();
    case 1:
        return "mean longest";
    case 2:
        return WW_DECISION_COLUMNS(WW_ROW);
    case 3:
        return WW_DROP_COLUMNS(WW_TRACE_ROW);
    case 4:
        return "connection " WW_WINDOW_COLUMNS(WW_TRACE_ROW);
    case 5:
        return WW_FLOW_NUMBERS(WW_ROW);
    default:
        return WW_LINK_NUMBERS(WW_ROW);
    }
#undef WW_TRACE_ROW
#undef WW_ROW
}

WW_EXPORT(column) const double* lab_column() { return lab.column.data(); }

// WebAssembly's C++ library lacks these functions.
extern "C" void* __cxa_allocate_exception(std::size_t bytes) { return ::operator new(bytes); }

extern "C" [[noreturn]] void __cxa_throw(void* thrown, void* /*type*/,
                                         void (* /*destroy*/)(void*)) {
    explain(static_cast<std::exception*>(thrown)->what());
    __builtin_trap();
}
