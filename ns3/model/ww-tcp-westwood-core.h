/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Holds WwTcpWestwood's part of the core. Users of the module don't need this header.
 */
#ifndef WW_TCP_WESTWOOD_CORE_H
#define WW_TCP_WESTWOOD_CORE_H

#include "core/westwood.h"
#include "ww-deliveries.h"
#include "ww-segments.h"
#include "ww-settings.h"
#include "ww-tcp-westwood.h"

#include "ns3/simulator.h"
#include "ns3/tcp-socket-state.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace ns3
{

inline double
BitsPerSecond(uint64_t bandwidth)
{
    return static_cast<double>(bandwidth) * 8.0 / static_cast<double>(1u << WW_BW_FRACTION);
}

inline uint64_t
NowUs()
{
    return static_cast<uint64_t>(Simulator::Now().GetMicroSeconds());
}

inline uint32_t
Bytes(uint32_t segments, uint32_t mss)
{
    return static_cast<uint32_t>(std::min<uint64_t>(uint64_t{segments} * mss, UINT32_MAX));
}

/// Converts the socket's windows in bytes into the core's in segments.
inline ww_window
WindowOf(Ptr<const TcpSocketState> tcb)
{
    const uint32_t mss = tcb->m_segmentSize;
    ww_window window;
    window.cwnd = std::min(std::max(tcb->m_cWnd.Get() / mss, 1u), WW_CWND_MAX);
    window.ssthresh = std::min(tcb->m_ssThresh.Get() / mss, WW_SSTHRESH_INFINITE);
    window.pacing = 0;
    return window;
}

/// Sets the socket's slow start threshold; 0 segments leave it.
inline void
SetSsThresh(Ptr<TcpSocketState> tcb, uint32_t segments)
{
    if (segments != 0)
    {
        tcb->m_ssThresh = Bytes(segments, tcb->m_segmentSize);
    }
}

struct WwTcpWestwood::Core
{
    WwSettings settings;
    ww_config config{};
    ww_state state{};
    // The rest is for controls that have CongControl.
    std::optional<ww_window> window; // the core's, which the socket's cwnd follows
    uint32_t pipe = 1;               // segments in flight at the last GetSsThresh
    bool isMarked = false;           // that was for a mark, or for a timeout that follows
    WwDeliveries deliveries;
    Ptr<WwSegments> segments;     // in place of deliveries, if the control follows packets
    ww_phase arrivedIn = WW_OPEN; // the phase in which the ACK being processed arrived
    bool hasSack = false;         // an ACK reported segments beyond its own number

    ww_window& Window(Ptr<const TcpSocketState> tcb)
    {
        if (!window)
        {
            window = WindowOf(tcb);
        }
        return *window;
    }
};

} // namespace ns3

#endif /* WW_TCP_WESTWOOD_CORE_H */
