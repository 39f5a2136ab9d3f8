/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * A point of Figure 5 of the 2013 ns-3 paper (Gangadhar et al.), in your own ns-3:
 *
 *   source ==== 10 Mb/s, 45 ms ==== router ==== 2 Mb/s, 0.01 ms, lossy ==== sink
 *
 * prints protocol, error rate and throughput; draw its lines with gnuplot:
 *
 *   for p in Westwood WestwoodPlus; do for e in 0.001 0.005 0.02; do
 *     ./ww-fig5-point --protocol=$p --per=$e; done; done > fig5.dat
 */
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/ww-classic-recovery.h"
#include "ns3/ww-tcp-westwood.h"

#include <iostream>

using namespace ns3;

int
main(int argc, char* argv[])
{
    std::string protocol = "WestwoodPlus";
    double per = 0.005;
    double seconds = 600;
    uint32_t run = 1;
    CommandLine command;
    command.AddValue("protocol", "Westwood, WestwoodPlus, WestwoodNs3...", protocol);
    command.AddValue("per", "packet error rate of the bottleneck", per);
    command.AddValue("seconds", "simulated", seconds);
    command.AddValue("run", "number of the random run", run);
    command.Parse(argc, argv);

    RngSeedManager::SetRun(run);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(WwTcpWestwood::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                       TypeIdValue(WwClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::WwTcpWestwood::Protocol", StringValue(protocol));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(360));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));

    NodeContainer nodes(3);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("10Mbps"));
    link.SetChannelAttribute("Delay", StringValue("45ms"));
    const NetDeviceContainer access = link.Install(nodes.Get(0), nodes.Get(1));
    link.SetDeviceAttribute("DataRate", StringValue("2Mbps"));
    link.SetChannelAttribute("Delay", StringValue("0.01ms"));
    const NetDeviceContainer bottleneck = link.Install(nodes.Get(1), nodes.Get(2));
    auto errors = CreateObject<RateErrorModel>();
    errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    errors->SetRate(per);
    bottleneck.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));

    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
    address.Assign(access);
    address.NewNetwork();
    const Ipv4Address sinkAddress = address.Assign(bottleneck).GetAddress(1);
    TrafficControlHelper control; // its default queue disc would be the bottleneck's queue
    control.Uninstall(access);
    control.Uninstall(bottleneck);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
    const ApplicationContainer sinks = sink.Install(nodes.Get(2));
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(sinkAddress, 5000));
    source.Install(nodes.Get(0)).Start(Seconds(0));

    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    const auto received = DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx();
    std::cout << protocol << " " << per << " " << 8.0 * received / seconds / 1e6 << " Mb/s\n";
    Simulator::Destroy();
    return 0;
}
