// SPDX-License-Identifier: BSD-3-Clause
//
// Given any small network, simulate() neither crashes nor hangs nor breaks what holds for all of them, and
// an event for each hop changes nothing. The input is read field by field; it ends in zeros.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "engine/network.hpp"
#include "engine/recovery.hpp"

using namespace ww::sim;

namespace {

constexpr Time kMillisecond = 1000 * kMicrosecond;

class Input {
  public:
    Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

    std::uint32_t number() {
        std::uint32_t value = 0;
        const std::size_t bytes = size_ < sizeof value ? size_ : sizeof value;
        std::memcpy(&value, data_, bytes);
        data_ += bytes;
        size_ -= bytes;
        return value;
    }
    std::uint8_t byte() {
        if (size_ == 0) return 0;
        size_--;
        return *data_++;
    }
    std::uint32_t upto(std::uint32_t most) { return number() % (most + 1); }
    std::uint32_t few(std::uint32_t most) { return byte() % (most + 1); }
    bool flag() { return (byte() & 1) != 0; }

  private:
    const std::uint8_t* data_;
    std::size_t size_;
};

Loss any_loss(Input& input) {
    switch (input.few(5)) {
    case 1:
        return {LossKind::uniform, input.byte() / 800.0, {}};  // it is at most 0.32
    case 2:
        return {LossKind::uniform, input.flag() ? 1.0 : 1e-5, {}};
    case 3: {
        Loss loss{LossKind::script, 0, {}};
        std::uint64_t packet = 0;
        for (std::uint32_t i = input.few(20); i > 0; i--)
            loss.packets.push_back(packet += 1 + input.byte());
        return loss;
    }
    case 4:
        return {LossKind::bits, input.byte() * 1e-7, {}};
    case 5: {
        Loss loss{LossKind::states, 0, {}};
        for (const int state : {0, 1}) {
            loss.state_mean[state] = (1 + static_cast<Time>(input.few(200))) * 10 * kMillisecond;
            loss.state_rate[state] = input.byte() / 255.0;
        }
        loss.state_fixed = input.flag();
        return loss;
    }
    default:
        return {};
    }
}

void any_extras(Input& input, Direction& d) {
    if (input.flag()) {
        const double least = input.few(20), more = 1 + input.few(20);
        d.red.on = true;
        d.red.min_packets = least;
        d.red.max_packets = least + more;
        d.red.max_p = (1 + input.few(254)) / 255.0;
        d.red.gentle = input.flag();
        d.red.ecn = input.flag();
    }
    if (input.flag()) {
        std::uint64_t at = 0;
        for (std::uint32_t i = input.few(30); i > 0; i--)
            d.opportunities_ms.push_back(at += input.few(40));
        d.opportunities_ms.push_back(at + 1 + input.few(9));
    }
    d.jitter = static_cast<Time>(input.few(20)) * kMillisecond;
    d.reorder_rate = input.few(3) == 1 ? input.byte() / 512.0 : 0;
    d.reorder_delay = static_cast<Time>(input.few(100)) * kMillisecond;
}

Direction any_direction(Input& input) {
    Direction d;
    d.rate_bps = 1000 + input.upto(4'000'000);
    d.delay = input.flag() ? 0 : static_cast<Time>(input.upto(200'000)) * kMicrosecond;
    if (input.flag()) {  // round numbers, so that many things happen at the same time
        d.rate_bps = INT64_C(1'000'000) << input.few(3);
        d.delay = static_cast<Time>(input.few(8)) * kMillisecond;
    }
    if (input.flag()) d.queue_packets = input.few(40);
    if (input.flag()) d.queue_bytes = input.upto(60'000);
    d.loss = any_loss(input);
    if (input.few(4) == 1) any_extras(input, d);
    return d;
}

// Draws each setting of a flow within its declared bounds, times in milliseconds from the least.
void any_settings(Input& input, Flow& f) {
#define WW_DRAW(kind, name, fallback, least, most, ...) WW_DRAW_##kind(name, least, most)
#define WW_DRAW_SWITCH(name, least, most) f.name = input.flag();
#define WW_DRAW_COUNT(name, least, most) \
    f.name = least + input.few(std::min<std::uint32_t>((most) - (least), 40));
#define WW_DRAW_SEGMENTS WW_DRAW_COUNT
#define WW_DRAW_SSTHRESH(name, least, most) \
    if (input.flag()) f.name = least + input.few(60);
#define WW_DRAW_BYTES(name, least, most) \
    f.name##_bytes = least + input.upto(std::min<std::uint32_t>((most) - (least), 1500));
#define WW_DRAW_SIZE_OR_ALL(name, least, most)
#define WW_DRAW_TIME(name, least, most) f.name = least + input.upto(500) * kMillisecond;
#define WW_DRAW_TIME_OR_NEVER(name, least, most)
    WW_FLOW_SETTINGS(WW_DRAW)
#undef WW_DRAW
}

Flow any_flow(Input& input, std::uint32_t nodes) {
    Flow f;
    f.from = input.few(nodes - 1);
    f.to = (f.from + 1 + input.few(nodes - 2)) % nodes;
    f.cc = ww_configure(static_cast<ww_protocol>(input.few(WW_PROTOCOL_COUNT - 1)));
    f.cc.byte_counting = input.flag();
    f.cc.validate_cwnd = input.flag();
    f.recovery = static_cast<Recovery>(input.few(WW_RECOVERY_ANY - 1));
    any_settings(input, f);
    f.start = static_cast<Time>(input.upto(4000)) * kMillisecond;
    if (input.flag()) f.size_bytes = 1 + input.upto(200'000);
    if (input.flag())
        f.packet_bytes = 1000, f.header_bytes = 40, f.start = f.start / kSecond * kSecond;
    if (!uses_sack(f.recovery)) {
#define WW_OFF(name) f.name = false;
        WW_FLOW_SETTINGS_OF_SACK(WW_OFF)
#undef WW_OFF
    }
    if (f.timestamps) f.header_bytes = std::max(f.header_bytes, kStampedHeader);
    if (f.packet_bytes <= f.header_bytes) f.packet_bytes = f.header_bytes + 1;
    if (input.flag()) f.stop = f.start + static_cast<Time>(input.upto(8000)) * kMillisecond;
    f.receive_window_bytes = f.mss() * (1 + input.few(255));
    f.min_rto = (1 + static_cast<Time>(input.upto(2000))) * kMillisecond;
    f.max_rto = f.min_rto + static_cast<Time>(input.upto(60'000)) * kMillisecond;
    f.random_isn = input.flag();
    f.isn = input.number();
    if (input.few(4) == 1) {
        f.datagrams = {true,
                       1000 + input.upto(4'000'000),
                       (1 + static_cast<Time>(input.few(250))) * kMillisecond,
                       static_cast<Time>(input.few(250)) * kMillisecond,
                       static_cast<Spread>(input.few(1)),
                       static_cast<Spread>(input.few(1))};
    } else if (f.size_bytes != kUnlimited && input.flag()) {
        f.arrivals_mean = (20 + static_cast<Time>(input.few(250))) * kMillisecond;
        f.size_spread = static_cast<Spread>(input.few(1));
    }
    return f;
}

Network any_network(Input& input) {
    Network network;
    network.nodes = 2 + input.few(6);
    for (std::uint32_t i = 1; i < network.nodes;
         i++)  // the nodes form a tree, with some links more
        network.links.push_back(
            {input.few(i - 1), i, input.few(40), any_direction(input), any_direction(input)});
    for (std::uint32_t i = input.few(3); i > 0; i--) {
        const std::uint32_t a = input.few(network.nodes - 1);
        const std::uint32_t b = (a + 1 + input.few(network.nodes - 2)) % network.nodes;
        network.links.push_back({a, b, 0, any_direction(input), any_direction(input)});
    }
    for (std::uint32_t i = 1 + input.few(5); i > 0; i--)
        network.flows.push_back(any_flow(input, network.nodes));
    network.duration = (1 + static_cast<Time>(input.upto(8'000))) * kMillisecond;
    const bool windows = input.flag();
    const std::int64_t interval = input.few(200) * kMillisecond;
    network.trace = {windows, interval, true, input.flag(), input.flag() ? 0 : -1};
    return network;
}

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
    Input input(data, size);
    const std::uint64_t seed = input.byte();
    Network network = any_network(input);
    const Result result = simulate(network, seed);
    if (!result.error.empty()) {
        require(result.flows.empty(), "an error simulates nothing");
        return 0;
    }
    for (std::size_t i = 0; i < result.flows.size(); i++)
        require_sound(network, network.flows[result.flows[i].source], result.flows[i]);
    network.event_per_hop = true;
    const Result hops = simulate(network, seed);
    require(hops.packets == result.packets && hops.drops.size() == result.drops.size() &&
                hops.captured.size() == result.captured.size(),
            "the same packets with an event a hop");
    for (std::size_t i = 0; i < result.flows.size(); i++)
        require_same(result.flows[i], hops.flows[i]);
    return 0;
}
