/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Sets up ns-3's FqPieQueueDisc as engine/link/queue/fq_pie.hpp's FQ-PIE. Its PIE discs take the
 * rest from the defaults; they differ as ww-pie.h says. A full disc drops from its longest queue,
 * ours what arrives.
 */
#ifndef WW_FQ_PIE_H
#define WW_FQ_PIE_H

#include "ww-plan.h"

#include "ns3/core-module.h"
#include "ns3/traffic-control-module.h"

namespace ns3
{

inline void
SetUpQueueDisc(Ptr<QueueDisc> disc,
               const ww::sim::FqPie& pie,
               const ww::sim::Direction&,
               int64_t stream)
{
    disc->SetAttribute("QueueDelayReference", TimeValue(PicoSeconds(pie.target)));
    disc->SetAttribute("Tupdate", TimeValue(PicoSeconds(pie.update)));
    disc->SetAttribute("MaxBurstAllowance", TimeValue(PicoSeconds(pie.max_burst)));
    disc->SetAttribute("UseCapDropAdjustment", BooleanValue(pie.capped));
    disc->SetAttribute("UseDerandomization", BooleanValue(pie.spaced));
    disc->SetAttribute("UseEcn", BooleanValue(pie.ecn));
    disc->SetAttribute("MarkEcnThreshold", DoubleValue(pie.max_mark));
    disc->SetAttribute("Flows", UintegerValue(pie.flows));
    disc->SetAttribute("Perturbation", UintegerValue(static_cast<uint32_t>(stream)));
    DynamicCast<FqPieQueueDisc>(disc)->SetQuantum(pie.quantum_bytes);
}

} // namespace ns3

#endif /* WW_FQ_PIE_H */
