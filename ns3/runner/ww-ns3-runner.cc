/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Runs one of the project's scenarios in ns-3: `westwood run FILE --engine ns3`. Reads the network from
 * standard input, a line a part, and prints a line a flow and one a sample of a trace; westwood/ns3.py
 * writes the one and reads the other.
 *
 *   run SEED DURATION_S TRACE
 *   link A B RATE_BPS DELAY_S QUEUE_PACKETS LOSS_FORWARD LOSS_BACKWARD
 *   flow FROM TO CLASS PROTOCOL MSS INITIAL_CWND SSTHRESH_B WINDOW_B MIN_RTO_S RTO_S DELACK
 *        DELACK_TIMEOUT_S DUPACKS LIMITED START_S STOP_S SIZE_B
 */
#include "ww-classic-recovery.h"
#include "ww-tcp-westwood.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cmath>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <limits>
#include <memory>
#include <sstream>
#include <vector>

using namespace ns3;

namespace
{

constexpr double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();

/// What the scenario says of a flow.
struct Settings
{
    uint32_t from, to;
    std::string kind, protocol;
    uint32_t mss, initialCwnd, ssthresh, window;
    double minRto, rto;
    uint32_t delayedAck;
    double delayedAckTimeout;
    uint32_t dupAcks;
    bool limited;
    double start, stop;
    uint64_t size;
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

    void Install(NodeContainer nodes, Ipv4Address sinkAddress, double end)
    {
        const auto port = static_cast<uint16_t>(5000 + m_index);
        SetDefaults();
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), port));
        m_sink = DynamicCast<PacketSink>(sink.Install(nodes.Get(m_settings.to)).Get(0));
        m_sink->SetStartTime(Start() + NanoSeconds(1));
        m_node = nodes.Get(m_settings.from);
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(sinkAddress, port));
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
            Config::SetDefault("ns3::WwTcpWestwood::Protocol", StringValue(m_settings.protocol));
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
        PointerValue ops;
        if (m_settings.kind == "WwTcpWestwood")
        {
            socket->GetAttribute("CongestionOps", ops);
            ops.Get<WwTcpWestwood>()->TraceConnectWithoutContext(
                "EstimatedBW",
                MakeCallback(&Flow::Estimate, this));
        }
        UintegerValue cwnd;
        m_cwnd = m_settings.initialCwnd;
        m_since = Simulator::Now().GetSeconds();
    }

    void Print()
    {
        Weigh();
        const double active = Simulator::Now().GetSeconds() - m_began;
        std::printf("flow %u delivered %llu sent %llu retransmitted %llu timeouts %u recoveries %u "
                    "mean_cwnd %.9g mean_srtt_s %.9g min_rtt_s %.9g drops %llu lost %llu ip_bytes "
                    "%llu completed_s %.9g\n",
                    m_index,
                    static_cast<unsigned long long>(m_sink->GetTotalRx()),
                    static_cast<unsigned long long>(m_sent),
                    static_cast<unsigned long long>(m_retransmitted),
                    m_timeouts,
                    m_recoveries,
                    active > 0 && m_began >= 0 ? m_area / active : NOT_A_NUMBER,
                    m_rtts > 0 ? m_rttSum / m_rtts : NOT_A_NUMBER,
                    m_rtts > 0 ? m_rttMin : NOT_A_NUMBER,
                    static_cast<unsigned long long>(m_drops),
                    static_cast<unsigned long long>(m_lost),
                    static_cast<unsigned long long>(m_ipBytes),
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
        m_cwnd = static_cast<double>(bytes) / m_settings.mss;
        Row("cwnd", m_cwnd);
    }

    void Threshold(uint32_t, uint32_t bytes)
    {
        Row("ssthresh", static_cast<double>(bytes) / m_settings.mss);
    }

    void Estimate(double, double bw)
    {
        Row("estimate_bps", bw);
    }

    void State(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t state)
    {
        m_timeouts += state == TcpSocketState::CA_LOSS;
        m_recoveries += state == TcpSocketState::CA_RECOVERY;
        Row("state", static_cast<double>(state));
    }

    void Rtt(Time, Time smoothed)
    {
        if (m_began < 0)
        {
            m_began = m_since = Simulator::Now().GetSeconds(); // the handshake's
        }
        m_rttSum += smoothed.GetSeconds();
        m_rttMin = std::min(m_rttMin, smoothed.GetSeconds());
        m_rtts++;
        Row("srtt_s", smoothed.GetSeconds());
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

    void Row(const char* what, double value) const
    {
        if (m_trace)
        {
            std::printf("row %u %.9f %s %.9g\n",
                        m_index,
                        Simulator::Now().GetSeconds(),
                        what,
                        value);
        }
    }

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
    double m_rttSum = 0, m_rttMin = 1e9, m_completed = NOT_A_NUMBER;
    uint64_t m_rtts = 0;
};

std::vector<std::unique_ptr<Flow>> g_flows; //!< by index; a packet's port names its flow

/// The flow that a data packet, still in its IP header, belongs to; null for others.
Flow*
FlowOf(Ptr<const Packet> packet, uint32_t& ipBytes)
{
    Ptr<Packet> copy = packet->Copy();
    PppHeader ppp;
    copy->RemoveHeader(ppp);
    Ipv4Header ip;
    copy->RemoveHeader(ip);
    TcpHeader tcp;
    copy->RemoveHeader(tcp);
    ipBytes = ip.GetPayloadSize() + ip.GetSerializedSize();
    const uint32_t index = tcp.GetDestinationPort() - 5000u;
    return copy->GetSize() > 0 && index < g_flows.size() ? g_flows[index].get() : nullptr;
}

void
QueueDrop(Ptr<const Packet> packet)
{
    uint32_t bytes = 0;
    if (Flow* flow = FlowOf(packet, bytes))
    {
        flow->Dropped();
    }
}

void
WireLoss(Ptr<const Packet> packet)
{
    uint32_t bytes = 0;
    if (Flow* flow = FlowOf(packet, bytes))
    {
        flow->Lost();
    }
}

void
Arrival(uint32_t node, Ptr<const Packet> packet)
{
    uint32_t bytes = 0;
    Flow* flow = FlowOf(packet, bytes);
    if (flow != nullptr && flow->Sink() == node)
    {
        flow->Arrived(bytes);
    }
}

void
LoseAt(Ptr<NetDevice> device, double rate, int64_t stream)
{
    if (rate <= 0)
    {
        return;
    }
    auto uniform = CreateObject<UniformRandomVariable>();
    uniform->SetStream(stream);
    auto errors = CreateObject<RateErrorModel>();
    errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    errors->SetRate(rate);
    errors->SetRandomVariable(uniform);
    device->SetAttribute("ReceiveErrorModel", PointerValue(errors));
}

/// The scenario, as it is read.
struct Scenario
{
    uint64_t seed = 1;
    double duration = 0;
    bool trace = false;
    uint32_t nodes = 0;

    struct Link
    {
        uint32_t a, b;
        double rate, delay;
        uint32_t queue;
        double forward, backward;
    };

    std::vector<Link> links;
    std::vector<Settings> flows;
};

bool
Read(std::istream& input, Scenario& scenario)
{
    std::string line;
    while (std::getline(input, line))
    {
        std::istringstream words(line);
        std::string kind;
        words >> kind;
        if (kind == "run")
        {
            words >> scenario.seed >> scenario.duration >> scenario.trace;
        }
        else if (kind == "link")
        {
            Scenario::Link l{};
            words >> l.a >> l.b >> l.rate >> l.delay >> l.queue >> l.forward >> l.backward;
            scenario.nodes = std::max({scenario.nodes, l.a + 1, l.b + 1});
            scenario.links.push_back(l);
        }
        else if (kind == "flow")
        {
            Settings f{};
            words >> f.from >> f.to >> f.kind >> f.protocol >> f.mss >> f.initialCwnd >>
                f.ssthresh >> f.window >> f.minRto >> f.rto >> f.delayedAck >>
                f.delayedAckTimeout >> f.dupAcks >> f.limited >> f.start >> f.stop >> f.size;
            f.protocol = f.protocol == "-" ? "" : f.protocol;
            scenario.flows.push_back(f);
        }
        if (!words && !words.eof())
        {
            std::cerr << "ww-ns3-runner: can't read: " << line << "\n";
            return false;
        }
    }
    return true;
}

void
Build(const Scenario& scenario, NodeContainer nodes)
{
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
    TrafficControlHelper control;
    int64_t stream = 100;
    for (const auto& l : scenario.links)
    {
        PointToPointHelper helper;
        helper.SetDeviceAttribute("DataRate",
                                  DataRateValue(DataRate(static_cast<uint64_t>(l.rate))));
        helper.SetChannelAttribute("Delay", TimeValue(Seconds(l.delay)));
        helper.SetQueue("ns3::DropTailQueue<Packet>",
                        "MaxSize",
                        QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, l.queue)));
        const NetDeviceContainer devices = helper.Install(nodes.Get(l.a), nodes.Get(l.b));
        address.Assign(devices);
        address.NewNetwork();
        control.Uninstall(devices); // its default queue disc would be the queue
        LoseAt(devices.Get(1), l.forward, stream++);
        LoseAt(devices.Get(0), l.backward, stream++);
        for (uint32_t end = 0; end < 2; end++)
        {
            auto device = DynamicCast<PointToPointNetDevice>(devices.Get(end));
            device->TraceConnectWithoutContext("MacTxDrop", MakeCallback(&QueueDrop));
            device->GetQueue()->TraceConnectWithoutContext("DropBeforeEnqueue",
                                                           MakeCallback(&QueueDrop));
            device->TraceConnectWithoutContext("PhyRxDrop", MakeCallback(&WireLoss));
            device->TraceConnectWithoutContext(
                "PromiscSniffer",
                MakeBoundCallback(&Arrival, end == 0 ? l.a : l.b));
        }
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
}

} // namespace

