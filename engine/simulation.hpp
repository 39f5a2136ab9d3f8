// SPDX-License-Identifier: BSD-3-Clause
//
// The event loop. Its sources, each in order of time, are merged by a tournament:
//
//   pipes that are not inlined   packets on their way to the far end
//   receiver groups              delayed ACKs that fall due (a group: the receivers behind one pipe)
//   senders                      start of a connection, SYN and retransmission timers; datagrams
//   paced senders, if any        when the next segment may go
//
// A packet is carried through inlined pipes as soon as it is sent (topology.hpp). The receivers behind
// such a pipe run ahead of the clock: before they take a packet that arrives at t, their delayed ACKs
// due before t are sent. On a tie packets come before timers. Nothing after the end takes place.
#pragma once

#include <map>

#include "arrivals.hpp"
#include "datagrams.hpp"
#include "droplist.hpp"
#include "pipe.hpp"
#include "receiver.hpp"
#include "recorder.hpp"
#include "sender.hpp"
#include "topology.hpp"

namespace ww::sim {

class Simulation {
  public:
    // connections: of the network's flows, as topology was told of them.
    Simulation(const Network& network, const Connections& connections, const Topology& topology,
               std::uint64_t seed);
    Result run();

  private:
    using Route = std::vector<Pipe*>;  // ends with a nullptr
    struct Connection;
    struct Group {                         // the receivers behind one pipe
        std::uint32_t slot;                // in timers_
        std::vector<Connection*> members;  // by their place in the queue
        TimerQueue timers{0};
    };
    struct alignas(64) Connection {
        Sender sender;
        Receiver receiver;
        std::uint32_t index;
        std::uint32_t header_bytes;
        bool ecn = false;
        Time start;
        DatagramSource* datagrams = nullptr;  // instead of its sender
        Group* group = nullptr;               // of its receiver, and its place there
        std::uint32_t place = 0;
        const Route* to_receiver;
        const Route* to_sender;
        FlowResult* result;
    };

    void build_pipes(const Network& network, const Topology& topology, std::uint64_t seed);
    void build_connections(const Network& network, const Connections& connections,
                           const Topology& topology, std::uint64_t seed);
    const Route* route_of(std::span<const std::uint32_t> pipes);
    void build_slots(const Topology& topology);

    void next_packet(Pipe& pipe);
    void next_rare_packet(Connection& c, Pipe& pipe, const Packet& packet);
    void next_timer(std::uint32_t slot);
    void next_delayed_ack(Group& group);
    void next_sender_timer();
    void next_pacing_timer();
    void next_datagram(Connection& c, Time now);

    template <bool ack>
    void carry(Connection& c, Packet packet, std::uint32_t ip_bytes, Time now,
               const SackBlocks* sack);
    void record_mark(const Connection& c, const Pipe& pipe, Time now);
    void account_drop(Connection& c, const Pipe& pipe, std::uint32_t payload,
                      const Passage& passage, bool ack);
    std::uint32_t number_of(const Pipe& pipe) const {
        return static_cast<std::uint32_t>(&pipe - pipes_.data());
    }
    void arrive_at_receiver(Connection& c, const Packet& packet, Time now);
    bool take_unusual(Connection& c, const Packet& packet, Time now);
    void take_syn(Connection& c, const Packet& packet, Time now);
    void send_ack(Connection& c, Time now, std::uint16_t flags = 0);
    void send_sack(Connection& c, Time now);

    void arrive_at_sender(Connection& c, const Packet& packet, const SackBlocks* sack);
    void arrive_with_echo(Connection& c, const Packet& packet, const SackBlocks* sack);
    void take_syn_ack(Connection& c, Time now);
    void send_syn(Connection& c, Time now);
    void send_what_may(Connection& c, Time now);
    void send_data(Connection& c, Time now, std::int64_t segment);
    void record_ack(Connection& c, Time now, Progress progress, std::uint8_t phase_before);
    void after_sender(Connection& c, Time now);
    void finish();

    Time end_;
    Tournament packets_{1};  // slots: the pipes that are not inlined
    Tournament timers_{1};   // slots: receiver groups, then the senders
    std::vector<Pipe*> pipe_of_slot_;
    std::vector<Group> groups_;
    TimerQueue sender_timers_{0};
    TimerQueue pacing_timers_{0};
    std::uint32_t sender_slot_ = 0, pacing_slot_ = 0;
    bool pacing_ = false;  // any sender paces
    std::vector<Connection> connections_;
    bool recording_ = false;
    bool many_ = false;  // flows: worth prefetching
    DropList drops_;
    std::vector<Recorder> recorders_;  // one a connection, or none
    std::vector<DatagramSource> datagram_sources_;
    std::vector<Pipe> pipes_;
    std::map<std::vector<std::uint32_t>, Route> routes_;  // shared by the flows that take them
    Result result_;
};

}  // namespace ww::sim
