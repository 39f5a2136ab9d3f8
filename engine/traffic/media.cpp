// SPDX-License-Identifier: BSD-3-Clause
#include "media.hpp"

#include "../base/seconds.hpp"

namespace ww::sim {

void Media::write(Time now, Time since_start) {
    const bool is_key = count_++ % settings_.group == 0;
    const auto size = [&](std::int64_t frame, std::int64_t key) {
        return is_key && key > 0 ? key : frame;
    };
    add(now, size(settings_.frame_bytes, settings_.key_bytes), false,
        since_start >= settings_.warm_up);
    upper_is_on_ |= is_key;
    if (settings_.upper_bytes > 0 && upper_is_on_)
        add(now, size(settings_.upper_bytes, settings_.upper_key_bytes), true, false);
}

void Media::add(Time now, std::int64_t bytes, bool is_upper, bool counts) {
    const std::int64_t segments = (bytes + mss_ - 1) / mss_;
    (is_upper ? upper_ : lower_).push_back({now, group(), bytes, segments, 0, is_upper, counts});
    waiting_ += segments;
}

void Media::on_sent(std::int64_t segments) {
    while (sent_ < segments && waiting_ > 0) {
        std::deque<Frame>& layer = lower_.empty() ? upper_ : lower_;
        Frame& frame = layer.front();
        const std::int64_t some = std::min(segments - sent_, frame.unsent);
        frame.unsent -= some;
        waiting_ -= some;
        sent_ += some;
        if (frame.unsent > 0) continue;
        frame.end = sent_;
        sent_frames_.push_back(frame);
        layer.pop_front();
    }
    match_arrivals();
}

void Media::on_arrived(Time time, std::int64_t segments) {
    arrivals_.push_back({time, segments});
    match_arrivals();
}

void Media::match_arrivals() {
    while (!sent_frames_.empty() && !arrivals_.empty()) {
        if (arrivals_.front().segments < sent_frames_.front().end) {
            arrivals_.pop_front();
            continue;
        }
        complete(sent_frames_.front(), arrivals_.front().at);
        sent_frames_.pop_front();
    }
}

void Media::complete(const Frame& frame, Time time) {
    if (frame.is_upper && time - frame.due > settings_.patience) {
        stopped_by_ = frame.end;
        stopped_group_ = frame.group;
    }
    if (!frame.counts) return;
    messages_.push_back(message_of(frame, messages_.size() + 1));
    messages_.back().completed_s = seconds(time);
}

void Media::obey(std::int64_t acknowledged) {
    if (stopped_by_ < 0 || acknowledged < stopped_by_) return;
    stopped_by_ = -1;
    if (stopped_group_ != group()) return;
    upper_is_on_ = false;
    for (const Frame& frame : upper_) waiting_ -= frame.unsent;
    upper_.clear();
}

Message Media::message_of(const Frame& frame, std::size_t number) const {
    Message message;
    message.connection = connection_;
    message.number = number;
    message.bytes = static_cast<std::uint64_t>(frame.bytes);
    message.start_s = seconds(frame.due);
    return message;
}

void Media::finish(std::vector<Message>& messages) const {
    messages.insert(messages.end(), messages_.begin(), messages_.end());
    std::size_t number = messages_.size();
    for (const std::deque<Frame>* const frames : {&sent_frames_, &lower_})
        for (const Frame& frame : *frames)
            if (frame.counts) messages.push_back(message_of(frame, ++number));
}

}  // namespace ww::sim
