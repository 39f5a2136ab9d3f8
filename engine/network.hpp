// SPDX-License-Identifier: BSD-3-Clause
//
// Declares the input and the output of a simulation: data without behaviour. Times are in
// picoseconds (exact at 10 Gb/s and above), windows in segments, sizes in bytes, rates in bit/s.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../core/catalogue.h"
#include "base/stop.hpp"
#include "columns.hpp"
#include "link/impairments/kinds.hpp"
#include "link/loss/kinds.hpp"
#include "link/queue/kinds.hpp"
#include "settings.hpp"

namespace ww::sim {

// Kinds and their names, which are the same everywhere.
#define WW_SPREADS(X) X(fixed) X(exponential)
#define WW_APPLICATION_KINDS(X) X(bulk) X(rate) X(on_off) X(request) X(video) X(media)
#define WW_EVENT_KINDS(X) \
    X(send) X(retransmit) X(ack) X(dupack) X(recovery) X(exit) X(timeout) X(ecn) X(probe) X(undo)
#define WW_DROP_KINDS(X) X(queue) X(early) X(wire) X(mark)
#define WW_PACKET_KINDS(X) X(data) X(ack) X(syn)

#define WW_ENUMERATOR(id) id,
enum class Spread { WW_SPREADS(WW_ENUMERATOR) };
enum class ApplicationKind { WW_APPLICATION_KINDS(WW_ENUMERATOR) };
enum class EventKind : std::uint8_t { WW_EVENT_KINDS(WW_ENUMERATOR) };
enum class DropKind : std::uint8_t { WW_DROP_KINDS(WW_ENUMERATOR) };
enum class PacketKind : std::uint8_t { WW_PACKET_KINDS(WW_ENUMERATOR) };
#undef WW_ENUMERATOR

// Delays that replace that of a direction: delays[i] from at[i] on. After a period, if there is one, they begin again.
struct DelayChanges {
    std::vector<Time> at;  // ascending
    std::vector<Time> delays;
    Time period = 0;
};

// One direction of a link: queue, transmitter and wire. The packet in transmission does not count
// against the queue's limits. Losses happen at the far end: a lost packet has used the link.
struct Direction {
    WW_DIRECTION_SETTINGS(WW_SETTING_MEMBER)
    std::int64_t queue_packets = kUnlimited;
    std::int64_t queue_bytes = kUnlimited;
    QueueKind queue_kind = QueueKind::droptail;
#define WW_QUEUE(name, Settings, ...) Settings name = {};
    WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE
    Loss loss = {};
    std::vector<std::uint64_t> opportunities_ms = {};  // if not empty, they replace the rate
    DelayChanges delay_changes = {};
#define WW_IMPAIRMENT(name, Settings, ...) std::optional<Settings> name = {};
    WW_IMPAIRMENT_KINDS(WW_IMPAIRMENT)
#undef WW_IMPAIRMENT
};

// Returns whether packets may arrive in another order than they were sent.
inline bool reorders(const Direction& d) {
    return d.reorder_rate > 0 || (d.detour && !d.detour->keeps_order);
}

// Returns whether the packets of a direction wait in a list until they leave.
inline bool holds(const Direction& direction) {
    return holds(direction.queue_kind) || direction.ack_filter;
}

struct Link {
    std::uint32_t a = 0, b = 0;  // node indices
    WW_LINK_SETTINGS(WW_SETTING_MEMBER)
    Direction forward, backward;  // a to b, b to a
};

#define WW_ENUMERATOR(ID, id, ...) id,
enum class Recovery { WW_RECOVERIES(WW_ENUMERATOR) };
#undef WW_ENUMERATOR

// A source of datagrams sends IP packets at `rate_bps` while it is on.
struct Datagrams {
    bool on = false;
    std::int64_t rate_bps = 0;
    Time on_mean = kNever,
         off_mean = 0;              // mean lengths of the on and off periods; off_mean 0: always on
    Spread spread = Spread::fixed;  // distribution of the period lengths
    Spread spacing =
        Spread::fixed;  // distribution of the gaps between packets; exponential: a Poisson process
};

// Frames of live media (traffic/media.hpp).
struct MediaFrames {
    Time interval = 0;  // from one frame to the next
    std::int64_t frame_bytes = 0,
                 key_bytes = 0;  // of the lower layer; key_bytes 0: like the others
    std::int64_t upper_bytes = 0, upper_key_bytes = 0;  // the same; upper_bytes 0: one layer
    std::uint32_t group = 1;                            // frames, of which the first is a key frame
    Time patience = kNever;  // how late a frame of the upper layer may arrive
    Time warm_up = 0;        // frames that are due before are no messages
};

// What the sending application of a connection writes (traffic/application.hpp). Times without a
// meaning for a kind have no effect on it.
struct Application {
    ApplicationKind kind = ApplicationKind::bulk;
    std::int64_t rate_bps = 0;            // rate: payload
    Time bulk = 0;                        // rate: as much as TCP takes for this long first
    Time on_mean = kNever, off_mean = 0;  // rate, on_off: as of Datagrams
    Spread spread = Spread::fixed;        // of these periods, or of the think times
    std::int64_t size_bytes = 0;          // request: of a response
    Spread size_spread = Spread::fixed;
    Time think_mean = 0;                   // request: from a response to the next request
    std::vector<std::int64_t> ladder_bps;  // video: the rates to choose from, ascending
    Time chunk = 0;                        // video: how long a chunk plays
    Time buffer = 0;                       // video: how much the player keeps at most
    MediaFrames media = {};
};

class GuestFactory;

// A TCP connection, or a source of datagrams of mss payload bytes. With arrivals it stands for many
// connections, with exponential gaps between their starts.
struct Flow {
    std::uint32_t from = 0, to = 0;  // node indices
    ww_config cc = ww_configure(WW_PROTOCOL_NEWRENO);
    Recovery recovery = Recovery::newreno;
    WW_FLOW_SETTINGS(WW_SETTING_MEMBER)
    Datagrams datagrams = {};
    Application application = {};
    Time arrivals_mean = 0;  // mean gap between connections; 0: the flow is one connection
    Spread size_spread = Spread::fixed;  // distribution of size_bytes over the connections
    bool obeys_pacing = true;  // false: the sender has no pacer, for tests of what notices it
    bool random_isn = true;    // draw the initial sequence number from the seed; else use isn
    std::uint32_t isn = 0;
    GuestFactory* guests = nullptr;  // it simulates the flow's connections (traffic/guest.hpp)

