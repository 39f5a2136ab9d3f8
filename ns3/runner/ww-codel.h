/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Sets up ns-3's CoDelQueueDisc as engine/link/queue/codel.hpp's CoDel. ns-3 spares a queue of
 * fewer than MinBytes, the RFC one of at most MAXPACKET.
 */
#ifndef WW_CODEL_H
#define WW_CODEL_H

#include "ww-plan.h"

#include "ns3/core-module.h"
#include "ns3/traffic-control-module.h"

namespace ns3
{

inline void
SetUpQueueDisc(Ptr<QueueDisc> disc, const ww::sim::CoDel& codel, const ww::sim::Direction&, int64_t)
{
    disc->SetAttribute("Target", TimeValue(PicoSeconds(codel.target)));
    disc->SetAttribute("Interval", TimeValue(PicoSeconds(codel.interval)));
    disc->SetAttribute("MinBytes", UintegerValue(codel.max_packet_bytes + 1));
    disc->SetAttribute("UseEcn", BooleanValue(codel.ecn));
    disc->SetAttribute("CeThreshold", TimeValue(PicoSeconds(codel.ce_threshold)));
}

} // namespace ns3

#endif /* WW_CODEL_H */