int
main()
{
    Scenario scenario;
    if (!Read(std::cin, scenario))
    {
        return 2;
    }
    RngSeedManager::SetSeed(12345);
    RngSeedManager::SetRun(scenario.seed);
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                       TypeIdValue(WwClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));
    NodeContainer nodes(scenario.nodes);
    Build(scenario, nodes);
    for (const auto& settings : scenario.flows)
    {
        const auto index = static_cast<uint32_t>(g_flows.size());
        g_flows.push_back(std::make_unique<Flow>(index, settings, scenario.trace));
        Flow* const flow = g_flows.back().get();
        const Ipv4Address sink =
            nodes.Get(settings.to)->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
        // A nanosecond apart: the settings, the applications, the traces.
        flow->Install(nodes, sink, scenario.duration);
        Simulator::Schedule(flow->Start(), &Flow::Prepare, flow);
        Simulator::Schedule(flow->Start() + NanoSeconds(2), &Flow::Hook, flow);
    }
    Simulator::Stop(Seconds(scenario.duration));
    timespec before{};
    timespec after{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    Simulator::Run();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    for (const auto& flow : g_flows)
    {
        flow->Print();
    }
    std::printf("end %.6f\n",
                static_cast<double>(after.tv_sec - before.tv_sec) +
                    1e-9 * static_cast<double>(after.tv_nsec - before.tv_nsec));
    Simulator::Destroy();
    return 0;
}
