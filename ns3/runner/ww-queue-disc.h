/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Runs the queue discipline of a plan's link by ns-3's own queue disc of that kind.
 *
 * RED's disc precedes the device's queue, which holds at least one packet. Together they form the
 * plan's queue, so the disc's limit, which counts its own packets only, is one packet smaller. A
 * disc of a kind that holds its packets gives one to the device when the transmitter is free, as
 * the plan's queue does, and the device's queue stays empty.
 * A header for each kind of engine/link/queue/kinds.hpp sets the disc's attributes.
 */
#ifndef WW_QUEUE_DISC_H
#define WW_QUEUE_DISC_H

#include "ww-codel.h"
#include "ww-fq-codel.h"
#include "ww-fq-pie.h"
#include "ww-pie.h"
#include "ww-plan.h"
#include "ww-red.h"

#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <string>

namespace ns3
{

/// Returns ns-3's class of a kind of queue; it is empty if there is none.
inline std::string
QueueDiscOf(ww::sim::QueueKind kind)
{
    switch (kind)
    {
#define WW_QUEUE(name, Settings, Queue, PREFIX, title, ns2, ns3, tc)                               \
    case ww::sim::QueueKind::name:                                                                 \
        return ns3;
        WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE
    case ww::sim::QueueKind::droptail:
        break;
    }
    return "";
}

/// Kinds without a class in ns-3, which the plan's check refuses.
inline void
SetUpQueueDisc(Ptr<QueueDisc>, const ww::sim::DualPi2&, const ww::sim::Direction&, int64_t)
{
}

inline void
SetUpQueueDisc(Ptr<QueueDisc>, const ww::sim::Cake&, const ww::sim::Direction&, int64_t)
{
}

/// Sets the attributes of the disc of a direction whose queue has a discipline.
inline void
SetUpQueueDisc(Ptr<QueueDisc> disc, const ww::sim::Direction& settings, int64_t stream)
{
    switch (settings.queue_kind)
    {
#define WW_QUEUE(name, ...)                                                                        \
    case ww::sim::QueueKind::name:                                                                 \
        return SetUpQueueDisc(disc, settings.name, settings, stream);
        WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE
    case ww::sim::QueueKind::droptail:
        break;
    }
}

/// Lets the disc send only while the device does not transmit.
inline void
HoldWhileSending(Ptr<PointToPointNetDevice> device, Ptr<NetDeviceQueue> gate)
{
    device->TraceConnectWithoutContext(
        "PhyTxBegin",
        Callback<void, Ptr<const Packet>>([gate](Ptr<const Packet>) { gate->Stop(); }));
    // The trace fires before the device has finished with its packet.
    const auto wake = [gate](Ptr<const Packet>) {
        Simulator::ScheduleNow([gate]() { gate->Wake(); });
    };
    device->TraceConnectWithoutContext("PhyTxEnd", Callback<void, Ptr<const Packet>>(wake));
}

/// Installs the queue disc on a device that has no queue disc yet.
inline Ptr<QueueDisc>
InstallQueueDisc(Ptr<PointToPointNetDevice> device,
                 const ww::sim::Direction& settings,
                 int64_t stream)
{
    // The device tells the disc by flow control when it may send.
    const bool isHeld = ww::sim::holds(settings.queue_kind);
    auto flowControl = CreateObject<NetDeviceQueueInterface>();
    device->AggregateObject(flowControl);
    device->GetQueue()->SetMaxSize(QueueSize("1p"));
    const Ptr<NetDeviceQueue> gate = flowControl->GetTxQueue(0);
    if (isHeld)
    {
        HoldWhileSending(device, gate);
    }
    else
    {
        gate->ConnectQueueTraces(device->GetQueue());
    }
    TrafficControlHelper helper;
    helper.SetRootQueueDisc("ns3::" + QueueDiscOf(settings.queue_kind));
    const Ptr<QueueDisc> disc = helper.Install(device).Get(0);
    const auto limit = static_cast<uint32_t>(settings.queue_packets - (isHeld ? 0 : 1));
    disc->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, limit));
    SetUpQueueDisc(disc, settings, stream);
    return disc;
}

} // namespace ns3

#endif /* WW_QUEUE_DISC_H */
