/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Runs the impairments of a plan's link by the simulator's own: a channel that delays packets, and
 * a queue that a policer guards. Both draw the simulator's random numbers.
 */
#ifndef WW_IMPAIRED_H
#define WW_IMPAIRED_H

#include "engine/link/impairments.hpp"
#include "ww-plan.h"

#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <array>
#include <memory>

namespace ns3
{

/// The impairments of a direction; nullptr: it has none.
using Impaired = std::shared_ptr<ww::sim::Impairments>;

/**
 * \brief Makes a direction's impairments
 * \param settings the plan's
 * \param pipe the direction's number: twice the link's, plus one for the backward direction
 * \return the impairments, or nullptr
 */
inline Impaired
ImpairmentsOf(const ww::sim::Direction& settings, uint32_t pipe)
{
    auto made = std::make_shared<ww::sim::Impairments>(settings, pipe, RngSeedManager::GetRun());
    return made->has_any() ? made : nullptr;
}

inline ww::sim::Time
PlanTime(Time time)
{
    return time.GetNanoSeconds() * (ww::sim::kSecond / 1'000'000'000);
}

/// A channel that delays each packet by its direction's impairments.
class ImpairedChannel : public PointToPointChannel
{
  public:
    explicit ImpairedChannel(std::array<Impaired, 2> directions)
        : m_directions(std::move(directions))
    {
    }

    bool TransmitStart(Ptr<const Packet> packet,
                       Ptr<PointToPointNetDevice> from,
                       Time sending) override
    {
        const uint32_t side = from == GetSource(0) ? 0 : 1;
        Time wait = sending + GetDelay();
        if (m_directions[side])
        {
            const auto now = PlanTime(Simulator::Now());
            const auto arrival = m_directions[side]->arrival(now + PlanTime(wait));
            wait = TimeOf(arrival - now);
        }
        const Ptr<PointToPointNetDevice> to = GetDestination(side);
        Simulator::ScheduleWithContext(to->GetNode()->GetId(),
                                       wait,
                                       &PointToPointNetDevice::Receive,
                                       to,
                                       packet->Copy());
        return true;
    }

  private:
    std::array<Impaired, 2> m_directions;
};

/// A queue whose direction has a policer, which drops packets before they join it.
class PolicedQueue : public DropTailQueue<Packet>
{
  public:
    explicit PolicedQueue(Impaired impaired)
        : m_impaired(std::move(impaired))
    {
    }

    bool Enqueue(Ptr<Packet> packet) override
    {
        m_isPoliced =
            m_impaired && m_impaired->drops(PlanTime(Simulator::Now()), packet->GetSize());
        if (m_isPoliced)
        {
            DropBeforeEnqueue(packet);
            return false;
        }
        return DropTailQueue<Packet>::Enqueue(packet);
    }

    /// Returns whether the policer dropped the last packet that came.
    bool IsPoliced() const
    {
        return m_isPoliced;
    }

  private:
    Impaired m_impaired;
    bool m_isPoliced = false;
};

/// Connects two nodes by a link with impairments, as PointToPointHelper does without them.
inline NetDeviceContainer
InstallImpaired(NodeContainer ends, Time delay, const std::array<Impaired, 2>& directions)
{
    const Ptr<ImpairedChannel> channel = CreateObject<ImpairedChannel>(directions);
    channel->SetAttribute("Delay", TimeValue(delay));
    NetDeviceContainer devices;
    for (uint32_t side = 0; side < 2; side++)
    {
        const auto device = CreateObject<PointToPointNetDevice>();
        device->SetAddress(Mac48Address::Allocate());
        ends.Get(side)->AddDevice(device);
        device->SetQueue(CreateObject<PolicedQueue>(directions[side]));
        device->Attach(channel);
        devices.Add(device);
    }
    return devices;
}

} // namespace ns3

#endif /* WW_IMPAIRED_H */
