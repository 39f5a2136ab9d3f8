// SPDX-License-Identifier: BSD-3-Clause
//
// Sets up a sender and its connection, and handles its timer.
#include "sender.hpp"

namespace ww::sim {

Sender::Sender(const SenderSettings& settings, const Flow& flow, std::uint32_t isn)
    : settings_(&settings),
      available_(0),
      window_{flow.initial_cwnd, flow.initial_ssthresh, 0},
      segments_(flow, isn),
      rtt_(settings.rto),
      rack_(settings.rack ? std::make_unique<Rack>() : nullptr),
      statistics_(settings.receive_window, settings.paced),
      cc_(settings.cc),
      board_(settings.rack, settings.pipe_keeps_repaired, settings.hears_losses),
      rate_reduction_(settings.recovery),
      ecn_(flow.ect1),
      rate_(settings.paced ? std::make_unique<RateSampler>() : nullptr),
      increase_(settings.cc, settings.initial_cwnd) {
    if (flow.application.kind == ApplicationKind::bulk) available_ = segments_.count();
    ww_init(&settings.cc, cc_.get());
    if (settings.uses_sack) board_.reserve(times_.capacity(), 0);
    if (settings.paced) rate_->reserve(times_.capacity(), 0, 0);
}

void Sender::on_syn_sent(Time now) {
    if (syns_++ > 0)
        rtt_.back_off(settings_->rto);
    else
        first_syn_ = now;
    timeout_from_ = now;
    timer.deadline = now + rtt_.rto();
}

void Sender::on_syn_ack(Time now, bool again) {
    established_ = true;
    statistics_.on_established(now);
    timer.deadline = kNever;
    if (syns_ > 1) {
        // RFC 5681, 3.1, as updated by RFC 6928, 2.
        if (syns_ - 1 > settings_->forgiven_syns) window_.cwnd = 1;
        // It is unknown which of several repeated SYNs the SYN-ACK answers.
        if (!settings_->timed_syn || (again && syns_ > 2)) {
            rtt_.restart_after_lost_syn(settings_->rto);
            return settle();
        }
    }
    if (settings_->handshake_rtt) take_sample(now - (again ? timeout_from_ : first_syn_));
    settle();
}

void Sender::write(Time now, std::int64_t end, Time idle) {
    const bool was_idle = high_ > 0 && una_ == high_ && next_ == available_;
    available_ = std::min(end, segments_.count());
    if (!was_idle || available_ <= next_) return;
    ww_on_restart(&settings_->cc, cc_.get(), microseconds(now));
    if (!settings_->idle_restart || idle <= rtt_.rto()) return;
    statistics_.on_cwnd(now, window_.cwnd);
    restart_windows(window_, settings_->initial_cwnd, idle, rtt_.rto(), settings_->idle_decay);
}

Due Sender::on_timer(Time now) {
    const Due due = due_;
    if (due == Due::timeout)
        on_timeout(now);
    else if (due == Due::segment)
        end_wait();
    else
        expect_timeout(now);
    if (due == Due::probe) sends_probe_ = true;
    if (due == Due::losses) on_reordering_timer(now);
    settle();
    return due;
}

}  // namespace ww::sim
