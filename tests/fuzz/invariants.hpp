// SPDX-License-Identifier: BSD-3-Clause
//
// Invariants of every run: packets and bytes are conserved, nothing is faster than its path, and
// the results cover just the run, from its start to its end.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "engine/link/opportunities.hpp"
#include "engine/network.hpp"
#include "engine/recovery.hpp"
#include "engine/sim/topology.hpp"

namespace ww::sim::fuzz {

class Invariants {
  public:
    Invariants(const Network& network, const Result& result)
        : network_(network), result_(result), topology_(network) {
        end_s_ = seconds(network.duration);
        for (std::size_t i = 0; i < result.flows.size(); i++) look_at_flow(i);
        for (std::uint32_t i = 0; i < 2 * network.links.size(); i++) look_at_channel(i);
        if (network.trace.queues) look_at_drops();
        look_at_messages();
        look_at_nodes();
        look_at_captured();
    }

    // One line for each broken invariant.
    const std::vector<std::string>& broken() const { return broken_; }

  private:
    static constexpr double kNear = 1e-9;  // relative: the error of rounding to doubles

    static double seconds(Time t) { return static_cast<double>(t) / static_cast<double>(kSecond); }
    const Direction& direction(std::uint32_t channel) const {
        const Link& link = network_.links[channel / 2];
        return channel % 2 == 0 ? link.forward : link.backward;
    }
    const DirectionResult& crossed(std::uint32_t channel) const {
        return (channel % 2 == 0 ? result_.forward : result_.backward)[channel / 2];
    }
    // Returns the shortest delay of a packet. Without changes at 0 the link's own delay counts, too.
    static Time least_delay(const Direction& d) {
        const std::vector<Time>& delays = d.delay_changes.delays;
        return delays.empty() ? d.delay
                              : std::min(d.delay, *std::min_element(delays.begin(), delays.end()));
    }
    std::uint32_t overhead(std::uint32_t channel) const {
        return network_.links[channel / 2].overhead_bytes;
    }

    void require(bool holds, const std::string& what) {
        if (!holds) broken_.push_back(what);
    }
    bool in_run(double time_s) const { return time_s >= 0 && time_s <= end_s_; }
    bool in_order(double first_s, double second_s) const {  // NaN: it did not happen
        return std::isnan(second_s) || first_s <= second_s;
    }

    // Returns the bytes that a channel may send from `first_s` to `last_s`.
    double capacity(std::uint32_t channel, double first_s, double last_s) const {
        const Direction& d = direction(channel);
        if (d.opportunities_ms.empty())
            return static_cast<double>(d.rate_bps) / 8 * (last_s - first_s);
        const auto offered = [&](double time_s) {
            const auto end = static_cast<Time>(time_s * 1e12) + 1;
            return static_cast<double>(Opportunities(d.opportunities_ms, end).offered());
        };
        // Includes the opportunity at which it begins.
        return offered(last_s) - (first_s > 0.001 ? offered(first_s - 0.001) : 0);
    }

