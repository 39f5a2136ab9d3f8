// SPDX-License-Identifier: BSD-3-Clause
//
// A caller may want a run to end early. The engine has no clock and knows no signals, so it asks: every so
// many events, and in loops whose length the input decides. The answer says when to ask again, for
// only the caller knows how long the last events took. A run that was stopped has no result.
#pragma once

#include <cstdint>

namespace ww::sim {

class Stop {
  public:
    // Returns how many events may pass until the next question; 0: the run is to end.
    using Ask = std::uint32_t (*)(void* caller);

    Stop() = default;  // never
    Stop(Ask ask, void* caller) : ask_(ask), caller_(caller) {}

    // Asks, until the caller has wanted the end once.
    bool asked() {
        if (ask_ != nullptr && events_ != 0) events_ = ask_(caller_);
        return events_ == 0;
    }

    std::uint32_t events() const { return events_; }

    // Counts a step of a loop within an event, and asks now and then; true if the run is to end.
    bool asked_in_step() { return events_ == 0 || (++steps_ % kSteps == 0 && asked()); }

  private:
    static constexpr std::uint32_t kSteps = 4096;  // of some 20 ns each

    Ask ask_ = nullptr;
    void* caller_ = nullptr;
    std::uint32_t events_ = UINT32_MAX, steps_ = 0;
};

}  // namespace ww::sim
