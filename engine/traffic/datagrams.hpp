// SPDX-License-Identifier: BSD-3-Clause
//
// A source of datagrams alternates between on and off, starting with on. It sends a packet each
// time its on time has grown by 8 size / rate: exactly (CBR), or on average with exponential gaps
// (a Poisson process). The on time continues across off periods, so the mean rate is rate * on /
// (on + off) for any length of the periods.
#pragma once

#include "../base/random.hpp"
#include "../base/stop.hpp"
#include "../base/timers.hpp"
#include "../network.hpp"

namespace ww::sim {

class DatagramSource {
  public:
    // `place` is the connection's index. The source does not look beyond the end of the run.
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

    // Returns when the next packet is sent. At `now` the source started or sent its last packet.
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

    // A source of datagrams reports only how much it sent.
    void finish(Time, FlowCounts& result) const { result.sent = sent; }

    const std::uint32_t payload, ip_bytes;
    std::uint64_t sent = 0;
    Timer timer;  // start, then the next packet; the host sets and queues it

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
    Time last_;  // the latest time at which it may send
    Stop* stop_;
    Random periods_, gaps_;
    Time spacing_;
    Time off_at_ = -1;  // when this on period ends; -1: not started
};

}  // namespace ww::sim