    void look_at_flow(std::size_t i) {
        const FlowResult& row = result_.flows[i];
        const Flow& flow = network_.flows[row.source];
        const std::string who =
            "flow " + std::to_string(row.source) + " (" + std::to_string(i) + "): ";
        const std::uint64_t gone = row.queue_drops + row.lost + row.in_flight;
        require(gone <= row.sent, who + "sent what was dropped, lost or is in flight");
        require(row.retransmitted <= row.sent, who + "sent what was sent again");
        const std::uint64_t arrived = row.sent - gone, full = arrived * flow.packet_bytes;
        require(row.ip_bytes_at_sink <= full, who + "what arrived was sent, in bytes");
        const bool has_short = !flow.datagrams.on && flow.size_bytes != kUnlimited;
        if (!has_short) require(row.ip_bytes_at_sink == full, who + "sent is what became of it");
        if (has_short && flow.arrivals_mean == 0) {  // all of one size except the last segment
            const std::uint64_t rest = static_cast<std::uint64_t>(flow.size_bytes) % flow.mss();
            const std::uint64_t less = rest == 0 ? 0 : flow.mss() - rest;
            const std::uint64_t missing = full - row.ip_bytes_at_sink;
            require(less == 0 ? missing == 0 : missing % less == 0 && missing / less <= arrived,
                    who + "sent is what became of it, but for a short segment");
        }
        require(row.delivered_bytes + arrived * flow.header_bytes <= row.ip_bytes_at_sink,
                who + "delivered what arrived");
        require(std::isnan(row.last_arrival_s) == (row.ip_bytes_at_sink == 0),
                who + "a last arrival if one arrived");
        for (const double time_s : {row.established_s, row.completed_s, row.last_arrival_s})
            require(std::isnan(time_s) || (in_run(time_s) && time_s >= row.start_s),
                    who + "times between its start and the run's end");
        require(in_order(row.established_s, row.completed_s), who + "established, then completed");
        if (!std::isnan(row.mean_cwnd))
            require(row.mean_cwnd <= row.max_cwnd * (1 + kNear), who + "mean and largest cwnd");
        look_at_times(row, who);
        if (network_.trace.events) look_at_events(row, flow, who);
        if (network_.trace.windows && network_.trace.interval == 0) look_at_windows(row, flow, who);
        if (std::isnan(row.completed_s)) return;
        const double last_s = row.completed_s;
        require(row.trace.time_s.empty() || row.trace.time_s.back() <= last_s,
                who + "no window after its end");
        require(row.events.empty() || row.events.back().time_s <= last_s,
                who + "no decision after its end");
    }

    // What a sender decides, in order, accounts for its counters.
    void look_at_events(const FlowResult& row, const Flow& flow, const std::string& who) {
        require(!flow.datagrams.on || row.events.empty(), who + "datagrams decide nothing");
        if (flow.datagrams.on) return;
        std::uint64_t fresh = 0, again = 0, timeouts = 0;
        std::int64_t acknowledged = 0, sent_below = 0;
        const auto window = static_cast<std::int64_t>(flow.receive_window_bytes / flow.mss());
        const double stop = flow.arrivals_mean > 0 ? INFINITY : static_cast<double>(flow.stop) + 1;
        double now_s = 0;
        for (const Event& event : row.events) {
            require(event.time_s >= now_s && in_run(event.time_s), who + "events in order");
            now_s = event.time_s;
            if (event.kind == EventKind::send) {
                require(event.segment == sent_below++, who + "new segments in order");
                require(now_s * 1e12 < stop, who + "no new data after the stop");
                fresh++;
            } else if (event.kind == EventKind::retransmit) {
                require(event.segment >= acknowledged && event.segment < sent_below,
                        who + "what is sent again");
                again++;
            } else if (event.kind == EventKind::ack) {
                require(event.segment > acknowledged && event.segment <= sent_below,
                        who + "an ACK of new data moves");
                acknowledged = event.segment;
            }
            timeouts += event.kind == EventKind::timeout;
            require(sent_below - acknowledged <= window, who + "the receive window");
            require(event.cwnd >= 1 && event.ssthresh >= 1, who + "windows of a segment at least");
        }
        require(row.sent == fresh + again && row.retransmitted == again && row.timeouts == timeouts,
                who + "counters agree with the events");
        require(row.delivered_bytes <= fresh * flow.mss(), who + "delivered what was sent");
        const auto least = static_cast<std::uint64_t>(std::max<std::int64_t>(acknowledged - 1, 0));
        require(row.delivered_bytes >= least * flow.mss() || conceals_losses(row),
                who + "acknowledged what was delivered");
        if (flow.size_bytes == kUnlimited || flow.arrivals_mean > 0) return;
        const auto size = static_cast<std::uint64_t>(flow.size_bytes);
        require(row.delivered_bytes <= size, who + "no more than its size");
        require(std::isnan(row.completed_s) || row.delivered_bytes == size || conceals_losses(row),
                who + "all of a completed transfer");
    }

