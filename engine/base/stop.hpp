// SPDX-License-Identifier: BSD-3-Clause
//
// A caller may want to end a run early. The engine has no clock and sees no signals, so it asks:
// after a number of events, and in loops whose length the input decides. The answer says when to
// ask again, because only the caller knows how long the last events took. A stopped run has no
// result.
#pragma once

#include <cstdint>

namespace ww::sim {

class Stop {
  public:
    // Returns the number of events until the next call; 0 stops the run.
    using Ask = std::uint32_t (*)(void* caller);

    Stop() = default;  // never
    Stop(Ask ask, void* caller) : ask_(ask), caller_(caller) {}

    // Asks the caller. Once the answer was to stop, it stays so.
    bool asked() {
        if (ask_ != nullptr && events_ != 0) events_ = ask_(caller_);
        return events_ == 0;
    }

    std::uint32_t events() const { return events_; }

    // Counts a step of a loop within an event and asks now and then. Returns true if the run is to
    // stop.
    bool asked_in_step() { return events_ == 0 || (++steps_ % kSteps == 0 && asked()); }

  private:
    static constexpr std::uint32_t kSteps = 4096;  // about 20 ns each

    Ask ask_ = nullptr;
    void* caller_ = nullptr;
    std::uint32_t events_ = UINT32_MAX, steps_ = 0;
};

}  // namespace ww::sim
