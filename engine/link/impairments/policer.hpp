// SPDX-License-Identifier: BSD-3-Clause
//
// A policer: a token bucket that drops what does not conform, without a queue (RFC 2475, section 2.3.3.3; the
// token bucket of RFC 2697 with one rate and one burst). The bucket holds `burst` bytes, is full at first and fills
// with `rate`. A packet conforms if the bucket has a token for each of its bytes, with the link's overhead, and takes
// them. Others are dropped and take none.
//
// The bucket is kept as the time at which it is full again, so that no token is rounded:
//
//   tokens missing at t   max(0, full_at - t) x rate / 8
#pragma once

#include <algorithm>

#include "impairment.hpp"

#define WW_POLICER_SETTINGS(X)                                                                  \
    X(RATE, rate, 1'000'000, 1'000, kFastest, "Rate at which the bucket fills with tokens", "") \
    X(BYTES, burst, 15'000, 1, 1u << 30, "Tokens that a full bucket has", "")

namespace ww::sim {

struct Policer {
    WW_POLICER_SETTINGS(WW_SETTING_MEMBER)
};

class TokenBucket : public Impairment {
  public:
    static constexpr bool kDrops = true;

    TokenBucket(const Policer& settings, const Random&)
        : rate_bps_(settings.rate_bps), whole_(time_of(settings.burst_bytes, rate_bps_)) {}

    bool drops(Time now, std::uint32_t bytes) {
        const Time since = std::max(full_at_, now);
        const Time tokens = time_of(bytes, rate_bps_);
        if (since - now + tokens > whole_) return true;
        full_at_ = since + tokens;
        return false;
    }

  private:
    // A large burst at a low rate takes longer to fill than any run lasts.
    static Time time_of(std::uint64_t bytes, std::int64_t rate_bps) {
        __extension__ using Wide = unsigned __int128;
        const Wide time = Wide{bytes} * 8 * kSecond / static_cast<std::uint64_t>(rate_bps);
        return time < kLongest ? static_cast<Time>(time) : kLongest;
    }

    std::int64_t rate_bps_;
    Time whole_;        // how long an empty bucket takes to fill
    Time full_at_ = 0;  // when the bucket is full again
};

}  // namespace ww::sim