    // A full trace has every window, but those of fast recovery without SACK inflated: there cwnd
    // is ssthresh (RFC 5681, 3.2).
    void look_at_windows(const FlowResult& row, const Flow& flow, const std::string& who) {
        if (std::isnan(row.mean_cwnd)) return;
        double least = row.max_cwnd, most = 0;
        for (std::size_t i = 0; i < row.trace.cwnd.size(); i++) {
            const double cwnd = row.trace.cwnd[i];
            const bool inflates = !uses_sack(flow.recovery) && row.trace.phase[i] == WW_RECOVERY;
            least = std::min({least, cwnd, inflates ? row.trace.ssthresh[i] : cwnd});
            most = std::max(most, cwnd);
        }
        require(row.mean_cwnd >= least * (1 - kNear) && row.mean_cwnd <= most * (1 + kNear),
                who + "mean cwnd " + std::to_string(row.mean_cwnd) + " between the trace's " +
                    std::to_string(least) + " and " + std::to_string(most));
        require(row.max_cwnd <= most, who + "the largest cwnd is in the trace");
    }

    void look_at_times(const FlowResult& row, const std::string& who) {
        const std::uint32_t route = topology_.route_of(row.source);
        const Flow& flow = network_.flows[row.source];
        require(in_order(row.min_rtt_s, row.mean_srtt_s), who + "least and mean RTT");
        const bool acks_early = flow.optimistic_acks > 0;
        double least_s = 0;
        for (const auto& channels : {topology_.to_receiver(route), topology_.to_sender(route)})
            for (const std::uint32_t channel : channels) {
                const Direction& d = direction(channel);
                least_s += seconds(least_delay(d));
                if (d.opportunities_ms.empty())
                    least_s += 8.0 * (flow.header_bytes + overhead(channel)) /
                               static_cast<double>(d.rate_bps);
            }
        const double bound_s = least_s * (1 - kNear) - 1e-11;
        require(acks_early || !(row.min_rtt_s < bound_s), who + "no RTT below the path's");
        require(acks_early || !(row.mean_srtt_s < bound_s), who + "no mean RTT below the path's");
        if (std::isnan(row.last_arrival_s)) return;
        const std::uint64_t arrived = row.sent - row.queue_drops - row.lost - row.in_flight;
        for (const std::uint32_t channel : topology_.to_receiver(route)) {
            const double bytes =
                static_cast<double>(row.ip_bytes_at_sink + arrived * overhead(channel));
            require(bytes <= capacity(channel, row.start_s, row.last_arrival_s) * (1 + kNear) + 1,
                    who + "what arrived fits the link's capacity");
        }
    }

    // Messages of a connection follow one another, and one that is complete was delivered.
    void look_at_messages() {
        std::map<std::uint64_t, std::uint64_t> bytes_of;
        const Message* last = nullptr;
        for (const Message& row : result_.messages) {
            const std::string who = "message " + std::to_string(row.number) + " of connection " +
                                    std::to_string(row.connection) + ": ";
            const FlowResult& flow = result_.flows[row.connection];
            const bool follows = last != nullptr && last->connection == row.connection;
            require(row.number == (follows ? last->number + 1 : 1), who + "the next number");
            const bool is_frame =
                network_.flows[flow.source].application.kind == ApplicationKind::media;
            const double before_s = !follows   ? flow.established_s
                                    : is_frame ? last->start_s
                                               : last->completed_s;
            require(row.start_s >= before_s, who + "begins after the one before it");
            require(in_order(row.start_s, row.completed_s), who + "begins, then ends");
            require(in_run(row.start_s), who + "begins in the run");
            if (!std::isnan(row.completed_s)) bytes_of[row.connection] += row.bytes;
            last = &row;
        }
        for (const auto& [connection, bytes] : bytes_of)
            require(bytes <= result_.flows[connection].delivered_bytes ||
                        conceals_losses(result_.flows[connection]),
                    "messages: complete ones were delivered");
        for (const FlowResult& row : result_.flows)
            require(!(row.application_limited_s > end_s_) && !(row.application_limited_s < 0),
                    "limited by its application for a part of the run");
    }

