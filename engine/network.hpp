// SPDX-License-Identifier: BSD-3-Clause
//
// What goes into a simulation and what comes out: plain data, no behaviour.
// Times are picoseconds (exact at 10 Gb/s and above), windows segments, sizes bytes, rates bit/s.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../core/westwood.h"

namespace ww::sim {

using Time = std::int64_t;  // ps since the start; 2^63 ps are 106 days
inline constexpr Time kMicrosecond = 1'000'000;
inline constexpr Time kSecond = 1'000'000'000'000;
inline constexpr Time kNever = INT64_MAX - 1;  // one more still fits
inline constexpr std::int64_t kUnlimited = INT64_MAX;

enum class LossKind { none, uniform, script, states, bits };

// states: the link is in one of two, first in 0, changing for ever; each packet is lost with its
// state's probability. Both directions of a link are in the same state at the same time.
struct Loss {
    LossKind kind = LossKind::none;
    double rate = 0;                     // uniform: probability a packet; bits: a bit; 0..1
    std::vector<std::uint64_t> packets;  // script: which packets, counted from 1, ascending
    Time state_mean[2] = {0, 0};         // states: how long one lasts on average
    double state_rate[2] = {0, 0};       // states: probability a packet
    bool state_fixed = false;  // a state lasts its mean exactly; else exponentially distributed
};

// Random Early Detection (red.hpp). Off: drop-tail.
struct Red {
    bool on = false;
    double min_packets = 0, max_packets = 0;  // thresholds of the average queue
    double max_p = 0.1;                       // probability at max_packets
    double weight = 0.002;                    // w_q
    std::uint32_t mean_packet_bytes = 500;    // decay of an idle queue: packets it could have sent
    bool gentle = false;                      // from max_p to 1 between max and twice max
    bool ecn = false;                         // mark instead of drop (RFC 3168)
};

// One direction of a link: a queue, a transmitter and a wire. The packet in transmission does not
// count against the queue's limits. Losses happen at the far end: a lost packet has used the link.
struct Direction {
    std::int64_t rate_bps = 0;
    Time delay = 0;
    std::int64_t queue_packets = kUnlimited;
    std::int64_t queue_bytes = kUnlimited;
    Loss loss = {};
    Red red = {};
    std::vector<std::uint64_t> opportunities_ms =
        {};                   // not empty: instead of the rate (opportunities.hpp)
    Time jitter = 0;          // uniform in 0..jitter, on top of delay, in order
    double reorder_rate = 0;  // probability that a packet is held back
    Time reorder_delay = 0;   // for so long, and others pass it
};

struct Link {
    std::uint32_t a = 0, b = 0;        // node indices
    std::uint32_t overhead_bytes = 0;  // framing added to each IP packet on the wire
    Direction forward, backward;       // a to b, b to a
};

enum class Recovery { tahoe, reno, newreno, sack, rate_halving, prr };
enum class Spread { fixed, exponential };

// A source of datagrams: at `rate_bps` of IP packets while it is on.
struct Datagrams {
    bool on = false;
    std::int64_t rate_bps = 0;
    Time on_mean = kNever, off_mean = 0;  // how long it is on, and off; off_mean 0: always on
    Spread spread = Spread::fixed;        // of both
};

// A TCP connection, or a source of datagrams of mss payload bytes. With arrivals it stands for many
// connections, each of which starts an exponential time after the one before.
struct Flow {
    std::uint32_t from = 0, to = 0;  // node indices
    ww_config cc = ww_preset(WW_PRESET_RENO);
    Recovery recovery = Recovery::newreno;
    Time start = 0, stop = kNever;         // no new data, and no new connection, from stop on
    Time start_spread = 0;                 // it starts up to so much later, uniformly, by the seed
    std::int64_t size_bytes = kUnlimited;  // payload to deliver; unlimited: bulk
    Datagrams datagrams;
    Time arrivals_mean = 0;              // between two connections; 0: the flow is one connection
    Spread size_spread = Spread::fixed;  // of size_bytes over the connections
    std::uint32_t mss = 1460;            // payload bytes of a full segment
    std::uint32_t header_bytes = 40;     // IP + TCP headers of every packet
    std::uint32_t initial_cwnd = 10;     // segments
    std::uint32_t initial_ssthresh = WW_SSTHRESH_INFINITE;
    std::uint32_t receive_window = 1 << 20;  // bytes
    Time min_rto = kSecond, max_rto = 60 * kSecond, initial_rto = kSecond;
    Time clock_granularity = kMicrosecond * 1000;  // G of RFC 6298
    std::uint32_t delayed_ack = 2;                 // an ACK every so many full segments
    Time delayed_ack_timeout = kSecond / 5;
    std::uint32_t dupack_threshold = 3;
    bool limited_transmit = true;         // RFC 3042
    bool flight_excludes_sacked = false;  // ssthresh from the pipe (ns-3), not FlightSize
    bool ssthresh_from_cwnd = false;      // from cwnd (Linux), once an episode of losses
    bool handshake_rtt = true;  // the SYN's round trip is the timer's first sample (RFC 6298, 2)
    bool ecn = false;           // ECN-capable transport (RFC 3168)
    bool random_isn = true;     // initial sequence number from the seed; else isn
    std::uint32_t isn = 0;
};

struct TraceOptions {
    bool windows = false;  // a row whenever cwnd, ssthresh, the estimate or the RTT changed
    Time interval = 0;     // at least this long between two rows of a flow; 0: every change
    bool events = false;   // every segment, ACK and decision of the sender, for packet-level tests
    bool queues = false;   // every packet that waited, and every packet dropped, lost or marked
    std::int64_t capture_link = -1;  // every packet that node a of this link sees on it; -1: none
};

struct Network {
    std::uint32_t nodes = 0;
    std::vector<Link> links;
    std::vector<Flow> flows;
    Time duration = 0;
    TraceOptions trace;
    bool event_per_hop = false;  // run every hop as an event of its own: slower, the same result
};

// A row of the window trace: struct of arrays, one entry a row.
struct WindowTrace {
    std::vector<double> time_s;
    std::vector<double> cwnd;      // segments, with the inflation of fast recovery
    std::vector<double> ssthresh;  // segments; NaN: unlimited
    std::vector<double>
        estimate_bps;                 // filtered; NaN before the first sample and without estimator
    std::vector<double> sample_bps;   // the last raw sample
    std::vector<double> rtt_s;        // last RTT sample; NaN before the first
    std::vector<double> srtt_s;       // smoothed; NaN before the first
    std::vector<double> rto_s;        // retransmission timeout in force
    std::vector<double> in_flight;    // segments
    std::vector<std::uint8_t> phase;  // enum ww_phase
};

enum class EventKind : std::uint8_t { send, retransmit, ack, dupack, recovery, exit, timeout, ecn };

// segment: of a send its number from 0; of an ACK the first segment not acknowledged.
struct Event {
    double time_s;
    EventKind kind;
    std::int64_t segment;
    std::uint32_t cwnd;  // segments, after the event, with inflation
    std::uint32_t ssthresh;
};

struct FlowResult {
    std::uint32_t source = 0;            // which flow of the network it is a connection of
    std::uint64_t delivered_bytes = 0;   // payload handed to the application in order
    std::uint64_t ip_bytes_at_sink = 0;  // IP bytes of data packets that reached the sink
    std::uint64_t sent = 0;              // data segments, retransmissions included
    std::uint64_t retransmitted = 0;
    std::uint64_t timeouts = 0;
    std::uint64_t fast_recoveries = 0;  // for tahoe: fast retransmits
    std::uint64_t ecn_reductions = 0;   // windows reduced for a mark
    std::uint64_t queue_drops = 0;      // data packets of this flow dropped by a queue
    std::uint64_t lost = 0;             // data packets of this flow lost on a wire
    double mean_cwnd = 0;               // segments, over time since the connection was established
    double mean_srtt_s = 0;             // over the RTT samples; NaN without any
    double min_rtt_s = 0;               // NaN without any
    double start_s = 0;                 // when it was to start
    double established_s = 0;           // NaN if never
    double completed_s = 0;             // all of size_bytes acknowledged; NaN if not
    WindowTrace trace;
    std::vector<Event> events;
};

struct DirectionResult {
    std::uint64_t packets = 0;  // accepted by the queue by the end of the run
    std::uint64_t bytes = 0;    // of those, with the link's overhead
    std::uint64_t queue_drops = 0;
    std::uint64_t early_drops = 0;  // by RED before the queue was full, among queue_drops
    std::uint64_t marked = 0;       // by RED
    std::uint64_t lost = 0;
    double waited_s = 0;  // sum over the packets; over the duration it is the mean queue in packets
    double longest_wait_s = 0;
    double utilisation = 0;  // share of the time (with opportunities: of the bytes) in use
    // With TraceOptions::queues: the packets that waited, in order of arrival.
    std::vector<double> arrival_s, start_s;
    std::vector<std::uint32_t> waiting_bytes;
};

enum class DropKind : std::uint8_t { queue, early, wire, mark };

struct Drop {
    double time_s;       // of arrival at the queue; of wire: when the far end misses it
    std::uint32_t pipe;  // 2 i: link i forward, 2 i + 1: backward
    std::uint32_t flow;  // in Result::flows
    DropKind kind;
    bool ack;
};

// A packet as node a of the captured link sees it: leaving it once its transmission begins, or
// arriving.
struct Captured {
    Time at;
    std::uint32_t flow;    // in Result::flows
    std::uint32_t number;  // sequence number of data, acknowledgment number of an ACK
    std::uint16_t payload;
    std::uint16_t flags;  // PacketFlags
    bool leaving;
    std::uint8_t sack_count;
    std::uint32_t sack[8];  // start and end of each block
};

struct Result {
    std::vector<FlowResult> flows;                   // of a flow with arrivals one each connection
    std::vector<DirectionResult> forward, backward;  // per link
    std::vector<Drop> drops;                         // with TraceOptions::queues
    std::vector<Captured> captured;                  // by time, with TraceOptions::capture_link
    std::uint64_t packets = 0;                       // hops travelled by packets of all kinds
    std::uint64_t events = 0;                        // entries into the event loop
    std::string error;                               // not empty: nothing was simulated, and why
};

// Pure: no files, clocks, threads, environment. Same network and seed, same result to the bit.
Result simulate(const Network& network, std::uint64_t seed);

}  // namespace ww::sim
