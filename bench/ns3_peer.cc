// SPDX-License-Identifier: BSD-3-Clause
//
// The ns-3 peer of engine_run.cpp. It runs the same case in unmodified ns-3 3.44, in its leanest
// fair form: BulkSend sends to PacketSink without queue discs, tracing and packet metadata. Prints
// a JSON object.
#include <cstdio>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include "usage.hpp"

using namespace ns3;

namespace {

// The options of engine_run.cpp, with ns-3's name of the congestion control.
struct Options {
    std::string cc = "TcpWestwoodPlus";
    bool sack = true, hystart = true;
    uint32_t flows = 1, queue = 100, payload = 360, window = 4194304, ssthresh = 65535, seed = 1;
    uint32_t delayedAck = 2, vegasAlpha = 2;
    double duration = 600, rate = 2e6, access = 10e6, delay = 1e-5, accessDelay = 0.045,
           loss = 0.005;

    void Parse(int argc, char** argv) {
        CommandLine command;
        command.AddValue("cc", "ns-3 class of the congestion control", cc);
        command.AddValue("sack", "", sack);
        command.AddValue("hystart", "of TcpCubic", hystart);
        command.AddValue("flows", "", flows);
        command.AddValue("duration", "s", duration);
        command.AddValue("rate", "bit/s", rate);
        command.AddValue("access", "bit/s", access);
        command.AddValue("delay", "s", delay);
        command.AddValue("access-delay", "s", accessDelay);
        command.AddValue("loss", "", loss);
        command.AddValue("queue", "packets", queue);
        command.AddValue("payload", "bytes", payload);
        command.AddValue("window", "bytes", window);
        command.AddValue("ssthresh", "bytes", ssthresh);
        command.AddValue("delayed-ack", "segments", delayedAck);
        command.AddValue("vegas-alpha", "of TcpVegas; beta is 2 above, gamma 1 below", vegasAlpha);
        command.AddValue("seed", "", seed);
        command.Parse(argc, argv);
    }
};

NetDeviceContainer Connect(Ptr<Node> a, Ptr<Node> b, double rate, double delay, uint32_t queue) {
    PointToPointHelper helper;
    helper.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(rate))));
    helper.SetChannelAttribute("Delay", TimeValue(Seconds(delay)));
    helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize",
                    QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, queue)));
    return helper.Install(a, b);
}

void SetDefaults(const Options& options) {
    Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                       TypeIdValue(TypeId::LookupByName("ns3::" + options.cc)));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                       TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(options.hystart));
    Config::SetDefault("ns3::TcpVegas::Alpha", UintegerValue(options.vegasAlpha));
    Config::SetDefault("ns3::TcpVegas::Beta", UintegerValue(options.vegasAlpha + 2));
    Config::SetDefault("ns3::TcpVegas::Gamma", UintegerValue(options.vegasAlpha - 1));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(options.payload));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(options.sack));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(options.window));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(options.window));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold",
                       UintegerValue(options.ssthresh));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(options.delayedAck));
    Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(1000));
}

void LoseAtReceiver(Ptr<NetDevice> device, double rate) {
    auto errors = CreateObject<RateErrorModel>();
    auto uniform = CreateObject<UniformRandomVariable>();
    uniform->SetStream(100);
    errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    errors->SetRate(rate);
    errors->SetRandomVariable(uniform);
    device->SetAttribute("ReceiveErrorModel", PointerValue(errors));
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    options.Parse(argc, argv);
    RngSeedManager::SetSeed(12345);
    RngSeedManager::SetRun(options.seed);
    SetDefaults(options);
    NodeContainer nodes(3);
    const auto accessDevices =
        Connect(nodes.Get(0), nodes.Get(1), options.access, options.accessDelay, 1000000);
    const auto bottleneck =
        Connect(nodes.Get(1), nodes.Get(2), options.rate, options.delay, options.queue);
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
    address.Assign(accessDevices);
    address.NewNetwork();
    const Ipv4Address sinkAddress = address.Assign(bottleneck).GetAddress(1);
    TrafficControlHelper control;
    control.Uninstall(accessDevices);
    control.Uninstall(bottleneck);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    if (options.loss > 0) LoseAtReceiver(bottleneck.Get(1), options.loss);
    ApplicationContainer sinks;
    for (uint32_t i = 0; i < options.flows; i++) {
        const auto port = static_cast<uint16_t>(5000 + i);
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.Add(sink.Install(nodes.Get(2)));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(sinkAddress, port));
        source.SetAttribute("SendSize", UintegerValue(options.payload));
        source.Install(nodes.Get(0)).Start(Seconds(0.001 * i));
    }
    Simulator::Stop(Seconds(options.duration));
    const double start = cpu_seconds();
    Simulator::Run();
    const double cpu = cpu_seconds() - start;
    uint64_t delivered = 0;
    for (uint32_t i = 0; i < options.flows; i++)
        delivered += DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx();
    std::printf(
        "{\"cpu_s\": %.6f, \"packets\": %.0f, \"delivered_bytes\": %llu, \"peak_kib\": %ld}\n", cpu,
        static_cast<double>(delivered) / options.payload,
        static_cast<unsigned long long>(delivered), peak_kib());
    Simulator::Destroy();
}
