// SPDX-License-Identifier: BSD-3-Clause
//
// The event loop. Tournaments merge these sources of events, each of which is in order of time:
//
//   channels that are not inlined   packets on their way to the far end
//   receiver groups                 delayed ACKs and SYN-ACKs that are due (a group: the receivers behind
//                                   one channel)
//   arrivals                        the next connection of flows that stand for many
//   sources of the flows            start, SYN and retransmission of a sender; start and next packet of a
//                                   source of datagrams; start and timers of a guest
//   paced senders, if any           when the next segment may leave
//   applications, if any            when the next data is written
//
// A packet crosses inlined channels as soon as it is sent (topology.hpp). The receivers behind such a
// channel run ahead of the clock: before they take a packet that arrives at t, they send their ACKs due
// before t. On a tie, packets come before timers. Nothing happens after the end.
//
// A connection is created when it arrives. Its memory is reused once it is finished and has nothing in
// transit (connections.cpp).
#pragma once

#include <variant>

#include "../link/channel.hpp"
#include "../tcp/receiver.hpp"
#include "../tcp/sender.hpp"
#include "../traffic/application.hpp"
#include "../traffic/arrivals.hpp"
#include "../traffic/datagrams.hpp"
#include "../traffic/guest.hpp"
#include "drop_list.hpp"
#include "recorder.hpp"
#include "topology.hpp"

namespace ww::sim {

class Simulation {
  public:
    // The connections belong to the network's flows, which the topology has routed.
    Simulation(const Network& network, Connections connections, const Topology& topology,
               std::uint64_t seed, const Stop& stop = {});
    Outcome run(Sink* sink);
    // The same in pieces: see SteppedRun.
    bool run_until(Time until);
    Outcome conclude_all();

  private:
    // A packet takes a hop in one step: inlined channels, then the channel at whose far end it
    // waits, if any. Data may reach its receiver without waiting.
    struct Hop {
        std::vector<Channel*> channels;  // all but those that follow another of them
        Channel* const* end = nullptr;   // of `channels`
        Channel* last = nullptr;
        std::uint16_t there = 0;  // kThere, if the hop ends the route
        bool arrives = false;     // at the receiver: no channel of this hop makes packets wait
    };
    using Hops = std::vector<Hop>;
    struct Connection;

    struct Route {  // of a flow of the network
        const Hop *to_receiver, *to_sender;
        std::uint32_t group;
    };
    struct Entry {  // how a packet enters a hop
        Time at;
        std::uint32_t ip_bytes;
        const SackBlocks* sack;
    };

    // Timers that share one slot of timers_; on a tie the lowest owner goes first.
    struct SharedTimers {
        std::uint32_t slot = 0;
        TimerQueue queue{0};
    };
    struct Group {                           // the receivers behind one channel
        std::vector<std::uint32_t> members;  // owners of `timers`: slots of connections
        std::vector<std::uint32_t> free;     // members whose connection is finished
        SharedTimers timers;
    };
    struct alignas(64) Connection {
        using Source = std::variant<Sender, DatagramSource, GuestSource>;

        // Often-used fields come first. The source is last, so that its rarely-used fields end the
        // connection.
        static constexpr std::size_t kOftenUsed = 11 * 64;  // bytes

        std::uint32_t slot;  // its index in connections_, which packets carry
        std::uint16_t header_bytes;
        bool ecn, timestamps;
        std::uint32_t place = 0;  // as a member of `group`
        std::uint32_t index;      // in Outcome::connections
        const Hop* to_receiver = nullptr;
        const Hop* to_sender = nullptr;
        Group* group = nullptr;  // the group of its receiver
        Receiver receiver;
        std::uint64_t queue_drops = 0, lost = 0, in_flight = 0;  // of its data packets
        Source source;

        Connection(const Flow& flow, const SenderSettings& settings, std::uint64_t seed,
                   std::uint32_t number, std::uint32_t slot_of_it, Time end, Stop* stop);
        static Source source_of(const Flow& flow, const SenderSettings& settings,
                                std::uint64_t seed, std::uint32_t connection, Time end, Stop* stop);

