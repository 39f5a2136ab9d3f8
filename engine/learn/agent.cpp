// SPDX-License-Identifier: BSD-3-Clause
#include "agent.hpp"

#include <algorithm>
#include <cmath>

namespace ww::sim {

// The core's calls, passed on to the agent behind a configuration.
struct AgentCalls {
    static Agent& agent_of(const ww_config* config) {
        return *static_cast<Agent*>(config->control->context);
    }
    static bool alone(const Agent& agent) { return agent.steering_ != Steering::cwnd_factor; }

    static void init(const ww_config* config, void*) {
        Agent& agent = agent_of(config);
        if (!alone(agent)) ww_init(&agent.inner_, agent.inner_state_->get());
    }
    static void on_packet_sent(const ww_config* config, void*, ww_window* window,
                               const ww_sent* sent) {
        Agent& agent = agent_of(config);
        agent.on_sent(*window, *sent);
        if (!alone(agent) && ww_follows_packets(&agent.inner_))
            ww_on_packet_sent(&agent.inner_, agent.inner_state_->get(), window, sent);
        agent.see(*window);
    }
    static void on_packet_lost(const ww_config* config, void*, ww_window* window,
                               const ww_lost* lost) {
        Agent& agent = agent_of(config);
        ww_on_packet_lost(&agent.inner_, agent.inner_state_->get(), window, lost);
    }
    static void on_ack(const ww_config* config, void*, ww_window* window, const ww_sample* sample) {
        Agent& agent = agent_of(config);
        agent.on_ack(*window, *sample);
        if (!alone(agent)) ww_on_ack(&agent.inner_, agent.inner_state_->get(), window, sample);
        agent.see(*window);
    }
    static std::uint32_t ssthresh(const ww_config* config, const void*, std::uint64_t now_us,
                                  std::uint32_t in_flight, std::uint32_t mss) {
        Agent& agent = agent_of(config);
        if (alone(agent)) return agent.window_.ssthresh;
        return ww_ssthresh(&agent.inner_, agent.inner_state_->get(), now_us, in_flight, mss);
    }
    static void on_loss(const ww_config* config, void*, ww_window* window, std::uint64_t now_us,
                        std::uint32_t in_flight, std::uint32_t mss) {
        Agent& agent = agent_of(config);
        if (!alone(agent))
            ww_on_loss(&agent.inner_, agent.inner_state_->get(), window, now_us, in_flight, mss);
    }
    static void on_mark(const ww_config* config, void*, ww_window* window, std::uint64_t now_us,
                        std::uint32_t in_flight, std::uint32_t mss) {
        Agent& agent = agent_of(config);
        agent.marks_++;
        if (!alone(agent))
            ww_on_mark(&agent.inner_, agent.inner_state_->get(), window, now_us, in_flight, mss);
    }
    static void on_recovery_exit(const ww_config* config, void*, ww_window* window,
                                 std::uint64_t now_us, std::uint32_t mss) {
        Agent& agent = agent_of(config);
        if (!alone(agent))
            ww_on_recovery_exit(&agent.inner_, agent.inner_state_->get(), window, now_us, mss);
    }
    static void on_rto(const ww_config* config, void*, ww_window* window, std::uint64_t now_us,
                       std::uint32_t in_flight, std::uint32_t mss, bool repeated) {
        Agent& agent = agent_of(config);
        if (!alone(agent))
            ww_on_rto(&agent.inner_, agent.inner_state_->get(), window, now_us, in_flight, mss,
                      repeated);
    }
    static void on_undo(const ww_config* config, void*, ww_window* window) {
        Agent& agent = agent_of(config);
        if (!alone(agent)) ww_on_undo(&agent.inner_, agent.inner_state_->get(), window);
    }
    static void on_restart(const ww_config* config, void*, std::uint64_t now_us) {
        Agent& agent = agent_of(config);
        if (!alone(agent)) ww_on_restart(&agent.inner_, agent.inner_state_->get(), now_us);
    }
};

Agent::Agent() {
    calls_.version = WW_CONTROL_VERSION;
    calls_.state_bytes = WW_OWN_STATE_MAX;
    calls_.context = this;
    calls_.init = AgentCalls::init;
    calls_.on_packet_sent = AgentCalls::on_packet_sent;
    calls_.on_ack = AgentCalls::on_ack;
    calls_.ssthresh = AgentCalls::ssthresh;
    calls_.on_loss = AgentCalls::on_loss;
    calls_.on_mark = AgentCalls::on_mark;
    calls_.on_recovery_exit = AgentCalls::on_recovery_exit;
    calls_.on_rto = AgentCalls::on_rto;
    calls_.on_undo = AgentCalls::on_undo;
    calls_.on_restart = AgentCalls::on_restart;
}

void Agent::begin(Flow& flow, Steering steering, double rate_bps, double most_bps) {
    steering_ = steering;
    inner_ = flow.cc;
    inner_state_.emplace(inner_);
    const unsigned traits =
        steering == Steering::cwnd_factor ? ww_traits(&inner_) : unsigned{WW_OWNS_RECOVERY};
    calls_.traits = traits | WW_NEEDS_RATE | WW_FOLLOWS_PACKETS;
    const bool follows = steering == Steering::cwnd_factor && ww_follows_packets(&inner_);
    calls_.on_packet_lost = follows ? AgentCalls::on_packet_lost : nullptr;
    flow.cc.algorithm = WW_ALG_LOADED;
    flow.cc.control = &calls_;
    set_rate(rate_bps);
    most_bps_ = most_bps;
    order_ = steering == Steering::cwnd ? flow.initial_cwnd : 1;
    mss_ = flow.mss();
    initial_cwnd_ = flow.initial_cwnd;
    most_cwnd_ = std::clamp(flow.receive_window_bytes / mss_, 1u, WW_CWND_MAX);
    segments_ = flow.size_bytes == kUnlimited ? kUnlimited : (flow.size_bytes + mss_ - 1) / mss_;
    acked_ = 0;
    sent_ = delivered_ = lost_ = marks_ = acks_ = 0;
    rtts_us_.clear();
    window_ = {flow.initial_cwnd, flow.initial_ssthresh, 0};
    pipe_ = srtt_us_ = 0;
    min_rtt_us_ = UINT32_MAX;
    rtt_us_ = best_bps_ = 0;
}

void Agent::order(double value) {
    if (steering_ != Steering::rate) {
        order_ = value;
        return;
    }
    // Below two segments in the shortest round trip there would be hardly any feedback.
    const double least = knows_rtt() ? 2.0 * mss_ * 8.0 * 1e6 / min_rtt_us_ : 0.0;
    set_rate(std::clamp(rate_bps_ * value, std::min(least, most_bps_), most_bps_));
}

void Agent::set_rate(double bps) {
    rate_bps_ = bps;
    const double pacing = bps / 8.0 * static_cast<double>(WW_BW_UNIT);
    pacing_ = static_cast<std::uint64_t>(std::clamp(pacing, 1.0, static_cast<double>(WW_BW_MAX)));
}

void Agent::obey(ww_window& window) {
    if (steering_ == Steering::rate) {
        if (rate_bps_ <= 0) return;
        window.cwnd = most_cwnd_;
        window.pacing = pacing_;
        return;
    }
    if (steering_ == Steering::cwnd_factor && order_ == 1) return;
    const double wanted = steering_ == Steering::cwnd ? order_ : order_ * window.cwnd;
    window.cwnd =
        static_cast<std::uint32_t>(std::clamp(std::round(wanted), 1.0, double(most_cwnd_)));
    if (steering_ == Steering::cwnd_factor) order_ = 1;
}

void Agent::on_sent(ww_window& window, const ww_sent& sent) {
    sent_++;
    if (rate_bps_ <= 0 && sent.srtt_us > 0)
        set_rate(std::min(initial_cwnd_ * mss_ * 8.0 * 1e6 / sent.srtt_us, most_bps_));
    obey(window);
}

void Agent::on_ack(ww_window& window, const ww_sample& sample) {
    acks_++;
    acked_ += sample.acked_segments;
    delivered_ += sample.newly_delivered;
    lost_ += sample.newly_lost;
    pipe_ = sample.pipe;
    srtt_us_ = sample.srtt_us;
    const std::uint32_t rtt_us = sample.rate_rtt_us != 0 ? sample.rate_rtt_us : sample.rtt_us;
    if (rtt_us != 0) {
        rtts_us_.push_back(rtt_us);
        min_rtt_us_ = std::min(min_rtt_us_, rtt_us);
        if (rtt_us_ == 0) rtt_us_ = rtt_us;
    }
    if (rate_bps_ <= 0 && srtt_us_ > 0)
        set_rate(std::min(initial_cwnd_ * mss_ * 8.0 * 1e6 / srtt_us_, most_bps_));
    obey(window);
}

double Agent::mean_rtt(std::size_t first, std::size_t last) const {
    double sum = 0;
    for (std::size_t i = first; i < last; i++) sum += rtts_us_[i];
    return sum / static_cast<double>(last - first);
}

StepRow Agent::take_step(Time duration) {
    const auto bits = 8.0 * mss_;
    const auto ratio = [](double a, double b, double otherwise) {
        return b > 0 ? a / b : otherwise;
    };
    const std::size_t samples = rtts_us_.size(), half = samples / 2;
    if (samples > 0) rtt_us_ = mean_rtt(0, samples);
    StepRow row;
    row.duration_s = static_cast<double>(duration) / static_cast<double>(kSecond);
    row.sent = static_cast<double>(sent_);
    row.delivered = static_cast<double>(delivered_);
    row.lost = static_cast<double>(lost_);
    row.marks = static_cast<double>(marks_);
    row.acks = static_cast<double>(acks_);
    row.sent_bps = ratio(row.sent * bits, row.duration_s, 0);
    row.delivered_bps = ratio(row.delivered * bits, row.duration_s, 0);
    row.lost_bps = ratio(row.lost * bits, row.duration_s, 0);
    row.best_bps = best_bps_ = std::max(best_bps_, row.delivered_bps);
    row.cwnd = window_.cwnd;
    row.ssthresh = window_.ssthresh;
    row.in_flight = pipe_;
    row.rtt_s = rtt_us_ / 1e6;
    if (half > 0) row.rtt_increase_s = (mean_rtt(half, samples) - mean_rtt(0, half)) / 1e6;
    row.min_rtt_s = knows_rtt() ? min_rtt_us_ / 1e6 : 0;
    row.srtt_s = srtt_us_ / 1e6;
    row.pacing_bps = window_.pacing != 0 ? static_cast<double>(window_.pacing) * 8.0 /
                                               static_cast<double>(WW_BW_UNIT)
                                         : ratio(row.cwnd * bits, row.srtt_s, 0);
    row.loss = ratio(row.lost, row.lost + row.delivered, 0);
    row.latency_inflation = ratio(row.rtt_increase_s, row.duration_s, 0);
    row.latency_ratio = ratio(row.rtt_s, row.min_rtt_s, 1);
    row.send_ratio = ratio(row.sent, row.delivered, 1);
    row.delivery_ratio = ratio(row.delivered_bps, best_bps_, 0);
    row.pacing_ratio = ratio(row.pacing_bps, best_bps_, 0);
    row.loss_cost = ratio(5 * row.lost_bps, best_bps_, 0);
    row.acks_ratio = ratio(row.acks, row.cwnd, 0);
    row.delay_ratio = ratio(row.min_rtt_s, row.srtt_s, 1);
    row.delay_metric = std::min(1.0, 1.25 * row.delay_ratio);
    sent_ = delivered_ = lost_ = marks_ = acks_ = 0;
    rtts_us_.clear();
    return row;
}

}  // namespace ww::sim
