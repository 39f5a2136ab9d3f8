// SPDX-License-Identifier: BSD-3-Clause
#include "validate.hpp"

#include <cmath>

namespace ww::sim {
namespace {

constexpr Time kLongest = INT64_MAX / 4;  // leaves room to add delays and timers without overflow
constexpr std::int64_t kFastest = 1'000'000'000'000;  // 1 Tb/s: 1 byte in 8 ps
constexpr std::uint32_t kLargestPacket = 65535;
constexpr std::int64_t kLargestSize = INT64_MAX / 2;
constexpr std::uint32_t kMostNodes = 1u << 20;
constexpr std::uint32_t kLargestWindow = 1u << 30;  // RFC 7323, 2.3

std::string check(const Direction& d) {
    if (d.rate_bps < 1 || d.rate_bps > kFastest) return "rate must be 1 bit/s to 1 Tbit/s";
    if (d.delay < 0 || d.delay > kLongest)
        return "delay must not be negative or longer than 26 days";
    if (d.queue_packets < 0 || d.queue_bytes < 0) return "queue limit must not be negative";
    if (d.loss.kind > LossKind::script) return "unknown kind of loss";
    if (!std::isfinite(d.loss.rate) || d.loss.rate < 0 || d.loss.rate > 1)
        return "loss rate must be 0 to 1";
    std::uint64_t last = 0;
    for (const std::uint64_t packet : d.loss.packets) {
        if (packet <= last) return "scripted losses must be ascending packet numbers from 1";
        last = packet;
    }
    return "";
}

std::string check(const ww_config& cc) {
    if (cc.algorithm > WW_ALG_WESTWOOD || cc.sampler > WW_PER_RTT_TIMER ||
        cc.filter > WW_FILTER_TUSTIN)
        return "unknown congestion control";
    if (cc.virtual_m == 1 || cc.virtual_m > WW_VIRTUAL_MAX) return "m must be 0 or 2 to 16";
    if (cc.tau_us < 1 || cc.tau_us > WW_TAU_MAX_US) return "tau must be 1 us to 60 s";
    if (cc.alpha_permille > 1000) return "alpha must be 0 to 1";
    if (cc.min_cwnd < 1) return "the least window must be a segment";
    return "";
}

std::string check(const Flow& f, std::uint32_t nodes) {
    if (f.from >= nodes || f.to >= nodes) return "unknown node";
    if (f.recovery > Recovery::sack) return "unknown recovery";
    if (f.from == f.to) return "source and sink must differ";
    if (f.mss < 1 || f.header_bytes < 1 || f.mss > kLargestPacket ||
        f.header_bytes > kLargestPacket - f.mss)
        return "a packet must have 2 to 65535 bytes, payload among them";
    if (f.size_bytes < 1) return "size must be positive";
    if (f.size_bytes > kLargestSize && f.size_bytes != kUnlimited)
        return "size must be below 4 EiB";
    if (f.start < 0 || f.stop < f.start) return "start must not be negative or after stop";
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