        // Only packets and timers of a TCP connection lead here.
        Sender& sender() {
            Sender* sender = std::get_if<Sender>(&source);
            if (sender == nullptr) __builtin_unreachable();
            return *sender;
        }
        Timer& timer() {
            return std::visit([](auto& any) -> Timer& { return any.timer; }, source);
        }
    };

    void build_channels(const Network& network, const Topology& topology, std::uint64_t seed);
    void find_followers(const Topology& topology, std::uint32_t first);
    void build_routes(const Topology& topology);
    const Hop* hops_of(std::span<const std::uint32_t> channels);
    void build_groups(const Topology& topology);
    void build_connections();
    void build_slots();

    bool advance(std::uint32_t most) {
        return loads_ ? advance_with<true>(most) : advance_with<false>(most);
    }
    template <bool loaded>
    [[gnu::flatten]] bool advance_with(std::uint32_t most);
    Connection& open(std::uint32_t connection);
    void next_arrival();
    void free_finished();
    static bool is_finished(const Connection& c);
    void remove_timers(Connection& c);
    void conclude(Connection& c);

    template <bool loaded>
    void next_packet(Channel& channel);
    void next_packet_on_slow_path(Connection& c, Channel& channel);
    std::uint32_t next_timer(std::uint32_t slot, std::uint32_t more);
    void next_receiver_timer(Group& group);
    void next_source_timer();
    void next_sender_timer(Connection& c, Time now);
    void next_application_timer();
    void next_datagram(Connection& c, DatagramSource& source, Time now);
    void next_guest_timer(Connection& c, Guest& guest, Time now);
    void next_guest_packet(Connection& c, const Packet& packet);
    void serve_guest(Connection& c, Guest& guest, Time now);
    std::uint32_t next_pacing_timers(std::uint32_t more);
    // Returns the application of a connection; nullptr if it is bulk.
    Writer* writer_of(const Connection& c) const {
        return c.slot < writers_.size() ? writers_[c.slot].get() : nullptr;
    }
    // Lets the connection's application, if it has one, write data, and sends that.
    void serve_application(Connection& c, Time now);
    // Call when a timer's deadline has moved ahead of its place in the queue.
    [[gnu::noinline]] void reschedule(SharedTimers& timers, Timer& timer, std::uint32_t owner) {
        timers.queue.reschedule(timer, owner);
        timers_.set(timers.slot, timers.queue.next());
    }

    template <bool ack>
    void traverse_hop(Connection& c, Packet packet, std::uint32_t ip_bytes, Time now,
                      const SackBlocks* sack);
    template <bool ack>
    void traverse_hop_cold(Connection& c, const Packet& packet, std::uint32_t ip_bytes, Time now,
                           const SackBlocks* sack);
    template <bool ack>
    void resume_hop(Connection& c, Packet packet, const Entry& entry, const Hop& hop,
                    Channel* const* channel);
    template <bool ack>
    Time traverse_with_followers(Connection& c, Packet& packet, const Entry& entry, Channel& first,
                                 Time now);
    template <bool ack>
    void end_hop(Connection& c, Packet packet, std::uint32_t ip_bytes, const Hop& hop, Time now,
                 const SackBlocks* sack);
    // Holds a packet until it reaches the end of its hop at `time`.
    [[gnu::always_inline]] void wait_for_end(const Connection& c, Packet packet, const Hop& hop,
                                             Time time, const SackBlocks* sack) {
        packet.at = time;
        packet.flow = c.slot;
        packet.hop++;
        packet.flags |= hop.there;
        if (hop.last->hold(packet, sack)) packets_.set(hop.last->slot, time);
    }
    Passage traverse_channel(const Connection& c, Channel& channel, Packet& packet,
                             const Entry& entry, Time now);
    Passage enqueue(const Connection& c, Channel& channel, const Packet& packet, const Entry& entry,
                    Time now);
    void filter_acks(Channel& channel, Time now);
    void shed(Channel& channel, Time now);
    void depart(Channel& channel, Time now);
    void leave_queue(Connection& c, Channel& channel, const HeldPacket& held,
                     const Passage& passage);
    void next_departure();
    void record_mark(const Connection& c, const Channel& channel, Time now);
    Time account_drop(Connection& c, const Channel& channel, const Packet& packet,
                      const Passage& passage, bool ack);
    std::uint32_t number_of(const Channel& channel) const {
        return static_cast<std::uint32_t>(&channel - channels_.data());
    }
    void arrive_at_receiver(Connection& c, Packet packet, std::uint32_t ip_bytes, Time now);
    bool take_control(Connection& c, const Packet& packet, Time now);
    void take_syn(Connection& c, const Packet& packet, Time now);
    void send_syn_ack(Connection& c, Time now);
    void send_ack(Connection& c, Time now);
    void send_any_ack(Connection& c, Time now, std::uint16_t flags);

