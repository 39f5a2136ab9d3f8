/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Runs a connection of a plan in ns-3: makes its sockets with its settings, and counts its packets.
 */
#ifndef WW_CONNECTION_H
#define WW_CONNECTION_H

#include "core/westwood.h"
#include "wire/report.hpp"
#include "ww-phase.h"
#include "ww-plan.h"
#include "ww-settings.h"
#include "ww-sockets.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/ww-catalogue.h"
#include "ns3/ww-classic-recovery.h"
#include "ns3/ww-tcp-helper.h"
#include "ns3/ww-tcp-westwood.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace ns3
{

inline constexpr uint32_t NO_SSTHRESH = 0x7fffffff; //!< bytes; at or above it ssthresh is infinite
const Time LONGEST_RTO = Seconds(60);               //!< TcpSocketBase doubles its timer up to this
inline constexpr int64_t START_STREAMS = 2000000;   //!< first random number stream of connections
inline constexpr double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();

/// A connection: its applications and its counts.
class Connection
{
  public:
    Connection(uint32_t index,
               const ww::sim::Flow& settings,
               const WwProtocol& protocol,
               const std::string& control,
               ww::wire::Trace& trace)
        : m_index(index),
          m_settings(settings),
          m_protocol(protocol),
          m_control(control),
          m_trace(trace)
    {
        // Connections that start together are kept two nanoseconds apart, since each sets the
        // defaults that its sockets are made with.
        m_start = TimeOf(settings.start) + NanoSeconds(2 * index);
        if (settings.start_spread > 0)
        {
            auto uniform = CreateObject<UniformRandomVariable>();
            uniform->SetStream(START_STREAMS + index);
            m_start += Seconds(SecondsOf(settings.start_spread) * uniform->GetValue());
        }
        m_result.source = index;
        m_result.start_s =
            settings.start_spread > 0 ? m_start.GetSeconds() : SecondsOf(settings.start);
        m_now.cwnd = m_now.in_flight = 0;
    }

    void Install(NodeContainer nodes, Ipv4Address sinkAddress, Time end)
    {
        const auto port = static_cast<uint16_t>(5000 + m_index);
        SetSocketDefaults(m_settings);
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), port));
        m_sink = DynamicCast<PacketSink>(sink.Install(nodes.Get(m_settings.to)).Get(0));
        m_sink->SetStartTime(Start() + NanoSeconds(1));
        m_node = nodes.Get(m_settings.from);
        BulkSendHelper source(Factory(), InetSocketAddress(sinkAddress, port));
        source.SetAttribute("SendSize", UintegerValue(m_settings.mss()));
        source.SetAttribute("MaxBytes", UintegerValue(IsSized() ? Size() : 0));
        m_source = DynamicCast<BulkSendApplication>(source.Install(m_node).Get(0));
        m_source->SetStartTime(Start() + NanoSeconds(1));
        const bool stops = m_settings.stop < ww::sim::kNever;
        m_source->SetStopTime(stops ? std::min(TimeOf(m_settings.stop), end) : end);
    }

    /// Sets the defaults for the applications' sockets, just before they start.
    void Prepare() const
    {
        SetSocketDefaults(m_settings);
        const auto tcp = m_node->GetObject<TcpL4Protocol>();
        const bool isPrr = m_settings.recovery == ww::sim::Recovery::prr;
        tcp->SetAttribute("SocketType",
                          TypeIdValue(TypeId::LookupByName("ns3::" + m_protocol.ns3Class)));
        tcp->SetAttribute(
            "RecoveryType",
            TypeIdValue(isPrr ? TcpPrrRecovery::GetTypeId() : WwClassicRecovery::GetTypeId()));
        Config::SetDefault("ns3::TcpCubic::HyStart",
                           BooleanValue(m_settings.cc.slow_start != WW_SLOW_START_STANDARD));
        if (IsWestwood())
        {
            const std::string attribute = "ns3::WwTcpWestwood::";
            if (m_control.empty())
            {
                Config::SetDefault(attribute + "Protocol", StringValue(m_protocol.name));
            }
            Config::SetDefault(attribute + "Control", StringValue(m_control));
            Config::SetDefault(attribute + "Parameters", StringValue(ParametersOf(m_settings.cc)));
            for (const auto& [name, value] : WwSettings::Values(m_settings.cc))
            {
                if (name != "ValidateCwnd") // ns-3 grows the window even if it is not full
                {
                    Config::SetDefault(attribute + name, *value);
                }
            }
        }
    }

    /// Connects to the socket's traces; it exists once the applications have started.
    void Hook()
    {
        Ptr<Socket> socket = m_source->GetSocket();
        socket->TraceConnectWithoutContext("CongestionWindow",
                                           MakeCallback(&Connection::Cwnd, this));
        socket->TraceConnectWithoutContext("SlowStartThreshold",
                                           MakeCallback(&Connection::Threshold, this));
        socket->TraceConnectWithoutContext("CongState", MakeCallback(&Connection::State, this));
        socket->TraceConnectWithoutContext("RTT", MakeCallback(&Connection::Rtt, this));
        socket->TraceConnectWithoutContext("Tx", MakeCallback(&Connection::Sent, this));
        socket->TraceConnectWithoutContext("CongestionWindowInflated",
                                           MakeCallback(&Connection::Inflated, this));
        socket->TraceConnectWithoutContext("RTO", MakeCallback(&Connection::Rto, this));
        socket->TraceConnectWithoutContext("BytesInFlight",
                                           MakeCallback(&Connection::InFlight, this));
        socket->TraceConnectWithoutContext("HighestRxAck",
                                           MakeCallback(&Connection::Acknowledged, this));
        m_lastRtt =
            socket->TraceConnectWithoutContext("LastRTT", MakeCallback(&Connection::LastRtt, this));
        PointerValue ops;
        if (IsWestwood())
        {
            socket->GetAttribute("CongestionOps", ops);
            auto westwood = ops.Get<WwTcpWestwood>();
            westwood->TraceConnectWithoutContext("EstimatedBW",
                                                 MakeCallback(&Connection::Estimate, this));
            westwood->TraceConnectWithoutContext("SampleBW",
                                                 MakeCallback(&Connection::Sample, this));
        }
        m_cwnd = m_now.cwnd = m_settings.initial_cwnd;
        m_since = Simulator::Now().GetSeconds();
    }

    /// Returns the counts after the run.
    const ww::sim::FlowResult& Result()
    {
        Weigh();
        const double active = Simulator::Now().GetSeconds() - m_began;
        const bool hasBegun = m_began >= 0;
        m_result.delivered_bytes = m_sink->GetTotalRx();
        m_result.mean_cwnd = hasBegun && active > 0 ? m_area / active : NOT_A_NUMBER;
        m_result.max_cwnd = hasBegun ? m_maxCwnd : NOT_A_NUMBER;
        m_result.mean_srtt_s = m_srtts > 0 ? m_srttSum / m_srtts : NOT_A_NUMBER;
        m_result.min_rtt_s = hasBegun ? m_rttMin : NOT_A_NUMBER;
        m_result.established_s = hasBegun ? m_began : NOT_A_NUMBER;
        return m_result;
    }

    /// Returns the counts of its data packets, for the directions of links to fill in.
    ww::sim::FlowResult& Counts()
    {
        return m_result;
    }

    void Arrived(uint32_t bytes)
    {
        m_result.ip_bytes_at_sink += bytes;
        m_result.last_arrival_s = Simulator::Now().GetSeconds();
    }

    uint32_t Sink() const
    {
        return m_settings.to;
    }

    Time Start() const
    {
        return m_start;
    }

  private:
    bool IsWestwood() const
    {
        return m_protocol.ns3Class == "WwTcpWestwood";
    }

    bool IsSized() const
    {
        return m_settings.size_bytes != ww::sim::kUnlimited;
    }

    uint64_t Size() const
    {
        return static_cast<uint64_t>(m_settings.size_bytes);
    }

    /// Puts the recovery's socket factory on the source's node, which has mainline's for SACK. A
    /// control that follows packets needs one of the module.
    std::string Factory() const
    {
        const bool hasSack = m_settings.recovery == ww::sim::Recovery::sack ||
                             m_settings.recovery == ww::sim::Recovery::prr;
        const bool followsPackets = IsWestwood() && ww_follows_packets(&m_settings.cc);
        if (hasSack && !followsPackets)
        {
            return "ns3::TcpSocketFactory";
        }
        const std::string factory =
            FactoryOf(hasSack ? ww::sim::Recovery::sack : m_settings.recovery);
        const TypeId tid = TypeId::LookupByName(factory);
        if (!m_node->GetObject<Object>(tid))
        {
            ObjectFactory made;
            made.SetTypeId(tid);
            m_node->AggregateObject(made.Create());
        }
        return factory;
    }

    void Weigh()
    {
        const double now = Simulator::Now().GetSeconds();
        if (m_began >= 0)
        {
            m_area += m_cwnd * (now - m_since);
            m_maxCwnd = std::max(m_maxCwnd, m_cwnd);
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
        m_now.ssthresh = bytes >= NO_SSTHRESH ? NOT_A_NUMBER : Segments(bytes);
        Changed();
    }

    void Estimate(double, double bw)
    {
        m_now.estimate_bps = bw;
        Changed();
    }

    void Sample(double, double bw)
    {
        m_now.sample_bps = bw;
        Changed();
    }

    void State(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t state)
    {
        m_result.fast_recoveries += state == TcpSocketState::CA_RECOVERY;
        m_result.ecn_reductions += state == TcpSocketState::CA_CWR;
        m_now.phase = static_cast<uint8_t>(WwPhaseOf(state));
        Changed();
    }

    void Rtt(Time, Time smoothed)
    {
        m_now.srtt_s = smoothed.GetSeconds();
        m_srttSum += m_now.srtt_s;
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
            m_began = m_since = Simulator::Now().GetSeconds(); // this RTT is the handshake's
        }
        m_now.rtt_s = rtt.GetSeconds();
        m_rttMin = std::min(m_rttMin, m_now.rtt_s);
        Changed();
    }

    /// Counts timeouts by the doubling of the timer, since a repeated timeout does not change
    /// CA_LOSS.
    void Rto(Time before, Time rto)
    {
        m_result.timeouts +=
            m_began >= 0 && rto > before && rto == Min(before + before, LONGEST_RTO);
        m_now.rto_s = rto.GetSeconds();
        Changed();
    }

    void InFlight(uint32_t, uint32_t bytes)
    {
        m_now.in_flight = Segments(bytes);
        Changed();
    }

    void Sent(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
    {
        if (packet->GetSize() == 0)
        {
            return;
        }
        m_result.sent++;
        const SequenceNumber32 end = header.GetSequenceNumber() + packet->GetSize();
        if (end <= m_highest)
        {
            m_result.retransmitted++;
        }
        m_highest = std::max(m_highest, end);
    }

    void Acknowledged(SequenceNumber32, SequenceNumber32 ack)
    {
        // The SYN takes the sequence number before the first byte.
        if (IsSized() && ack.GetValue() > Size() && std::isnan(m_result.completed_s))
        {
            m_result.completed_s = Simulator::Now().GetSeconds();
        }
    }

    double Segments(uint32_t bytes) const
    {
        return static_cast<double>(bytes) / m_settings.mss();
    }

    /// Schedules a row of the trace after all other events of this instant.
    void Changed()
    {
        if (m_trace && !m_isDue)
        {
            m_isDue = true;
            Simulator::ScheduleNow(&Connection::Row, this);
        }
    }

    void Row()
    {
        m_isDue = false;
        m_now.time_s = Simulator::Now().GetSeconds();
        m_trace.write_window(m_index, m_now);
    }

    uint32_t m_index;
    Time m_start;
    ww::sim::Flow m_settings;
    WwProtocol m_protocol;
    std::string m_control; //!< what identifies a user's control; empty: it has none
    ww::wire::Trace& m_trace;
    ww::sim::FlowResult m_result;
    ww::wire::WindowRow m_now; //!< the next row of the trace
    bool m_isDue = false;      //!< a row is scheduled for this instant
    Ptr<PacketSink> m_sink;
    Ptr<BulkSendApplication> m_source;
    Ptr<Node> m_node;
    SequenceNumber32 m_highest{1};
    double m_cwnd = 0, m_maxCwnd = 0, m_area = 0, m_since = 0, m_began = -1;
    double m_srttSum = 0, m_rttMin = 1e9;
    int m_srtts = 0;
    bool m_lastRtt = false; //!< this ns-3 traces RTT samples, not only the smoothed RTT
};

} // namespace ns3

#endif /* WW_CONNECTION_H */
