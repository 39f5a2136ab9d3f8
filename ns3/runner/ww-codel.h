/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Sets up ns-3's CoDelQueueDisc as engine/link/queue/codel.hpp's CoDel. The plan's delay includes
 * the wait in the device's queue, where a packet waits for the transmission of another
 * (ww-queue-disc.h), so the disc's target is shorter by one. ns-3 also spares a queue of fewer than
 * MinBytes, the RFC one of at most MAXPACKET.
 */
#ifndef WW_CODEL_H
#define WW_CODEL_H

#include "ww-plan.h"

#include "ns3/core-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>

namespace ns3
{

inline void
SetUpQueueDisc(Ptr<QueueDisc> disc,
               const ww::sim::CoDel& codel,
               const ww::sim::Direction& settings,
               int64_t)
{
    const double bits = 8.0 * codel.max_packet_bytes;
    const Time sending = Seconds(bits / static_cast<double>(settings.rate_bps));
    const Time target = PicoSeconds(codel.target) - sending;
    disc->SetAttribute("Target", TimeValue(std::max(target, NanoSeconds(1024))));
    disc->SetAttribute("Interval", TimeValue(PicoSeconds(codel.interval)));
    disc->SetAttribute("MinBytes", UintegerValue(codel.max_packet_bytes + 1));
    disc->SetAttribute("UseEcn", BooleanValue(codel.ecn));
}

} // namespace ns3

#endif /* WW_CODEL_H */
