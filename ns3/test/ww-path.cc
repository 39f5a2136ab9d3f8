/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "ww-path.h"

#include <list>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(WwProbeSocket);

TypeId
WwProbeSocket::GetTypeId()
{
    static TypeId tid = TypeId("ns3::WwProbeSocket")
                            .SetParent<TcpSocketBase>()
                            .SetGroupName("Internet")
                            .AddConstructor<WwProbeSocket>();
    return tid;
}

Ptr<TcpSocketState>
WwProbeSocket::State() const
{
    return m_tcb;
}

Ptr<TcpCongestionOps>
WwProbeSocket::Ops() const
{
    return m_congestionControl;
}

Ptr<TcpSocketBase>
WwProbeSocket::Fork()
{
    return CopyObject<WwProbeSocket>(this);
}

WwPath::WwPath(const std::string& rate, const std::string& delay, uint32_t packets)
{
    nodes.Create(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", StringValue(delay));
    link.SetQueue("ns3::DropTailQueue<Packet>",
                  "MaxSize",
                  QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, packets)));
    devices = link.Install(nodes);
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
    interfaces = address.Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
    m_sink = DynamicCast<PacketSink>(sink.Install(nodes.Get(1)).Get(0));
}

WwPath::~WwPath()
{
    Simulator::Destroy();
    Config::Reset();
}

void
WwPath::LoseAtRandom(double rate)
{
    auto errors = CreateObject<RateErrorModel>();
    errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    errors->SetRate(rate);
    errors->AssignStreams(1);
    devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
}

void
WwPath::Lose(const std::vector<uint32_t>& which)
{
    std::list<uint32_t> packets;
    for (const uint32_t segment : which)
    {
        packets.push_back(segment + 2); // after the SYN and the handshake's ACK
    }
    auto errors = CreateObject<ReceiveListErrorModel>();
    errors->SetList(packets);
    devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
}

Ptr<WwProbeSocket>
WwPath::Send(const WwSubject& subject, uint16_t port)
{
    Ptr<TcpL4Protocol> tcp = nodes.Get(0)->GetObject<TcpL4Protocol>();
    ObjectFactory congestion = subject.congestion;
    ObjectFactory recovery = subject.recovery;
    auto socket = CreateObject<WwProbeSocket>();
    socket->SetNode(nodes.Get(0));
    socket->SetTcp(tcp);
    socket->SetRtt(CreateObject<RttMeanDeviation>());
    socket->SetCongestionControlAlgorithm(congestion.Create<TcpCongestionOps>());
    socket->SetRecoveryAlgorithm(recovery.Create<TcpRecoveryOps>());
    tcp->AddSocket(socket);
    Start(socket, port);
    return socket;
}

Ptr<TcpSocketBase>
WwPath::SendBy(const std::string& factory)
{
    auto socket = DynamicCast<TcpSocketBase>(
        Socket::CreateSocket(nodes.Get(0), TypeId::LookupByName(factory)));
    Start(socket, 5000);
    return socket;
}

void
WwPath::Start(Ptr<TcpSocketBase> socket, uint16_t port)
{
    socket->TraceConnectWithoutContext("Tx", MakeCallback(&WwPath::Transmit, this));
    socket->SetSendCallback(MakeCallback(&WwPath::Fill, this));
    const InetSocketAddress sink(interfaces.GetAddress(1), port);
    Simulator::Schedule(MilliSeconds(1), [socket, sink]() { socket->Connect(sink); });
}

void
WwPath::SendBack(const std::string& factory, Time start)
{
    const InetSocketAddress address(interfaces.GetAddress(0), 5000);
    PacketSinkHelper("ns3::TcpSocketFactory", address).Install(nodes.Get(0));
    BulkSendHelper(factory, address).Install(nodes.Get(1)).Start(start);
}

void
WwPath::Run(Time until)
{
    Simulator::Stop(until - Simulator::Now());
    Simulator::Run();
}

uint64_t
WwPath::Received() const
{
    return m_sink->GetTotalRx();
}

void
WwPath::Fill(Ptr<Socket> socket, uint32_t)
{
    while (socket->GetTxAvailable() > 0 &&
           socket->Send(Create<Packet>(socket->GetTxAvailable())) > 0)
    {
    }
}

void
WwPath::Transmit(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
{
    if (packet->GetSize() == 0)
    {
        return;
    }
    const SequenceNumber32 end = header.GetSequenceNumber() + packet->GetSize();
    sent++;
    retransmitted += end <= m_highest;
    m_highest = std::max(m_highest, end);
}

} // namespace ns3
