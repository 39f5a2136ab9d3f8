// SPDX-License-Identifier: BSD-3-Clause
//
// Live media in one or two layers (draft-huitema-ccwg-c4-test-02, "Handling of Multimedia Applications"): a frame of
// each layer is due every `interval`. The first frame of a group, its key frame, has another size.
//
// The sender sends what it holds of the lower layer first. When a frame of the upper layer arrives later than
// `patience` allows, the receiver stops that layer, and the sender drops what it holds of it until the next group.
//
// A segment belongs to the frame that goes first when it is sent for the first time. A frame of the lower layer that
// is due after `warm_up` is a message. It is completed when it has arrived with all that was sent before it.
//
// Deviations: the layers share one stream of bytes, so a loss delays both; frames consist of whole segments.
#pragma once

#include <deque>
#include <vector>

#include "../network.hpp"

namespace ww::sim {

class Media {
  public:
    Media(const Flow& flow, std::uint32_t connection)
        : settings_(flow.application.media), mss_(flow.mss()), connection_(connection) {}

    // Writes the next frames, which are due now, `since_start` after the first.
    void write(Time now, Time since_start);
    // Takes how many segments have been sent for the first time.
    void on_sent(std::int64_t segments);
    // Takes how many segments have arrived in order by then. The host may know it when they leave.
    void on_arrived(Time time, std::int64_t segments);
    // Drops the upper layer if the receiver stopped it with an ACK up to this segment.
    void obey(std::int64_t acknowledged);

    std::int64_t written() const { return sent_ + waiting_; }  // segments since the start
    void finish(std::vector<Message>& messages) const;

  private:
    struct Frame {
        Time due;
        std::uint64_t group;
        std::int64_t bytes, unsent, end;  // unsent, end: segments; end: once all is sent
        bool is_upper, counts;
    };
    struct Arrival {
        Time at;
        std::int64_t segments;
    };
    std::uint64_t group() const { return (count_ - 1) / settings_.group; }
    void add(Time now, std::int64_t bytes, bool is_upper, bool counts);
    void complete(const Frame& frame, Time time);
    void match_arrivals();
    Message message_of(const Frame& frame, std::size_t number) const;

    const MediaFrames settings_;
    const std::int64_t mss_;
    const std::uint32_t connection_;
    std::deque<Frame> lower_, upper_;      // not all sent
    std::deque<Frame> sent_frames_;        // all sent, and not all arrived
    std::deque<Arrival> arrivals_;         // of no frame so far
    std::int64_t sent_ = 0, waiting_ = 0;  // segments
    std::uint64_t count_ = 0;              // frames of each layer
    bool upper_is_on_ = true;
    std::int64_t stopped_by_ = -1;     // the ACK that stops the upper layer; -1: none
    std::uint64_t stopped_group_ = 0;  // what it stops
    std::vector<Message> messages_;
};

}  // namespace ww::sim
