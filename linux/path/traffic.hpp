// SPDX-License-Identifier: GPL-2.0-only
//
// Traffic runs the plan's flows: connections and datagrams on real sockets in the hosts' namespaces.
//
// A sink listens at its flow's address and reads as fast as it can. A sender connects at its start and
// writes zeros: its whole size, or until its stop. It then sends a FIN; the sink's FIN in answer shows that
// everything has arrived, so the flow is complete. Sockets close with a reset (SO_LINGER 0), so that the kernel
// keeps none of them when this process ends.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "../../engine/traffic/arrivals.hpp"
#include "../../engine/traffic/datagrams.hpp"
#include "host.hpp"
#include "loop.hpp"
#include "observer.hpp"

namespace ww::path {

struct Ended {
    bool cancelled = false;  // standard input was closed: the process that started us has ended
    std::string error;
};

class Traffic {
  public:
    Traffic(const Plan& plan, const sim::Connections& connections, std::span<const Host> hosts,
            wire::Trace& trace);

    // Runs until the plan's duration ends, everything to be sent has arrived, `stop` (an eventfd) becomes
    // readable, or standard input ends.
    Ended run(const Clock& clock, int stop);

    // Returns a result for each connection, as far as its sockets know it.
    std::vector<sim::FlowResult> results() const;

    // Returns the sender's port of each connection; 0: it never started, or it sends datagrams.
    std::vector<std::uint16_t> ports() const;

  private:
    enum class Role : std::uint8_t { sender, receiver, listener, input, stop };
    enum class Event : std::uint8_t { start, stop, datagram, sample, end };

    struct Connection {
        const sim::Flow* flow = nullptr;
        std::uint32_t source = 0;
        Descriptor sender, receiver;
        std::uint64_t port_key = 0;  // its key in by_port_
        std::int64_t unwritten = 0;
        bool written = false;  // everything is written, and the FIN is sent
        std::uint64_t delivered = 0, datagrams_sent = 0;
        sim::Time completed = -1;
        bool open = false;  // its observer samples it
        Observer observer;
        std::optional<sim::DatagramSource> datagrams;
    };

    struct Timer {
        sim::Time at;
        Event event;
        std::uint32_t index;
        bool operator<(const Timer& other) const { return at > other.at; }  // earliest on top
    };

    const Host& host(std::uint32_t node) const;
    void watch(int fd, std::uint32_t events, Role role, std::uint32_t index);
    void open_sink(std::uint32_t flow);
    void start(std::uint32_t index, sim::Time now);
    void connect(std::uint32_t index);
    void set_options(const Connection& c, int fd) const;
    void write(Connection& c);
    void finish_writing(Connection& c);
    void send_datagram(Connection& c);
    void accept(std::uint32_t flow);
    void read(Connection& c);
    void sender_ready(std::uint32_t index, std::uint32_t events, sim::Time now);
    void sample(sim::Time now);
    void fire(const Timer& timer, sim::Time now);
    void handle(std::uint64_t tag, std::uint32_t events, sim::Time now);

    const Plan& plan_;
    std::span<const Host> hosts_;
    wire::Trace& trace_;
    Descriptor epoll_;
    std::vector<Descriptor> listeners_;  // the sink of each flow
    std::deque<sim::Flow> flows_;        // of each connection
    std::deque<Connection> connections_;
    std::unordered_map<std::uint64_t, std::uint32_t> by_port_;  // flow << 16 | the sender's port
    std::priority_queue<Timer> timers_;
    std::vector<char> zeros_;
    std::size_t unfinished_ = 0;  // connections that are not complete, including endless ones
    Ended ended_;
    bool running_ = true;
};

}  // namespace ww::path
