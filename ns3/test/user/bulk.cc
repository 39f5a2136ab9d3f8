/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * A user's script that knows nothing of this module: a bulk transfer over a lossy link. Tests
 * insert the lines of docs/ns3.md.
 */
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <iostream>

using namespace ns3;

namespace
{

void
PrintCongestionControl(Ptr<BulkSendApplication> source)
{
    PointerValue congestionControl;
    source->GetSocket()->GetAttribute("CongestionOps", congestionControl);
    std::cout << congestionControl.Get<TcpCongestionOps>()->GetName() << "\n";
}

} // namespace

int
main(int argc, char* argv[])
{
    CommandLine cmd;
    cmd.Parse(argc, argv);

    NodeContainer nodes(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("2Mbps"));
    link.SetChannelAttribute("Delay", StringValue("45ms"));
    NetDeviceContainer devices = link.Install(nodes);
    Ptr<RateErrorModel> errors = CreateObject<RateErrorModel>();
    errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    errors->SetRate(0.005);
    devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));

    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
    const Ipv4InterfaceContainer interfaces = address.Assign(devices);

    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), 9));
    const ApplicationContainer sources = source.Install(nodes.Get(0));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
    const ApplicationContainer sinks = sink.Install(nodes.Get(1));

    const Time end = Seconds(100);
    Simulator::Schedule(Seconds(1),
                        &PrintCongestionControl,
                        DynamicCast<BulkSendApplication>(sources.Get(0)));
    Simulator::Stop(end);
    Simulator::Run();
    const auto received = static_cast<double>(DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx());
    std::cout << 8 * received / end.GetSeconds() << " bit/s\n";
    Simulator::Destroy();
    return 0;
}
