/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Runs one of the project's scenarios in ns-3: `westwood run FILE --engine ns3`. Reads the network from
 * standard input, a line a part; westwood/ns3.py writes them and reads what is printed: a line a flow,
 * one a direction of a link, and with TRACE one a change of a flow's state (row), a packet that waited
 * in a queue (wait), a packet that was dropped (drop).
 *
 *   run SEED DURATION_S TRACE
 *   link A B RATE_BPS DELAY_S QUEUE_PACKETS LOSS_FORWARD LOSS_BACKWARD
 *   lose LINK SIDE PACKET...
 *   flow FROM TO CLASS PROTOCOL RECOVERY MSS INITIAL_CWND SSTHRESH_B WINDOW_B MIN_RTO_S RTO_S DELACK
 *        DELACK_TIMEOUT_S DUPACKS LIMITED START_S STOP_S SIZE_B [ATTRIBUTE=VALUE]...
 */
#include "ww-classic-recovery.h"
#include "ww-link.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <cstdio>
#include <ctime>
#include <iostream>
#include <memory>
#include <sstream>
#include <vector>

using namespace ns3;

namespace
{

/// The scenario, as it is read.
struct Scenario
{
    uint64_t seed = 1;
    double duration = 0;
    bool trace = false;
    uint32_t nodes = 0;

    std::vector<LinkSettings> links;
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
            LinkSettings l{};
            words >> l.a >> l.b >> l.rate >> l.delay >> l.queue >> l.forward >> l.backward;
            scenario.nodes = std::max({scenario.nodes, l.a + 1, l.b + 1});
            scenario.links.push_back(l);
        }
        else if (kind == "lose")
        {
            std::size_t link = 0;
            std::size_t side = 0;
            words >> link >> side;
            for (uint64_t packet = 0; words >> packet;)
            {
                scenario.links.at(link).lost.at(side).push_back(packet);
            }
        }
        else if (kind == "flow")
        {
            Settings f{};
            words >> f.from >> f.to >> f.kind >> f.protocol >> f.recovery >> f.mss >> f.initialCwnd >>
                f.ssthresh >> f.window >> f.minRto >> f.rto >> f.delayedAck >>
                f.delayedAckTimeout >> f.dupAcks >> f.limited >> f.start >> f.stop >> f.size;
            f.protocol = f.protocol == "-" ? "" : f.protocol;
            for (std::string word; words >> word;)
            {
                const auto equals = word.find('=');
                f.attributes.emplace_back(word.substr(0, equals), word.substr(equals + 1));
            }
            words.clear(words.rdstate() & ~std::ios::failbit);
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

std::vector<std::unique_ptr<Side>>
Build(const Scenario& scenario, NodeContainer nodes, const Flows& flows)
{
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
    std::vector<std::unique_ptr<Side>> sides;
    for (uint32_t i = 0; i < scenario.links.size(); i++)
    {
        const LinkSettings& l = scenario.links[i];
        PointToPointHelper helper;
        helper.SetDeviceAttribute("DataRate",
                                  DataRateValue(DataRate(static_cast<uint64_t>(l.rate))));
        helper.SetChannelAttribute("Delay", TimeValue(Seconds(l.delay)));
        helper.SetQueue("ns3::DropTailQueue<Packet>",
                        "MaxSize",
                        QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, l.queue)));
        // The queue is the device's: no queue disc above it, and no flow control, with which that
        // layer would drop what the queue can't hold, uncounted.
        helper.DisableFlowControl();
        const NetDeviceContainer devices = helper.Install(nodes.Get(l.a), nodes.Get(l.b));
        address.Assign(devices);
        address.NewNetwork();
        for (uint32_t side = 0; side < 2; side++)
        {
            sides.push_back(std::make_unique<Side>(i, side, l, flows, scenario.trace));
            sides.back()->Install(devices.Get(side),
                                  devices.Get(1 - side),
                                  side == 0 ? l.forward : l.backward,
                                  l.lost[side]);
        }
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    return sides;
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
    Flows flows;
    const auto sides = Build(scenario, nodes, flows);
    for (const auto& settings : scenario.flows)
    {
        const auto index = static_cast<uint32_t>(flows.size());
        flows.push_back(std::make_unique<Flow>(index, settings, scenario.trace));
        Flow* const flow = flows.back().get();
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
    for (const auto& flow : flows)
    {
        flow->Print();
    }
    for (const auto& side : sides)
    {
        side->Print(scenario.duration);
    }
    std::printf("end %.6f\n",
                static_cast<double>(after.tv_sec - before.tv_sec) +
                    1e-9 * static_cast<double>(after.tv_nsec - before.tv_nsec));
    Simulator::Destroy();
    return 0;
}
