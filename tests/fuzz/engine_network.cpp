// SPDX-License-Identifier: BSD-3-Clause
//
// For any small network simulate() neither crashes nor hangs nor breaks an invariant, and an event
// per hop changes nothing.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "any_network.hpp"
#include "invariants.hpp"

using namespace ww::sim;

namespace {

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "broken: %s\n", what);
    std::abort();
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void require_same(const FlowResult& a, const FlowResult& b) {
#define WW_REQUIRE_COUNT(name) require(a.name == b.name, "the same " #name " with an event a hop");
#define WW_REQUIRE_NUMBER(name) \
    require(same(a.name, b.name), "the same " #name " with an event a hop");
#define WW_REQUIRE(type, name, ...) WW_REQUIRE_##type(name)
    WW_FLOW_COLUMNS(WW_REQUIRE)
#undef WW_REQUIRE
    require(a.trace.time_s == b.trace.time_s && a.trace.cwnd == b.trace.cwnd &&
                a.trace.in_flight == b.trace.in_flight && a.events.size() == b.events.size(),
            "the same trace with an event a hop");
    for (std::size_t i = 0; i < a.events.size(); i++)
        require(a.events[i].time_s == b.events[i].time_s && a.events[i].kind == b.events[i].kind &&
                    a.events[i].segment == b.events[i].segment &&
                    a.events[i].cwnd == b.events[i].cwnd,
                "the same events with an event a hop");
}

void require_sound(const Network& network, const Flow& flow, const FlowResult& result) {
    if (flow.datagrams.on) {
        require(result.delivered_bytes <= result.sent * flow.mss(), "no datagram out of nothing");
        return;
    }
    std::uint64_t fresh = 0, again = 0, timeouts = 0;
    std::int64_t acknowledged = 0, sent_below = 0;
    const double end = static_cast<double>(network.duration) / static_cast<double>(kSecond);
    double now = 0;
    for (const Event& event : result.events) {
        require(event.time_s >= now && event.time_s <= end, "events in order, within the run");
        now = event.time_s;
        if (event.kind == EventKind::send) {
            require(event.segment == sent_below, "new segments in order");
            require(
                flow.arrivals_mean > 0 || event.time_s * 1e12 < static_cast<double>(flow.stop) + 1,
                "no new data after the stop");
            sent_below++;
            fresh++;
        }
        if (event.kind == EventKind::retransmit) {
            require(event.segment >= acknowledged && event.segment < sent_below,
                    "what is sent again");
            again++;
        }
        if (event.kind == EventKind::ack) {
            require(event.segment > acknowledged, "an ACK of new data moves");
            acknowledged = event.segment;
        }
        timeouts += event.kind == EventKind::timeout;
        const auto window = static_cast<std::int64_t>(flow.receive_window_bytes / flow.mss());
        require(sent_below - acknowledged <= window, "the receive window");
        require(event.cwnd >= 1 && event.ssthresh >= 1, "windows of a segment at least");
    }
    require(result.sent == fresh + again && result.retransmitted == again &&
                result.timeouts == timeouts,
            "counters agree with the events");
    require(result.delivered_bytes <= fresh * flow.mss(), "nothing delivered that was not sent");
    require(acknowledged <= sent_below, "nothing acknowledged that was not sent");
    const auto least = (static_cast<std::uint64_t>(acknowledged) - (acknowledged > 0)) * flow.mss();
    require(result.delivered_bytes >= least, "nothing acknowledged that was not delivered");
    if (flow.size_bytes != kUnlimited && flow.arrivals_mean == 0)
        require(result.delivered_bytes <= static_cast<std::uint64_t>(flow.size_bytes), "its size");
    if (!std::isnan(result.completed_s) && flow.arrivals_mean == 0)
        require(result.delivered_bytes == static_cast<std::uint64_t>(flow.size_bytes), "completed");
    require(
        result.ip_bytes_at_sink <= result.sent * (std::uint64_t{flow.mss()} + flow.header_bytes),
        "nothing reached the sink that was not sent");
    require(result.ip_bytes_at_sink >= result.delivered_bytes, "headers on top");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const std::uint64_t seed = input.byte();
    Network network = fuzz::any_network(input);
    const Result result = simulate(network, seed);
    if (!result.error.empty()) {
        require(result.flows.empty(), "an error simulates nothing");
        return 0;
    }
    for (std::size_t i = 0; i < result.flows.size(); i++)
        require_sound(network, network.flows[result.flows[i].source], result.flows[i]);
    const fuzz::Invariants invariants(network, result);
    for (const std::string& broken : invariants.broken()) require(false, broken.c_str());
    network.event_per_hop = true;
    const Result hops = simulate(network, seed);
    require(hops.packets == result.packets && hops.drops.size() == result.drops.size() &&
                hops.captured.size() == result.captured.size(),
            "the same packets with an event a hop");
    for (std::size_t i = 0; i < result.flows.size(); i++)
        require_same(result.flows[i], hops.flows[i]);
    return 0;
}
