/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Sets up ns-3's FqPieQueueDisc as engine/link/queue/fq_pie.hpp's FQ-PIE. Its PIE discs take the
 * rest from the defaults; they differ as ww-pie.h says. A full disc drops from its longest queue,
 * ours what arrives.
 */
#ifndef WW_FQ_PIE_H
#define WW_FQ_PIE_H

#include "ww-pie.h"

namespace ns3
{

inline void
SetUpQueueDisc(Ptr<QueueDisc> disc,
               const ww::sim::FqPie& pie,
               const ww::sim::Direction&,
               int64_t stream)
{
    SetPieAttributes(disc, pie);
    disc->SetAttribute("Flows", UintegerValue(pie.flows));
    disc->SetAttribute("Perturbation", UintegerValue(static_cast<uint32_t>(stream)));
    DynamicCast<FqPieQueueDisc>(disc)->SetQuantum(pie.quantum_bytes);
}

} // namespace ns3

#endif /* WW_FQ_PIE_H */
