// SPDX-License-Identifier: GPL-2.0-only
//
// ww-path reads a plan (wire/plan.hpp) from standard input, runs its flows over its network in real time and
// prints the results. Standard input must stay open: if it ends before the run, the process that started
// ww-path has ended, and ww-path cleans up and ends, too. It prints the lines of every engine
// (wire/report.hpp) and some of its own:
//
//   host NODE /proc/PID/fd/N  first, with `hold`: the hosts' namespaces, for tools that enter them
//   port N                    after each connection: its sender's port; 0: it never started, or it sends datagrams
//   emulator NAME VALUE ...   before the end: the emulation's accuracy
//
// `ww-path FD [--meter] COMMAND [ARGUMENT...]` reads the plan from an open file and runs no flows. The path carries
// the packets of a command (shell.hpp), which runs at the first flow's source. It exits with the command's code.
//
// Exit codes: 0 done, 1 failed, 2 invalid plan, 77 this machine lacks something, 130 the parent process has ended.
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <thread>

#include "../../engine/base/seconds.hpp"
#include "host.hpp"
#include "loop.hpp"
#include "model.hpp"
#include "plan.hpp"
#include "queues.hpp"
#include "results.hpp"
#include "shell.hpp"
#include "traffic.hpp"

namespace {

using namespace ww;
using namespace ww::path;

void raise_limits() {
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
}

void signal_eventfd(int fd) {
    const std::uint64_t one = 1;
    if (::write(fd, &one, sizeof one) < 0) std::perror("ww-path: eventfd");
}

// Runs the traffic in this thread and the path in another until one of them ends.
Ended run_both(Traffic& traffic, Model& model, const std::vector<Host>& hosts, const Queues& queues,
               LoopReport& report) {
    const Descriptor stop(::eventfd(0, EFD_CLOEXEC)), broke(::eventfd(0, EFD_CLOEXEC));
    const Clock clock;
    std::thread loop([&] {
        report = run_loop(model, hosts, clock, stop.get(), {}, queues);
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

int run(const Plan& plan) {
    const sim::Topology topology(plan.network);
    if (!topology.error().empty()) throw PlanError(topology.error());
    const sim::Connections connections = sim::connections_of(plan.network, plan.seed);
    if (!connections.error.empty()) throw PlanError(connections.error);
    wire::Trace trace(plan.trace);
    const std::vector<Host> hosts = make_hosts(plan);
    const Queues queues(plan);
    const auto enqueue = [&](auto channel, auto packet) { return queues.enqueue(channel, packet); };
    Model model(plan.network, topology, plan.seed, Packets::of_flows, enqueue);
    Traffic traffic(plan, connections, hosts, trace);
    for (const Host& host : hosts)
        if (plan.hold) std::printf("host %u /proc/%d/fd/%d\n", host.node(), ::getpid(), host.net());
    std::fflush(stdout);

    LoopReport report;
    const Ended ended = run_both(traffic, model, hosts, queues, report);
    if (ended.cancelled) return 130;
    const std::string& error = report.error.empty() ? ended.error : report.error;
    if (!error.empty()) throw std::runtime_error(error);
    print_results(stdout, plan, connections, traffic, model, trace);
    print_accuracy(stdout, report, hosts, queues);
    wire::print_end(stdout, cpu_seconds());
    return 0;
}

int run_command(char** words) {
    const char* number = *words++;
    std::ifstream file(std::string("/proc/self/fd/") + number);
    const Plan plan = read_plan(file);
    ::close(std::atoi(number));  // the command must not inherit it
    file.close();
    const bool has_meter = *words != nullptr && std::strcmp(*words, "--meter") == 0;
    if (has_meter) words++;
    if (plan.network.flows.empty() || *words == nullptr) throw PlanError("no flow, or no command");
    for (const sim::Link& link : plan.network.links)
        if (waits_in_kernel(link.forward) || waits_in_kernel(link.backward))
            throw PlanError("a shell has no queue of the kernel");
    return run_shell(plan, words, has_meter);
}

// Reports an error under the name of the program that the user started.
int fail(int code, const std::exception& error, int count) {
    std::fprintf(stderr, "%s: %s\n", count > 1 ? "westwood: shell" : "ww-path", error.what());
    return code;
}

}  // namespace

int main(int count, char** words) {
    std::ios::sync_with_stdio(false);
    try {
        if (count > 1) return run_command(words + 1);
        std::signal(SIGPIPE, SIG_IGN);
        raise_limits();
        const int code = run(read_plan(std::cin));
        std::fflush(stdout);
        return code;  // the kernel removes the namespaces; there is no need to wait for it
    } catch (const PlanError& error) {
        return fail(2, error, count);
    } catch (const Unavailable& error) {
        return fail(77, error, count);
    } catch (const std::exception& error) {
        return fail(1, error, count);
    }
}
