// SPDX-License-Identifier: BSD-3-Clause
//
// A batch of environments: runs in which an agent controls one flow, continued together from step to step.
// A step lasts a fixed time, or a number of round trips as the step before measured them.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../sim/stepped.hpp"
#include "agent.hpp"

namespace ww::sim {

struct BatchSettings {
    std::uint32_t environments = 1;
    std::uint32_t flow = 0;  // index in each network
    Steering steering = Steering::rate;
    Time interval = 0;                   // length of a step; 0: by the round trip
    double rtts = 1;                     // else its length in round trips
    std::uint32_t steps = 400;           // of an episode
    std::uint32_t history = 1;           // steps in an observation
    std::vector<std::uint32_t> columns;  // of a step in an observation: numbers in WW_STEP_COLUMNS
};

// A network whose flow the agent controls, and the mean rates of its links.
struct Path {
    Network network;
    double slowest_bps = std::numeric_limits<double>::infinity(), fastest_bps = 0;
};

// Returns why the agent cannot control the flow; empty if it can.
std::string refusal_of_agent(const Network& network, std::uint32_t flow);

class Batch {
  public:
    // The agent can control the flow of each path.
    Batch(BatchSettings settings, std::vector<Path> paths, const Stop& stop = {});

    std::size_t environments() const { return all_.size(); }
    std::size_t paths() const { return paths_.size(); }
    std::size_t observed() const { return settings_.history * settings_.columns.size(); }

    // Begins an episode on a path. rate_share: the first pacing rate, as a share of the rate of the
    // slowest link on the path; 0: the initial window in a round trip.
    void reset(std::size_t environment, std::size_t path, std::uint64_t seed, double rate_share);
    struct Step {
        StepRow row;
        bool terminated = false;  // all data of the flow is acknowledged
        bool truncated = false;   // after the last step, or at the end of the run
    };
    // Gives the agent an order, and runs one step.
    Step step(std::size_t environment, double order);
    // Writes the last steps of an environment, the latest last.
    void observe(std::size_t environment, std::span<float> observation) const;

  private:
    struct Environment {
        Agent agent;
        Network network;
        std::optional<SteppedRun> run;
        Time now = 0;
        std::uint32_t steps = 0;
        bool over = false;
        std::vector<float> history;
    };

    Step advance(Environment& environment);
    void remember(Environment& environment, const StepRow& row) const;
    void await_rtt(Environment& environment);

    BatchSettings settings_;
    std::vector<Path> paths_;
    Stop stop_;
    std::vector<std::unique_ptr<Environment>> all_;
};

}  // namespace ww::sim
