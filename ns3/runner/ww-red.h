/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Runs Random Early Detection of a plan's link by ns-3's own queue disc.
 *
 * The queue disc precedes the device's queue, which holds at least one packet. Together they form
 * the plan's queue, so the disc's limit and thresholds, which count its own packets only, are one
 * packet smaller. In RED as published (engine/link/queue/red.hpp) the gaps between drops are
 * uniform; ns-3's default, "wait", makes them longer.
 */
#ifndef WW_RED_H
#define WW_RED_H

#include "ww-plan.h"

#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>

namespace ns3
{

/// Installs the queue disc on a device that has no queue disc yet.
inline Ptr<QueueDisc>
InstallRed(Ptr<PointToPointNetDevice> device, const ww::sim::Direction& settings, int64_t stream)
{
    const ww::sim::Red& red = settings.red;
    const auto limit = static_cast<uint32_t>(settings.queue_packets - 1);
    // The disc waits while the device's queue is full; the device reports this by flow control.
    auto flowControl = CreateObject<NetDeviceQueueInterface>();
    flowControl->GetTxQueue(0)->ConnectQueueTraces(device->GetQueue());
    device->AggregateObject(flowControl);
    device->GetQueue()->SetMaxSize(QueueSize("1p"));
    TrafficControlHelper helper;
    helper.SetRootQueueDisc("ns3::RedQueueDisc",
                            "MinTh",
                            DoubleValue(std::max(red.min_packets - 1, 0.0)),
                            "MaxTh",
                            DoubleValue(red.max_packets - 1),
                            "LInterm",
                            DoubleValue(1 / red.max_p),
                            "QW",
                            DoubleValue(red.weight),
                            "MeanPktSize",
                            UintegerValue(red.mean_packet_bytes),
                            "Gentle",
                            BooleanValue(red.gentle));
    const Ptr<QueueDisc> disc = helper.Install(device).Get(0);
    disc->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, limit));
    disc->SetAttribute("Wait", BooleanValue(false));
    disc->SetAttribute("UseEcn", BooleanValue(red.ecn));
    disc->SetAttribute("LinkBandwidth",
                       DataRateValue(DataRate(static_cast<uint64_t>(settings.rate_bps))));
    DynamicCast<RedQueueDisc>(disc)->AssignStreams(stream);
    return disc;
}

} // namespace ns3

#endif /* WW_RED_H */
