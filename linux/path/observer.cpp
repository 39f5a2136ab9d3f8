// SPDX-License-Identifier: GPL-2.0-only
#include "observer.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

#include "../../engine/base/seconds.hpp"
#include "../bpf/ca_state.h"

namespace ww::path {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint8_t kSynSent = 2;  // TCP_SYN_SENT of the kernel's net/tcp_states.h
// Since Linux 6.7 tcpi_total_rto counts timeouts: a field of 16 bits behind the last field that older headers
// declare.
constexpr std::size_t kTotalRto = offsetof(tcp_info, tcpi_snd_wnd) + 12;

double seconds_of_us(double microseconds) { return microseconds * 1e-6; }

double mean(std::uint64_t sum, std::uint64_t count) {
    return count > 0 ? static_cast<double>(sum) / static_cast<double>(count) : kNan;
}

}  // namespace

void Observer::sample(int fd, sim::Time now, std::uint32_t index, wire::Trace& trace) {
    alignas(tcp_info) unsigned char raw[512] = {};
    socklen_t size = sizeof raw;
    if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, raw, &size) != 0) return;
    tcp_info info;
    std::uint16_t timeouts = 0;
    std::memcpy(&info, raw, sizeof info);
    std::memcpy(&timeouts, raw + kTotalRto, sizeof timeouts);
    knows_timeouts_ = size >= kTotalRto + sizeof timeouts;
    timeouts_ = timeouts;
    sent_ = info.tcpi_data_segs_out;
    // The kernel counts SYNs that it sends again, too; the first sample after them has them all.
    if (established_ < 0) syns_again_ = info.tcpi_total_retrans;
    retransmitted_ = info.tcpi_total_retrans - syns_again_;
    receiver_limited_us_ = info.tcpi_rwnd_limited;
    if (info.tcpi_state == kSynSent) return;
    if (established_ < 0) established_ = now;
    count_changes(info.tcpi_ca_state);
    add_to_means(info);
    const Row row{info.tcpi_snd_cwnd, info.tcpi_snd_ssthresh, info.tcpi_rtt,
                  info.tcpi_rto,      info.tcpi_unacked,      phase_of(ca_state_)};
    if (samples_ > 1 && row == last_) return;
    last_ = row;
    trace.write_window(index, traced(now, row));
}

void Observer::count_changes(std::uint8_t ca_state) {
    if (ca_state == ca_state_) return;
    ca_state_ = ca_state;
    recoveries_ += ca_state == TCP_CA_Recovery;
    reductions_ += ca_state == TCP_CA_CWR;
    losses_ += ca_state == TCP_CA_Loss;
}

void Observer::add_to_means(const tcp_info& info) {
    samples_++;
    cwnd_sum_ += info.tcpi_snd_cwnd;
    max_cwnd_ = std::max(max_cwnd_, info.tcpi_snd_cwnd);
    if (info.tcpi_rtt > 0) {
        rtts_++;
        srtt_sum_us_ += info.tcpi_rtt;
    }
    if (info.tcpi_min_rtt > 0 && info.tcpi_min_rtt < min_rtt_us_) min_rtt_us_ = info.tcpi_min_rtt;
}

wire::WindowRow Observer::traced(sim::Time now, const Row& row) {
    wire::WindowRow traced;
    traced.time_s = sim::seconds(now);
    traced.cwnd = row.cwnd;
    if (row.ssthresh < WW_SSTHRESH_INFINITE) traced.ssthresh = row.ssthresh;
    // TCP_INFO has only the smoothed RTT: it fills both columns.
    if (row.rtt_us != 0) traced.rtt_s = traced.srtt_s = seconds_of_us(row.rtt_us);
    traced.rto_s = seconds_of_us(row.rto_us);
    traced.in_flight = row.in_flight;
    traced.phase = static_cast<std::uint8_t>(row.phase);
    return traced;
}

void Observer::report(sim::FlowResult& result) const {
    result.sent = sent_;
    result.retransmitted = retransmitted_;
    result.timeouts = knows_timeouts_ ? timeouts_ : losses_;
    result.fast_recoveries = recoveries_;
    result.ecn_reductions = reductions_;
    result.mean_cwnd = mean(cwnd_sum_, samples_);
    if (samples_ > 0) result.max_cwnd = max_cwnd_;
    if (samples_ > 0)
        result.receiver_limited_s = seconds_of_us(static_cast<double>(receiver_limited_us_));
    result.mean_srtt_s = seconds_of_us(mean(srtt_sum_us_, rtts_));
    result.min_rtt_s = min_rtt_us_ < UINT32_MAX ? seconds_of_us(min_rtt_us_) : kNan;
    result.established_s = established_ < 0 ? kNan : sim::seconds(established_);
}

}  // namespace ww::path
