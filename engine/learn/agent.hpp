// SPDX-License-Identifier: BSD-3-Clause
//
// An agent is the congestion control of one connection whose decisions are made outside, between two pieces
// of a run (sim/stepped.hpp). It does what its last order says, and measures what becomes of it.
//
//   rate          the order multiplies the pacing rate; cwnd is what the receiver allows
//   cwnd          the order is cwnd
//   cwnd_factor   the order multiplies cwnd once; between orders the flow's own control goes on
//
// An order is in force from the next segment or ACK. Losses, marks and timeouts change nothing where the
// agent alone decides.
#pragma once

#include <optional>
#include <vector>

#include "../../core/westwood.h"
#include "../network.hpp"
#include "../tcp/control_state.hpp"
#include "columns.hpp"

namespace ww::sim {

enum class Steering : std::uint8_t { rate, cwnd, cwnd_factor };

class Agent {
  public:
    Agent();
    Agent(const Agent&) = delete;
    Agent& operator=(const Agent&) = delete;

    // Becomes the control of the flow. rate_bps: the first pacing rate; 0: the initial window in a round
    // trip. most_bps: the largest.
    void begin(Flow& flow, Steering steering, double rate_bps, double most_bps);
    void order(double value);

    bool knows_rtt() const { return min_rtt_us_ != UINT32_MAX; }
    Time rtt() const { return static_cast<Time>(rtt_us_ * static_cast<double>(kMicrosecond)); }
    bool is_complete() const { return acked_ >= segments_; }
    // Returns what became of the step that took this long, and starts the next one.
    StepRow take_step(Time duration);

  private:
    friend struct AgentCalls;

    void set_rate(double bps);
    void obey(ww_window& window);
    void on_sent(ww_window& window, const ww_sent& sent);
    void on_ack(ww_window& window, const ww_sample& sample);
    void see(const ww_window& window) { window_ = window; }
    double mean_rtt(std::size_t first, std::size_t last) const;

    ww_control_ops calls_{};
    ww_config inner_{};  // the flow's own control, with cwnd_factor
    std::optional<ControlState> inner_state_;
    Steering steering_ = Steering::rate;
    double rate_bps_ = 0, most_bps_ = 0, order_ = 0;
    std::uint64_t pacing_ = 0;  // rate_bps_ in the unit of ww_window
    std::uint32_t initial_cwnd_ = 0, most_cwnd_ = 0, mss_ = 0;
    std::int64_t segments_ = 0, acked_ = 0;  // of the flow's size

    // Of the step.
    std::uint64_t sent_ = 0, delivered_ = 0, lost_ = 0, marks_ = 0, acks_ = 0;
    std::vector<std::uint32_t> rtts_us_;
    // Of the episode.
    ww_window window_{};
    std::uint32_t pipe_ = 0, srtt_us_ = 0, min_rtt_us_ = UINT32_MAX;
    double rtt_us_ = 0, best_bps_ = 0;
};

}  // namespace ww::sim
