/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Runs a direction of a plan's link in ns-3: drops packets, and counts them.
 */
#ifndef WW_DIRECTION_H
#define WW_DIRECTION_H

#include "ww-connection.h"
#include "ww-impaired.h"
#include "ww-losses.h"
#include "ww-queue-disc.h"

#include "ns3/point-to-point-module.h"
#include "ns3/ppp-header.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace ns3
{

constexpr int64_t QUEUE_STREAMS = 1000000;
/// Why discs that check their limit themselves drop an arriving packet if they are full.
constexpr const char* OVER_LIMIT = "Overlimit drop";

using Connections =
    std::vector<std::unique_ptr<Connection>>; //!< by index; a packet's port names its connection

/// A direction of a link: the device that sends into it and the one that receives.
class Direction
{
  public:
    /**
     * \brief A direction that is not installed yet
     * \param pipe its number in traces: twice the link's, plus one for the backward direction
     * \param settings the plan's
     * \param sink the node at its end
     * \param connections all connections
     * \param trace receives the packets' fates
     */
    Direction(uint32_t pipe,
              const ww::sim::Direction& settings,
              uint32_t sink,
              const Connections& connections,
              ww::wire::Trace& trace)
        : m_pipe(pipe),
          m_settings(settings),
          m_sink(sink),
          m_connections(connections),
          m_trace(trace)
    {
    }

    void Install(Ptr<NetDevice> from, Ptr<NetDevice> to)
    {
        if (const Ptr<ErrorModel> losses = ErrorModelOf(m_settings.loss, m_pipe))
        {
            to->SetAttribute("ReceiveErrorModel", PointerValue(losses));
        }
        auto device = DynamicCast<PointToPointNetDevice>(from);
        auto queue = device->GetQueue();
        queue->TraceConnectWithoutContext("Dequeue", MakeCallback(&Direction::Dequeued, this));
        if (m_settings.queue_kind != ww::sim::QueueKind::droptail)
        {
            const auto disc = InstallQueueDisc(device, m_settings, QUEUE_STREAMS + m_pipe);
            disc->TraceConnectWithoutContext("DropBeforeEnqueue",
                                             MakeCallback(&Direction::Refused, this));
            disc->TraceConnectWithoutContext("DropAfterDequeue",
                                             MakeCallback(&Direction::Removed, this));
            disc->TraceConnectWithoutContext("Mark", MakeCallback(&Direction::Marked, this));
            disc->TraceConnectWithoutContext("Enqueue", MakeCallback(&Direction::Queued, this));
        }
        else
        {
            m_policed = DynamicCast<PolicedQueue>(queue);
            queue->TraceConnectWithoutContext("DropBeforeEnqueue",
                                              MakeCallback(&Direction::Dropped, this));
            queue->TraceConnectWithoutContext("Enqueue", MakeCallback(&Direction::Enqueued, this));
        }
        to->TraceConnectWithoutContext("PhyRxDrop", MakeCallback(&Direction::Lost, this));
        to->TraceConnectWithoutContext("PhyRxEnd", MakeCallback(&Direction::Arrived, this));
    }

    /// Returns the counts of a run of this many seconds.
    ww::sim::DirectionResult Result(double duration) const
    {
        ww::sim::DirectionResult result = m_result;
        const double beyond = std::max(0.0, m_sentAt - duration);
        result.utilisation = (m_sending - beyond) / duration;
        result.waited_s = m_waited;
        result.longest_wait_s = m_longestWait;
        for (const Waiting& one : m_waiting)
        {
            const double wait = duration - one.arrival.GetSeconds();
            result.waited_s += wait;
            result.longest_wait_s = std::max(result.longest_wait_s, wait);
            if (m_trace)
            {
                m_trace.write_queue(m_pipe, {one.arrival.GetSeconds(), NOT_A_NUMBER, one.bytes});
            }
        }
        result.in_flight = m_result.packets - m_arrived - m_result.lost;
        return result;
    }

  private:
    /// A packet in the queue.
    struct Waiting
    {
        uint64_t uid;
        Time arrival;
        uint32_t bytes;
    };

    /// A packet's connection and its data.
    struct Seen
    {
        Connection* connection = nullptr; //!< nullptr: none of the plan
        uint32_t index = 0;
        uint32_t ipBytes = 0;
        bool isData = false;
        bool isSyn = false;
    };

    Seen Look(Ptr<const Packet> packet) const
    {
        Ptr<Packet> copy = packet->Copy();
        PppHeader ppp;
        copy->RemoveHeader(ppp);
        Ipv4Header ip;
        copy->RemoveHeader(ip);
        return Look(copy, ip);
    }

    /// A packet in a queue disc has no IP header yet.
    Seen Look(Ptr<const QueueDiscItem> item) const
    {
        const auto of4 = DynamicCast<const Ipv4QueueDiscItem>(item);
        return Look(of4->GetPacket()->Copy(), of4->GetHeader());
    }

    Seen Look(Ptr<Packet> copy, const Ipv4Header& ip) const
    {
        TcpHeader tcp;
        copy->RemoveHeader(tcp);
        Seen seen;
        seen.ipBytes = ip.GetPayloadSize() + ip.GetSerializedSize();
        seen.isData = copy->GetSize() > 0;
        seen.isSyn = (tcp.GetFlags() & TcpHeader::SYN) != 0;
        const bool toSink = tcp.GetDestinationPort() - 5000u < m_connections.size();
        seen.index = (toSink ? tcp.GetDestinationPort() : tcp.GetSourcePort()) - 5000u;
        seen.connection =
            seen.index < m_connections.size() ? m_connections[seen.index].get() : nullptr;
        return seen;
    }

    void Queued(Ptr<const QueueDiscItem> item)
    {
        Accept(Look(item),
               item->GetPacket()->GetUid(),
               item->GetSize() + PppHeader().GetSerializedSize());
    }

    void Enqueued(Ptr<const Packet> packet)
    {
        Accept(Look(packet), packet->GetUid(), packet->GetSize());
    }

    void Accept(const Seen& seen, uint64_t uid, uint32_t bytes)
    {
        m_waiting.push_back({uid, Simulator::Now(), bytes});
        m_result.packets++;
        m_result.bytes += bytes;
        Carry(seen, 1);
    }

    /// Counts data packets in transit in this direction: one more, or one less.
    static void Carry(const Seen& seen, int64_t packets)
    {
        if (seen.connection && seen.isData)
        {
            seen.connection->Counts().in_flight += packets;
        }
    }

    /// Takes a packet out of the queue, where it is at the head unless the disc has many queues.
    Time Leave(Ptr<const Packet> packet)
    {
        const uint64_t uid = packet->GetUid();
        const auto found = std::find_if(m_waiting.begin(),
                                        m_waiting.end(),
                                        [uid](const Waiting& one) { return one.uid == uid; });
        const Time arrival = found->arrival;
        m_waiting.erase(found);
        return arrival;
    }

    void Dequeued(Ptr<const Packet> packet)
    {
        const Time arrival = Leave(packet);
        const double sending = 8.0 * packet->GetSize() / static_cast<double>(m_settings.rate_bps);
        m_sending += sending;
        m_sentAt = Simulator::Now().GetSeconds() + sending;
        const double wait = (Simulator::Now() - arrival).GetSeconds();
        m_waited += wait;
        m_longestWait = std::max(m_longestWait, wait);
        if (m_trace && wait > 0)
        {
            m_trace.write_queue(
                m_pipe,
                {arrival.GetSeconds(), Simulator::Now().GetSeconds(), packet->GetSize()});
        }
    }

    void Dropped(Ptr<const Packet> packet)
    {
        const bool isPoliced = m_policed && m_policed->IsPoliced();
        m_result.early_drops += isPoliced;
        CountDrop(Look(packet), isPoliced ? ww::sim::DropKind::early : ww::sim::DropKind::queue);
    }

    void Refused(Ptr<const QueueDiscItem> item, const char* reason)
    {
        const std::string why = reason;
        const bool isEarly = why != QueueDisc::INTERNAL_QUEUE_DROP && why != OVER_LIMIT;
        m_result.early_drops += isEarly;
        CountDrop(Look(item), isEarly ? ww::sim::DropKind::early : ww::sim::DropKind::queue);
    }

    /// A disc drops a packet at a head, because of its delay or because the disc is full.
    void Removed(Ptr<const QueueDiscItem> item, const char* reason)
    {
        const Seen seen = Look(item);
        Leave(item->GetPacket());
        const bool isEarly = std::string(reason) != OVER_LIMIT;
        m_result.packets--;
        m_result.bytes -= item->GetSize() + PppHeader().GetSerializedSize();
        m_result.early_drops += isEarly;
        Carry(seen, -1);
        CountDrop(seen, isEarly ? ww::sim::DropKind::early : ww::sim::DropKind::queue);
    }

    void Marked(Ptr<const QueueDiscItem> item, const char*)
    {
        m_result.marked++;
        TraceDrop(Look(item), ww::sim::DropKind::mark);
    }

    void CountDrop(const Seen& seen, ww::sim::DropKind kind)
    {
        m_result.queue_drops++;
        if (seen.connection && seen.isData)
        {
            seen.connection->Counts().queue_drops++;
        }
        TraceDrop(seen, kind);
    }

    void Lost(Ptr<const Packet> packet)
    {
        const Seen seen = Look(packet);
        m_result.lost++;
        Carry(seen, -1);
        if (seen.connection && seen.isData)
        {
            seen.connection->Counts().lost++;
        }
        TraceDrop(seen, ww::sim::DropKind::wire);
    }

    void TraceDrop(const Seen& seen, ww::sim::DropKind kind)
    {
        if (m_trace && seen.connection)
        {
            const double now = Simulator::Now().GetSeconds();
            const auto packet = seen.isSyn    ? ww::sim::PacketKind::syn
                                : seen.isData ? ww::sim::PacketKind::data
                                              : ww::sim::PacketKind::ack;
            m_trace.write_drop({now, m_pipe, seen.index, kind, packet});
        }
    }

    void Arrived(Ptr<const Packet> packet)
    {
        const Seen seen = Look(packet);
        m_arrived++;
        Carry(seen, -1);
        if (seen.connection && seen.isData && seen.connection->Sink() == m_sink)
        {
            seen.connection->Arrived(seen.ipBytes);
        }
    }

    uint32_t m_pipe;
    ww::sim::Direction m_settings;
    uint32_t m_sink;
    Ptr<PolicedQueue> m_policed; //!< the queue of a direction with impairments
    const Connections& m_connections;
    ww::wire::Trace& m_trace;
    std::deque<Waiting> m_waiting; //!< the packets in the queue
    double m_waited = 0;           //!< s, summed over the packets that have left the queue
    double m_longestWait = 0;      //!< s
    double m_sending = 0;          //!< s of transmission, of all packets sent so far
    double m_sentAt = 0;           //!< s; when the last of them is sent completely
    uint64_t m_arrived = 0;        //!< packets at the far end
    ww::sim::DirectionResult m_result;
};

} // namespace ns3

#endif /* WW_DIRECTION_H */
