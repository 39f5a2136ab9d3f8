// SPDX-License-Identifier: BSD-3-Clause
#include "batch.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ww::sim {
namespace {

struct StepColumn {
    double StepRow::*value;
    double least, most;
};

constexpr std::array kColumns = {
#define WW_ROW(name, least, most, ...) StepColumn{&StepRow::name, least, most},
    WW_STEP_COLUMNS(WW_ROW)
#undef WW_ROW
};

constexpr Time kLook = kSecond / 1000;   // how often the first round trip is looked for, at first
constexpr Time kLongestStep = kLongest;  // keeps sums of times within their type

}  // namespace

std::string refusal_of_agent(const Network& network, std::uint32_t flow) {
    if (flow >= network.flows.size()) return "there is no such flow";
    const Flow& agent_flow = network.flows[flow];
    if (agent_flow.datagrams.on) return "the agent's flow sends datagrams";
    if (agent_flow.arrivals_mean != 0) return "the agent's flow is many connections";
    return refusal(network);
}

Batch::Batch(BatchSettings settings, std::vector<Path> paths, const Stop& stop)
    : settings_(std::move(settings)), paths_(std::move(paths)), stop_(stop) {
    for (std::uint32_t i = 0; i < settings_.environments; i++)
        all_.push_back(std::make_unique<Environment>());
}

void Batch::reset(std::size_t environment, std::size_t path, std::uint64_t seed,
                  double rate_share) {
    Environment& env = *all_[environment];
    env.run.reset();
    const Path& chosen_path = paths_[path];
    env.network = chosen_path.network;
    env.agent.begin(env.network.flows[settings_.flow], settings_.steering,
                    rate_share * chosen_path.slowest_bps, 2 * chosen_path.fastest_bps);
    env.run.emplace(env.network, seed, stop_);
    env.steps = 0;
    env.over = false;
    env.history.assign(observed(), 0);
    await_rtt(env);
    // As in Aurora's simulator, the agent sees a step of the first rate before it decides.
    const Step first = advance(env);
    env.steps = 0;
    for (std::uint32_t i = 1; i < settings_.history; i++) remember(env, first.row);
}

// Runs until the agent has measured a round trip, or to the end.
void Batch::await_rtt(Environment& environment) {
    const Time start = environment.network.flows[settings_.flow].start;
    environment.now = start;
    do {
        environment.now += std::max(kLook, (environment.now - start) / 64);
        environment.over = !environment.run->run_until(environment.now);
    } while (!environment.over && !environment.agent.knows_rtt());
}

Batch::Step Batch::step(std::size_t environment, double order) {
    Environment& env = *all_[environment];
    env.agent.order(order);
    return advance(env);
}

Batch::Step Batch::advance(Environment& environment) {
    const Time began = environment.now;
    const double round_trips = settings_.rtts * static_cast<double>(environment.agent.rtt());
    const Time wait = settings_.interval != 0 ? std::min(settings_.interval, kLongestStep)
                      : round_trips < static_cast<double>(kLongestStep)
                          ? static_cast<Time>(round_trips)
                          : kLongestStep;
    if (!environment.over) {
        environment.now =
            std::min(environment.now + std::max(wait, kMicrosecond), environment.network.duration);
        environment.over = !environment.run->run_until(environment.now);
    }
    Step step{environment.agent.take_step(environment.now - began)};
    remember(environment, step.row);
    environment.steps++;
    step.terminated = environment.agent.is_complete();
    step.truncated = !step.terminated && (environment.over || environment.steps >= settings_.steps);
    return step;
}

void Batch::remember(Environment& environment, const StepRow& row) const {
    const auto each = static_cast<std::ptrdiff_t>(settings_.columns.size());
    std::shift_left(environment.history.begin(), environment.history.end(), each);
    auto place = environment.history.end() - each;
    for (const std::uint32_t number : settings_.columns) {
        const StepColumn& column = kColumns[number];
        *place++ = static_cast<float>(std::clamp(row.*column.value, column.least, column.most));
    }
}

void Batch::observe(std::size_t environment, std::span<float> observation) const {
    const std::vector<float>& history = all_[environment]->history;
    std::copy(history.begin(), history.end(), observation.begin());
}

}  // namespace ww::sim
