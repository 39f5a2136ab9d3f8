// SPDX-License-Identifier: GPL-2.0-only
//
// A plan says what the emulator is to do: the engine's network and what only Linux needs to know. It is read
// from text. Each line is a statement of words separated by spaces; times are in ps, sizes in bytes, rates in
// bit/s, and -1 means no limit. `forward` and `backward` choose a direction of the last link, for which the
// statements below them hold.
//
//   seed N | duration_ps N | sample_us N | trace FOLDER | hold
//   nodes N
//   link A B OVERHEAD
//   forward | backward
//     rate_bps N | delay_ps N | jitter_ps N | reorder RATE DELAY | queue PACKETS BYTES
//     loss none|uniform RATE|bits RATE|script N...|states MEAN MEAN RATE RATE FIXED
//     red MIN MAX MAX_P WEIGHT MEAN GENTLE ECN | opportunities MS...
//   flow FROM TO CONTROL
//     start_ps N | start_spread_ps N | stop_ps N | size_bytes N | arrivals MEAN fixed|exponential
//     datagrams RATE ON OFF fixed|exponential
//     mss N | header_bytes N | initial_cwnd N | receive_window N
//     min_rto_ps N | max_rto_ps N | delayed_ack N | dupack_threshold N | ecn 0|1 | sack 0|1
//   end
#pragma once

#include <cstdint>
#include <istream>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../engine/network.hpp"

namespace ww::path {

struct Plan {
    sim::Network network;
    std::vector<std::string> control;  // the kernel's name of each flow's control
    std::vector<char> sack;            // whether each flow has SACK
    std::uint64_t seed = 1;
    sim::Time sample = 10'000 * sim::kMicrosecond;  // between two looks at TCP_INFO
    std::string trace;  // the folder for windows, queues and drops; empty: not traced
    bool hold = false;  // say where the hosts are, and go on although the flows are through
};

// Thrown if the text is no plan; the message names the line.
struct PlanError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Reads up to the line `end`, or throws PlanError. The network has then passed the engine's own checks.
Plan read_plan(std::istream& text);

}  // namespace ww::path
