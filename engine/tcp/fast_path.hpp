// SPDX-License-Identifier: BSD-3-Clause
//
// The part of a sender that runs for every ACK and every segment, inlined into its callers. What its
// instances save of the instructions per packet, by callgrind, with SACK, with RACK and with BBRv1:
//
//   the fast path (Sender::is_on_fast_path())               25, 28, 17 %
//   `fast`: without what cannot happen on it                1.4, 2.6, 1.6 %
//   `rated`: rate samples only for a paced sender           7.6, 7.8, -1.9 %
//
// With `tso` and compressed_acks a lone flow of Reno, CUBIC and BBRv1 needs 89, 72 and 9 to 10 % more instructions per
// packet. We have not measured which part of the code takes them.
#pragma once

#include "sender.hpp"

namespace ww::sim {

template <bool rated, bool loaded>
[[gnu::flatten]] inline bool Sender::take_fast_path(Time now, std::uint32_t number) {
    if (rated ? !on_fast_path_ : !on_unpaced_fast_path_) return false;
    const std::int64_t acked = segments_.segments_in(beyond_una(number));
    if (acked == 0) return false;
    const Time rtt = measure_rtt(now, acked);
    if constexpr (rated) rate_->on_delivered_in_order(now, una_ + acked - 1, acked);
    una_ += acked;
    call_cc<true, rated, loaded>(now, acked, rtt);
    if (next_ != una_) [[likely]] {
        restart_timer<true>(now);
    } else {
        timer.deadline = kNever;
        if (is_complete()) statistics_.on_complete(now);
    }
    return true;
}

// Returns the RTT of the newest acknowledged segment.
inline Time Sender::measure_rtt(Time now, std::int64_t acked) {
    const Time rtt = now - times_.at(una_ + acked - 1);
    rtt_.on_ack(rtt, now - times_.at(una_), settings_->rto);
    statistics_.on_srtt(rtt_.srtt());
    return rtt;
}

// A sample includes the losses that this ACK reveals, as in Linux (tcp_ack() calls
// tcp_cong_control() last). The sender acts on them later in on_ack().
template <bool fast>
inline void Sender::fill_rate(Time now, ww_sample& sample) {
    if (!fast && rack_ != nullptr && !board_.idle())
        rack_->find_losses(now, una_, next_, rack_window(), board_, times_);
    if (!fast) report_losses(now);
    sample.pipe = fast ? static_cast<std::uint32_t>(next_ - una_) : pipe();
    rate_->fill(now, rtt_.min_or_zero(), board_.found_lost(), sample);
}

// Tells the compiler which controls there can be, so that it leaves out the others.
template <bool rated, bool loaded>
[[gnu::always_inline]] inline void assume_control(const ww_config& cc) {
#define WW_CASE(ID, name)                                                                        \
    case WW_ALG_##ID:                                                                            \
        if (loaded ||                                                                            \
            (rated ? !(WW_##ID##_TRAITS & WW_NEEDS_RATE) && !(WW_RENO_STARTS >> WW_ALG_##ID & 1) \
                   : (WW_##ID##_TRAITS & WW_NEEDS_RATE) != 0))                                   \
            __builtin_unreachable();                                                             \
        break;
    switch (cc.algorithm) {
        WW_COMPACT_ALGORITHMS(WW_CASE)
        WW_LARGE_ALGORITHMS(WW_CASE)
    default:
        if (!loaded || cc.algorithm != WW_ALG_LOADED) __builtin_unreachable();
    }
#undef WW_CASE
}

template <bool fast, bool rated, bool loaded>
[[gnu::always_inline]] inline void Sender::report_ack(Time now, std::int64_t acked, Time rtt) {
    assume_control<rated, loaded>(settings_->cc);
    ww_sample sample{};
    sample.now_us = microseconds(now);
    sample.mss = segments_.mss();
    sample.acked_segments = static_cast<std::uint32_t>(acked);
    sample.in_flight =
        static_cast<std::uint32_t>(high_ - una_);  // going back (go-back-N) takes nothing off
    sample.rtt_us = static_cast<std::uint32_t>(microseconds(rtt));
    sample.srtt_us = static_cast<std::uint32_t>(microseconds(rtt_.srtt()));
    sample.phase = fast ? std::uint8_t{WW_OPEN} : phase_;
    sample.is_dupack = !fast && acked == 0;
    sample.is_cwnd_limited = cwnd_limited_ || (!fast && settings_->rate_limited_increase);
    if constexpr (!fast) sample.newly_marked = ecn_.take_marked();
    if constexpr (rated) {
        fill_rate<fast>(now, sample);
        statistics_.on_paced_ack(now, high_ - una_ + acked);
    }
    const std::uint32_t before = window_.cwnd;
    ww_on_ack(&settings_->cc, loaded ? cc_.get() : cc_.within(), &window_, &sample);
    if (window_.cwnd != before) statistics_.on_cwnd(now, before);
}

// The same, not inlined.
template <bool fast, bool rated, bool loaded>
[[gnu::noinline]] void Sender::report_apart(Time now, std::int64_t acked, Time rtt) {
    report_ack<fast, rated, loaded>(now, acked, rtt);
}

// Inlines the calls of built-in controls, whose sample then need not be in memory, or of loaded ones.
template <bool fast, bool rated, bool loaded>
[[gnu::always_inline]] inline void Sender::call_cc(Time now, std::int64_t acked, Time rtt) {
    if ((settings_->cc.algorithm == WW_ALG_LOADED) != loaded) [[unlikely]]
        return report_apart<fast, rated, !loaded>(now, acked, rtt);
    report_ack<fast, rated, loaded>(now, acked, rtt);
}

inline std::int64_t Sender::record_sent(Time now, std::int64_t segment) {
    last_was_retransmission_ = segment < high_;
    if (last_was_retransmission_) {
        statistics_.retransmitted++;
        times_.on_sent_again(segment, now);
        if (rack_ != nullptr) rack_->on_sent_again(now, segment);
        undo_.on_sent_again();
        if (settings_->rearms_rto && segment == una_) {
            timeout_from_ = now;
            if (due_ == Due::timeout) timer.deadline = now + rtt_.rto();
        }
    } else {
        if (!times_.has_room_for(segment, una_)) grow_rings();
        times_.on_sent(segment, now);
        high_ = segment + 1;
    }
    if (timer.deadline == kNever) restart_timer(now);
    return segment;
}

// Returns one past the last segment that cwnd, the receiver and the application allow.
template <bool fast>
inline std::int64_t Sender::new_end(Time now) {
    std::int64_t usable = window_.cwnd;
    if constexpr (!fast) {
        usable += inflation_;
        if (phase_ == WW_DISORDER && settings_->limited_transmit) usable += dupacks_;
    }
    std::int64_t end = std::min<std::int64_t>(usable, settings_->receive_window) + una_;
    cwnd_limited_ = usable <= settings_->receive_window;
    if (end > available_) [[unlikely]] {
        cwnd_limited_ = next_ >= una_ + usable;
        end = available_;
    }
    return now >= settings_->stop ? std::min(end, high_) : end;
}

// Returns how many segments leave as one packet if the window allows.
inline std::uint32_t Sender::whole_burst() const {
    return settings_->tso ? Pacer::burst(burst_rate(), segments_.mss(), rtt_.least()) : 1;
}

// Linux wants two packets in a window (tcp_cwnd_test()).
inline std::uint32_t Sender::within_window(std::uint32_t burst) const {
    return !settings_->tso ? 1 : std::min(burst, std::max(1u, window_.cwnd / 2));
}

inline void Sender::note_paced(Time now, std::uint32_t payload, std::uint32_t segments,
                               std::uint32_t together) {
    if (settings_->tso) [[unlikely]]
        pacer_.on_burst(now, payload, pacing(), segments, together);
    else
        pacer_.on_sent(now, payload, pacing());
}

// Sends new and full segments up to `end`.
template <bool paced>
[[gnu::always_inline]] inline void Sender::send_new(Time now, std::int64_t end,
                                                    std::uint32_t together) {
    while (!times_.has_room_for(end - 1, una_)) [[unlikely]] grow_rings();
    times_.on_sent(next_, end, now);
    if constexpr (paced) {
        for (std::int64_t s = next_; s < end; s++)
            rate_->on_sent(now, s, static_cast<std::uint32_t>(s + 1 - una_), board_.found_lost(),
                           s == una_, false);
        const auto count = static_cast<std::uint32_t>(end - next_);
        note_paced(now, count * segments_.mss(), count, together);
    }
    last_was_retransmission_ = false;
    if (timer.deadline == kNever) [[unlikely]] {
        next_++;  // the timer starts with the first segment
        restart_timer(now);
    }
    next_ = high_ = end;
}

template <bool fast>
inline bool Sender::take_burst(Time now, Burst& burst) {
    if (!fast && !on_unpaced_fast_path_) [[unlikely]] {
        if (settings_->paced) return take_paced_burst(now, burst);
        if (!sends_only_new()) return false;
    }
    std::int64_t end = new_end<fast>(now);
    burst = {next_, end};
    if (next_ >= end) return true;
    if (end >= available_) [[unlikely]]
        return false;  // the last segment may be shorter, or end a message
    if (!fast && settings_->tso) {
        const std::uint32_t whole = whole_burst();
        burst.end = end = end_of_bursts(now, end - next_, whole);
        if (next_ == end) return true;
        burst.together = within_window(whole);
    }
    send_new<false>(now, end, 1);
    return true;
}

// Sets the burst that the pacer allows now on the fast path. With a pacing rate that is one
// segment.
inline bool Sender::take_paced_burst(Time now, Burst& burst) {
    if (!on_fast_path_ || next_ >= available_) return false;
    burst = {next_, next_};
    if (!pacer_.holds_back(now)) {
        std::int64_t end = new_end<true>(now);
        if (end >= available_) return false;
        if (next_ >= end) return true;
        const std::uint32_t whole = whole_burst();
        if (settings_->tso) end = end_of_bursts(now, end - next_, whole);
        if (next_ >= end) return true;
        if (settings_->follows_packets) announce(now, static_cast<std::uint32_t>(next_ - una_));
        const std::uint32_t together = within_window(whole);
        burst.together = together;
        burst.end = pacing() == 0 ? end : std::min(end, next_ + together);
        if (settings_->follows_packets) [[unlikely]]
            for (std::int64_t s = next_ + 1; s < burst.end; s++)
                announce(now, static_cast<std::uint32_t>(s - una_));
        send_new<true>(now, burst.end, together);
        if (pacing() == 0) return true;
    }
    pace.deadline = pacer_.next_at();
    return true;
}

}  // namespace ww::sim
