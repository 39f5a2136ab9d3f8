// SPDX-License-Identifier: GPL-2.0-only
//
// The loop moves packets between the model and the devices, of hosts and of the kernel's queues, in real time.
//
// A packet enters the model at the time at which it is read from its device. The loop then sleeps until
// the next packet is due, with a timer slack of a nanosecond and, if permitted, at a real-time priority.
// It records how late it delivered packets, since that is the emulator's error.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <ctime>
#include <functional>
#include <span>
#include <string>

#include "host.hpp"
#include "model.hpp"
#include "queues.hpp"

namespace ww::path {

// Measures the time in ps since its construction.
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

// A histogram of the packets' lateness, with eight buckets for each power of two of ps.
class Lateness {
  public:
    void add(sim::Time late) {
        counts_[place(late)]++;
        total_++;
        if (late > worst_) worst_ = late;
    }
    // Returns a time that this share of the packets did not exceed.
    sim::Time quantile(double share) const {
        std::uint64_t below = 0;
        for (std::size_t i = place(0); i < counts_.size(); i++) {  // the first bucket in use
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
    std::uint64_t refused = 0;  // packets that a device rejected
    std::string error;          // why the loop failed; empty: it succeeded
};

// A periodic task of the loop. It must not block; it returns whether the loop continues.
struct Tick {
    sim::Time every = sim::kNever;
    std::function<bool(sim::Time now)> act;
};

// Runs until `stop` (an eventfd or a pipe; -1: none) becomes readable.
LoopReport run_loop(Model& model, std::span<const Host> hosts, const Clock& clock, int stop,
                    const Tick& tick = {}, const Queues& queues = {});

}  // namespace ww::path
