/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * A direction of a link of a scenario in ns-3: its losses, and what is counted of it.
 */
#ifndef WW_LINK_H
#define WW_LINK_H

#include "ww-flow.h"

#include "ns3/point-to-point-module.h"
#include "ns3/ppp-header.h"

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace ns3
{

/// Loses the packets that a scenario names, counted from 1.
class ListedLosses : public ErrorModel
{
  public:
    explicit ListedLosses(std::vector<uint64_t> packets)
        : m_packets(std::move(packets))
    {
    }

  private:
    bool DoCorrupt(Ptr<Packet>) override
    {
        m_count++;
        const bool isListed = m_next < m_packets.size() && m_packets[m_next] == m_count;
        m_next += isListed;
        return isListed;
    }

    void DoReset() override
    {
    }

    std::vector<uint64_t> m_packets; //!< in order
    std::size_t m_next = 0;
    uint64_t m_count = 0;
};

/// What the scenario says of a link.
struct LinkSettings
{
    uint32_t a, b;
    double rate, delay;
    uint32_t queue;
    double forward, backward;                 // loss rates
    std::array<std::vector<uint64_t>, 2> lost; // packets of each direction that are lost
};

using Flows = std::vector<std::unique_ptr<Flow>>; //!< by index; a packet's port names its flow

/// A direction of a link: the device that sends into it and the one that receives.
class Side
{
  public:
    Side(uint32_t link, uint32_t side, const LinkSettings& settings, const Flows& flows, bool trace)
        : m_link(link),
          m_side(side),
          m_sink(side == 0 ? settings.b : settings.a),
          m_rate(settings.rate),
          m_flows(flows),
          m_trace(trace)
    {
    }

    void Install(Ptr<NetDevice> from,
                 Ptr<NetDevice> to,
                 double loss,
                 const std::vector<uint64_t>& lost)
    {
        if (!lost.empty())
        {
            to->SetAttribute("ReceiveErrorModel", PointerValue(CreateObject<ListedLosses>(lost)));
        }
        else if (loss > 0)
        {
            auto uniform = CreateObject<UniformRandomVariable>();
            uniform->SetStream(100 + 2 * m_link + m_side);
            auto errors = CreateObject<RateErrorModel>();
            errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
            errors->SetRate(loss);
            errors->SetRandomVariable(uniform);
            to->SetAttribute("ReceiveErrorModel", PointerValue(errors));
        }
        auto queue = DynamicCast<PointToPointNetDevice>(from)->GetQueue();
        queue->TraceConnectWithoutContext("DropBeforeEnqueue", MakeCallback(&Side::Dropped, this));
        queue->TraceConnectWithoutContext("Enqueue", MakeCallback(&Side::Enqueued, this));
        queue->TraceConnectWithoutContext("Dequeue", MakeCallback(&Side::Dequeued, this));
        to->TraceConnectWithoutContext("PhyRxDrop", MakeCallback(&Side::Lost, this));
        to->TraceConnectWithoutContext("PromiscSniffer", MakeCallback(&Side::Arrived, this));
    }

    void Print(double duration) const
    {
        std::printf("way %u %u packets %llu bytes %llu queue_drops %llu lost %llu utilisation %.9g "
                    "longest_wait_s %.9g waited_s %.9g\n",
                    m_link,
                    m_side,
                    static_cast<unsigned long long>(m_packets),
                    static_cast<unsigned long long>(m_bytes),
                    static_cast<unsigned long long>(m_drops),
                    static_cast<unsigned long long>(m_lost),
                    8.0 * static_cast<double>(m_bytes) / (m_rate * duration),
                    m_longest,
                    m_waited);
    }

  private:
    /// Which flow a packet belongs to, and what it carries.
    struct Seen
    {
        Flow* flow = nullptr; //!< null: none of the scenario's
        uint32_t index = 0;
        uint32_t ipBytes = 0;
        bool isData = false;
    };

    Seen Look(Ptr<const Packet> packet) const
    {
        Ptr<Packet> copy = packet->Copy();
        PppHeader ppp;
        copy->RemoveHeader(ppp);
        Ipv4Header ip;
        copy->RemoveHeader(ip);
        TcpHeader tcp;
        copy->RemoveHeader(tcp);
        Seen seen;
        seen.ipBytes = ip.GetPayloadSize() + ip.GetSerializedSize();
        seen.isData = copy->GetSize() > 0;
        const bool toSink = tcp.GetDestinationPort() - 5000u < m_flows.size();
        seen.index = (toSink ? tcp.GetDestinationPort() : tcp.GetSourcePort()) - 5000u;
        seen.flow = seen.index < m_flows.size() ? m_flows[seen.index].get() : nullptr;
        return seen;
    }

    void Enqueued(Ptr<const Packet>)
    {
        m_waiting.push_back(Simulator::Now());
    }

    void Dequeued(Ptr<const Packet> packet)
    {
        const Time arrival = m_waiting.front();
        m_waiting.pop_front();
        m_packets++;
        m_bytes += packet->GetSize();
        const double wait = (Simulator::Now() - arrival).GetSeconds();
        m_waited += wait;
        m_longest = std::max(m_longest, wait);
        if (m_trace && wait > 0)
        {
            std::printf("wait %u %u %.9f %.9f %u\n",
                        m_link,
                        m_side,
                        arrival.GetSeconds(),
                        Simulator::Now().GetSeconds(),
                        packet->GetSize());
        }
    }

    void Dropped(Ptr<const Packet> packet)
    {
        const Seen seen = Look(packet);
        m_drops++;
        if (seen.flow != nullptr && seen.isData)
        {
            seen.flow->Dropped();
        }
        PrintDrop(seen, "queue");
    }

    void Lost(Ptr<const Packet> packet)
    {
        const Seen seen = Look(packet);
        m_lost++;
        if (seen.flow != nullptr && seen.isData)
        {
            seen.flow->Lost();
        }
        PrintDrop(seen, "wire");
    }

    void PrintDrop(const Seen& seen, const char* kind) const
    {
        if (m_trace && seen.flow != nullptr)
        {
            std::printf("drop %.9f %u %u %u %d %s\n",
                        Simulator::Now().GetSeconds(),
                        m_link,
                        m_side,
                        seen.index,
                        !seen.isData,
                        kind);
        }
    }

    void Arrived(Ptr<const Packet> packet)
    {
        const Seen seen = Look(packet);
        if (seen.flow != nullptr && seen.isData && seen.flow->Sink() == m_sink)
        {
            seen.flow->Arrived(seen.ipBytes);
        }
    }

    uint32_t m_link, m_side, m_sink;
    double m_rate;
    const Flows& m_flows;
    bool m_trace;
    std::deque<Time> m_waiting;
    uint64_t m_packets = 0, m_bytes = 0, m_drops = 0, m_lost = 0;
    double m_longest = 0, m_waited = 0;
};

} // namespace ns3

#endif /* WW_LINK_H */