    // The fast path: nothing is recorded, no sender paces, and no flow has ECN.
    template <bool loaded>
    void arrive_on_fast_path(Connection& c, Time now, std::uint32_t number);
    void leave_fast_path(Connection& c, Time now);
    void arrive_at_sender(Connection& c, Time now, const AckHeader& header);
    void take_syn_ack(Connection& c, Time now, bool again);
    void send_suspect_acks(Connection& c, Time now);
    bool take_suspect_ack(Connection& c, Packet& ack);
    void send_syn(Connection& c, Time now);
    template <bool fast>
    void send_what_may(Connection& c, Time now);
    void send_one_by_one(Connection& c, Time now);
    void send_data(Connection& c, Time now, std::int64_t segment);
    void record_ack(Connection& c, const Ack& ack);
    void record_timer(Connection& c, Time now, Due due, std::uint32_t recoveries_before);
    // To be called after each call of a sender.
    template <bool fast = false>
    void after_sender(Connection& c, Time now) {
        Sender& sender = c.sender();
        if constexpr (!fast)
            if (!writers_.empty()) [[unlikely]]
                serve_application(c, now);
        if (sender.timer.deadline < sender.timer.queued) [[unlikely]]
            reschedule(source_timers_, sender.timer, c.slot);
        if constexpr (fast) return;
        if (pacing_ && sender.pace.deadline < sender.pace.queued) [[unlikely]]
            reschedule(pacing_timers_, sender.pace, c.slot);
        if (records_windows_ && sender.established()) [[unlikely]]
            recorders_[c.slot].windows(now, sender);
    }
    Records take_records(Time before);
    bool capturing() const { return network_.trace.capture_link >= 0; }
    void merge_captured(Time before);
    void finish();

    const Network& network_;
    const Topology& topology_;
    const Connections started_;  // all that is known before the run
    std::uint64_t seed_;
    Stop stop_;
    Time end_;
    Tournament packets_{1};  // slots: the channels that are not inlined
    Tournament timers_{1};   // slots: groups, arrivals, sources, paced senders, departures, the end
    std::vector<Channel*> channel_of_slot_;
    std::vector<Group> groups_;
    SharedTimers source_timers_, pacing_timers_;    // owners: the slots of connections
    bool pacing_ = false;                           // true if any sender paces
    SharedTimers application_timers_;               // owners: the slots of connections
    std::vector<std::unique_ptr<Writer>> writers_;  // by slot; empty if all flows are bulk
    SharedTimers departures_;                       // owners: entries of holding_
    std::vector<Channel*> holding_;  // channels whose disciplines decide when packets leave
    SharedSettings settings_;
    std::vector<const SenderSettings*> settings_of_;  // by the network's flows
    std::vector<Connection> connections_;  // a slot is reused when its connection is finished
    std::uint32_t arrivals_slot_ = 0, end_slot_ = 0;
    std::size_t arrived_ = 0;                                // of started_.arriving
    bool records_windows_ = false, records_events_ = false;  // whether connections are recorded
    bool fast_path_ = false;  // nothing is recorded, no sender paces, no flow has ECN or TSO
    bool many_ = false;       // several flows, so prefetching pays
    bool loads_ = false;      // a flow's control is loaded
    DropList drops_;
    std::size_t last_piece_ =
        0;  // captured packets in the last piece; the next piece has about as many
    std::vector<Recorder> recorders_;  // one per slot of connections_, or none
    std::vector<Channel> channels_;
    std::vector<Hops> hops_;
    std::vector<Route> routes_;  // by the topology's numbers
    Outcome result_;
};

}  // namespace ww::sim
