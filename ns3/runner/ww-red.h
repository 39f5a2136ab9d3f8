/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Sets up ns-3's RedQueueDisc as engine/link/queue/red.hpp's RED. Its thresholds count the packets
 * of the disc, one fewer than the plan's queue has (ww-queue-disc.h). In RED as published the gaps
 * between drops are uniform; ns-3's default, "wait", makes them longer.
 */
#ifndef WW_RED_H
#define WW_RED_H

#include "ww-plan.h"

#include "ns3/core-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>

namespace ns3
{

inline void
SetUpQueueDisc(Ptr<QueueDisc> disc,
               const ww::sim::Red& red,
               const ww::sim::Direction& settings,
               int64_t stream)
{
    disc->SetAttribute("MinTh", DoubleValue(std::max(red.min_packets - 1, 0.0)));
    disc->SetAttribute("MaxTh", DoubleValue(red.max_packets - 1));
    disc->SetAttribute("LInterm", DoubleValue(1 / red.max_p));
    disc->SetAttribute("QW", DoubleValue(red.weight));
    disc->SetAttribute("MeanPktSize", UintegerValue(red.mean_packet_bytes));
    disc->SetAttribute("Gentle", BooleanValue(red.gentle));
    disc->SetAttribute("Wait", BooleanValue(false));
    disc->SetAttribute("UseEcn", BooleanValue(red.ecn));
    disc->SetAttribute("LinkBandwidth",
                       DataRateValue(DataRate(static_cast<uint64_t>(settings.rate_bps))));
    DynamicCast<RedQueueDisc>(disc)->AssignStreams(stream);
}

} // namespace ns3

#endif /* WW_RED_H */
