// SPDX-License-Identifier: GPL-2.0-only
#include "observer.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <limits>

namespace ww::path {
namespace {

constexpr std::uint32_t kNoSsthresh = 0x7fffffff;
constexpr std::uint8_t kSynSent = 2;  // enum of the kernel's net/tcp_states.h
// 16 bits, since Linux 6.7: behind fields that older headers do not name.
constexpr std::size_t kTotalRto = offsetof(tcp_info, tcpi_snd_wnd) + 12;

double seconds(double microseconds) { return microseconds * 1e-6; }

// enum ww_phase: what the kernel calls CWR (after an ECN echo) is a recovery without a loss.
std::uint8_t phase(std::uint8_t state) {
    static constexpr std::array<std::uint8_t, 5> phases = {WW_OPEN, WW_DISORDER, WW_RECOVERY,
                                                           WW_RECOVERY, WW_LOSS};
    return phases[state < phases.size() ? state : 0];
}

}  // namespace

void Observer::write_header(std::FILE* trace) {
    std::fputs("connection,time_s,cwnd,ssthresh,rtt_s,srtt_s,rto_s,in_flight,phase\n", trace);
}

void Observer::look(int fd, sim::Time now, std::uint32_t index, std::FILE* trace) {
    alignas(tcp_info) unsigned char raw[512] = {};
    socklen_t size = sizeof raw;
    if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, raw, &size) != 0) return;
    tcp_info info;
    std::memcpy(&info, raw, sizeof info);
    sent_ = info.tcpi_data_segs_out;
    retransmitted_ = info.tcpi_total_retrans;
    knows_timeouts_ = size >= kTotalRto + sizeof(std::uint16_t);
    std::uint16_t timeouts = 0;
    std::memcpy(&timeouts, raw + kTotalRto, sizeof timeouts);
    timeouts_ = timeouts;
    if (info.tcpi_state == kSynSent) return;
    if (established_ < 0) established_ = now;

    const std::uint8_t state = info.tcpi_ca_state;
    if (state != state_) {
        recoveries_ += state == TCP_CA_Recovery;
        reductions_ += state == TCP_CA_CWR;
        losses_ += state == TCP_CA_Loss;
        state_ = state;
    }
    looks_++;
    cwnd_sum_ += info.tcpi_snd_cwnd;
    if (info.tcpi_rtt > 0) {
        rtts_++;
        srtt_sum_us_ += info.tcpi_rtt;
    }
    if (info.tcpi_min_rtt > 0 && info.tcpi_min_rtt < min_rtt_us_) min_rtt_us_ = info.tcpi_min_rtt;
    const Row row{info.tcpi_snd_cwnd, info.tcpi_snd_ssthresh, info.tcpi_rtt,
                  info.tcpi_rto,      info.tcpi_unacked,      phase(state)};
    if (trace == nullptr || (looks_ > 1 && row == last_)) return;
    last_ = row;
    const double ssthresh =
        row.ssthresh >= kNoSsthresh ? std::numeric_limits<double>::quiet_NaN() : row.ssthresh;
    const double rtt =
        row.rtt_us == 0 ? std::numeric_limits<double>::quiet_NaN() : seconds(row.rtt_us);
    std::fprintf(trace, "%u,%.6f,%u,%g,%g,%g,%g,%u,%u\n", index,
                 static_cast<double>(now) / static_cast<double>(sim::kSecond), row.cwnd, ssthresh,
                 rtt, rtt, seconds(row.rto_us), row.in_flight, row.state);
}

void Observer::report(sim::FlowResult& result) const {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    result.sent = sent_;
    result.retransmitted = retransmitted_;
    result.timeouts = knows_timeouts_ ? timeouts_ : losses_;
    result.fast_recoveries = recoveries_;
    result.ecn_reductions = reductions_;
    result.mean_cwnd =
        looks_ > 0 ? static_cast<double>(cwnd_sum_) / static_cast<double>(looks_) : nan;
    result.mean_srtt_s =
        rtts_ > 0 ? seconds(static_cast<double>(srtt_sum_us_) / static_cast<double>(rtts_)) : nan;
    result.min_rtt_s = min_rtt_us_ < UINT32_MAX ? seconds(min_rtt_us_) : nan;
    result.established_s =
        established_ < 0 ? nan
                         : static_cast<double>(established_) / static_cast<double>(sim::kSecond);
}

}  // namespace ww::path
