// SPDX-License-Identifier: BSD-3-Clause
//
// engine_digest FIRST COUNT [hops | untimed | later | small | larger]: prints a line for each of COUNT random
// networks, with a digest of its simulation's exact results. Lines that must agree:
//
//   hops     with an event for each hop: as without
//   untimed  without effects of absolute time
//   later    the same, 4290 s later; with times counted from then: as untimed
//   small    without effects of byte counts
//   larger   the same, with packets, queues and rates three times as large: as small
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "../../core/westwood.h"
#include "../fuzz/any_network.hpp"
#include "digest.hpp"

using namespace ww::sim;

namespace {

constexpr Time kLater = 4290 * kSecond;  // the core's 32-bit microseconds wrap 5 s later
constexpr std::uint32_t kLarger = 3, kMostHeader = 255;

class ResultDigest : public ww::torture::Digest {
  public:
    void add_result(const Result& result) {
        for (const FlowResult& flow : result.flows) {
#define WW_ADD(type, name, ...) add(flow.name);
            WW_FLOW_COLUMNS(WW_ADD)
#undef WW_ADD
#define WW_ADD(type, name, what) add_all(flow.trace.name);
            WW_WINDOW_COLUMNS(WW_ADD)
#undef WW_ADD
            for (const Event& event : flow.events) add_event(event, 0);
        }
        for (const auto* directions : {&result.forward, &result.backward})
            for (const DirectionResult& direction : *directions) {
#define WW_ADD(type, name, ...) add(direction.name);
                WW_DIRECTION_COLUMNS(WW_ADD)
#undef WW_ADD
#define WW_ADD(type, name, what) add_all(direction.trace.name);
                WW_QUEUE_COLUMNS(WW_ADD)
#undef WW_ADD
            }
        for (const Message& message : result.messages) {
#define WW_ADD(type, name, ...) add(message.name);
            WW_MESSAGE_COLUMNS(WW_ADD)
#undef WW_ADD
        }
        for (const Captured& packet : result.captured) {
            add(static_cast<std::uint64_t>(packet.at));
            add(std::uint64_t{packet.number} << 32 | packet.flags);
        }
        add(result.packets);
    }

    // Adds the results that neither a later start nor larger packets change.
    void add_course(const Result& result, double later_s) {
        for (const FlowResult& flow : result.flows) {
            for (const Event& event : flow.events) add_event(event, later_s);
            for (const std::uint64_t count :
                 {flow.sent, flow.retransmitted, flow.timeouts, flow.fast_recoveries,
                  flow.ecn_reductions, flow.queue_drops, flow.lost})
                add(count);
        }
        for (const Drop& drop : result.drops) add(std::uint64_t{drop.channel} << 32 | drop.flow);
        add(result.packets);
    }

