// SPDX-License-Identifier: BSD-3-Clause
//
// Runs one benchmark case on the engine: flows from one source through a router to one sink. Prints
// a JSON object. bench/run.py runs it in turn with the ns-3 peer, which takes the same options.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "../engine/network.hpp"
#include "usage.hpp"

namespace {

using namespace ww::sim;

std::map<std::string, std::string> options = {
    {"cc", "westwood+"},   {"recovery", "newreno"}, {"flows", "1"},     {"duration", "600"},
    {"rate", "2e6"},       {"access", "10e6"},      {"delay", "1e-5"},  {"access-delay", "0.045"},
    {"loss", "0.005"},     {"queue", "100"},        {"payload", "360"}, {"window", "4194304"},
    {"ssthresh", "65535"}, {"trace", "0"},          {"repeat", "5"},    {"seed", "1"},
    {"gap", "0.001"},  // s between the starts of two flows
    {"stream", "0"},   // 1: records are handed over during the run, and dropped
    {"part", "none"},  // an additional part in the bottleneck, the flows or the recording
};

double number(const char* key) { return std::atof(options.at(key).c_str()); }
Time picoseconds(const char* key) { return static_cast<Time>(number(key) * 1e12 + 0.5); }

Link link(std::uint32_t a, const char* rate, const char* delay) {
    Link duplex;
    duplex.a = a;
    duplex.b = a + 1;
    duplex.overhead_bytes = 2;  // PPP, as in ns-3
    for (Direction* direction : {&duplex.forward, &duplex.backward}) {
        direction->rate_bps = static_cast<std::int64_t>(number(rate));
        direction->delay = picoseconds(delay);
    }
    return duplex;
}

const std::vector<std::string> protocol_names = {
#define WW_ROW(ID, name, ...) name,
    WW_PROTOCOLS(WW_ROW)
#undef WW_ROW
};
const std::vector<std::string> recovery_names = {
#define WW_ROW(ID, id, name, ...) name,
    WW_RECOVERIES(WW_ROW)
#undef WW_ROW
};

std::size_t place_of(const std::string& name, const std::vector<std::string>& names) {
    const auto place = std::find(names.begin(), names.end(), name);
    if (place == names.end()) {
        std::fprintf(stderr, "engine_run: '%s' is unknown\n", name.c_str());
        std::exit(2);
    }
    return static_cast<std::size_t>(place - names.begin());
}

// Adds a part of the engine that the base case does not use.
void set_part(Network& network, Direction& bottleneck, const std::string& part) {
    if (part == "red" || part == "red-ecn") {
        bottleneck.queue_kind = QueueKind::red;
        bottleneck.red.min_packets = 5;
        bottleneck.red.max_packets = 40;
        bottleneck.red.ecn = part == "red-ecn";
    }
    if (part == "markov") bottleneck.loss = Markov{8 * kSecond, 4 * kSecond, 1e-5, 0.003};
    if (part == "bits") bottleneck.loss = Bits{number("loss") / 12000};
    if (part == "opportunities")
        for (std::uint64_t ms = 1; ms <= 1000; ms++) bottleneck.opportunities_ms.push_back(ms);
    if (part == "jitter") bottleneck.jitter = kSecond / 1000;
    if (part == "reordering") {
        bottleneck.reorder_rate = 0.001;
        bottleneck.reorder_delay = kSecond / 1000;
    }
    network.trace.queues = part == "queues";
    network.trace.capture_link = part == "capture" ? 0 : -1;
    network.trace.windows |= part == "windows";
}

Network network() {
    Network network;
    network.nodes = 3;
    network.duration = picoseconds("duration");
    network.trace.windows = number("trace") > 0;
    network.links = {link(0, "access", "access-delay"), link(1, "rate", "delay")};
    Direction& bottleneck = network.links[1].forward;
    bottleneck.queue_packets = static_cast<std::int64_t>(number("queue"));
    if (number("loss") > 0) bottleneck.loss = Uniform{number("loss")};

    set_part(network, bottleneck, options.at("part"));

    Flow flow;
    flow.from = 0;
    flow.to = 2;
    flow.packet_bytes = flow.header_bytes + static_cast<std::uint32_t>(number("payload"));
    flow.initial_cwnd = 1;
    flow.initial_ssthresh =
        std::max(2u, static_cast<std::uint32_t>(number("ssthresh")) / flow.mss());
    flow.receive_window_bytes = static_cast<std::uint32_t>(number("window"));
    flow.initial_rto = 3 * kSecond;
    flow.recovery = static_cast<Recovery>(place_of(options.at("recovery"), recovery_names));
    flow.flight_excludes_sacked = true;
    flow.cc = ww_configure(static_cast<ww_protocol>(place_of(options.at("cc"), protocol_names)));
    flow.cc.byte_counting = false;
    flow.cc.validate_cwnd = false;
    flow.ecn = options.at("part") == "red-ecn";
    if (options.at("part") == "modern") {  // as a flow with SACK under the profile rfc
        flow.rack = flow.frto = flow.undo = flow.timestamps = true;
        flow.header_bytes = kStampedHeader;
        flow.packet_bytes = flow.header_bytes + static_cast<std::uint32_t>(number("payload"));
    }
    if (options.at("part") == "datagrams") {
        flow.datagrams.on = true;
        flow.datagrams.rate_bps = bottleneck.rate_bps * 9 / 10;
        flow.datagrams.on_mean = flow.datagrams.off_mean = kSecond / 10;
    }
    if (options.at("part") == "arrivals") {  // flows of 100 packets take half of the rate
        flow.size_bytes = 100 * flow.mss();
        flow.arrivals_mean = static_cast<Time>(1600e12 * flow.mss() / number("rate"));
    }
    for (int i = 0; i < static_cast<int>(number("flows")); i++) {
        flow.start = i * picoseconds("gap");
        network.flows.push_back(flow);
    }
    return network;
}

// Counts what a run recorded, and drops it.
class Dropped : public Sink {
  public:
    std::size_t rows = 0;
    void take(Records records) override { rows += records.windows.time_s.size(); }
};

}  // namespace