    std::uint32_t mss() const { return packet_bytes - header_bytes; }  // payload of a full segment
};

// The flows of a network. Those that are equal share their memory until `flows[i]` of a network that is not const may
// change one, so a copy of a network is small, and so are the flows of a group. No reference to one that may change
// should outlive a copy.
class Flows {
  public:
    template <class Owner>
    class Iterator {
      public:
        using iterator_category = std::input_iterator_tag;
        using value_type = Flow;
        using difference_type = std::ptrdiff_t;
        using pointer = void;
        using reference = decltype(std::declval<Owner&>()[0]);

        Iterator(Owner& owner, std::size_t place) : owner_(&owner), place_(place) {}
        reference operator*() const { return (*owner_)[place_]; }
        Iterator& operator++() { return place_++, *this; }
        bool operator==(const Iterator& other) const { return place_ == other.place_; }
        bool operator!=(const Iterator& other) const { return !(*this == other); }  // C++17

      private:
        Owner* owner_;
        std::size_t place_;
    };

    Flows() = default;
    Flows(std::initializer_list<Flow> flows) : Flows(std::vector<Flow>(flows)) {}
    Flows(const std::vector<Flow>& flows) {
        for (const Flow& flow : flows) push_back(flow);
    }

    bool empty() const { return flows_.empty(); }
    std::size_t size() const { return flows_.size(); }
    const Flow& operator[](std::size_t place) const { return *flows_.at(place); }
    Flow& operator[](std::size_t place) {
        std::shared_ptr<Flow>& flow = flows_.at(place);
        if (flow.use_count() > 1) flow = std::make_shared<Flow>(*flow);
        return *flow;
    }
    const Flow& front() const { return (*this)[0]; }
    Flow& back() { return (*this)[size() - 1]; }
    auto begin() { return Iterator<Flows>(*this, 0); }
    auto begin() const { return Iterator<const Flows>(*this, 0); }
    auto end() { return Iterator<Flows>(*this, size()); }
    auto end() const { return Iterator<const Flows>(*this, size()); }

    void clear() { flows_.clear(); }
    void push_back(const Flow& flow) { resize(size() + 1, flow); }
    Flow& emplace_back() { return push_back({}), back(); }
    // Adds equal flows up to this number.
    void resize(std::size_t count, const Flow& flow) {
        flows_.resize(count, std::make_shared<Flow>(flow));
    }

