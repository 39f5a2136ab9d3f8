// SPDX-License-Identifier: BSD-3-Clause
//
// What only a paced sender does: pacing.hpp and ratesample.hpp have the algorithms.
#include "sender.hpp"

namespace ww::sim {

// Names what the pacer lets a calm sender send now.
bool Sender::take_paced_burst(Time now, Burst& burst) {
    if (!is_calm_) return false;
    burst.first = next_;
    const std::int64_t end = pacer_.holds_back(now) ? next_ : new_end(now);
    if (end >= segments_.count()) return false;
    while (next_ < end && !pacer_.holds_back(now)) {
        const std::int64_t segment = record_sent(now, next_++);
        rate_->on_sent(now, segment, next_ - una_ <= 1, false);
        pacer_.on_sent(now, segments_.mss(), window_.pacing);
    }
    if (pacer_.holds_back(now)) pace.deadline = pacer_.next_at();
    burst.end = next_;
    return true;
}

// A sample tells the losses that this ACK brings to light, as in Linux (tcp_ack() calls tcp_cong_control() last);
// what they lead to follows in judge().
void Sender::fill_rate(Time now, ww_sample& sample) {
    if (rack_ != nullptr && !board_.idle())
        rack_->find_losses(now, una_, next_, rack_window(), board_, times_);
    sample.pipe = pipe();
    rate_->fill(now, rtt_.min_or_zero(), board_.found_lost(), sample);
}

}  // namespace ww::sim