    bool conceals_losses(const FlowResult& row) const {
        return network_.flows[row.source].optimistic_acks > 0;
    }

    void look_at_channel(std::uint32_t channel) {
        const DirectionResult& row = crossed(channel);
        const Direction& d = direction(channel);
        const std::string who = "channel " + std::to_string(channel) + ": ";
        require(row.lost + row.in_flight <= row.packets, who + "accepted what was lost or is on");
        require(row.early_drops <= row.queue_drops, who + "early drops among the drops");
        require(row.marked <= row.packets, who + "marked what it accepted");
        require(row.utilisation >= 0 && row.utilisation <= 1, who + "utilisation is a share");
        require(row.longest_wait_s >= 0 && row.longest_wait_s <= end_s_, who + "waits in the run");
        const auto packets = static_cast<double>(row.packets);
        require(row.waited_s <= packets * row.longest_wait_s * (1 + kNear), who + "sum of waits");
        require(row.waited_s >= row.longest_wait_s * (1 - kNear), who + "the longest among them");
        const double mean = row.waited_s / end_s_;
        if (d.queue_packets != kUnlimited)
            require(mean <= static_cast<double>(d.queue_packets) * (1 + kNear),
                    who + "the mean queue is within its limit");
        if (network_.trace.queues) look_at_queue(row, d, who);
    }

    // The trace must agree with the row.
    void look_at_queue(const DirectionResult& row, const Direction& d, const std::string& who) {
        const QueueTrace& trace = row.trace;
        double sum_s = 0, longest_s = 0;
        std::uint64_t waiting = 0;
        std::vector<std::pair<double, std::int64_t>> changes;
        for (std::size_t i = 0; i < trace.arrival_s.size(); i++) {
            const bool waits = std::isnan(trace.start_s[i]);
            const double until_s = waits ? end_s_ : trace.start_s[i];
            require(in_run(trace.arrival_s[i]) && trace.arrival_s[i] <= until_s && in_run(until_s),
                    who + "a wait within the run");
            sum_s += until_s - trace.arrival_s[i];
            longest_s = std::max(longest_s, until_s - trace.arrival_s[i]);
            waiting += waits;
            changes.push_back({trace.arrival_s[i], trace.bytes[i]});
            if (!waits) changes.push_back({until_s, -static_cast<std::int64_t>(trace.bytes[i])});
        }
        require(std::abs(sum_s - row.waited_s) <= kNear * sum_s + rounding_s() * packets(trace),
                who + "the trace's integral " + std::to_string(sum_s) + " is the row's sum " +
                    std::to_string(row.waited_s));
        require(std::abs(longest_s - row.longest_wait_s) <= kNear * longest_s + rounding_s(),
                who + "the trace's longest wait");
        require(waiting <= row.in_flight, who + "what waits at the end is on its way");
        std::sort(changes.begin(), changes.end());  // at the same time, departures come first
        std::int64_t bytes = 0, count = 0;
        for (const auto& [at_s, change] : changes) {
            bytes += change;
            count += change > 0 ? 1 : -1;
            require(count <= d.queue_packets && bytes <= d.queue_bytes,
                    who + "the queue is within its limit");
        }
    }
    double rounding_s() const { return 1e-12 + 1e-15 * end_s_; }  // of a time in a trace
    static double packets(const QueueTrace& trace) {
        return static_cast<double>(trace.arrival_s.size());
    }