int main(int argc, char** argv) {
    for (int i = 1; i < argc; i++) {
        const std::string argument = argv[i];
        const std::size_t equals = argument.find('=');
        if (argument.rfind("--", 0) != 0 || equals == std::string::npos ||
            options.count(argument.substr(2, equals - 2)) == 0) {
            std::fprintf(stderr, "engine_run: '%s' is not --NAME=VALUE with a known name\n",
                         argv[i]);
            return 2;
        }
        options[argument.substr(2, equals - 2)] = argument.substr(equals + 1);
    }
    const Network input = network();
    const long before_kib = peak_kib();
    std::vector<double> cpu;
    Outcome result;
    Dropped dropped;
    Sink* const sink = number("stream") > 0 ? &dropped : nullptr;
    for (int i = 0; i < static_cast<int>(number("repeat")); i++) {
        result = Outcome();
        dropped.rows = 0;
        const double start = cpu_seconds();
        result = run(input, static_cast<std::uint64_t>(number("seed")), sink);
        cpu.push_back(cpu_seconds() - start);
    }
    if (!result.error.empty()) {
        std::fprintf(stderr, "engine_run: %s\n", result.error.c_str());
        return 2;
    }
    std::sort(cpu.begin(), cpu.end());
    const long after_kib = peak_kib();
    std::uint64_t sent = 0, retransmitted = 0, delivered = 0;
    const std::size_t rows = dropped.rows + result.records.windows.time_s.size();
    for (const FlowCounts& flow : result.connections) {
        sent += flow.sent;
        retransmitted += flow.retransmitted;
        delivered += flow.delivered_bytes;
    }
    std::printf(
        "{\"cpu_s\": %.9f, \"cpu_median_s\": %.9f, \"packets\": %llu, \"retransmitted\": %llu, "
        "\"delivered_bytes\": %llu, \"hops\": %llu, \"events\": %llu, \"trace_rows\": %zu, "
        "\"peak_kib\": %ld, \"run_kib\": %ld}\n",
        cpu.front(), cpu[cpu.size() / 2], static_cast<unsigned long long>(sent),
        static_cast<unsigned long long>(retransmitted), static_cast<unsigned long long>(delivered),
        static_cast<unsigned long long>(result.packets),
        static_cast<unsigned long long>(result.events), rows, after_kib, after_kib - before_kib);
}
