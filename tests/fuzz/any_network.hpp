// SPDX-License-Identifier: BSD-3-Clause
//
// Any small network for the simulator, read field by field from bytes, which end in zeros.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "engine/network.hpp"
#include "engine/recovery.hpp"

namespace ww::sim::fuzz {

constexpr Time kMillisecond = 1000 * kMicrosecond;

class Input {
  public:
    Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

    std::uint32_t number() {  // the lowest byte first
        std::uint32_t value = 0;
        for (unsigned i = 0; i < 4; i++) value |= std::uint32_t{byte()} << (8 * i);
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

inline Loss any_loss(Input& input) {
    switch (input.few(6)) {
    case 1:
        return Uniform{input.byte() / 800.0};  // at most 0.32
    case 2:
        return Uniform{input.flag() ? 1.0 : 1e-5};
    case 3: {
        LossList loss;
        std::uint64_t packet = 0;
        for (std::uint32_t i = input.few(20); i > 0; i--)
            loss.packets.push_back(packet += 1 + input.byte());
        return loss;
    }
    case 4:
        return Bits{input.byte() * 1e-7};
    case 5: {
        Markov loss;
        for (const auto& [mean, rate] :
             {std::pair(&loss.good, &loss.good_rate), {&loss.bad, &loss.bad_rate}}) {
            *mean = (1 + static_cast<Time>(input.few(200))) * 10 * kMillisecond;
            *rate = input.byte() / 255.0;
        }
        loss.durations = input.flag() ? kFixed : kExponential;
        return loss;
    }
    case 6: {
        const double p = input.byte() / 2550.0, r = input.byte() / 255.0;
        const double good_rate = input.byte() / 2550.0, bad_rate = input.byte() / 255.0;
        return Gilbert{p, r, good_rate, bad_rate};
    }
    default:
        return {};
    }
}

inline void any_queue(Input& input, Direction& d) {
    if (input.flag()) {
        const double least = input.few(20), more = 1 + input.few(20);
        d.queue_kind = QueueKind::red;
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
    } else if (d.queue_kind == QueueKind::droptail && input.flag()) {
        d.queue_kind = QueueKind::codel;
        d.codel.target = (1 + input.few(50)) * kMillisecond / 2;
        d.codel.interval = (1 + input.few(200)) * kMillisecond;
        d.codel.max_packet_bytes = 1 + input.upto(3000);
        d.codel.ecn = input.flag();
        if (input.flag()) d.codel.ce_threshold = (1 + input.few(50)) * kMillisecond / 2;
    } else if (d.queue_kind == QueueKind::droptail && input.flag()) {
        d.queue_kind = QueueKind::pie;
        d.pie.target = (1 + input.few(50)) * kMillisecond / 2;
        d.pie.update = (1 + input.few(50)) * kMillisecond;
        d.pie.max_burst = static_cast<Time>(input.few(200)) * kMillisecond;
        d.pie.max_packet_bytes = 1 + input.upto(3000);
        d.pie.capped = input.flag();
        d.pie.ecn = input.flag();
    } else if (d.queue_kind == QueueKind::droptail && input.flag()) {
        d.queue_kind = QueueKind::dualpi2;
        d.dualpi2.target = (1 + input.few(50)) * kMillisecond;
        d.dualpi2.max_rtt = (1 + input.few(200)) * kMillisecond;
        d.dualpi2.coupling = 1 + input.few(5);
        d.dualpi2.l4s_min = d.dualpi2.l4s_range = input.few(5) * kMillisecond;
        d.dualpi2.l4s_spared = input.few(5);
        d.dualpi2.classic_share = (1 + input.few(90)) / 100.0;
    } else if (d.queue_kind == QueueKind::droptail && input.flag()) {
        d.queue_kind = QueueKind::fq_codel;
        d.fq_codel.target = (1 + input.few(50)) * kMillisecond / 2;
        d.fq_codel.interval = (1 + input.few(200)) * kMillisecond;
        d.fq_codel.max_packet_bytes = 1 + input.upto(3000);
        d.fq_codel.quantum_bytes = 1 + input.upto(3000);
        d.fq_codel.flows = 1 + input.few(20);
        d.fq_codel.drop_batch = 1 + input.few(20);
        d.fq_codel.ecn = input.flag();
    } else if (d.queue_kind == QueueKind::droptail && input.flag()) {
        d.queue_kind = QueueKind::fq_pie;
        d.fq_pie.target = (1 + input.few(50)) * kMillisecond / 2;
        d.fq_pie.quantum_bytes = 256 + input.upto(3000);
        d.fq_pie.flows = 1 + input.few(20);
        d.fq_pie.spaced = input.flag();
    } else if (d.queue_kind == QueueKind::droptail && input.flag()) {
        d.queue_kind = QueueKind::cake;
        d.cake.target = (1 + input.few(50)) * kMillisecond / 2;
        d.cake.bandwidth_bps = input.flag() ? 0 : 10'000 + input.upto(4'000'000);
        d.cake.hosts = input.flag();
    }
}

inline void any_impairments(Input& input, Direction& d) {
    any_queue(input, d);
    if (input.few(3) == 1)
        d.policer = Policer{10'000 + input.upto(2'000'000), 1 + input.upto(60'000)};
    if (d.opportunities_ms.empty() && input.few(3) == 1)
        d.ack_filter = AckFilter{input.few(30) * kMillisecond, 1 + input.few(3)};
    if (input.few(3) == 1) {
        Time at = 0;
        for (std::uint32_t i = 1 + input.few(8); i > 0; i--) {
            d.delay_changes.at.push_back(at += input.few(200) * kMillisecond);
            d.delay_changes.delays.push_back(input.few(100) * kMillisecond);
        }
        if (input.flag()) d.delay_changes.period = at + (1 + input.few(200)) * kMillisecond;
    }
    if (input.few(3) == 1) d.aggregation = Aggregation{(1 + input.few(30)) * kMillisecond};
    if (input.few(3) == 1) d.wifi_jitter = WifiJitter{(1 + input.few(90)) * kMillisecond};
    if (input.few(3) == 1) {
        const Time delay = input.few(100) * kMillisecond, start = input.few(200) * kMillisecond;
        const Time length = (1 + input.few(200)) * kMillisecond;
        d.detour = Detour{delay, start, length, input.few(250) * kMillisecond,
                          length / kMillisecond % 2 == 0};
    }
    d.jitter = static_cast<Time>(input.few(20)) * kMillisecond;
    d.reorder_rate = input.few(3) == 1 ? input.byte() / 512.0 : 0;
    d.reorder_delay = static_cast<Time>(input.few(100)) * kMillisecond;
}

inline Direction any_direction(Input& input) {
    Direction d;
    d.rate_bps = 1000 + input.upto(4'000'000);
    d.delay = input.flag() ? 0 : static_cast<Time>(input.upto(200'000)) * kMicrosecond;
    if (input.flag()) {  // round numbers, so that many events fall on the same time
        d.rate_bps = INT64_C(1'000'000) << input.few(3);
        d.delay = static_cast<Time>(input.few(8)) * kMillisecond;
    }
    if (input.flag()) d.queue_packets = input.few(40);
    if (input.flag()) d.queue_bytes = input.upto(60'000);
    d.loss = any_loss(input);
    if (input.few(4) == 1) any_impairments(input, d);
    return d;
}

// Draws each setting of a flow within its bounds; times are milliseconds above the least.
inline void any_settings(Input& input, Flow& f) {
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

inline Application any_application(Input& input) {
    Application a;
    a.kind = static_cast<ApplicationKind>(input.few(5));
    a.rate_bps = 1000 + input.upto(4'000'000);
    if (a.kind == ApplicationKind::on_off || input.flag()) {
        a.on_mean = (1 + static_cast<Time>(input.few(250))) * 10 * kMillisecond;
        a.off_mean = (1 + static_cast<Time>(input.few(250))) * 10 * kMillisecond;
    }
    a.spread = static_cast<Spread>(input.few(1));
    a.size_bytes = 1 + input.upto(100'000);
    a.size_spread = static_cast<Spread>(input.few(1));
    a.think_mean = static_cast<Time>(input.few(250)) * 10 * kMillisecond;
    if (a.spread == Spread::exponential) a.bulk = a.think_mean;
    std::int64_t rung_bps = 0;
    for (std::uint32_t i = 1 + input.few(4); i > 0; i--)
        a.ladder_bps.push_back(rung_bps += 8000 * (1 + std::int64_t{input.few(100)}));
    a.chunk = (1 + static_cast<Time>(input.upto(3000))) * kMillisecond;
    a.buffer = a.chunk + static_cast<Time>(input.upto(8000)) * kMillisecond;
    if (a.kind == ApplicationKind::media) {
        a.media.interval = (1 + Time{input.few(99)}) * kMillisecond;
        a.media.frame_bytes = 1 + input.upto(4000);
        a.media.key_bytes = input.upto(40'000);
        a.media.group = 1 + input.few(40);
        a.media.upper_bytes = input.flag() ? 1 + input.upto(8000) : 0;
        a.media.upper_key_bytes = input.upto(40'000);
        if (input.flag()) a.media.patience = Time{input.few(250)} * kMillisecond;
        a.media.warm_up = Time{input.few(250)} * kMillisecond;
    }
    return a;
}

inline Flow any_flow(Input& input, std::uint32_t nodes) {
    Flow f;
    f.from = input.few(nodes - 1);
    f.to = (f.from + 1 + input.few(nodes - 2)) % nodes;
    f.cc = ww_configure(static_cast<ww_protocol>(input.few(WW_PROTOCOL_COUNT - 1)));
    f.cc.byte_counting = input.flag();
    f.cc.validate_cwnd = input.flag();
    f.recovery = static_cast<Recovery>(input.few(WW_RECOVERY_ANY - 1));
    any_settings(input, f);
    if (input.few(7) != 1) f.ack_division = 1, f.optimistic_acks = 0;  // most receivers are honest
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
    f.min_delayed_ack_timeout = std::min(f.min_delayed_ack_timeout, f.delayed_ack_timeout);
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
    } else if (input.few(2) == 1) {
        f.application = any_application(input);
    }
    return f;
}

inline Network any_network(Input& input) {
    Network network;
    network.nodes = 2 + input.few(6);
    for (std::uint32_t i = 1; i < network.nodes;
         i++)  // the nodes form a tree with some extra links
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

// The network of a seed's random bytes.
inline Network any_network(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint8_t> bytes(3000);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    Input input(bytes.data(), bytes.size());
    return any_network(input);
}

}  // namespace ww::sim::fuzz
