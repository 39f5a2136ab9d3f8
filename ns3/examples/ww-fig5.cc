/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Draws Figure 5 of the 2013 ns-3 paper (Gangadhar et al.) with your own ns-3: throughput over the
 * packet error rate of the bottleneck.
 *
 *   source ==== 10 Mb/s, 45 ms ==== router ==== 2 Mb/s, 0.01 ms, lossy ==== sink
 *
 *   ./ww-fig5                                  takes a few minutes
 *   ./ww-fig5 --seconds=600 --runs=10          runs as long as the paper, with less noise
 *   gnuplot ww-fig5.plt                        writes ww-fig5.png
 *   ./ww-fig5 --protocols=westwood+,reno --per=0.005     runs one point of two curves
 */
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/gnuplot.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/ww-tcp-helper.h"

#include <fstream>
#include <iostream>
#include <sstream>
#include <vector>

using namespace ns3;

namespace
{

std::vector<std::string>
Split(const std::string& text)
{
    std::vector<std::string> words;
    std::istringstream stream(text);
    for (std::string word; std::getline(stream, word, ',');)
    {
        words.push_back(word);
    }
    return words;
}

/// Makes the sender. It recovers like the paper's sockets, which had no SACK.
WwTcpHelper
Sender(const std::string& protocol)
{
    WwTcpHelper helper(protocol);
    if (protocol != "tahoe" && protocol != "reno")
    {
        helper.SetRecovery("newreno");
    }
    return helper;
}

/// Builds the access link and the bottleneck, which loses data packets, and returns the sink's
/// address.
Ipv4Address
BuildPath(const NodeContainer& nodes, double per)
{
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
    const Ipv4Address sink = address.Assign(bottleneck).GetAddress(1);
    TrafficControlHelper control; // the default queue disc would replace the bottleneck's queue
    control.Uninstall(access);
    control.Uninstall(bottleneck);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    return sink;
}

/// Runs one flow and returns its throughput in Mb/s.
double
Throughput(const std::string& protocol, double per, double seconds, uint64_t run)
{
    RngSeedManager::SetRun(run);
    NodeContainer nodes(3);
    const InetSocketAddress sink(BuildPath(nodes, per), 5000);
    const WwTcpHelper sender = Sender(protocol);
    sender.Install(nodes.Get(0));
    PacketSinkHelper receive("ns3::TcpSocketFactory", sink);
    const ApplicationContainer sinks = receive.Install(nodes.Get(2));
    BulkSendHelper source(sender.GetSocketFactory(), sink);
    source.Install(nodes.Get(0)).Start(Seconds(0));
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    const auto received = DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx();
    Simulator::Destroy();
    return 8e-6 * static_cast<double>(received) / seconds;
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string protocols = "westwood-ns3,westwood+-ns3,newreno,reno,tahoe";
    std::string rates = "0.0001,0.0005,0.001,0.005,0.01,0.05";
    double seconds = 200;
    uint32_t runs = 1;
    CommandLine command;
    command.AddValue("protocols", "names for WwTcpWestwood's Protocol, or recoveries", protocols);
    command.AddValue("per", "packet error rates", rates);
    command.AddValue("seconds", "simulated, a run", seconds);
    command.AddValue("runs", "runs to average over", runs);
    command.Parse(argc, argv);
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(360)); // packets of 400 bytes
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));

    Gnuplot plot("ww-fig5.png", "Throughput over packet error rate");
    plot.SetTerminal("png size 800,600");
    plot.SetLegend("packet error rate", "throughput (Mb/s)");
    plot.AppendExtra("set logscale x");
    for (const std::string& protocol : Split(protocols))
    {
        Gnuplot2dDataset line(protocol);
        line.SetStyle(Gnuplot2dDataset::LINES_POINTS);
        for (const std::string& rate : Split(rates))
        {
            double sum = 0;
            for (uint32_t run = 1; run <= runs; run++)
            {
                sum += Throughput(protocol, std::stod(rate), seconds, run);
            }
            std::cout << protocol << " " << rate << " " << sum / runs << " Mb/s" << std::endl;
            line.Add(std::stod(rate), sum / runs);
        }
        plot.AddDataset(line);
    }
    std::ofstream file("ww-fig5.plt");
    plot.GenerateOutput(file);
    return 0;
}
