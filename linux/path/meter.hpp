// SPDX-License-Identifier: GPL-2.0-only
//
// The meter reports once a second what the path carries, and at the end the totals. On a terminal it writes
// into the window's title, which disturbs no program; otherwise it prints a line. It never waits for a reader.
#pragma once

#include <array>
#include <string>

#include "loop.hpp"
#include "model.hpp"

namespace ww::path {

class Meter {
  public:
    static constexpr sim::Time kEvery = sim::kSecond;

    // Writes to file descriptor `fd`.
    Meter(const Model& model, int fd);

    void tick(sim::Time now);
    void sum_up(sim::Time now, const Lateness& lateness);

  private:
    std::string since_last(sim::Time now, bool is_up);
    std::string in_all(sim::Time now, bool is_up) const;
    void write(const std::string& text) const;

    const Model& model_;
    int fd_;
    bool is_terminal_;
    std::array<Carried, 2> before_;  // at the last tick: up, down
    sim::Time last_ = 0;
};

}  // namespace ww::path
