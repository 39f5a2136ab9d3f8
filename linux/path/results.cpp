// SPDX-License-Identifier: GPL-2.0-only
#include "results.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "../../engine/base/seconds.hpp"

namespace ww::path {
namespace {

// Finds the first connection of each flow: an address identifies a flow, but not its connections.
std::vector<std::uint32_t> first_connections(const Plan& plan, const sim::Connections& all) {
    std::vector<std::uint32_t> first(plan.network.flows.size(), UINT32_MAX);
    for (std::uint32_t i = 0; i < all.source.size(); i++)
        first[all.source[i]] = std::min(first[all.source[i]], i);
    return first;
}

// Adds each flow's counts to the result of its first connection.
void add_counts(std::vector<sim::FlowResult>& results, const std::vector<std::uint32_t>& first,
                const Plan& plan, const Model& model) {
    for (std::size_t flow = 0; flow < first.size(); flow++) {
        if (first[flow] == UINT32_MAX) continue;
        sim::FlowResult& result = results[first[flow]];
        const Counts& counts = model.counts(flow);
        result.queue_drops = counts.queue_drops;
        result.lost = counts.lost;
        result.in_flight = counts.in_flight;
        if (counts.last_arrival >= 0) result.last_arrival_s = sim::seconds(counts.last_arrival);
        result.ip_bytes_at_sink = counts.ip_bytes_at_sink;
        const sim::Flow& f = plan.network.flows[flow];
        if (f.datagrams.on) result.delivered_bytes = counts.packets_at_sink * f.mss();
    }
}

void write_queues(wire::Trace& trace, const std::vector<sim::DirectionResult>& channels) {
    for (std::uint32_t channel = 0; channel < channels.size(); channel++)
        trace.write_queues(channel, channels[channel].trace);
}

// Converts drops from the model's flow numbers to the trace's connection numbers.
void write_drops(wire::Trace& trace, const Model& model, const std::vector<std::uint32_t>& first) {
    for (sim::Drop drop : model.drops()) {
        drop.flow = first[drop.flow];
        trace.write_drop(drop);
    }
}

}  // namespace

void print_results(std::FILE* out, const Plan& plan, const sim::Connections& connections,
                   const Traffic& traffic, Model& model, wire::Trace& trace) {
    const std::vector<std::uint32_t> first = first_connections(plan, connections);
    const std::vector<sim::DirectionResult> channels = model.finish();
    std::vector<sim::FlowResult> results = traffic.results();
    add_counts(results, first, plan, model);
    const std::vector<std::uint16_t> ports = traffic.ports();
    for (std::size_t i = 0; i < results.size(); i++) {
        wire::print(out, results[i]);
        std::fprintf(out, "port %u\n", ports[i]);
    }
    for (std::size_t i = 0; i < channels.size(); i++) wire::print(out, channels[i], i % 2 == 0);
    write_queues(trace, channels);
    write_drops(trace, model, first);
}

void print_accuracy(std::FILE* out, const LoopReport& report, const std::vector<Host>& hosts,
                    const Queues& queues) {
    std::uint64_t overruns = 0;
    for (const Host& host : hosts) overruns += host.overruns();
    for (const Queues::Queue& queue : queues.all()) overruns += queue.device.overruns();
    std::fprintf(
        out,
        "emulator late_p50_s %.9g late_p99_s %.9g late_worst_s %.9g overruns %lu refused %lu\n",
        sim::seconds(report.lateness.quantile(0.5)), sim::seconds(report.lateness.quantile(0.99)),
        sim::seconds(report.lateness.worst()), overruns, report.refused);
}

double cpu_seconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto both = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return both(used.ru_utime) + both(used.ru_stime);
}

}  // namespace ww::path