    void look_at_drops() {
        std::map<std::pair<std::uint32_t, DropKind>, std::uint64_t> count_of;
        std::map<std::uint32_t, std::uint64_t> dropped, lost;
        double before_s = 0;
        for (const Drop& drop : result_.drops) {
            require(in_run(drop.time_s) && before_s <= drop.time_s, "drops in the run, by time");
            before_s = drop.time_s;
            require(drop.kind != DropKind::mark || drop.packet == PacketKind::data,
                    "only data is marked");
            count_of[{drop.channel, drop.kind}]++;
            if (drop.packet != PacketKind::data || drop.kind == DropKind::mark) continue;
            (drop.kind == DropKind::wire ? lost : dropped)[drop.flow]++;
        }
        for (std::uint32_t channel = 0; channel < 2 * network_.links.size(); channel++) {
            const DirectionResult& row = crossed(channel);
            const std::string who = "channel " + std::to_string(channel) + ": ";
            require((count_of[{channel, DropKind::queue}] + count_of[{channel, DropKind::early}]) ==
                        row.queue_drops,
                    who + "as many drops as are listed");
            require((count_of[{channel, DropKind::early}]) == row.early_drops,
                    who + "listed early drops");
            require((count_of[{channel, DropKind::wire}]) == row.lost,
                    who + "as many lost as are listed");
            require((count_of[{channel, DropKind::mark}]) == row.marked, who + "listed marks");
        }
        for (std::uint32_t i = 0; i < result_.flows.size(); i++) {
            const std::string who = "flow " + std::to_string(i) + ": ";
            require(result_.flows[i].queue_drops == dropped[i], who + "its drops are listed");
            require(result_.flows[i].lost == lost[i], who + "its losses are listed");
        }
    }

    // Checks that each node forwards or receives every packet that arrives at it. This covers only
    // nodes where no TCP flow ends; datagrams are counted.
    void look_at_nodes() {
        std::vector<std::int64_t> balance(network_.nodes, 0);
        std::vector<bool> is_known(network_.nodes, true);
        for (std::uint32_t channel = 0; channel < 2 * network_.links.size(); channel++) {
            const Link& link = network_.links[channel / 2];
            const DirectionResult& row = crossed(channel);
            const std::uint64_t offered = row.packets + row.queue_drops;
            const std::uint64_t arrived = row.packets - row.lost - row.in_flight;
            balance[channel % 2 == 0 ? link.a : link.b] -= static_cast<std::int64_t>(offered);
            balance[channel % 2 == 0 ? link.b : link.a] += static_cast<std::int64_t>(arrived);
        }
        for (const Flow& flow : network_.flows)
            if (!flow.datagrams.on) is_known[flow.from] = is_known[flow.to] = false;
        for (const FlowResult& row : result_.flows) {
            const Flow& flow = network_.flows[row.source];
            if (!flow.datagrams.on) continue;
            balance[flow.from] += static_cast<std::int64_t>(row.sent);
            balance[flow.to] -= static_cast<std::int64_t>(row.delivered_bytes / flow.mss());
        }
        for (std::uint32_t node = 0; node < network_.nodes; node++)
            require(!is_known[node] || balance[node] == 0,
                    "node " + std::to_string(node) + ": what comes goes on");
    }

    // Checks that each packet leaves only after the one before it was sent.
    void look_at_captured() {
        if (network_.trace.capture_link < 0) return;
        const auto channel = static_cast<std::uint32_t>(2 * network_.trace.capture_link);
        const Direction& d = direction(channel);
        Time free_at = 0;
        for (const Captured& packet : result_.captured) {
            require(packet.at >= 0 && packet.at <= network_.duration, "captured in the run");
            if (!packet.leaving || !d.opportunities_ms.empty()) continue;
            require(packet.at >= free_at, "a link sends one packet at a time");
            const Flow& flow = network_.flows[result_.flows[packet.flow].source];
            const std::uint32_t bytes = flow.header_bytes + packet.payload + overhead(channel);
            free_at = packet.at + static_cast<Time>(8e12 * bytes / static_cast<double>(d.rate_bps));
        }
    }

    const Network& network_;
    const Result& result_;
    const Topology topology_;
    double end_s_ = 0;
    std::vector<std::string> broken_;
};

}  // namespace ww::sim::fuzz
