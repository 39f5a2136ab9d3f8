// SPDX-License-Identifier: BSD-3-Clause
//
// Chooses what a sender sends next, where sender.hpp's bursts of new segments do not apply.
#include "sender.hpp"

namespace ww::sim {

constexpr Time kSoon = kSecond / 1000;    // tcp_tso_should_defer()
constexpr std::int64_t kWindowParts = 3;  // tcp_tso_win_divisor

std::int64_t Sender::next_segment(Time now) {
    if (!established_ || due_ == Due::segment) return -1;
    if (!settings_->paced) return next_unpaced(now);
    // What a timer asks for is sent at once, as in Linux: the pacer could hold it until it is no
    // longer needed.
    const bool by_timer = sends_probe_ || (sends_first_ && phase_ == WW_LOSS);
    if (!by_timer && pacer_.holds_back(now)) {
        pace.deadline = pacer_.next_at();
        return -1;
    }
    const std::int64_t high = high_, segment = next_unpaced(now);
    if (segment >= 0) {
        const std::uint32_t out = pipe();
        bool idle = next_ - una_ <= 1 && segment == una_;
        if (settings_->follows_packets) {
            announce(now, out - std::min(out, 1u));
            idle = out <= 1;
        }
        rate_->on_sent(now, segment, out, board_.found_lost(), idle, segment < high);
        note_paced(now, segments_.payload(segment), 1, within_window(whole_burst()));
    } else if (next_ == available_ && pipe() < window_.cwnd) {
        // draft-ietf-ccwg-bbr, 4.1.2.4: CheckIfApplicationLimited()
        rate_->on_application_limited(pipe() + (settings_->follows_packets ? 1 : 0));
    }
    return segment;
}

// Returns the rate for which Linux sizes bursts: that of the pacer, or 2 or 1.2 windows a round trip
// (tcp_update_pacing_rate()).
std::uint64_t Sender::burst_rate() const {
    if (pacing() != 0) return pacing();
    const auto srtt_us = static_cast<std::uint64_t>(microseconds(rtt_.srtt()));
    if (srtt_us == 0) return WW_BW_MAX;
    const std::uint64_t percent = window_.cwnd < window_.ssthresh / 2 ? 200 : 120;
    const auto segments =
        std::max<std::uint64_t>(window_.cwnd, static_cast<std::uint64_t>(next_ - una_));
    const std::uint64_t bytes_per_s = segments * segments_.mss() * percent * 10'000 / srtt_us;
    return std::min(bytes_per_s, std::uint64_t{WW_BW_MAX} >> WW_BW_FRACTION) << WW_BW_FRACTION;
}

// Returns whether a partial burst of `count` segments waits for the next ACK, which is due soon
// (tcp_tso_should_defer()). `is_recent`: something was sent in the last millisecond.
bool Sender::defers(Time now, std::int64_t count, bool is_recent) const {
    if (una_ == next_ || !is_recent || count * kWindowParts >= window_.cwnd) return false;
    return times_.last(una_) + rtt_.srtt() - now <= std::min(rtt_.srtt() / 2, kSoon);
}

// Returns the end of those of the next `count` segments that leave now: whole bursts, and a partial one if it does not
// wait. `whole`: the segments of a whole burst. The pacer takes one burst at a time.
std::int64_t Sender::end_of_bursts(Time now, std::int64_t count, std::uint32_t whole) const {
    const bool is_paced = pacing() != 0;
    if (is_paced && count >= whole) return next_ + count;
    const std::int64_t rest = count % whole;
    const Time sent = is_paced ? pacer_.next_at() : times_.last(next_ - 1);
    const bool is_recent = rest < count || now <= sent + kSoon;
    return next_ + (rest > 0 && defers(now, rest, is_recent) ? count - rest : count);
}

// Tells the control of the segment that is about to leave, with `pipe` others in flight.
void Sender::announce(Time now, std::uint32_t pipe) {
    ww_sent sent{};
    sent.now_us = microseconds(now);
    sent.mss = segments_.mss();
    sent.srtt_us = static_cast<std::uint32_t>(microseconds(rtt_.srtt()));
    sent.pipe = pipe;
    sent.delivered = rate_->delivered();
    sent.is_app_limited = rate_->is_limited();
    ww_on_packet_sent(&settings_->cc, cc_.get(), &window_, &sent);
}

std::int64_t Sender::next_unpaced(Time now) {
    std::int64_t segment = una_;
    if (sends_first_) {
        sends_first_ = false;
        if (next_ == una_) next_++;
        if (settings_->uses_sack) board_.retransmitted(una_);
    } else if (sends_probe_) {
        segment = choose_probe(now);
        if (segment < 0) return -1;
    } else if (!settings_->uses_sack || (phase_ == WW_OPEN && board_.idle())) {
        return next_ < new_end<false>(now) ? record_sent(now, next_++) : -1;
    } else {
        segment = choose_by_scoreboard(now);
        if (segment < 0) return -1;
    }
    rate_reduction_.on_sent();
    return record_sent(now, segment);
}

// Asks NextSeg (RFC 6675, 4) while the pipe is below cwnd. Returns -1 if nothing may be sent.
std::int64_t Sender::choose_by_scoreboard(Time now) {
    if (frto_.is_on()) return has_new_data(now) && frto_.takes_new_segment() ? next_++ : -1;
    const std::int64_t pipe = board_.pipe(una_, next_);
    cwnd_limited_ = pipe >= static_cast<std::int64_t>(window_.cwnd);
    if (cwnd_limited_) return -1;
    const bool repairing = phase_ == WW_RECOVERY || phase_ == WW_LOSS;
    std::int64_t segment = repairing ? board_.next_lost(una_) : -1;  // rule 1
    if (segment < 0) {
        // Before recovery only limited transmit sends beyond cwnd (RFC 3042).
        const bool beyond = in_flight() >= static_cast<std::int64_t>(window_.cwnd);
        if (has_new_data(now) && (repairing || settings_->limited_transmit || !beyond)) {
            const std::int64_t room = static_cast<std::int64_t>(window_.cwnd) - pipe;
            if (settings_->tso && !repairing && end_of_bursts(now, room, whole_burst()) == next_)
                return -1;
            return next_++;  // rule 2
        }
        if (phase_ != WW_RECOVERY || rack_ != nullptr) return -1;
        segment = board_.next_unsacked(una_);                          // rule 3
        if (segment < 0) return board_.rescue(una_, next_, recover_);  // rule 4
    }
    board_.retransmitted(segment);
    return segment;
}

// RFC 8985, 7.3: new data if there is any, else the last segment again, whatever cwnd is.
std::int64_t Sender::choose_probe(Time now) {
    sends_probe_ = false;
    if (next_ == una_) return -1;
    const bool is_new = has_new_data(now);
    const std::int64_t segment = is_new ? next_++ : next_ - 1;
    if (!is_new) board_.retransmitted(segment);
    probe_.on_sent(next_, !is_new);
    return segment;
}

void Sender::grow_rings() {
    times_.grow(una_, high_);
    if (settings_->uses_sack) board_.reserve(times_.capacity(), una_);
    if (settings_->paced) rate_->reserve(times_.capacity(), una_, high_);
}

}  // namespace ww::sim
