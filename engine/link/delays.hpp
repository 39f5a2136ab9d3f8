// SPDX-License-Identifier: BSD-3-Clause
//
// The delay of a wire that changes at given times: a list of handovers, or a recording. A packet has the delay of the
// moment at which it leaves the transmitter, as in LeoReplayer (Lai et al., SIGCOMM 2025). Packets stay in order: one
// that would overtake another arrives with it. In LeoReplayer it overtakes.
#pragma once

#include <algorithm>
#include <utility>

#include "../network.hpp"

namespace ww::sim {

class ChangingDelay {
  public:
    // base: the delay before the first change, which arrivals have until arrival() replaces it
    ChangingDelay(DelayChanges changes, Time base)
        : changes_(std::move(changes)), base_(base), delay_(base) {}

    // Returns when a packet arrives that would arrive at `time` with the base delay. Calls come in the order of time.
    Time arrival(Time time) {
        const Time sent = time - base_;
        if (changes_.period > 0) skip_silence(sent);
        while (start_ + changes_.at[next_] <= sent) {
            delay_ = changes_.delays[next_];
            if (++next_ < changes_.at.size()) continue;
            next_ = 0;
            start_ = changes_.period > 0 ? start_ + changes_.period : kNever - changes_.at[0];
        }
        return last_ = std::max(last_, sent + delay_);
    }

  private:
    // One whole period before `sent` tells the delay, so the others are left out.
    void skip_silence(Time sent) {
        const Time periods = (sent - start_) / changes_.period;
        if (periods < 2) return;
        start_ += (periods - 1) * changes_.period;
        next_ = 0;
    }

    DelayChanges changes_;
    Time base_, delay_;
    std::size_t next_ = 0;  // the next change
    Time start_ = 0;        // of the present period
    Time last_ = 0;
};

}  // namespace ww::sim
