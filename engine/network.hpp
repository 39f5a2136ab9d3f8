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

enum class LossKind { none, uniform, script };

struct Loss {
    LossKind kind = LossKind::none;
    double rate = 0;                     // uniform: probability a packet, 0..1
    std::vector<std::uint64_t> packets;  // script: which packets, counted from 1, ascending
};

// One direction of a link: a drop-tail queue, a transmitter and a wire. The packet in transmission
// does not count against the queue's limits. Losses happen at the far end: a lost packet has used
// the link.
struct Direction {
    std::int64_t rate_bps = 0;
    Time delay = 0;
    std::int64_t queue_packets = kUnlimited;
    std::int64_t queue_bytes = kUnlimited;
    Loss loss;
};

struct Link {
    std::uint32_t a = 0, b = 0;        // node indices
    std::uint32_t overhead_bytes = 0;  // framing added to each IP packet on the wire
    Direction forward, backward;       // a to b, b to a
};

enum class Recovery { tahoe, reno, newreno, sack };

struct Flow {
    std::uint32_t from = 0, to = 0;  // node indices
    ww_config cc = ww_preset(WW_PRESET_RENO);
    Recovery recovery = Recovery::newreno;
    Time start = 0, stop = kNever;         // no new data is sent from stop on
    std::int64_t size_bytes = kUnlimited;  // payload to deliver; unlimited: bulk
    std::uint32_t mss = 1460;              // payload bytes of a full segment
    std::uint32_t header_bytes = 40;       // IP + TCP headers of every packet
    std::uint32_t initial_cwnd = 10;       // segments
    std::uint32_t initial_ssthresh = WW_SSTHRESH_INFINITE;
    std::uint32_t receive_window = 1 << 20;  // bytes
    Time min_rto = kSecond, max_rto = 60 * kSecond, initial_rto = kSecond;
    Time clock_granularity = kMicrosecond * 1000;  // G of RFC 6298
    std::uint32_t delayed_ack = 2;                 // an ACK every so many full segments
    Time delayed_ack_timeout = kSecond / 5;
    std::uint32_t dupack_threshold = 3;
    bool limited_transmit = true;         // RFC 3042
    bool flight_excludes_sacked = false;  // ssthresh from the pipe (Linux, ns-3), not FlightSize
    bool handshake_rtt = true;  // the SYN's round trip is the timer's first sample (RFC 6298, 2)
    bool random_isn = true;     // initial sequence number from the seed; else isn
    std::uint32_t isn = 0;
};

struct TraceOptions {
    bool windows = false;  // a row whenever cwnd, ssthresh, the estimate or the RTT changed
    Time interval = 0;     // at least this long between two rows of a flow; 0: every change
    bool events = false;   // every segment, ACK and decision of the sender, for packet-level tests
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
    std::vector<double> cwnd;          // segments, with the inflation of fast recovery
    std::vector<double> ssthresh;      // segments
    std::vector<double> estimate_bps;  // filtered; NaN before the first sample and for Reno
    std::vector<double> sample_bps;    // the last raw sample
    std::vector<double> rtt_s;         // last RTT sample; NaN before the first
    std::vector<double> in_flight;     // segments
    std::vector<std::uint8_t> phase;   // enum ww_phase
};

enum class EventKind : std::uint8_t { send, retransmit, ack, dupack, recovery, exit, timeout };

// segment: of a send its number from 0; of an ACK the first segment not acknowledged.
struct Event {
    double time_s;
    EventKind kind;
    std::int64_t segment;
    std::uint32_t cwnd;  // segments, after the event, with inflation
    std::uint32_t ssthresh;
};

struct FlowResult {
    std::uint64_t delivered_bytes = 0;   // payload handed to the application in order
    std::uint64_t ip_bytes_at_sink = 0;  // IP bytes of data packets that reached the sink
    std::uint64_t sent = 0;              // data segments, retransmissions included
    std::uint64_t retransmitted = 0;
    std::uint64_t timeouts = 0;
    std::uint64_t fast_recoveries = 0;  // for tahoe: fast retransmits
    std::uint64_t queue_drops = 0;      // data packets of this flow dropped by a full queue
    std::uint64_t lost = 0;             // data packets of this flow lost on a wire
    double mean_cwnd = 0;               // segments, over time since the connection was established
    double mean_srtt_s = 0;             // over the RTT samples; NaN without any
    double min_rtt_s = 0;               // NaN without any
    double established_s = 0;           // NaN if never
    double completed_s = 0;             // all of size_bytes acknowledged; NaN if not
    WindowTrace trace;
    std::vector<Event> events;
};

struct DirectionResult {
    std::uint64_t packets = 0;  // accepted by the queue by the end of the run
    std::uint64_t queue_drops = 0;
    std::uint64_t lost = 0;
};

struct Result {
    std::vector<FlowResult> flows;
    std::vector<DirectionResult> forward, backward;  // per link
    std::uint64_t packets = 0;                       // hops travelled by packets of all kinds
    std::uint64_t events = 0;                        // entries into the event loop
    std::string error;                               // not empty: nothing was simulated, and why
};

// Pure: no files, clocks, threads, environment. Same network and seed, same result to the bit.
Result simulate(const Network& network, std::uint64_t seed);

}  // namespace ww::sim
