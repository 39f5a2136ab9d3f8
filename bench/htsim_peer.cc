// SPDX-License-Identifier: BSD-3-Clause
//
// The htsim peer of engine_run.cpp. It runs the same case in csg-htsim, with its TcpSrc and TcpSink
// over its Queue and Pipe, which have no SACK, no ECN and no delayed ACKs. Prints a JSON object.
// Only the packet drops are our code.
#include <sim/config.h>
#include <sim/eventlist.h>
#include <sim/network.h>
#include <sim/pipe.h>
#include <sim/queue.h>
#include <sim/route.h>
#include <sim/tcp.h>

#include <cstdio>
#include <deque>
#include <iostream>
#include <map>
#include <random>

#include "usage.hpp"

namespace {

// The options of engine_run.cpp, without what htsim does not have.
std::map<std::string, double> options = {
    {"flows", 1},     {"duration", 600}, {"rate", 2e6},       {"access", 10e6},
    {"delay", 1e-5},  {"loss", 0.005},   {"queue", 100},      {"access-delay", 0.045},
    {"payload", 360}, {"gap", 0.001},    {"window", 4194304}, {"ssthresh", 65535},
    {"seed", 1},
};
constexpr int kHeader = 42;  // bytes: IPv4, TCP and PPP

// Drops packets at random, with one draw per loss, as the engine does.
class Loss : public PacketSink {
  public:
    Loss(double rate, unsigned seed) : gaps_(rate), random_(seed), left_(gaps_(random_)) {}
    void receivePacket(Packet& packet) override {
        if (left_-- == 0) {
            left_ = gaps_(random_);
            packet.free();
            return;
        }
        packet.sendOn();
    }
    const std::string& nodename() override { return name_; }

  private:
    std::geometric_distribution<long> gaps_;
    std::mt19937 random_;
    long left_;
    std::string name_ = "loss";
};

struct Hop {
    Queue queue;
    Pipe pipe;
    Hop(double rate, double delay, double packets, EventList& events)
        : queue(static_cast<linkspeed_bps>(rate),
                static_cast<mem_b>(packets * Packet::data_packet_size()), events, nullptr),
          pipe(timeFromSec(delay), events) {}
    void append_to(Route& route) {
        route.push_back(&queue);
        route.push_back(&pipe);
    }
};

struct Flow {
    TcpSrc source;
    TcpSink sink;
    Route forth, back;
    explicit Flow(EventList& events) : source(nullptr, nullptr, events) {}
};

bool parse(int argc, char** argv) {
    for (int i = 1; i < argc; i++) {
        const std::string argument = argv[i];
        const std::size_t equals = argument.find('=');
        if (argument.rfind("--", 0) != 0 || equals == std::string::npos ||
            options.count(argument.substr(2, equals - 2)) == 0) {
            std::fprintf(stderr, "htsim_peer: '%s' is not --NAME=VALUE with a known name\n",
                         argv[i]);
            return false;
        }
        options[argument.substr(2, equals - 2)] = std::stod(argument.substr(equals + 1));
    }
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    if (!parse(argc, argv)) return 2;
    std::cout.setstate(std::ios::failbit);  // it reports every timeout
    const double payload = options["payload"], unlimited = 1e6;
    Packet::set_packet_size(static_cast<int>(payload) + kHeader);
    EventList& events = EventList::getTheEventList();
    events.setEndtime(timeFromSec(options["duration"]));
    TcpRtxTimerScanner timers(timeFromMs(10), events);

    Hop access(options["access"], options["access-delay"], unlimited, events);
    Hop bottleneck(options["rate"], options["delay"], options["queue"], events);
    Hop from_sink(options["rate"], options["delay"], unlimited, events);
    Hop to_source(options["access"], options["access-delay"], unlimited, events);
    Loss loss(options["loss"] > 0 ? options["loss"] : 1e-15,
              static_cast<unsigned>(options["seed"]));

    std::deque<Flow> flows;
    for (int i = 0; i < static_cast<int>(options["flows"]); i++) {
        Flow& flow = flows.emplace_back(events);
        access.append_to(flow.forth);
        bottleneck.append_to(flow.forth);
        flow.forth.push_back(&loss);
        flow.forth.push_back(&flow.sink);
        from_sink.append_to(flow.back);
        to_source.append_to(flow.back);
        flow.back.push_back(&flow.source);
        flow.source.connect(flow.forth, flow.back, flow.sink, timeFromSec(options["gap"] * i));
        const auto mss = static_cast<std::uint32_t>(Packet::data_packet_size());
        flow.source.set_cwnd(mss);
        flow.source.set_ssthresh(static_cast<std::uint32_t>(options["ssthresh"] / payload) * mss);
        flow.source._maxcwnd = static_cast<std::uint32_t>(options["window"] / payload) * mss;
        timers.registerTcp(flow.source);
    }
    const double start = cpu_seconds();
    while (events.doNextEvent()) {
    }
    const double cpu = cpu_seconds() - start;
    double sent = 0, delivered = 0;
    for (const Flow& flow : flows) {
        sent += static_cast<double>(flow.source._packets_sent) / Packet::data_packet_size();
        delivered += static_cast<double>(flow.sink._cumulative_ack) / Packet::data_packet_size();
    }
    std::printf(
        "{\"cpu_s\": %.9f, \"packets\": %.0f, \"delivered_bytes\": %.0f, \"peak_kib\": %ld}\n", cpu,
        sent, delivered * payload, peak_kib());
}
