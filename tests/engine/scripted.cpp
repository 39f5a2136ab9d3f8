// SPDX-License-Identifier: BSD-3-Clause
#include "scripted.hpp"

#include <cstdio>

namespace ww::sim::test {
namespace {

bool is_sent(EventKind kind) { return kind == EventKind::send || kind == EventKind::retransmit; }

// Returns a transmission's packet number: SYN and the handshake's ACK come before data.
std::uint64_t packet_of(const std::vector<Event>& events, const Transmission& wanted) {
    std::uint64_t packet = 2;
    int time = 0;
    for (const Event& event : events) {
        if (!is_sent(event.kind)) continue;
        packet++;
        if (event.segment == wanted.segment && ++time == wanted.time) return packet;
    }
    ADD_FAILURE() << "segment " << wanted.segment << " is not sent " << wanted.time << " times";
    return packet + 1;
}

}  // namespace

Network scripted_network(Recovery recovery) {
    Flow flow = bulk();
    flow.recovery = recovery;
    flow.cc.byte_counting = false;
    flow.packet_bytes = 1000 + flow.header_bytes;
    flow.size_bytes = 40 * flow.mss();
    flow.initial_cwnd = 10;
    flow.initial_ssthresh = 10;
    flow.delayed_ack = 1;
    flow.random_isn = false;
    Network network = one_link(8'320'000, kSecond / 20, 60 * kSecond, {flow});
    network.trace.events = true;
    return network;
}

ScriptedRun::ScriptedRun(Recovery recovery, const Script& script)
    : network_(scripted_network(recovery)) {
    script.change(network_);
    network_.links[0].backward.loss = LossList{script.lost_acks};
    LossList& forward = network_.links[0].forward.loss.emplace<LossList>();
    result_ = simulate(network_, 1);
    for (const Transmission& lost : script.lost) {  // a later loss does not change earlier events
        forward.packets.push_back(packet_of(events(), lost));
        result_ = simulate(network_, 1);
    }
    EXPECT_EQ(result_.error, "");
}

int ScriptedRun::find(EventKind kind, std::int64_t segment, int from) const {
    for (int i = from; i < static_cast<int>(events().size()); i++)
        if (at(i).kind == kind && (segment < 0 || at(i).segment == segment)) return i;
    return -1;
}

int ScriptedRun::count(EventKind kind, std::int64_t segment) const {
    return static_cast<int>(
        std::count_if(events().begin(), events().end(), [&](const Event& event) {
            return event.kind == kind && (segment < 0 || event.segment == segment);
        }));
}

Event ScriptedRun::first(EventKind kind, std::int64_t segment, int from) const {
    const int place = find(kind, segment, from);
    EXPECT_GE(place, 0) << "no " << name_of(kind) << " of segment " << segment << "\n" << table();
    return place < 0 ? Event{} : at(place);
}

Segments ScriptedRun::segments(EventKind kind, int from, int to) const {
    Segments segments;
    for (int i = from; i < std::min(to, static_cast<int>(events().size())); i++)
        if (at(i).kind == kind) segments.push_back(at(i).segment);
    return segments;
}

std::string ScriptedRun::table() const {
    std::string text = "  time ms  event       segment  cwnd  ssthresh\n";
    const std::vector<std::uint64_t>& lost =
        std::get<LossList>(network_.links[0].forward.loss).packets;
    std::uint64_t packet = 2;
    for (const Event& event : events()) {
        char line[96];
        std::snprintf(line, sizeof line, "%9.3f  %-10s  %7lld  %4u  %8u", event.time_s * 1e3,
                      name_of(event.kind), static_cast<long long>(event.segment), event.cwnd,
                      event.ssthresh);
        text += line;
        if (is_sent(event.kind) && std::binary_search(lost.begin(), lost.end(), ++packet))
            text += "  lost";
        text += "\n";
    }
    return text;
}

const char* name_of(Recovery recovery) {
    constexpr const char* names[] = {"tahoe", "reno", "newreno", "sack", "rate-halving", "prr"};
    return names[static_cast<int>(recovery)];
}

const char* name_of(EventKind kind) {
#define WW_NAME(id) #id,
    constexpr const char* names[] = {WW_EVENT_KINDS(WW_NAME)};
#undef WW_NAME
    return names[static_cast<int>(kind)];
}

}  // namespace ww::sim::test
