/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Runs one of the project's scenarios in ns-3: `westwood run FILE --engine ns3`. Reads the network from
 * standard input, a line a part, and prints a line a flow and one a sample of a trace; westwood/ns3.py
 * writes the one and reads the other.
 *
 *   run SEED DURATION_S TRACE
 *   link A B RATE_BPS DELAY_S QUEUE_PACKETS LOSS_FORWARD LOSS_BACKWARD
 *   flow FROM TO CLASS PROTOCOL RECOVERY MSS INITIAL_CWND SSTHRESH_B WINDOW_B MIN_RTO_S RTO_S DELACK
 *        DELACK_TIMEOUT_S DUPACKS LIMITED START_S STOP_S SIZE_B
 */
#include "ww-classic-recovery.h"
#include "ww-flow.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdio>
#include <ctime>
#include <iostream>
#include <memory>
#include <sstream>
#include <vector>

using namespace ns3;

namespace
{

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
            words >> f.from >> f.to >> f.kind >> f.protocol >> f.recovery >> f.mss >> f.initialCwnd >>
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
