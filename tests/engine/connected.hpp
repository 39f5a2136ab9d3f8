// SPDX-License-Identifier: BSD-3-Clause
//
// A connected sender, for tests that call it directly. Times are in milliseconds.
#pragma once

#include "engine/tcp/sender.hpp"
#include "one_link.hpp"

namespace ww::sim::test {

using Blocks = std::vector<std::pair<std::int64_t, std::int64_t>>;  // of segments, from and below

// Keeps the settings that tests make by hand alive.
inline const SenderSettings& settings_of(const Flow& flow) {
    static SharedSettings all;
    return all.of(flow);
}

inline Flow with_sack() {
    Flow flow;
    flow.cc = ww_configure(WW_PROTOCOL_SACK);
    flow.recovery = Recovery::sack;
    return flow;
}

inline Flow with_min_rto(Flow flow, Time min_rto) {
    flow.min_rto = min_rto;
    return flow;
}

// What the ACK says besides its number.
struct Told {
    Blocks sacked = {};
    bool again = false;  // its timestamp echoes a retransmission
    bool marked = false;
};

// The handshake took 100 ms.
class Connected : public Sender {
  public:
    explicit Connected(const Flow& flow = {}, std::uint32_t isn = 99, Time min_rto = kMs)
        : Sender(settings_of(with_min_rto(flow, min_rto)), with_min_rto(flow, min_rto), isn) {
        on_syn_sent(0);
        on_syn_ack(100 * kMs);
    }

    std::uint32_t number(std::int64_t segment) const { return segments().number(segment); }
    Segments sends(int at_ms) { return sends_at(at_ms * kMs); }
    Segments sends_at(Time now) {
        Segments sent;
        for (std::int64_t s; (s = next_segment(now)) >= 0;) sent.push_back(s);
        return sent;
    }
    std::int64_t next(int at_ms) { return next_segment(at_ms * kMs); }
    // An ACK of all segments below `segment` arrives.
    Ack ack(int at_ms, std::int64_t segment, const Told& told = {}) {
        SackBlocks blocks;
        for (const auto& [start, end] : told.sacked)
            blocks.block[blocks.count++] = {number(start), number(end)};
        const SackBlocks* const sack = told.sacked.empty() ? nullptr : &blocks;
        const AckHeader header{number(segment), sack, told.again, told.marked};
        Ack brought = on_ack(at_ms * kMs, header);
        brought.header = nullptr;  // it is gone
        return brought;
    }
    bool takes_fast_path(int at_ms, std::int64_t segment) {
        return take_fast_path<false>(at_ms * kMs, number(segment));
    }
    Time deadline() const { return timer.deadline; }
};

}  // namespace ww::sim::test
