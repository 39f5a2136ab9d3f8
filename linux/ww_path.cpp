// SPDX-License-Identifier: GPL-2.0-only
//
// ww-path: reads a plan (path_plan.hpp) from standard input, runs its flows over its network in real time
// and prints what came of them. Standard input must stay open: when it ends before the run does, whoever
// started it is gone, and so is this program, with all that it made.
//
//   flow SOURCE NAME VALUE ...       a line a connection
//   link forward|backward NAME VALUE ...
//   emulator NAME VALUE ...          how exact it was
//   end CPU_SECONDS
//
// With `hold` it says at the beginning where the hosts are, for tools that are to look into them:
//   host NODE /proc/PID/fd/N
//
// Exit codes: 0 done, 1 failed, 2 no plan, 77 this machine lacks something, 130 its starter is gone.
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <thread>

#include "path_host.hpp"
#include "path_loop.hpp"
#include "path_model.hpp"
#include "path_plan.hpp"
#include "path_traffic.hpp"

namespace {

using namespace ww;
using namespace ww::path;

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

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

// The flow's counts go to its first connection: addresses tell flows apart, not their connections.
void add_counts(std::vector<sim::FlowResult>& results, const Plan& plan, const Model& model) {
    std::vector<char> counted(plan.network.flows.size(), false);
    for (sim::FlowResult& result : results) {
        if (counted[result.source]) continue;
        counted[result.source] = true;
        const Counts& counts = model.counts(result.source);
        result.queue_drops = counts.queue_drops;
        result.lost = counts.lost;
        result.ip_bytes_at_sink = counts.ip_bytes_at_sink;
        const sim::Flow& flow = plan.network.flows[result.source];
        if (flow.datagrams.on) result.delivered_bytes = counts.packets_at_sink * flow.mss;
    }
}

void print(const sim::FlowResult& r) {
    std::printf("flow %u delivered_bytes %lu ip_bytes_at_sink %lu sent %lu retransmitted %lu",
                r.source, r.delivered_bytes, r.ip_bytes_at_sink, r.sent, r.retransmitted);
    std::printf(" timeouts %lu fast_recoveries %lu ecn_reductions %lu queue_drops %lu lost %lu",
                r.timeouts, r.fast_recoveries, r.ecn_reductions, r.queue_drops, r.lost);
    std::printf(" mean_cwnd %.9g mean_srtt_s %.9g min_rtt_s %.9g start_s %.9g", r.mean_cwnd,
                r.mean_srtt_s, r.min_rtt_s, r.start_s);
    std::printf(" established_s %.9g completed_s %.9g\n", r.established_s, r.completed_s);
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

int run(const Plan& plan) {
    const sim::Topology topology(plan.network);
    if (!topology.error().empty()) throw PlanError(topology.error());
    const sim::Connections connections = sim::connections_of(plan.network, plan.seed);
    if (!connections.error.empty()) throw PlanError(connections.error);
    File trace;
    if (!plan.trace.empty()) {
        trace.reset(std::fopen(plan.trace.c_str(), "w"));
        if (!trace) throw PlanError("trace " + plan.trace + ": " + std::strerror(errno));
    }
    const std::vector<Host> hosts = make_hosts(plan);
    Model model(plan.network, topology, plan.seed);
    Traffic traffic(plan, connections, hosts, trace.get());
    for (const Host& host : hosts)
        if (plan.hold) std::printf("host %u /proc/%d/fd/%d\n", host.node(), ::getpid(), host.net());
    std::fflush(stdout);

    const Descriptor stop(::eventfd(0, EFD_CLOEXEC)), broke(::eventfd(0, EFD_CLOEXEC));
    LoopReport report;
    const Clock clock;
    std::thread loop([&] {
        report = run_loop(model, hosts, clock, stop.get());
        signal_eventfd(broke.get());  // if it ended by itself, so must the traffic
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
    if (ended.cancelled) return 130;
    const std::string& error = report.error.empty() ? ended.error : report.error;
    if (!error.empty()) throw std::runtime_error(error);

    std::vector<sim::FlowResult> results = traffic.results();
    add_counts(results, plan, model);
    for (const sim::FlowResult& result : results) print(result);
    print(model.finish(plan.network.duration));
    std::uint64_t overruns = 0;
    for (const Host& host : hosts) overruns += host.overruns();
    std::printf(
        "emulator late_p50_s %.9g late_p99_s %.9g late_worst_s %.9g overruns %lu refused %lu\n",
        seconds(report.lateness.quantile(0.5)), seconds(report.lateness.quantile(0.99)),
        seconds(report.lateness.worst()), overruns, report.refused);
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
        // Namespaces are taken down by the kernel, and nobody waits for it.
        return code;
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
