// SPDX-License-Identifier: BSD-3-Clause
//
// The windows of a sender that sends again after an idle time longer than the RTO. They describe a
// path that may have changed since:
//
//   idle_restart   cwnd = min(initial_cwnd, cwnd)                                 RFC 5681, 4.1
//   idle_decay     cwnd halves once per RTO of the idle time, but not below that; ssthresh = max(ssthresh,
//                  3/4 cwnd) remembers it                                         Linux, RFC 2861, 3.1
//
// RFC 5681 measures the idle time from the last segment sent. A shorter one changes no window. Deviation:
// RFC 2861 and Linux also lower cwnd while a sender is busy but does not fill it; here it stays.
#pragma once

#include <algorithm>

#include "../../core/contract.h"
#include "../settings.hpp"

namespace ww::sim {

inline void restart_windows(ww_window& window, std::uint32_t initial_cwnd, Time idle, Time rto,
                            bool decays) {
    const std::uint32_t least = std::min(initial_cwnd, window.cwnd);
    if (!decays) {
        window.cwnd = least;
        return;
    }
    window.ssthresh = std::max(window.ssthresh, window.cwnd - window.cwnd / 4);
    for (Time left = idle - rto; left > 0 && window.cwnd > least; left -= rto) window.cwnd /= 2;
    window.cwnd = std::max(window.cwnd, least);
}

}  // namespace ww::sim
