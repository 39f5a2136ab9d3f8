/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Sets up ns-3's FqCoDelQueueDisc as engine/link/queue/fq_codel.hpp's FQ-CoDel. Its CoDel discs
 * take MinBytes from the default; a disc of CoDel alone sets its own (ww-codel.h).
 */
#ifndef WW_FQ_CODEL_H
#define WW_FQ_CODEL_H

#include "ww-plan.h"

#include "ns3/core-module.h"
#include "ns3/traffic-control-module.h"

#include <string>

namespace ns3
{

inline void
SetUpQueueDisc(Ptr<QueueDisc> disc,
               const ww::sim::FqCoDel& codel,
               const ww::sim::Direction&,
               int64_t stream)
{
    const auto text = [](ww::sim::Time time) { return std::to_string(time / 1000) + "ns"; };
    disc->SetAttribute("Target", StringValue(text(codel.target)));
    disc->SetAttribute("Interval", StringValue(text(codel.interval)));
    disc->SetAttribute("Flows", UintegerValue(codel.flows));
    disc->SetAttribute("DropBatchSize", UintegerValue(codel.drop_batch));
    disc->SetAttribute("Perturbation", UintegerValue(static_cast<uint32_t>(stream)));
    disc->SetAttribute("UseEcn", BooleanValue(codel.ecn));
    disc->SetAttribute("CeThreshold", TimeValue(PicoSeconds(codel.ce_threshold)));
    DynamicCast<FqCoDelQueueDisc>(disc)->SetQuantum(codel.quantum_bytes);
    Config::SetDefault("ns3::CoDelQueueDisc::MinBytes", UintegerValue(codel.max_packet_bytes + 1));
}

} // namespace ns3

#endif /* WW_FQ_CODEL_H */
