// SPDX-License-Identifier: BSD-3-Clause
//
// One connection over one link with scripted losses, small enough to follow packet by packet.
//
//   source ==== 8.32 Mb/s, 50 ms ==== sink      a segment of 1000 + 40 bytes takes 1 ms, an ACK 38 us
//
// The window starts in congestion avoidance at 10 segments (cwnd = ssthresh = 10), every segment is acknowledged
// (delayed ACK 1), the transfer has 40 segments, and the minimum RTO is 1 s.
#pragma once

#include <functional>
#include <string>

#include "one_link.hpp"

namespace ww::sim::test {

// The n-th time (from 1) that a segment (from 0) is put on the wire.
struct Transmission {
    std::int64_t segment;
    int time = 1;
};

struct Script {
    std::vector<Transmission> lost = {};  // data, in the order of sending
    std::vector<std::uint64_t> lost_acks =
        {};  // packets from the sink, counted from 1, which is the SYN-ACK
    std::function<void(Network&)> change = [](Network&) {};
};

class ScriptedRun {
  public:
    ScriptedRun(Recovery recovery, const Script& script);
    // Loses these transmissions, and changes the flow.
    ScriptedRun(Recovery recovery, const std::vector<Transmission>& lost,
                const std::function<void(Flow&)>& change)
        : ScriptedRun(recovery, {lost, {}, [&](Network& network) { change(network.flows[0]); }}) {}

    const FlowResult& flow() const { return result_.flows[0]; }
    const Result& result() const { return result_; }
    const std::vector<Event>& events() const { return flow().events; }

    // Return indices in events(), or -1; the search starts at `from`.
    int find(EventKind kind, std::int64_t segment = -1, int from = 0) const;
    int count(EventKind kind, std::int64_t segment = -1) const;
    const Event& at(int place) const { return events().at(static_cast<std::size_t>(place)); }
    // Returns the first such event; the test fails if there is none.
    Event first(EventKind kind, std::int64_t segment = -1, int from = 0) const;
    // Lists the segments of events of this kind, in order, in [from, to).
    Segments segments(EventKind kind, int from = 0, int to = 1 << 30) const;

    // Returns the events as a table, one per line, with lost transmissions marked.
    std::string table() const;

  private:
    Network network_;
    Result result_;
};

Network scripted_network(Recovery recovery);

inline void expect_near(const std::vector<double>& is, const std::vector<double>& should_be) {
    ASSERT_EQ(is.size(), should_be.size());
    for (std::size_t i = 0; i < is.size(); i++) EXPECT_NEAR(is[i], should_be[i], 1e-9);
}

const char* name_of(Recovery recovery);
const char* name_of(EventKind kind);

}  // namespace ww::sim::test
