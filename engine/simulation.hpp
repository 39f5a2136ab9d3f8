// SPDX-License-Identifier: BSD-3-Clause
//
// The event loop. Its sources, each in order of time, are merged by a tournament:
//
//   pipes that are not inlined   packets on their way to the far end
//   receiver groups              delayed ACKs that fall due (a group: the receivers behind one pipe)
//   senders                      start of a connection, SYN and retransmission timers
//
// A packet is carried through inlined pipes as soon as it is sent (topology.hpp). The receivers behind
// such a pipe run ahead of the clock: before they take a packet that arrives at t, their delayed ACKs
// due before t are sent. On a tie packets come before timers. Nothing after the end takes place.
#pragma once

#include "pipe.hpp"
#include "receiver.hpp"
#include "recorder.hpp"
#include "sender.hpp"
#include "topology.hpp"

namespace ww::sim {

class Simulation {
  public:
    Simulation(const Network& network, const Topology& topology, std::uint64_t seed);
    Result run();

  private:
    struct alignas(64) Connection {
        Sender sender;
        Receiver receiver;
        std::uint32_t header_bytes;
        std::uint32_t group;  // of its receiver
        std::vector<Pipe*> to_receiver, to_sender;
        FlowResult* result;
    };
    struct Group {
        TimerQueue timers;
        std::uint32_t slot = 0;
    };

    std::uint32_t group_behind(std::uint32_t pipe);
    void build_slots();

    void next_packet(Pipe& pipe);
    void next_delayed_ack(std::uint32_t group);
    void next_sender_timer();

    template <bool ack>
    void carry(Packet packet, std::uint32_t ip_bytes, Time now, const SackBlocks* sack);
    void on_failure(Connection& c, Time outcome);
    void arrive(const Packet& packet, Time now, const SackBlocks* sack);
    void arrive_at_receiver(const Packet& packet, Time now);
    void arrive_at_sender(const Packet& packet, Time now, const SackBlocks* sack);
    void take_syn(const Packet& packet, Time now);
    void send_ack(std::uint32_t flow, Time now, std::uint8_t flags = 0);
    void send_sack(std::uint32_t flow, Time now);
    void send_syn(std::uint32_t flow, Time now);
    void send_what_may(std::uint32_t flow, Time now);
    void after_sender(std::uint32_t flow, Time now);

    Time end_;
    std::vector<Pipe> pipes_;
    std::vector<Connection> connections_;
    std::vector<Group> groups_;
    TimerQueue sender_timers_;
    std::uint32_t sender_slot_ = 0;
    std::vector<Pipe*> pipe_of_slot_;
    std::vector<std::uint32_t> group_of_slot_;
    Tournament order_{1};
    std::vector<Recorder> recorders_;  // one a flow, or none
    Result result_;
};

}  // namespace ww::sim