  private:
    using Digest::add;
    void add(double number) {
        Digest::add(std::isnan(number) ? 0.5 : number);
    }  // NaN has many bit patterns
    template <class T>
    void add_all(const std::vector<T>& column) {
        for (const T value : column) add(static_cast<double>(value));
    }
    void add_event(const Event& event, double later_s) {
        const long double picoseconds = (static_cast<long double>(event.time_s) - later_s) * 1e12L;
        add(static_cast<std::uint64_t>(std::llround(picoseconds)));
        add(static_cast<std::uint64_t>(event.kind) << 56 ^
            static_cast<std::uint64_t>(event.segment));
        add(std::uint64_t{event.cwnd} << 32 | event.ssthresh);
    }
};

// Removes the effects of absolute time: scheduled changes of links, and what BBR draws from the clock.
void forget_the_clock(Network& network) {
    network.trace = {false, 0, true, true, -1};
    for (Link& link : network.links)
        for (Direction* d : {&link.forward, &link.backward}) {
            if (std::holds_alternative<Markov>(d->loss)) d->loss = {};
            d->detour.reset();
            d->delay_changes = {};
            d->opportunities_ms.clear();
        }
    for (Flow& flow : network.flows) {
        const bool draws = flow.cc.algorithm == WW_ALG_BBR || flow.cc.algorithm == WW_ALG_BBR3;
        if (draws) flow.cc = ww_configure(WW_PROTOCOL_CUBIC);
    }
}

// Removes the effects of byte counts: quanta and bursts, SACK blocks per ACK, random sizes, bit errors, rounding of
// bandwidths, parts of segments.
void forget_bytes(Network& network) {
    forget_the_clock(network);
    for (Link& link : network.links)
        for (Direction* d : {&link.forward, &link.backward})
            if (std::holds_alternative<Bits>(d->loss)) d->loss = {};
    for (Flow& flow : network.flows) {
        if (ww_estimates(&flow.cc)) flow.cc = ww_configure(WW_PROTOCOL_CUBIC);
        flow.cc.slow_start = WW_HYSTART_PLUS_PLUS;
        flow.header_bytes = std::min(flow.header_bytes, kMostHeader / kLarger);
        flow.receive_window_bytes = std::max(flow.receive_window_bytes, flow.mss());
        flow.size_spread = flow.application.size_spread = Spread::fixed;
        flow.ack_division = 1;
        flow.tso = false;  // a burst has at most 64 KiB
        if (uses_sack(flow.recovery)) flow.recovery = Recovery::newreno;
#define WW_OFF(name) flow.name = false;
        WW_FLOW_SETTINGS_OF_SACK(WW_OFF)
#undef WW_OFF
    }
}

void start_later(Network& network) {
    network.duration += kLater;
    for (Flow& flow : network.flows) {
        flow.start += kLater;
        if (flow.stop != kNever) flow.stop += kLater;
    }
}

void enlarge(Network& network) {
    for (Link& link : network.links) {
        link.overhead_bytes *= kLarger;
        for (Direction* d : {&link.forward, &link.backward}) {
            d->rate_bps *= kLarger;
            if (d->policer) {
                d->policer->rate_bps *= kLarger;
                d->policer->burst_bytes *= kLarger;
            }
            d->red.mean_packet_bytes *= kLarger;
            d->codel.max_packet_bytes *= kLarger;
            d->pie.max_packet_bytes *= kLarger;
            d->fq_codel.max_packet_bytes *= kLarger;
            d->fq_codel.quantum_bytes *= kLarger;
            if (d->queue_bytes != kUnlimited) d->queue_bytes *= kLarger;
        }
    }
    for (Flow& flow : network.flows) {
        flow.packet_bytes *= kLarger;
        flow.header_bytes *= kLarger;
        flow.receive_window_bytes *= kLarger;
        flow.initial_receive_window_bytes *= kLarger;
        flow.datagrams.rate_bps *= kLarger;
        flow.application.rate_bps *= kLarger;
        flow.application.size_bytes *= kLarger;
        MediaFrames& media = flow.application.media;
        for (std::int64_t* const bytes :
             {&media.frame_bytes, &media.key_bytes, &media.upper_bytes, &media.upper_key_bytes})
            *bytes *= kLarger;
        for (std::int64_t& rung_bps : flow.application.ladder_bps) rung_bps *= kLarger;
        if (flow.size_bytes != kUnlimited) flow.size_bytes *= kLarger;
    }
}

std::uint64_t digest_of(std::uint64_t seed, const std::string& how) {
    const auto bytes = ww::torture::random_bytes(seed, 200 + seed % 600);
    fuzz::Input input(bytes.data(), bytes.size());
    Network network = fuzz::any_network(input);
    network.event_per_hop = how == "hops";
    if (how == "untimed" || how == "later") forget_the_clock(network);
    if (how == "small" || how == "larger") forget_bytes(network);
    if (how == "later") start_later(network);
    if (how == "larger") enlarge(network);
    const Result result = simulate(network, seed);
    ResultDigest digest;
    if (!result.error.empty()) return 0;
    if (how.empty() || how == "hops")
        digest.add_result(result);
    else
        digest.add_course(result, how == "later" ? static_cast<double>(kLater / kSecond) : 0);
    return digest.value();
}

}  // namespace

int main(int count, char** words) {
    if (count < 3) return 2;
    const std::uint64_t first = std::strtoull(words[1], nullptr, 10);
    const std::uint64_t last = first + std::strtoull(words[2], nullptr, 10);
    for (std::uint64_t seed = first; seed < last; seed++)
        std::printf("%llu %016llx\n", static_cast<unsigned long long>(seed),
                    static_cast<unsigned long long>(digest_of(seed, count > 3 ? words[3] : "")));
    return 0;
}
