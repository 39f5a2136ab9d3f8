// SPDX-License-Identifier: BSD-3-Clause
//
// The receiving end of a connection reassembles the stream and acknowledges it.
//
//   in order              an ACK every `delayed_ack` segments or after the timeout   RFC 5681, 4.2
//   out of order          an ACK at once, a duplicate, with SACK blocks              RFC 5681, 4.2
//   fills (part of) a gap an ACK at once                                             RFC 5681, 4.2
//   already here          an ACK at once                                             RFC 9293, 3.10.7.4
//
// The application reads at once, so that the advertised window always is the whole receive window.
// Deviation: a lost SYN-ACK is repeated when the SYN comes again, not by a timer of its own.
#pragma once

#include "reassembly.hpp"
#include "timers.hpp"

namespace ww::sim {

struct Receiver {
    std::uint32_t next_number = 0;  // the sequence number expected next (RCV.NXT)
    std::uint32_t delayed_ack = 2;  // segments
    std::uint32_t unacknowledged = 0;
    bool listening = true;
    bool sack = false;
    std::uint16_t echo = 0;  // kCe while marks are to be echoed (ECE)
    std::uint64_t delivered_bytes = 0;
    std::uint64_t ip_bytes = 0;
    Time delayed_ack_timeout = 0;
    Timer timer;
    Reassembly held;

    // True if it is to be acknowledged now; otherwise the timer must run, from unacknowledged == 1 on.
    bool on_data(std::uint32_t number, std::uint32_t bytes, bool last) {
        const auto ahead = static_cast<std::int32_t>(number - next_number);
        if (ahead == 0) [[likely]] {
            next_number += bytes;
            delivered_bytes += bytes;
            if (!held.empty()) [[unlikely]] {
                join();
                return true;
            }
            return ++unacknowledged >= delayed_ack || last;
        }
        if (ahead > 0) {
            const std::int64_t start = static_cast<std::int64_t>(delivered_bytes) + ahead;
            held.add(start, start + bytes);
        }
        return true;
    }

    SackBlocks sack_blocks() {
        return held.report(next_number - static_cast<std::uint32_t>(delivered_bytes));
    }

  private:
    void join() {
        const auto before = static_cast<std::int64_t>(delivered_bytes);
        const std::int64_t after = held.advance(before);
        next_number += static_cast<std::uint32_t>(after - before);
        delivered_bytes = static_cast<std::uint64_t>(after);
    }
};

}  // namespace ww::sim
