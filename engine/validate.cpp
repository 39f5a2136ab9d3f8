// SPDX-License-Identifier: BSD-3-Clause
#include "validate.hpp"

#include <algorithm>
#include <cmath>

namespace ww::sim {
namespace {

constexpr Time kLongest = INT64_MAX / 4;  // leaves room to add delays and timers without overflow
constexpr std::int64_t kFastest = 1'000'000'000'000;  // 1 Tb/s: 1 byte in 8 ps
constexpr std::uint32_t kLargestPacket = 65535;
constexpr std::int64_t kLargestSize = INT64_MAX / 2;
constexpr std::uint64_t kLongestTraceMs = kLongest / (kSecond / 1000);
constexpr Time kShortestState = kMicrosecond;  // many changes a packet only cost time
constexpr std::uint32_t kMostNodes = 1u << 20;
constexpr std::uint32_t kLargestWindow = 1u << 30;  // RFC 7323, 2.3

bool is_probability(double p) { return std::isfinite(p) && p >= 0 && p <= 1; }

std::string check(const Loss& loss) {
    if (loss.kind > LossKind::bits) return "unknown kind of loss";
    if (!is_probability(loss.rate)) return "loss rate must be 0 to 1";
    std::uint64_t last = 0;
    for (const std::uint64_t packet : loss.packets) {
        if (packet <= last) return "scripted losses must be ascending packet numbers from 1";
        last = packet;
    }
    if (loss.kind != LossKind::states) return "";
    for (const int state : {0, 1}) {
        if (!is_probability(loss.state_rate[state])) return "loss rate must be 0 to 1";
        if (loss.state_mean[state] < kShortestState || loss.state_mean[state] > kLongest)
            return "a state must last 1 us to 26 days";
    }
    return "";
}

std::string check(const Red& red) {
    if (!red.on) return "";
    if (!std::isfinite(red.min_packets) || !std::isfinite(red.max_packets) || red.min_packets < 0 ||
        red.max_packets <= red.min_packets || red.max_packets > 1e12)
        return "RED's thresholds must be 0 <= min < max";
    if (!is_probability(red.max_p) || red.max_p <= 0) return "RED's max_p must be above 0, to 1";
    if (!is_probability(red.weight) || red.weight <= 0) return "RED's weight must be above 0, to 1";
    if (red.mean_packet_bytes < 1 || red.mean_packet_bytes > kLargestPacket)
        return "RED's mean packet must be 1 to 65535 bytes";
    return "";
}

std::string check(const Direction& d) {
    if (d.rate_bps < 1 || d.rate_bps > kFastest) return "rate must be 1 bit/s to 1 Tbit/s";
    if (d.delay < 0 || d.delay > kLongest)
        return "delay must not be negative or longer than 26 days";
    if (d.queue_packets < 0 || d.queue_bytes < 0) return "queue limit must not be negative";
    for (const std::string& problem : {check(d.loss), check(d.red)})
        if (!problem.empty()) return problem;
    if (!std::is_sorted(d.opportunities_ms.begin(), d.opportunities_ms.end()))
        return "delivery opportunities must be ascending times";
    if (!d.opportunities_ms.empty() &&
        (d.opportunities_ms.back() < 1 || d.opportunities_ms.back() > kLongestTraceMs))
        return "the last delivery opportunity must be 1 ms to 26 days from the start";
    if (d.jitter < 0 || d.jitter > kLongest || d.reorder_delay < 0 || d.reorder_delay > kLongest)
        return "jitter and reordering delay must not be negative or longer than 26 days";
    if (!is_probability(d.reorder_rate)) return "reordering rate must be 0 to 1";
    return "";
}

std::string check(const ww_config& cc) {
    if (cc.algorithm > WW_ALG_BBR || cc.sampler > WW_PER_RTT_TIMER ||
        cc.filter > WW_FILTER_EWMA_TWICE)
        return "unknown congestion control";
    if (cc.virtual_m == 1 || cc.virtual_m > WW_VIRTUAL_MAX) return "m must be 0 or 2 to 16";
    if (cc.tau_us < 1 || cc.tau_us > WW_TAU_MAX_US) return "tau must be 1 us to 60 s";
    if (cc.alpha_permille > 1000) return "alpha must be 0 to 1";
    if (cc.cte_permille != 0 && cc.cte_permille < 1000) return "cte must be at least 1";
    if (cc.vegas_alpha < 1 || cc.vegas_gamma < 1 || cc.vegas_beta < cc.vegas_alpha)
        return "Vegas needs alpha and gamma of at least 1 and beta not below alpha";
    if (cc.min_cwnd < 1) return "the least window must be a segment";
    return "";
}

std::string check_source(const Flow& f) {
    if (f.datagrams.on) {
        if (f.datagrams.rate_bps < 1 || f.datagrams.rate_bps > kFastest)
            return "rate must be 1 bit/s to 1 Tbit/s";
        if (f.datagrams.on_mean < kShortestState || f.datagrams.off_mean < 0 ||
            f.datagrams.off_mean > kLongest)
            return "a source must be on 1 us or longer, and off at most 26 days";
        if (f.arrivals_mean != 0) return "datagrams don't arrive as connections";
    }
    if (f.arrivals_mean < 0 || f.arrivals_mean > kLongest)
        return "connections must arrive 0 to 26 days apart";
    if (f.arrivals_mean > 0 && f.size_bytes == kUnlimited)
        return "connections that arrive must have a size";
    return "";
}

std::string check(const Flow& f, std::uint32_t nodes) {
    if (f.from >= nodes || f.to >= nodes) return "unknown node";
    if (f.recovery > Recovery::prr) return "unknown recovery";
    if (f.from == f.to) return "source and sink must differ";
    if (f.mss < 1 || f.header_bytes < 1 || f.mss > kLargestPacket ||
        f.header_bytes > kLargestPacket - f.mss)
        return "a packet must have 2 to 65535 bytes, payload among them";
    if (f.size_bytes < 1) return "size must be positive";
    if (f.size_bytes > kLargestSize && f.size_bytes != kUnlimited)
        return "size must be below 4 EiB";
    if (f.start < 0 || f.stop < f.start) return "start must not be negative or after stop";
    if (f.start_spread < 0 || f.start_spread > kLongest)
        return "start must be spread over 0 to 26 days";
    if (f.initial_cwnd < 1 || f.initial_cwnd > WW_CWND_MAX) return "initial cwnd out of range";
    if (f.initial_ssthresh < 1) return "initial ssthresh must be positive";
    if (f.receive_window < f.mss || f.receive_window > kLargestWindow)
        return "receive window must be a segment to 1 GiB";
    if (f.min_rto < 1 || f.max_rto < f.min_rto || f.max_rto > kLongest || f.initial_rto < 1 ||
        f.initial_rto > kLongest)
        return "timeouts must be positive, the least not above the largest";
    if (f.clock_granularity < 0 || f.clock_granularity > kLongest)
        return "clock granularity out of range";
    if (f.delayed_ack < 1) return "delayed ACK must be a segment or more";
    if (f.delayed_ack_timeout < 1 || f.delayed_ack_timeout > kLongest)
        return "delayed ACK timeout must be positive";
    if (f.dupack_threshold < 1) return "duplicate ACK threshold must be positive";
    if (const std::string problem = check_source(f); !problem.empty()) return problem;
    return check(f.cc);
}

std::string at(const char* what, std::size_t index, const std::string& problem) {
    return std::string(what) + " " + std::to_string(index) + ": " + problem;
}

}  // namespace

std::string validate(const Network& network) {
    if (network.duration < 1 || network.duration > kLongest) return "duration must be positive";
    if (network.nodes > kMostNodes) return "more than 1048576 nodes";
    if (network.trace.interval < 0 || network.trace.interval > kLongest)
        return "trace interval must not be negative";
    if (network.trace.capture_link < -1 ||
        network.trace.capture_link >= static_cast<std::int64_t>(network.links.size()))
        return "no such link to capture at";
    for (std::size_t i = 0; i < network.links.size(); i++) {
        const Link& link = network.links[i];
        if (link.a >= network.nodes || link.b >= network.nodes)
            return at("link", i, "unknown node");
        if (link.a == link.b) return at("link", i, "its ends must differ");
        if (link.overhead_bytes > kLargestPacket) return at("link", i, "overhead too large");
        for (const Direction* d : {&link.forward, &link.backward})
            if (const std::string problem = check(*d); !problem.empty())
                return at("link", i, problem);
    }
    for (std::size_t i = 0; i < network.flows.size(); i++)
        if (const std::string problem = check(network.flows[i], network.nodes); !problem.empty())
            return at("flow", i, problem);
    return "";
}

}  // namespace ww::sim
