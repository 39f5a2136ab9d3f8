/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Runs a plan (wire/plan.hpp) in ns-3 for `westwood run FILE --engine ns3`. It reads the plan from
 * standard input and prints a report (wire/report.hpp). The trace has a row of windows for each
 * change of a connection's state, a row of queues.csv for each packet that waited, and a row of
 * drops.csv for each packet that was dropped or lost.
 *
 * `ww-ns3-runner replay CONTROL...` repeats the calls of a recording instead: ww-replay.h.
 *
 * Exit code: 0, or 2 if the plan is invalid or asks for something that this runner lacks, or if a
 * user's control fails.
 */
#include "ww-control.h"
#include "ww-direction.h"
#include "ww-replay.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/ww-classic-recovery.h"

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <csignal>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

using namespace ns3;
using ww::sim::QueueKind;

namespace
{

constexpr uint32_t FRAMING = 2;           // bytes of PPP, which ns-3's point-to-point devices add
constexpr uint32_t HEADERS = 40;          // bytes of IPv4 and TCP without options
constexpr uint32_t ENDLESS = 1u << 31;    // packets in a queue without a limit
constexpr double SPARED = 2;              // packets below which RedQueueDisc never drops
constexpr std::size_t MOST_FLOWS = 60000; // each needs a port

void
Expect(bool isSo, const std::string& part, std::size_t index, const std::string& expected)
{
    if (!isSo)
    {
        throw ww::wire::PlanError(part + " " + std::to_string(index) + ": ns-3 expects " +
                                  expected);
    }
}

void
CheckDirection(const ww::sim::Direction& d, std::size_t link)
{
    const auto expect = [&](bool isSo, const char* expected) {
        Expect(isSo, "link", link, expected);
    };
    expect(d.queue_bytes == ww::sim::kUnlimited, "a queue with a limit in packets");
    const QueueKind kind = d.queue_kind;
    const bool isDropTail = kind == QueueKind::droptail;
    expect(isDropTail || !QueueDiscOf(kind).empty(), "a queue discipline that it has");
    expect(isDropTail || (d.queue_packets >= 2 && d.queue_packets <= ENDLESS),
           "a limit of at least 2 packets where a queue is not drop-tail");
    expect(kind != QueueKind::red || d.red.spared_packets == SPARED,
           "RED that spares 2 packets, as ns-3's does");
    expect(ww::sim::kLossCounts[d.loss.index()], "a loss that only counts packets");
    expect(d.opportunities_ms.empty(), "no recorded rates");
    expect(!d.ack_filter, "no ACK filter");
    expect(!d.policer || isDropTail, "a drop-tail queue behind a policer");
}

/// Throws PlanError if the plan asks for something that ns-3 or this runner lacks.
void
Check(const ww::wire::Plan& plan)
{
    const ww::sim::Network& network = plan.network;
    for (std::size_t i = 0; i < network.links.size(); i++)
    {
        const ww::sim::Link& l = network.links[i];
        Expect(l.overhead_bytes == FRAMING, "link", i, "an overhead of 2 bytes, as of its devices");
        Expect(l.forward.delay == l.backward.delay, "link", i, "one delay for both directions");
        CheckDirection(l.forward, i);
        CheckDirection(l.backward, i);
    }
    Expect(network.flows.size() <= MOST_FLOWS,
           "flow",
           MOST_FLOWS,
           "at most as many flows as ports");
    for (std::size_t i = 0; i < network.flows.size(); i++)
    {
        const ww::sim::Flow& f = network.flows[i];
        const auto expect = [&](bool isSo, const char* expected) {
            Expect(isSo, "flow", i, expected);
        };
        expect(!f.datagrams.on && f.arrivals_mean == 0, "one TCP connection");
        expect(!plan.controls[i].empty() || !WwProtocols().at(plan.protocols[i]).ns3Class.empty(),
               "a protocol that ns-3 has");
        expect(f.recovery == ww::sim::Recovery::prr || !FactoryOf(f.recovery).empty(),
               "recovery tahoe, reno, newreno, sack or prr");
        expect(f.header_bytes == (f.timestamps ? ww::sim::kStampedHeader : HEADERS),
               "40 bytes of headers, 52 with timestamps");
    }
}

/// Sets the attributes of one end of a link.
void
SetUp(Ptr<NetDevice> device, const ww::sim::Direction& settings)
{
    const auto rate = static_cast<uint64_t>(settings.rate_bps);
    const int64_t limit = std::min<int64_t>(settings.queue_packets, ENDLESS);
    const QueueSize size(QueueSizeUnit::PACKETS, static_cast<uint32_t>(limit));
    const auto sender = DynamicCast<PointToPointNetDevice>(device);
    sender->SetDataRate(DataRate(rate));
    sender->GetQueue()->SetAttribute("MaxSize", QueueSizeValue(size));
}

std::vector<std::unique_ptr<Direction>>
Build(const ww::sim::Network& network,
      NodeContainer nodes,
      const Connections& connections,
      ww::wire::Trace& trace)
{
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
    std::vector<std::unique_ptr<Direction>> directions;
    for (const ww::sim::Link& l : network.links)
    {
        PointToPointHelper helper;
        helper.SetChannelAttribute("Delay", TimeValue(TimeOf(l.forward.delay)));
        // Without RED the device's queue is the only one. There is no queue disc above it, and no
        // flow control, whose layer would drop packets beyond the queue's limit without counting.
        helper.DisableFlowControl();
        const auto pipe = static_cast<uint32_t>(directions.size());
        const std::array impaired{ImpairmentsOf(l.forward, pipe),
                                  ImpairmentsOf(l.backward, pipe + 1)};
        const NodeContainer ends(nodes.Get(l.a), nodes.Get(l.b));
        const NetDeviceContainer devices =
            impaired[0] || impaired[1] ? InstallImpaired(ends, TimeOf(l.forward.delay), impaired)
                                       : helper.Install(ends);
        for (uint32_t side = 0; side < 2; side++)
        {
            const ww::sim::Direction& settings = side == 0 ? l.forward : l.backward;
            const uint32_t sink = side == 0 ? l.b : l.a;
            SetUp(devices.Get(side), settings);
            directions.push_back(
                std::make_unique<Direction>(pipe + side, settings, sink, connections, trace));
            directions.back()->Install(devices.Get(side), devices.Get(1 - side));
        }
        address.Assign(devices);
        address.NewNetwork();
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    return directions;
}

void
SetDefaults(uint64_t seed)
{
    RngSeedManager::SetSeed(12345);
    RngSeedManager::SetRun(seed);
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
}

/// Makes the connections. Their settings, applications and traces follow each other at intervals
/// of a nanosecond.
void
Install(const ww::wire::Plan& plan,
        NodeContainer nodes,
        Connections& connections,
        ww::wire::Trace& trace)
{
    for (std::size_t i = 0; i < plan.network.flows.size(); i++)
    {
        const ww::sim::Flow& settings = plan.network.flows[i];
        WwProtocol protocol = WwProtocols().at(plan.protocols[i]);
        if (!plan.controls[i].empty())
        {
            protocol.ns3Class = "WwTcpWestwood";
        }
        connections.push_back(std::make_unique<Connection>(static_cast<uint32_t>(i),
                                                           settings,
                                                           protocol,
                                                           plan.controls[i],
                                                           trace));
        Connection* const connection = connections.back().get();
        const Ipv4Address sink =
            nodes.Get(settings.to)->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
        connection->Install(nodes, sink, TimeOf(plan.network.duration));
        Simulator::Schedule(connection->Start(), &Connection::Prepare, connection);
        Simulator::Schedule(connection->Start() + NanoSeconds(2), &Connection::Hook, connection);
    }
}

/// Runs the simulation, and returns the CPU time in seconds.
double
RunUntil(Time end)
{
    Simulator::Stop(end);
    timespec before{};
    timespec after{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    Simulator::Run();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    return static_cast<double>(after.tv_sec - before.tv_sec) +
           1e-9 * static_cast<double>(after.tv_nsec - before.tv_nsec);
}

void
Run(const ww::wire::Plan& plan)
{
    Check(plan);
    ww::wire::Trace trace(plan.trace);
    SetDefaults(plan.seed);
    NodeContainer nodes(plan.network.nodes);
    Connections connections;
    const auto directions = Build(plan.network, nodes, connections, trace);
    Install(plan, nodes, connections, trace);
    const double cpuSeconds = RunUntil(TimeOf(plan.network.duration));
    for (const auto& connection : connections)
    {
        ww::wire::print(stdout, connection->Result());
    }
    for (std::size_t i = 0; i < directions.size(); i++)
    {
        ww::wire::print(stdout,
                        directions[i]->Result(SecondsOf(plan.network.duration)),
                        i % 2 == 0);
    }
    ww::wire::print_end(stdout, cpuSeconds);
    Simulator::Destroy();
}

} // namespace

int
main(int count, char** words)
{
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL); // ends with its parent process
#endif
    try
    {
        if (count > 2 && std::string(words[1]) == "replay")
        {
            Replay(count - 2, words + 2);
            return 0;
        }
        ww::wire::Plan plan = ww::wire::read_plan(std::cin);
        LoadControls(plan);
        Run(plan);
    }
    catch (const ww::wire::PlanError& error)
    {
        std::cerr << "ww-ns3-runner: " << error.what() << "\n";
        return 2;
    }
    return 0;
}
