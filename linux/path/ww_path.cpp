// SPDX-License-Identifier: GPL-2.0-only
//
// ww-path reads a plan (plan.hpp) from standard input, runs its flows over its network in real time and
// prints what came of them. Standard input must stay open: when it ends before the run does, whoever
// started ww-path is gone, and it ends, too, with all that it made.
//
//   flow SOURCE NAME VALUE ...            for each connection
//   link forward|backward NAME VALUE ...  for each direction of each link
//   emulator NAME VALUE ...               says how exact the emulation was
//   end CPU_SECONDS
//
// With `trace` it writes windows.csv, queues.csv and drops.csv into the folder. With `hold` it first says
// where the hosts are, for tools that are to look into them:
//
//   host NODE /proc/PID/fd/N
//
// Exit codes: 0 done, 1 failed, 2 no plan, 77 this machine lacks something, 130 its starter is gone.
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <thread>

#include "host.hpp"
#include "loop.hpp"
#include "model.hpp"
#include "plan.hpp"
#include "traffic.hpp"

namespace {

using namespace ww;
using namespace ww::path;

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// Opens a file of the trace, if the plan asks for one.
File open_trace(const Plan& plan, const char* name) {
    if (plan.trace.empty()) return {};
    const std::string path = plan.trace + "/" + name;
    File file(std::fopen(path.c_str(), "w"));
    if (!file) throw PlanError("trace " + path + ": " + std::strerror(errno));
    return file;
}

void raise_limits() {
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
}

double seconds(sim::Time t) { return static_cast<double>(t) / static_cast<double>(sim::kSecond); }

double cpu_seconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto both = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return both(used.ru_utime) + both(used.ru_stime);
}

// Finds the first connection of each flow: addresses tell flows apart, but not their connections.
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
        result.ip_bytes_at_sink = counts.ip_bytes_at_sink;
        const sim::Flow& f = plan.network.flows[flow];
        if (f.datagrams.on) result.delivered_bytes = counts.packets_at_sink * f.mss;
    }
}

void write_queues(std::FILE* file, const std::vector<sim::DirectionResult>& pipes) {
    std::fputs("pipe,arrival_s,start_s,bytes\n", file);
    for (std::size_t pipe = 0; pipe < pipes.size(); pipe++)
        for (std::size_t i = 0; i < pipes[pipe].arrival_s.size(); i++)
            std::fprintf(file, "%zu,%.9f,%.9f,%u\n", pipe, pipes[pipe].arrival_s[i],
                         pipes[pipe].start_s[i], pipes[pipe].waiting_bytes[i]);
}

void write_drops(std::FILE* file, const Model& model, const std::vector<std::uint32_t>& first) {
    std::fputs("time_s,pipe,flow,kind,ack\n", file);
    for (const sim::Drop& drop : model.drops())
        std::fprintf(file, "%.9f,%u,%u,%u,%u\n", drop.time_s, drop.pipe, first[drop.flow],
                     static_cast<unsigned>(drop.kind), static_cast<unsigned>(drop.ack));
}

void print(const sim::FlowResult& r, std::uint16_t port) {
    std::printf("flow %u delivered_bytes %lu ip_bytes_at_sink %lu sent %lu retransmitted %lu",
                r.source, r.delivered_bytes, r.ip_bytes_at_sink, r.sent, r.retransmitted);
    std::printf(" timeouts %lu fast_recoveries %lu ecn_reductions %lu queue_drops %lu lost %lu",
                r.timeouts, r.fast_recoveries, r.ecn_reductions, r.queue_drops, r.lost);
    std::printf(" mean_cwnd %.9g mean_srtt_s %.9g min_rtt_s %.9g start_s %.9g", r.mean_cwnd,
                r.mean_srtt_s, r.min_rtt_s, r.start_s);
    std::printf(" established_s %.9g completed_s %.9g port %u\n", r.established_s, r.completed_s,
                port);
}

void print(const std::vector<sim::DirectionResult>& pipes) {
    for (std::size_t i = 0; i < pipes.size(); i++) {
        const sim::DirectionResult& r = pipes[i];
        std::printf(
            "link %s packets %lu bytes %lu queue_drops %lu early_drops %lu marked %lu lost %lu",
            i % 2 == 0 ? "forward" : "backward", r.packets, r.bytes, r.queue_drops, r.early_drops,
            r.marked, r.lost);
        std::printf(" waited_s %.9g longest_wait_s %.9g utilisation %.9g\n", r.waited_s,
                    r.longest_wait_s, r.utilisation);
    }
}

