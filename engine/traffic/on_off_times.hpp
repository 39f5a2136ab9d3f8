// SPDX-License-Identifier: BSD-3-Clause
//
// When a source in on and off periods sends: each time its on time has grown by a gap, which is fixed or
// exponential. The on time continues across off periods, so the mean rate is rate * on / (on + off) for any
// length of the periods. It starts with on.
#pragma once

#include "../base/random.hpp"
#include "../base/stop.hpp"
#include "../network.hpp"

namespace ww::sim {

// Lengths of the on and off periods.
struct Periods {
    Time on_mean, off_mean;  // off_mean 0: always on
    Spread spread;
};

class OnOffTimes {
  public:
    // Nothing is sent after `last`. `place` is the connection's index.
    OnOffTimes(const Periods& periods, Time gap_mean, Spread spacing, Time last, std::uint64_t seed,
               std::uint32_t place, Stop* stop = nullptr)
        : periods_(periods),
          gap_mean_(gap_mean),
          spacing_(spacing),
          last_(last),
          stop_(stop),
          lengths_(seed, Stream::datagrams, place),
          gaps_(seed, Stream::spacing, place) {}

    // Returns when to send next. At `now` the source started or sent last.
    Time next(Time now) {
        if (off_at_ < 0) off_at_ = now + period(periods_.on_mean);
        Time left = gap(), time = now;
        while (left > off_at_ - time) {
            left -= off_at_ - time;
            time = off_at_ + period(periods_.off_mean);
            if (time > last_ || (stop_ != nullptr && stop_->asked_in_step())) return kNever;
            off_at_ = time + period(periods_.on_mean);
        }
        return time + left <= last_ ? time + left : kNever;
    }

    // Returns the length of the next period with this mean.
    Time period(Time mean) {
        if (periods_.off_mean == 0) return kFar;  // always on
        return periods_.spread == Spread::fixed ? mean : exponential(lengths_, mean);
    }

    // Returns the time in which `bytes` leave at a rate: at most 65535 * 8 * 10^12 < 2^63.
    static Time spacing(std::uint32_t bytes, std::int64_t rate_bps) {
        return std::max<Time>(1,
                              (static_cast<Time>(bytes) * 8 * kSecond + rate_bps / 2) / rate_bps);
    }

  private:
    static constexpr Time kFar = INT64_MAX / 4;

    Time gap() { return spacing_ == Spread::fixed ? gap_mean_ : exponential(gaps_, gap_mean_); }

    Periods periods_;
    Time gap_mean_;
    Spread spacing_;
    Time last_;
    Stop* stop_;
    Random lengths_, gaps_;
    Time off_at_ = -1;  // when this on period ends; -1: not started
};

}  // namespace ww::sim
