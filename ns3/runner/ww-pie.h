/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Sets up ns-3's PieQueueDisc as engine/link/queue/pie.hpp's PIE. ns-3 spares a queue of at most
 * two packets, whatever their size, and grants a burst again only after 1.5 s without drops.
 */
#ifndef WW_PIE_H
#define WW_PIE_H

#include "ww-plan.h"

#include "ns3/core-module.h"
#include "ns3/traffic-control-module.h"

namespace ns3
{

/// Sets what PieQueueDisc and FqPieQueueDisc have in common.
template <class Settings>
void
SetPieAttributes(Ptr<QueueDisc> disc, const Settings& pie)
{
    disc->SetAttribute("QueueDelayReference", TimeValue(PicoSeconds(pie.target)));
    disc->SetAttribute("Tupdate", TimeValue(PicoSeconds(pie.update)));
    disc->SetAttribute("MaxBurstAllowance", TimeValue(PicoSeconds(pie.max_burst)));
    disc->SetAttribute("UseCapDropAdjustment", BooleanValue(pie.capped));
    disc->SetAttribute("UseDerandomization", BooleanValue(pie.spaced));
    disc->SetAttribute("UseEcn", BooleanValue(pie.ecn));
    disc->SetAttribute("MarkEcnThreshold", DoubleValue(pie.max_mark));
}

inline void
SetUpQueueDisc(Ptr<QueueDisc> disc,
               const ww::sim::Pie& pie,
               const ww::sim::Direction&,
               int64_t stream)
{
    SetPieAttributes(disc, pie);
    DynamicCast<PieQueueDisc>(disc)->AssignStreams(stream);
}

} // namespace ns3

#endif /* WW_PIE_H */