void signal_eventfd(int fd) {
    const std::uint64_t one = 1;
    if (::write(fd, &one, sizeof one) < 0) std::perror("ww-path: eventfd");
}

// Runs the traffic in this thread and the path in another until one of them ends.
Ended run_both(Traffic& traffic, Model& model, const std::vector<Host>& hosts, LoopReport& report) {
    const Descriptor stop(::eventfd(0, EFD_CLOEXEC)), broke(::eventfd(0, EFD_CLOEXEC));
    const Clock clock;
    std::thread loop([&] {
        report = run_loop(model, hosts, clock, stop.get());
        signal_eventfd(broke.get());
    });
    Ended ended;
    try {
        ended = traffic.run(clock, broke.get());
    } catch (...) {
        signal_eventfd(stop.get());
        loop.join();
        throw;
    }
    signal_eventfd(stop.get());
    loop.join();
    return ended;
}

// The files of the trace; each is empty if the plan asks for none.
struct TraceFiles {
    explicit TraceFiles(const Plan& plan)
        : windows(open_trace(plan, "windows.csv")),
          queues(open_trace(plan, "queues.csv")),
          drops(open_trace(plan, "drops.csv")) {}
    File windows, queues, drops;
};

void print(const LoopReport& report, const std::vector<Host>& hosts) {
    std::uint64_t overruns = 0;
    for (const Host& host : hosts) overruns += host.overruns();
    std::printf(
        "emulator late_p50_s %.9g late_p99_s %.9g late_worst_s %.9g overruns %lu refused %lu\n",
        seconds(report.lateness.quantile(0.5)), seconds(report.lateness.quantile(0.99)),
        seconds(report.lateness.worst()), overruns, report.refused);
}

void print_results(const Plan& plan, const sim::Connections& connections, const Traffic& traffic,
                   Model& model, const TraceFiles& files) {
    const std::vector<std::uint32_t> first = first_connections(plan, connections);
    std::vector<sim::FlowResult> results = traffic.results();
    add_counts(results, first, plan, model);
    const std::vector<std::uint16_t> ports = traffic.ports();
    for (std::size_t i = 0; i < results.size(); i++) print(results[i], ports[i]);
    const std::vector<sim::DirectionResult> pipes = model.finish(plan.network.duration);
    print(pipes);
    if (files.queues) write_queues(files.queues.get(), pipes);
    if (files.drops) write_drops(files.drops.get(), model, first);
}

int run(const Plan& plan) {
    const sim::Topology topology(plan.network);
    if (!topology.error().empty()) throw PlanError(topology.error());
    const sim::Connections connections = sim::connections_of(plan.network, plan.seed);
    if (!connections.error.empty()) throw PlanError(connections.error);
    const TraceFiles files(plan);
    const std::vector<Host> hosts = make_hosts(plan);
    Model model(plan.network, topology, plan.seed);
    Traffic traffic(plan, connections, hosts, files.windows.get());
    for (const Host& host : hosts)
        if (plan.hold) std::printf("host %u /proc/%d/fd/%d\n", host.node(), ::getpid(), host.net());
    std::fflush(stdout);

    LoopReport report;
    const Ended ended = run_both(traffic, model, hosts, report);
    if (ended.cancelled) return 130;
    const std::string& error = report.error.empty() ? ended.error : report.error;
    if (!error.empty()) throw std::runtime_error(error);
    print_results(plan, connections, traffic, model, files);
    print(report, hosts);
    std::printf("end %.6f\n", cpu_seconds());
    return 0;
}

}  // namespace

int main() {
    std::signal(SIGPIPE, SIG_IGN);
    std::ios::sync_with_stdio(false);
    raise_limits();
    try {
        const int code = run(read_plan(std::cin));
        std::fflush(stdout);
        return code;  // the kernel takes the namespaces down, and nobody waits for it
    } catch (const PlanError& error) {
        std::fprintf(stderr, "ww-path: %s\n", error.what());
        return 2;
    } catch (const Unavailable& error) {
        std::fprintf(stderr, "ww-path: %s\n", error.what());
        return 77;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "ww-path: %s\n", error.what());
        return 1;
    }
}
