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
    const Flow& its = network.flows[flow];
    if (its.datagrams.on) return "the agent's flow sends datagrams";
    if (its.arrivals_mean != 0) return "the agent's flow is many connections";
    return refusal(network);
}

Batch::Batch(BatchSettings settings, std::vector<Path> paths, const Stop& stop)
    : settings_(std::move(settings)), paths_(std::move(paths)), stop_(stop) {
    for (std::uint32_t i = 0; i < settings_.environments; i++)
        all_.push_back(std::make_unique<Environment>());
}

void Batch::reset(std::size_t environment, std::size_t path, std::uint64_t seed,
                  double rate_share) {
    Environment& one = *all_[environment];
    one.run.reset();
    const Path& its = paths_[path];
    one.network = its.network;
    one.agent.begin(one.network.flows[settings_.flow], settings_.steering,
                    rate_share * its.slowest_bps, 2 * its.fastest_bps);
    one.run.emplace(one.network, seed, stop_);
    one.steps = 0;
    one.over = false;
    one.history.assign(observed(), 0);
    await_rtt(one);
    // As in Aurora's simulator, the agent sees a step of the first rate before it decides.
    const Step first = advance(one);
    one.steps = 0;
    for (std::uint32_t i = 1; i < settings_.history; i++) remember(one, first.row);
}

// Runs until the agent has measured a round trip, or to the end.
void Batch::await_rtt(Environment& one) {
    const Time start = one.network.flows[settings_.flow].start;
    one.now = start;
    do {
        one.now += std::max(kLook, (one.now - start) / 64);
        one.over = !one.run->run_until(one.now);
    } while (!one.over && !one.agent.knows_rtt());
}

Batch::Step Batch::step(std::size_t environment, double order) {
    Environment& one = *all_[environment];
    one.agent.order(order);
    return advance(one);
}

Batch::Step Batch::advance(Environment& one) {
    const Time began = one.now;
    const double round_trips = settings_.rtts * static_cast<double>(one.agent.rtt());
    const Time wait = settings_.interval != 0 ? std::min(settings_.interval, kLongestStep)
                      : round_trips < static_cast<double>(kLongestStep)
                          ? static_cast<Time>(round_trips)
                          : kLongestStep;
    if (!one.over) {
        one.now = std::min(one.now + std::max(wait, kMicrosecond), one.network.duration);
        one.over = !one.run->run_until(one.now);
    }
    Step made{one.agent.take_step(one.now - began)};
    remember(one, made.row);
    one.steps++;
    made.terminated = one.agent.is_complete();
    made.truncated = !made.terminated && (one.over || one.steps >= settings_.steps);
    return made;
}

void Batch::remember(Environment& one, const StepRow& row) const {
    const auto each = static_cast<std::ptrdiff_t>(settings_.columns.size());
    std::shift_left(one.history.begin(), one.history.end(), each);
    auto place = one.history.end() - each;
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
