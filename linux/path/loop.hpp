// SPDX-License-Identifier: GPL-2.0-only
//
// Real time: moves packets between the hosts' devices and the model, when the model says so.
//
// A packet's time of entry is the clock's when it is read from its device. How late packets were handed
// over is kept, since it is the emulator's error: it sleeps until the next one is due, with a timer
// slack of a nanosecond and, where it may, at a real-time priority.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <ctime>
#include <span>
#include <string>

#include "host.hpp"
#include "model.hpp"

namespace ww::path {

// ps since its making.
class Clock {
  public:
    Clock() : start_ns_(monotonic_ns()) {}
    sim::Time now() const { return (monotonic_ns() - start_ns_) * 1000; }

  private:
    static std::int64_t monotonic_ns() {
        timespec now;
        ::clock_gettime(CLOCK_MONOTONIC, &now);
        return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
    }
    std::int64_t start_ns_;
};

// How late: counts by eighths of a power of two.
class Lateness {
  public:
    void add(sim::Time late) {
        counts_[place(late)]++;
        total_++;
        if (late > worst_) worst_ = late;
    }
    // No less than this share of the packets was later than that.
    sim::Time quantile(double share) const {
        std::uint64_t below = 0;
        for (std::size_t i = 0; i < counts_.size(); i++) {
            below += counts_[i];
            if (static_cast<double>(below) >= share * static_cast<double>(total_))
                return std::min(worst_, upper(i));
        }
        return worst_;
    }
    sim::Time worst() const { return worst_; }

  private:
    static constexpr unsigned kSteps = 8;

    static std::size_t place(sim::Time late) {
        const auto value = static_cast<std::uint64_t>(std::max<sim::Time>(late, kSteps));
        const auto power = static_cast<unsigned>(std::bit_width(value)) - 1;
        return power * kSteps + ((value >> (power - 3)) & (kSteps - 1));
    }
    static sim::Time upper(std::size_t i) {
        return static_cast<sim::Time>((i % kSteps + kSteps + 1) << (i / kSteps - 3));
    }

    std::array<std::uint64_t, 64 * kSteps> counts_{};
    std::uint64_t total_ = 0;
    sim::Time worst_ = 0;
};

struct LoopReport {
    Lateness lateness;
    std::uint64_t refused = 0;  // packets that a device did not take
    std::string error;          // not empty: why it ended
};

// Runs until `stop` (an eventfd) can be read.
LoopReport run_loop(Model& model, std::span<const Host> hosts, const Clock& clock, int stop);

}  // namespace ww::path
