// SPDX-License-Identifier: BSD-3-Clause
//
// What the application of a connection's sender writes, and when:
//
//   rate      a segment each time its payload has come together, always or in on and off periods; before that as
//             much as TCP takes, if it begins in bulk
//   on_off    as much as TCP takes while on, nothing while off
//   request   a response; the next request comes `think` after it has arrived
//   video     chunks of a video, which a player with a buffer asks for one by one
//   media     frames of live media, when they are due (media.hpp)
//
// The player takes the lowest rate of the ladder for its first chunk. For a later one it takes the highest
// that is no more than the harmonic mean of the last five chunks' rates (Yin et al. 2015, 7.1.1, "RB"). It
// asks for the next chunk once its buffer has room for it, and plays from the end of the first one on.
//
// Responses and chunks are messages, which end with a segment that is acknowledged at once. The client's
// requests are not packets. Its think time runs at the sender, from the ACK of the whole message on. So the
// next message begins when a request would arrive whose path is as long as that ACK's. For the same reason
// the time from a message's start to its last ACK is what the client measures.
//
// Deviation: data is written in whole segments, so a message is rounded up to them.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "../base/timers.hpp"
#include "media.hpp"
#include "on_off_times.hpp"

namespace ww::sim {

// Chooses a video's chunks, and when to ask for them.
class Player {
  public:
    explicit Player(const Application& video) : video_(video) {}

    // Returns the payload of the next chunk.
    std::int64_t next_bytes() const;
    // Takes a chunk that arrived. Returns when to ask for the next.
    Time on_chunk(Time asked, Time now, std::int64_t bytes);

  private:
    static constexpr std::size_t kRemembered = 5;  // chunks

    const Application& video_;
    std::array<double, kRemembered> s_per_bit_ = {};  // of the last chunks
    std::size_t chunks_ = 0;
    Time buffered_ = 0, looked_at_ = 0;  // playing time in the buffer, at that time
};

// What the host tells of the sender, in segments since the start.
struct SenderState {
    std::int64_t acknowledged, sent;
    std::uint64_t transmissions;  // with retransmissions
    bool waits;                   // the windows allow data that has not been written
};

class Writer {
  public:
    // `connection` is its index. Nothing is written after `end`, the run's.
    Writer(const Flow& flow, std::uint64_t seed, std::uint32_t connection, Time end,
           Stop* stop = nullptr);

    // Looks at the sender after an ACK, or when the timer is due. Returns true if there is new data
    // for it. Once that is sent, call watch().
    bool serve(Time now, const SenderState& sender);
    std::int64_t written() const { return written_; }        // segments since the start
    Time silence(Time now) const { return now - sent_at_; }  // since the sender sent last
    // Notes whether the sender waits for the application from now on.
    void watch(Time now, const SenderState& sender);

    bool ends_message(std::int64_t segment) const {
        return segment + 1 == (media_ ? written_ : message_end_);
    }
    // Takes how much has arrived in order.
    void on_arrived(Time now, std::uint64_t bytes) {
        if (media_) media_->on_arrived(now, static_cast<std::int64_t>(bytes) / mss_);
    }

    // Adds its part of the results.
    void finish(Time end, FlowCounts& result, std::vector<Message>& messages);

    Time next_at() const { return next_at_; }  // when it writes next
    Timer timer;                               // the host sets it to that, and queues it

  private:
    void start(Time now);
    void serve_media(const SenderState& sender);
    void on_timer(Time now, std::int64_t sent);
    void begin_message(Time now);
    void end_message(Time now);
    std::int64_t next_bytes();
    Time time_of_next(Time now);
    void count_limited(Time now);

    const Application application_;
    Player player_{application_};
    std::optional<Media> media_;
    Time media_start_ = 0;
    OnOffTimes times_;
    Random sizes_, thinks_;
    const std::uint32_t connection_;
    const std::int64_t mss_, size_bytes_;
    const Time stop_;
    bool started_ = false, on_ = false, is_bulk_ = false;
    Time next_at_ = kNever;
    std::int64_t written_ = 0;        // segments since the start
    std::int64_t message_end_ = -1;   // segments; -1: none
    std::optional<Message> message_;  // the one under way
    Time asked_ = 0;                  // when it began
    std::vector<Message> messages_;   // those before it
    bool limited_ = false;            // the sender waits for the application
    Time limited_since_ = 0, limited_ps_ = 0;
    std::uint64_t transmissions_ = 0;  // of the sender, when watched last
    Time sent_at_ = 0;                 // when it was last seen to have sent
};

}  // namespace ww::sim
