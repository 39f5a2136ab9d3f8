// SPDX-License-Identifier: BSD-3-Clause
#include "application.hpp"

#include <algorithm>
#include <limits>

#include "../base/seconds.hpp"

namespace ww::sim {

// ---- Player

std::int64_t Player::next_bytes() const {
    double sum = 0;
    const std::size_t known = std::min(chunks_, kRemembered);
    for (std::size_t i = 0; i < known; i++) sum += s_per_bit_[i];
    std::int64_t rate_bps = video_.ladder_bps.front();
    for (const std::int64_t rung : video_.ladder_bps)
        if (known > 0 && static_cast<double>(rung) * sum <= static_cast<double>(known))
            rate_bps = rung;
    const auto chunk_us = static_cast<double>(video_.chunk / kMicrosecond);
    return std::max<std::int64_t>(
        1, static_cast<std::int64_t>(static_cast<double>(rate_bps) * chunk_us / 8e6));
}

Time Player::on_chunk(Time asked, Time now, std::int64_t bytes) {
    s_per_bit_[chunks_++ % kRemembered] = seconds(now - asked) / (8 * static_cast<double>(bytes));
    buffered_ = std::max<Time>(0, buffered_ - (now - looked_at_)) + video_.chunk;
    looked_at_ = now;
    return now + std::max<Time>(0, buffered_ + video_.chunk - video_.buffer);
}

// ---- Writer

Writer::Writer(const Flow& flow, std::uint64_t seed, std::uint32_t connection, Time end, Stop* stop)
    : application_(flow.application),
      times_({application_.on_mean, application_.off_mean, application_.spread},
             OnOffTimes::spacing(flow.mss(), std::max<std::int64_t>(1, application_.rate_bps)),
             Spread::fixed, std::min(flow.stop - 1, end), seed, connection, stop),
      sizes_(seed, Stream::responses, connection),
      thinks_(seed, Stream::thinks, connection),
      connection_(connection),
      mss_(flow.mss()),
      size_bytes_(flow.size_bytes),
      stop_(flow.stop) {
    if (application_.kind == ApplicationKind::media) media_.emplace(flow, connection);
}

bool Writer::serve(Time now, const SenderState& sender) {
    const std::int64_t before = written_;
    if (!started_) start(now);
    if (media_) serve_media(sender);
    if (message_ && sender.acknowledged >= message_end_) end_message(now);
    while (next_at_ <= now) on_timer(now, sender.sent);
    return written_ != before;
}

void Writer::serve_media(const SenderState& sender) {
    media_->on_sent(sender.sent);
    media_->obey(sender.acknowledged);
    written_ = media_->written();
}

void Writer::start(Time now) {
    started_ = true;
    media_start_ = now;
    limited_since_ = now;
    is_bulk_ = application_.kind == ApplicationKind::rate && application_.bulk > 0;
    if (is_bulk_) {
        written_ = std::numeric_limits<std::int64_t>::max();
        next_at_ = now + application_.bulk;
        return;
    }
    next_at_ = application_.kind == ApplicationKind::rate ? times_.next(now) : now;
}

void Writer::on_timer(Time now, std::int64_t sent) {
    next_at_ = kNever;
    if (now >= stop_) return;
    if (application_.kind == ApplicationKind::rate) {
        written_ = is_bulk_ ? sent : written_ + 1;
        is_bulk_ = false;
        next_at_ = times_.next(now);
    } else if (application_.kind == ApplicationKind::on_off) {
        on_ = !on_;
        written_ = on_ ? std::numeric_limits<std::int64_t>::max() : sent;
        next_at_ = now + times_.period(on_ ? application_.on_mean : application_.off_mean);
    } else if (media_) {
        media_->write(now, now - media_start_);
        written_ = media_->written();
        next_at_ = now + application_.media.interval;
    } else {
        begin_message(now);
    }
}

// Writes the next message, unless the connection's `size` has been written.
void Writer::begin_message(Time now) {
    std::int64_t end = written_ + (next_bytes() + mss_ - 1) / mss_;
    if (size_bytes_ != kUnlimited) end = std::min(end, (size_bytes_ + mss_ - 1) / mss_);
    if (end == written_) return;
    message_.emplace();
    message_->connection = connection_;
    message_->number = messages_.size() + 1;
    message_->bytes =
        static_cast<std::uint64_t>(std::min(end * mss_, size_bytes_) - written_ * mss_);
    message_->start_s = seconds(now);
    asked_ = now;
    message_end_ = written_ = end;
}

void Writer::end_message(Time now) {
    message_->completed_s = seconds(now);
    messages_.push_back(*message_);
    next_at_ = time_of_next(now);
    message_.reset();
}

std::int64_t Writer::next_bytes() {
    if (application_.kind == ApplicationKind::video) return player_.next_bytes();
    if (application_.size_spread == Spread::fixed) return application_.size_bytes;
    return exponential(sizes_, application_.size_bytes);
}

// Returns when the message after the one that ended now is asked for.
Time Writer::time_of_next(Time now) {
    if (application_.kind == ApplicationKind::video)
        return player_.on_chunk(asked_, now, static_cast<std::int64_t>(message_->bytes));
    if (application_.think_mean == 0 || application_.spread == Spread::fixed)
        return now + application_.think_mean;
    return now + exponential(thinks_, application_.think_mean);
}

void Writer::count_limited(Time now) {
    now = std::min(now, stop_);
    if (limited_ && now > limited_since_) limited_ps_ += now - limited_since_;
    limited_since_ = now;
}

void Writer::watch(Time now, const SenderState& sender) {
    if (media_) media_->on_sent(sender.sent);
    count_limited(now);
    limited_ = sender.waits;
    if (sender.transmissions != transmissions_) sent_at_ = now;
    transmissions_ = sender.transmissions;
}

void Writer::finish(Time end, FlowCounts& result, std::vector<Message>& messages) {
    if (!started_) return;
    count_limited(end);
    result.application_limited_s = seconds(limited_ps_);
    if (media_) media_->finish(messages);
    if (message_) messages_.push_back(*message_);
    messages.insert(messages.end(), messages_.begin(), messages_.end());
}

}  // namespace ww::sim