  private:
    std::vector<std::shared_ptr<Flow>> flows_;
};

struct TraceOptions {
    bool windows = false;  // a row on each change of cwnd, ssthresh, the estimate or the RTT
    Time interval = 0;     // shortest time between two rows of a flow; 0: every change
    bool events = false;   // every segment, ACK and decision of the sender, for packet-level tests
    bool queues = false;  // every packet that waited, and every packet dropped, lost or marked; the
                          // columns of disciplines
    std::int64_t capture_link =
        -1;  // every packet that node a of this link sends or receives on it; -1: none
};

struct Network {
    std::uint32_t nodes = 0;
    std::vector<Link> links;
    Flows flows;
    Time duration = 0;
    TraceOptions trace;
    bool event_per_hop = false;  // make every hop an event: slower, same result
};

// The window trace, as a struct of arrays with one entry per row.
struct WindowTrace {
    WW_WINDOW_COLUMNS(WW_TRACE_MEMBER)
};

// Its further columns: as many rows, or none if no control shows anything.
struct ShownTrace {
    WW_SHOWN_COLUMNS(WW_TRACE_MEMBER)
};

// `segment`: the number of the segment sent, from 0; for an ACK, the first segment not
// acknowledged.
struct Event {
    double time_s;
    EventKind kind;
    std::int64_t segment;
    std::uint32_t cwnd;  // segments, after the event, with inflation
    std::uint32_t ssthresh;
};

// What is kept of a connection once it is over.
struct FlowCounts {
    std::uint32_t source = 0;  // index of its flow in the network
    WW_FLOW_COLUMNS(WW_COLUMN_MEMBER)
};

struct FlowResult : FlowCounts {
    WindowTrace trace;
    ShownTrace shown;
    std::vector<Event> events;
};

// A response, a chunk of video or a frame of media: what a connection's application sends as a whole.
struct Message {
    WW_MESSAGE_COLUMNS(WW_COLUMN_MEMBER)
};

// The packets that waited in a queue, in order of arrival: a struct of arrays with one entry per
// packet.
struct QueueTrace {
    WW_QUEUE_COLUMNS(WW_TRACE_MEMBER)
};

// The columns of a queue's discipline over time, in order of time.
struct StateTrace {
    WW_STATE_COLUMNS(WW_TRACE_MEMBER)
};

struct DirectionResult {
    WW_DIRECTION_COLUMNS(WW_COLUMN_MEMBER)
    QueueTrace trace;   // with TraceOptions::queues
    StateTrace states;  // the same
};

struct Drop {
    double time_s;          // of arrival at the queue; of a packet lost on the wire, at the far end
    std::uint32_t channel;  // 2 i: link i forward, 2 i + 1: backward
    std::uint32_t flow;     // index in Result::flows
    DropKind kind;
    PacketKind packet;
};

// A packet as node a of the captured link sees it: when its transmission begins, or when it
// arrives.
struct Captured {
    Time at;
    std::uint32_t flow;    // index in Result::flows
    std::uint32_t number;  // sequence number of data, acknowledgment number of an ACK
    std::uint16_t payload;
    std::uint16_t flags;  // PacketFlags
    bool leaving;
    std::uint8_t sack_count;
    std::uint32_t sack[8];  // start and end of each block
};

// What was recorded since the last piece. Tables are in order of time; queues and states are by channel, then
// by time.
struct Records {
    WindowTrace windows;
    ShownTrace shown;
    bool has_shown = false;  // whether the trace has these columns
    std::vector<Event> events;
    QueueTrace queues;
    std::vector<std::uint32_t> windows_of, events_of;  // the row's connection
    StateTrace states;
    std::vector<std::uint32_t> queues_of, states_of;  // the row's channel, counted as in Drop
    std::vector<Drop> drops;
    std::vector<Captured> captured;
};

// Receives the records while the run goes on, so that memory does not grow with the run.
class Sink {
  public:
    virtual ~Sink() = default;
    virtual void take(Records records) = 0;
};

// The outcome of a run, with what it recorded unless a sink took it.
struct Outcome {
    std::vector<FlowCounts> connections;             // a flow with arrivals has several
    std::vector<Message> messages;                   // by connection, then by time
    std::vector<DirectionResult> forward, backward;  // per link; their traces are in the records
    Records records;
    std::uint64_t packets = 0;  // hops travelled by packets of all kinds
    std::uint64_t events = 0;   // entries into the event loop
    std::string error;          // why nothing was simulated; empty if all went well
    bool stopped = false;       // it was stopped before its end; nothing else here is valid
};

// The same, with the records sorted into connections and directions.
struct Result {
    std::vector<FlowResult> flows;                   // one entry per connection
    std::vector<Message> messages;                   // by connection, then by time
    std::vector<DirectionResult> forward, backward;  // per link
    std::vector<Drop> drops;                         // with TraceOptions::queues
    std::vector<Captured> captured;                  // by time, with TraceOptions::capture_link
    std::uint64_t packets = 0;
    std::uint64_t events = 0;
    std::string error;
    bool stopped = false;
};

// Pure functions: they use no files, clocks, threads or environment, and the same network and seed
// give the same result, bit for bit. They end early if `stop` says so.
Outcome run(const Network& network, std::uint64_t seed, Sink* sink = nullptr,
            const Stop& stop = {});
Result simulate(const Network& network, std::uint64_t seed, const Stop& stop = {});

}  // namespace ww::sim
