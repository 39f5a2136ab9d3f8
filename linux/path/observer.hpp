// SPDX-License-Identifier: GPL-2.0-only
//
// An observer samples TCP_INFO (tcp(7)) of a connection's sender at equal intervals.
//
// Its counters are the kernel's and exact. Its means are over the samples. It counts a fast recovery when a
// sample is in recovery and the one before was not, so it may miss recoveries shorter than the interval.
#pragma once

#include <cstdint>

#include "../../engine/network.hpp"
#include "../../wire/report.hpp"

struct tcp_info;

namespace ww::path {

class Observer {
  public:
    // Samples socket `fd` at `now`. If something has changed, writes a row for connection `index` into the
    // trace.
    void sample(int fd, sim::Time now, std::uint32_t index, wire::Trace& trace);

    // Fills in what the samples have shown; leaves the other fields of the result unchanged.
    void report(sim::FlowResult& result) const;

  private:
    struct Row {
        std::uint32_t cwnd, ssthresh, rtt_us, rto_us, in_flight;
        ww_phase phase;
        bool operator==(const Row&) const = default;
    };

    void count_changes(std::uint8_t ca_state);
    void add_to_means(const tcp_info& info);
    static wire::WindowRow traced(sim::Time now, const Row& row);

    Row last_{};
    std::uint32_t max_cwnd_ = 0, syns_again_ = 0;
    std::uint64_t samples_ = 0, rtts_ = 0, cwnd_sum_ = 0, srtt_sum_us_ = 0;
    std::uint64_t sent_ = 0, retransmitted_ = 0, timeouts_ = 0, losses_ = 0;
    std::uint64_t recoveries_ = 0, reductions_ = 0;
    std::uint64_t receiver_limited_us_ = 0;
    std::uint32_t min_rtt_us_ = UINT32_MAX;
    sim::Time established_ = -1;
    std::uint8_t ca_state_ = 0;  // enum tcp_ca_state at the last sample
    bool knows_timeouts_ = false;
};

}  // namespace ww::path
