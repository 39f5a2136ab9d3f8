// SPDX-License-Identifier: BSD-3-Clause
//
// A source of datagrams is on and off in turn, beginning with on; it sends a packet whenever the time
// spent on has grown by 8 size / rate, always (CBR) or on average: exponentially distributed times make the
// packets a Poisson process. That time goes on where it was when the source comes on again, so that the
// mean rate is rate * on / (on + off) whatever the periods' length.
#pragma once

#include "network.hpp"
#include "random.hpp"
#include "stop.hpp"
#include "timers.hpp"

namespace ww::sim {

class DatagramSource {
  public:
    // Its place is that of its connection; it looks no further than to the end of the run.
    DatagramSource(const Flow& flow, std::uint64_t seed, std::uint32_t place, Time end,
                   Stop* stop = nullptr)
        : payload(flow.mss()),
          ip_bytes(flow.packet_bytes),
          options_(flow.datagrams),
          last_(std::min(flow.stop - 1, end)),
          stop_(stop),
          periods_(seed, Stream::datagrams, place),
          gaps_(seed, Stream::spacing, place) {
        // 65535 * 8 * 10^12 < 2^63
        spacing_ =
            std::max<Time>(1, (static_cast<Time>(ip_bytes) * 8 * kSecond + options_.rate_bps / 2) /
                                  options_.rate_bps);
    }

    // Returns when the next packet is sent; the last one was sent, or the source started, at `now`.
    Time next(Time now) {
        if (off_at_ < 0) off_at_ = now + period(options_.on_mean);
        Time left = gap(), at = now;
        while (left > off_at_ - at) {
            left -= off_at_ - at;
            at = off_at_ + period(options_.off_mean);
            if (at > last_ || (stop_ != nullptr && stop_->asked_in_step())) return kNever;
            off_at_ = at + period(options_.on_mean);
        }
        return at + left <= last_ ? at + left : kNever;
    }

    // A source measures nothing of what a sender reports but how much it sent.
    void finish(Time, FlowCounts& result) const { result.sent = sent; }

    const std::uint32_t payload, ip_bytes;
    std::uint64_t sent = 0;
    Timer timer;  // start of the source, then its next packet; the host sets and queues it

  private:
    static constexpr Time kFar = INT64_MAX / 4;

    Time gap() {
        return options_.spacing == Spread::fixed ? spacing_ : exponential(gaps_, spacing_);
    }

    Time period(Time mean) {
        if (options_.off_mean == 0) return kFar;  // always on
        return options_.spread == Spread::fixed ? mean : exponential(periods_, mean);
    }

    Datagrams options_;
    Time last_;  // when it may send at the latest
    Stop* stop_;
    Random periods_, gaps_;
    Time spacing_;
    Time off_at_ = -1;  // when this period on ends; -1: not started
};

}  // namespace ww::sim
