// SPDX-License-Identifier: BSD-3-Clause
//
// ww-quic reads a plan (wire/plan.hpp) from standard input and simulates it. Flows with a statement `stack` are
// connections of that QUIC stack, the others are the simulator's. It prints the lines of every engine
// (wire/report.hpp). With --name it prints ww-quic instead, so that its callers know it,
// and a line for each fork of a stack that it was built with: name, package, version and controls.
//
// Exit codes: 0 done, 1 failed, 2 invalid plan.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <vector>

#include "../../engine/validate.hpp"
#include "connection.hpp"

namespace {

using namespace ww;

constexpr unsigned kStalledSeconds = 30;

// A stack that never returns from a call would hang the run.
volatile std::sig_atomic_t seen_progress = 0;
quic::Run* watched = nullptr;

void on_alarm(int) {
    const auto progress = static_cast<std::sig_atomic_t>(watched->progress & 0x7fffffff);
    if (progress == seen_progress) {
        static constexpr char kMessage[] = "ww-quic: a stack has not returned for 30 s\n";
        [[maybe_unused]] const ssize_t written = ::write(2, kMessage, sizeof kMessage - 1);
        ::_exit(1);
    }
    seen_progress = progress;
    ::alarm(kStalledSeconds);
}

void watch(quic::Run& run) {
    watched = &run;
    seen_progress = -1;
    std::signal(SIGALRM, on_alarm);
    ::alarm(kStalledSeconds);
}

double cpu_seconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto both = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return both(used.ru_utime) + both(used.ru_stime);
}

// Lets the stacks simulate their flows. They must outlive the run.
std::vector<std::unique_ptr<quic::Stack>> host(wire::Plan& plan, quic::Run& run) {
    std::vector<std::unique_ptr<quic::Stack>> stacks;
    for (const wire::Stack& stack : plan.stacks) {
        if (stack.flow >= plan.network.flows.size())
            throw wire::PlanError("stack: no flow " + std::to_string(stack.flow));
        sim::Flow& flow = plan.network.flows[stack.flow];
        flow.guests = stacks.emplace_back(std::make_unique<quic::Stack>(stack, run)).get();
        flow.header_bytes = quic::Connection::kHeaders;
        flow.timestamps = false;
    }
    return stacks;
}

void print(const sim::Outcome& outcome) {
    for (const sim::FlowCounts& counts : outcome.connections) {
        sim::FlowResult result;
        static_cast<sim::FlowCounts&>(result) = counts;
        wire::print(stdout, result);
    }
    for (std::size_t i = 0; i < outcome.forward.size(); i++) {
        wire::print(stdout, outcome.forward[i], true);
        wire::print(stdout, outcome.backward[i], false);
    }
    for (const sim::Message& message : outcome.messages) wire::print(stdout, message);
}

// Writes what the simulator recorded: the windows of its own flows, the queues and the drops.
void write(wire::Trace& trace, const sim::Records& records) {
    const sim::WindowTrace& windows = records.windows;
    for (std::size_t i = 0; i < records.windows_of.size(); i++) {
#define WW_CELL(type, name, what) windows.name[i],
        trace.write_window(records.windows_of[i], wire::WindowRow{WW_WINDOW_COLUMNS(WW_CELL)});
#undef WW_CELL
    }
    for (std::size_t i = 0; i < records.queues_of.size(); i++) {
#define WW_CELL(type, name, what) records.queues.name[i],
        trace.write_queue(records.queues_of[i], wire::QueueRow{WW_QUEUE_COLUMNS(WW_CELL)});
#undef WW_CELL
    }
    for (const sim::Drop& drop : records.drops) trace.write_drop(drop);
}

int run(wire::Plan plan) {
    wire::Trace trace(plan.trace);
    quic::Run run{plan.seed, plan.network.duration, &trace, "", 0};
    ww_quic_begin(plan.seed);
    const auto stacks = host(plan, run);
    const std::string problem = sim::validate(plan.network);
    if (!problem.empty()) throw wire::PlanError(problem);
    watch(run);
    const sim::Stop stop(
        [](void* caller) -> std::uint32_t {
            quic::Run& it = *static_cast<quic::Run*>(caller);
            it.progress++;
            return it.error.empty() ? 4096 : 0;
        },
        &run);
    const sim::Outcome outcome = sim::run(plan.network, plan.seed, nullptr, stop);
    if (!run.error.empty()) throw std::runtime_error(run.error);
    if (!outcome.error.empty()) throw wire::PlanError(outcome.error);
    print(outcome);
    write(trace, outcome.records);
    wire::print_end(stdout, cpu_seconds());
    return 0;
}

int fail(int code, const std::exception& error) {
    std::fprintf(stderr, "ww-quic: %s\n", error.what());
    return code;
}

}  // namespace

int main(int count, char** words) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // ends with its parent process
    if (count > 1 && std::strcmp(words[1], "--name") == 0)
        return std::printf("ww-quic\n%s", ww_quic_forks()) < 0;
    std::ios::sync_with_stdio(false);
    try {
        return run(wire::read_plan(std::cin));
    } catch (const wire::PlanError& error) {
        return fail(2, error);
    } catch (const std::exception& error) {
        return fail(1, error);
    }
}
