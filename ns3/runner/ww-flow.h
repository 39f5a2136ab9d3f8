/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * A flow of a scenario in ns-3: its sockets' settings, and what is counted of it.
 */
#ifndef WW_FLOW_H
#define WW_FLOW_H

#include "ww-tcp-socket.h"
#include "ww-tcp-westwood.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

inline constexpr uint32_t UNLIMITED = 0x7fffffff; //!< bytes of an ssthresh that is none
inline constexpr double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();

/// What the scenario says of a flow.
struct Settings
{
    uint32_t from, to;
    std::string kind, protocol, recovery;
    uint32_t mss, initialCwnd, ssthresh, window;
    double minRto, rto;
    uint32_t delayedAck;
    double delayedAckTimeout;
    uint32_t dupAcks;
    bool limited;
    double start, stop;
    uint64_t size;
    std::vector<std::pair<std::string, std::string>> attributes; // of WwTcpWestwood
};

/// A flow, and what is counted of it.
class Flow
{
  public:
    Flow(uint32_t index, const Settings& settings, bool trace)
        : m_index(index),
          m_settings(settings),
          m_trace(trace)
    {
    }

    /// Attributes of the sockets that are made next: ns-3 has no other way to give each flow its own.
    void SetDefaults() const
    {
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(m_settings.mss));
        Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(m_settings.initialCwnd));
        Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold",
                           UintegerValue(m_settings.ssthresh));
        Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(m_settings.window));
        Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(m_settings.window));
        Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(Seconds(m_settings.rto)));
        Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(m_settings.delayedAck));
        Config::SetDefault("ns3::TcpSocket::DelAckTimeout",
                           TimeValue(Seconds(m_settings.delayedAckTimeout)));
        Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(1000000));
        Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(m_settings.minRto)));
        Config::SetDefault("ns3::TcpSocketBase::ReTxThreshold", UintegerValue(m_settings.dupAcks));
        Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit",
                           BooleanValue(m_settings.limited));
    }

    /// The socket factory, of the source's node, for the flow's recovery.
    std::string Factory() const
    {
        const std::string& name = m_settings.recovery;
        if (name == "sack")
        {
            return "ns3::TcpSocketFactory";
        }
        const std::string factory = name == "tahoe"  ? "ns3::WwTcpTahoeFactory"
                                    : name == "reno" ? "ns3::WwTcpRenoFactory"
                                                     : "ns3::WwTcpNewRenoFactory";
        const TypeId tid = TypeId::LookupByName(factory);
        if (!m_node->GetObject<Object>(tid))
        {
            ObjectFactory made;
            made.SetTypeId(tid);
            m_node->AggregateObject(made.Create());
        }
        return factory;
    }

    void Install(NodeContainer nodes, Ipv4Address sinkAddress, double end)
    {
        const auto port = static_cast<uint16_t>(5000 + m_index);
        SetDefaults();
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), port));
        m_sink = DynamicCast<PacketSink>(sink.Install(nodes.Get(m_settings.to)).Get(0));
        m_sink->SetStartTime(Start() + NanoSeconds(1));
        m_node = nodes.Get(m_settings.from);
        BulkSendHelper source(Factory(), InetSocketAddress(sinkAddress, port));
        source.SetAttribute("SendSize", UintegerValue(m_settings.mss));
        source.SetAttribute("MaxBytes", UintegerValue(m_settings.size));
        m_source = DynamicCast<BulkSendApplication>(source.Install(m_node).Get(0));
        m_source->SetStartTime(Start() + NanoSeconds(1));
        m_source->SetStopTime(Seconds(std::min(m_settings.stop, end)));
        m_sink->TraceConnectWithoutContext("Rx", MakeCallback(&Flow::Received, this));
    }

    /// Before the applications start at this time: what their sockets are made with.
    void Prepare() const
    {
        SetDefaults();
        m_node->GetObject<TcpL4Protocol>()->SetAttribute(
            "SocketType",
            TypeIdValue(TypeId::LookupByName("ns3::" + m_settings.kind)));
        if (!m_settings.protocol.empty())
        {
            TypeId tid = WwTcpWestwood::GetTypeId();
            for (std::size_t i = 0; i < tid.GetAttributeN(); i++) // the flow before may have set some
            {
                tid.SetAttributeInitialValue(i, tid.GetAttribute(i).originalInitialValue);
            }
            Config::SetDefault("ns3::WwTcpWestwood::Protocol", StringValue(m_settings.protocol));
            for (const auto& [name, value] : m_settings.attributes)
            {
                Config::SetDefault("ns3::WwTcpWestwood::" + name, StringValue(value));
            }
        }
    }

    /// After they have started: the socket is there.
    void Hook()
    {
        Ptr<Socket> socket = m_source->GetSocket();
        socket->TraceConnectWithoutContext("CongestionWindow", MakeCallback(&Flow::Cwnd, this));
        socket->TraceConnectWithoutContext("SlowStartThreshold",
                                           MakeCallback(&Flow::Threshold, this));
        socket->TraceConnectWithoutContext("CongState", MakeCallback(&Flow::State, this));
        socket->TraceConnectWithoutContext("RTT", MakeCallback(&Flow::Rtt, this));
        socket->TraceConnectWithoutContext("Tx", MakeCallback(&Flow::Sent, this));
        socket->TraceConnectWithoutContext("CongestionWindowInflated",
                                           MakeCallback(&Flow::Inflated, this));
        socket->TraceConnectWithoutContext("RTO", MakeCallback(&Flow::Rto, this));
        socket->TraceConnectWithoutContext("BytesInFlight", MakeCallback(&Flow::InFlight, this));
        m_lastRtt = socket->TraceConnectWithoutContext("LastRTT",
                                                       MakeCallback(&Flow::LastRtt, this));
        PointerValue ops;
        if (m_settings.kind == "WwTcpWestwood")
        {
            socket->GetAttribute("CongestionOps", ops);
            auto westwood = ops.Get<WwTcpWestwood>();
            westwood->TraceConnectWithoutContext("EstimatedBW",
                                                 MakeCallback(&Flow::Estimate, this));
            westwood->TraceConnectWithoutContext("SampleBW", MakeCallback(&Flow::Sample, this));
        }
        m_cwnd = m_now.cwnd = m_settings.initialCwnd;
        m_since = Simulator::Now().GetSeconds();
    }

    void Print()
    {
        Weigh();
        const double active = Simulator::Now().GetSeconds() - m_began;
        std::printf("flow %u delivered %llu sent %llu retransmitted %llu timeouts %u recoveries %u "
                    "mean_cwnd %.9g mean_srtt_s %.9g min_rtt_s %.9g drops %llu lost %llu ip_bytes "
                    "%llu established_s %.9g completed_s %.9g\n",
                    m_index,
                    static_cast<unsigned long long>(m_sink->GetTotalRx()),
                    static_cast<unsigned long long>(m_sent),
                    static_cast<unsigned long long>(m_retransmitted),
                    m_timeouts,
                    m_recoveries,
                    active > 0 && m_began >= 0 ? m_area / active : NOT_A_NUMBER,
                    m_srtts > 0 ? m_srttSum / m_srtts : NOT_A_NUMBER,
                    m_began >= 0 ? m_rttMin : NOT_A_NUMBER,
                    static_cast<unsigned long long>(m_drops),
                    static_cast<unsigned long long>(m_lost),
                    static_cast<unsigned long long>(m_ipBytes),
                    m_began >= 0 ? m_began : NOT_A_NUMBER,
                    m_completed);
    }

    void Dropped()
    {
        m_drops++;
    }

    void Lost()
    {
        m_lost++;
    }

    void Arrived(uint32_t bytes)
    {
        m_ipBytes += bytes;
    }

    uint32_t Sink() const
    {
        return m_settings.to;
    }

    /// Flows of one time start two nanoseconds apart: their sockets are made with different defaults.
    Time Start() const
    {
        return Seconds(m_settings.start) + NanoSeconds(2 * m_index);
    }

  private:
    void Weigh()
    {
        const double now = Simulator::Now().GetSeconds();
        if (m_began >= 0)
        {
            m_area += m_cwnd * (now - m_since);
        }
        m_since = now;
    }

    void Cwnd(uint32_t, uint32_t bytes)
    {
        Weigh();
        m_cwnd = Segments(bytes);
    }

    void Inflated(uint32_t, uint32_t bytes)
    {
        m_now.cwnd = Segments(bytes);
        Changed();
    }

    void Threshold(uint32_t, uint32_t bytes)
    {
        m_now.ssthresh = bytes >= UNLIMITED ? NOT_A_NUMBER : Segments(bytes);
        Changed();
    }

    void Estimate(double, double bw)
    {
        m_now.estimate = bw;
        Changed();
    }

    void Sample(double, double bw)
    {
        m_now.sample = bw;
        Changed();
    }

    void State(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t state)
    {
        m_timeouts += state == TcpSocketState::CA_LOSS;
        m_recoveries += state == TcpSocketState::CA_RECOVERY;
        static const int phases[] = {0, 1, 2, 2, 3}; // open, disorder, CWR, recovery, loss
        m_now.phase = phases[state];
        Changed();
    }

    void Rtt(Time, Time smoothed)
    {
        m_now.srtt = smoothed.GetSeconds();
        m_srttSum += m_now.srtt;
        m_srtts++;
        if (!m_lastRtt)
        {
            LastRtt(Time(0), smoothed);
        }
        Changed();
    }

    void LastRtt(Time, Time rtt)
    {
        if (m_began < 0)
        {
            m_began = m_since = Simulator::Now().GetSeconds(); // the handshake's
        }
        m_now.rtt = rtt.GetSeconds();
        m_rttMin = std::min(m_rttMin, m_now.rtt);
        Changed();
    }

    void Rto(Time, Time rto)
    {
        m_now.rto = rto.GetSeconds();
        Changed();
    }

    void InFlight(uint32_t, uint32_t bytes)
    {
        m_now.inFlight = Segments(bytes);
        Changed();
    }

    void Sent(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
    {
        if (packet->GetSize() == 0)
        {
            return;
        }
        m_sent++;
        const SequenceNumber32 end = header.GetSequenceNumber() + packet->GetSize();
        if (end <= m_highest)
        {
            m_retransmitted++;
        }
        m_highest = std::max(m_highest, end);
    }

    void Received(Ptr<const Packet>, const Address&)
    {
        if (m_settings.size > 0 && m_sink->GetTotalRx() >= m_settings.size &&
            std::isnan(m_completed))
        {
            m_completed = Simulator::Now().GetSeconds();
        }
    }

    double Segments(uint32_t bytes) const
    {
        return static_cast<double>(bytes) / m_settings.mss;
    }

    /// A row once everything that happens at this instant has happened.
    void Changed()
    {
        if (m_trace && !m_isDue)
        {
            m_isDue = true;
            Simulator::ScheduleNow(&Flow::Row, this);
        }
    }

    void Row()
    {
        m_isDue = false;
        std::printf("row %u %.9f %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g %d\n",
                    m_index,
                    Simulator::Now().GetSeconds(),
                    m_now.cwnd,
                    m_now.ssthresh,
                    m_now.estimate,
                    m_now.sample,
                    m_now.rtt,
                    m_now.srtt,
                    m_now.rto,
                    m_now.inFlight,
                    m_now.phase);
    }

    /// What a row of the trace says: segments, bit/s, seconds.
    struct Now
    {
        double cwnd = 0, ssthresh = NOT_A_NUMBER, estimate = NOT_A_NUMBER, sample = NOT_A_NUMBER;
        double rtt = NOT_A_NUMBER, srtt = NOT_A_NUMBER, rto = NOT_A_NUMBER, inFlight = 0;
        int phase = 0;
    };

    uint32_t m_index;
    Settings m_settings;
    bool m_trace;
    Ptr<PacketSink> m_sink;
    Ptr<BulkSendApplication> m_source;
    Ptr<Node> m_node;
    SequenceNumber32 m_highest{1};
    uint64_t m_sent = 0, m_retransmitted = 0, m_drops = 0, m_lost = 0, m_ipBytes = 0;
    uint32_t m_timeouts = 0, m_recoveries = 0;
    double m_cwnd = 0, m_area = 0, m_since = 0, m_began = -1;
    double m_srttSum = 0, m_rttMin = 1e9, m_completed = NOT_A_NUMBER;
    int m_srtts = 0;
    bool m_lastRtt = false; //!< this ns-3 traces RTT samples, not only smoothed ones
    Now m_now;
    bool m_isDue = false; //!< a row is to be written at this instant
};

} // namespace ns3

#endif /* WW_FLOW_H */
