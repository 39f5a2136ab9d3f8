// SPDX-License-Identifier: GPL-2.0-only
//
// The host's half of the machine. It reads a plan from standard input, runs its flows over the engine's channels in
// virtual time, and prints ww-path's report. For `westwood control replay` it reads a recording instead, makes its calls
// in a control, and prints the windows.
#include "machine.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "../path/loop.hpp"
#include "../path/model.hpp"
#include "../path/plan.hpp"
#include "../path/queues.hpp"
#include "../path/results.hpp"
#include "../path/traffic.hpp"
#include "object.hpp"

namespace {

using namespace ww;
using namespace ww::path;

constexpr sim::Time kNanosecond = 1000;
constexpr std::string_view kReplay = "replay ";

struct Machine {
    explicit Machine(const Plan& plan)
        : topology(plan.network), hosts(make_hosts(plan)), queues(plan) {
        model.emplace(
            plan.network, topology, plan.seed, Packets::of_flows,
            [this](auto channel, auto packet) { return queues.enqueue(channel, packet); });
    }
    const Host& host(std::uint32_t node) const {
        for (const Host& h : hosts)
            if (h.node() == node) return h;
        std::abort();
    }
    // Takes the packet in the model's room from a device.
    void take(sim::Time now, std::size_t device, std::size_t bytes) {
        if (device < hosts.size())
            model->enter(now, hosts[device].node(), bytes);
        else
            model->leave(now, queues.all()[device - hosts.size()].channel, bytes);
    }

    sim::Topology topology;
    std::vector<Host> hosts;  // the position is the number of the device
    Queues queues;            // whose devices come next
    std::optional<Model> model;
    std::optional<Clock> clock;
    std::int64_t start_ns = 0;
    LoopReport report;
};

Machine* machine;

void deliver(std::uint32_t node, std::span<const std::uint8_t> packet, sim::Time at) {
    machine->report.lateness.add(machine->clock->now() - at);
    ww_machine_deliver(machine->host(node).tun(), packet.data(),
                       static_cast<unsigned>(packet.size()));
}

// Returns the configuration of the control in an object, with these parameters.
ww_config config_of(const std::string& object,
                    const std::array<std::uint32_t, WW_PARAMETERS_MAX>& parameters) {
    const ww_control_ops& control = load_control(object);
    ww_config config = ww_configure(static_cast<ww_protocol>(control.like));
    config.algorithm = WW_ALG_LOADED;
    config.control = &control;
    std::copy(parameters.begin(), parameters.end(), config.own);
    return config;
}

// Makes the calls of a recording (core/calls.h) up to a line `end`, and prints the windows after each. The first line
// is `replay PROTOCOL PARAMETER...`, the second the object of a user's control, empty for a protocol of the catalogue.
void replay(std::istream& in, std::FILE* out) {
    std::array<std::uint32_t, WW_PARAMETERS_MAX> parameters{};
    unsigned protocol = 0;
    std::string line, object;
    std::getline(in, line);
    std::istringstream words(line.substr(kReplay.size()));
    words >> protocol;
    for (std::size_t i = 0; i < parameters.size() && words >> parameters[i]; i++) continue;
    std::getline(in, object);
    ww_config config = object.empty() ? ww_configure(static_cast<ww_protocol>(protocol))
                                      : config_of(object, parameters);
    config.batched_acks = true;
    ww_window window{};
    while (std::getline(in, line) && line != "end") {
        ww_machine_turns++;
        ww_machine_call(&config, line.c_str(), &window);
        std::fprintf(out, "%" PRIu32 " %" PRIu32 " %" PRIu64 "\n", window.cwnd, window.ssthresh,
                     window.pacing);
    }
    std::fputs("end\n", out);
}

// Reads a plan. A user's control joins those of the kernel, with the parameters that its flow has.
Plan read(const std::string& text) {
    std::istringstream first(text), second(text);
    const Plan given = wire::read_plan(first);
    Plan plan = read_plan(second);
    for (std::size_t i = 0; i < given.controls.size() && !given.objects.empty(); i++) {
        if (given.controls[i].empty()) continue;
        if (given.objects.size() > 1) throw PlanError("object: more than one");
        const ww_config config =
            config_of(given.objects.begin()->second, std::to_array(given.network.flows[i].cc.own));
        if (ww_machine_add_control(&config) != 0) throw PlanError("object: not registered");
        plan.objects.begin()->second = "ww_own";
        break;
    }
    return plan;
}

void run(const Plan& plan, std::FILE* out) {
    const sim::Topology topology(plan.network);
    if (!topology.error().empty()) throw PlanError(topology.error());
    const sim::Connections connections = sim::connections_of(plan.network, plan.seed);
    if (!connections.error.empty()) throw PlanError(connections.error);
    wire::Trace trace(plan.trace);
    Machine here(plan);
    machine = &here;
    Traffic traffic(plan, connections, here.hosts, trace);
    here.start_ns = static_cast<std::int64_t>(ww_machine_now());
    here.clock.emplace();
    const Ended ended = traffic.run(*here.clock, -1);
    if (!ended.error.empty()) throw std::runtime_error(ended.error);
    print_results(out, plan, connections, traffic, *here.model, trace);
    print_accuracy(out, here.report, here.hosts, here.queues);
    wire::print_end(out, cpu_seconds());
}

}  // namespace

extern "C" {

void* ww_machine_room(unsigned bytes) {
    return bytes <= Model::kRoom ? machine->model->room().data() : nullptr;
}

void ww_machine_entered(unsigned long long now_ns, int device, unsigned bytes) {
    const sim::Time now = (static_cast<std::int64_t>(now_ns) - machine->start_ns) * kNanosecond;
    machine->model->run(now, deliver);
    machine->take(now, static_cast<std::size_t>(device), bytes);
}

unsigned long long ww_machine_advance(unsigned long long now_ns) {
    const auto at = static_cast<std::int64_t>(now_ns);
    ww_machine_turns++;
    machine->model->run((at - machine->start_ns) * kNanosecond, deliver);
    const sim::Time next = machine->model->next();
    if (next >= sim::kNever) return INT64_MAX;
    return static_cast<unsigned long long>(machine->start_ns +
                                           (next + kNanosecond - 1) / kNanosecond);
}

// The kernel has a function getrusage, too.
int ww_getrusage(int, rusage* used) {
    const std::clock_t cpu = std::clock();
    *used = {};
    used->ru_utime.tv_sec = cpu / CLOCKS_PER_SEC;
    used->ru_utime.tv_usec = cpu % CLOCKS_PER_SEC;
    return 0;
}

int ww_machine_main(void) {
    std::FILE* out = ::fdopen(WW_REPORT_FD, "w");
    if (out == nullptr) return 2;
    int code = 0;
    try {
        std::ifstream in("/dev/stdin");
        std::string text;  // the input stays open after the line `end`
        for (std::string line; line != "end" && std::getline(in, line);) text += line + '\n';
        std::istringstream lines(text);
        if (text.starts_with(kReplay))
            replay(lines, out);
        else
            run(read(text), out);
    } catch (const PlanError& error) {
        std::fprintf(out, "error %s\n", error.what());
        code = 2;
    } catch (const std::exception& error) {
        std::fprintf(out, "error %s\n", error.what());
        code = 1;
    }
    std::fclose(out);
    return code;
}
}
