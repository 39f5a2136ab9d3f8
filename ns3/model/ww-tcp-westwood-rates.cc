/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Hosts the controls that have CongControl in WwTcpWestwood.
 */
#include "ww-phase.h"
#include "ww-tcp-westwood-core.h"

#include "ns3/abort.h"
#include "ns3/log.h"

#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("WwTcpWestwoodRates");

namespace
{

/// Sets the socket's windows to the core's.
void
SetWindow(Ptr<TcpSocketState> tcb, const ww_window& before, const ww_window& window)
{
    const uint32_t mss = tcb->m_segmentSize;
    tcb->m_cWnd = Bytes(window.cwnd, mss);
    tcb->m_cWndInfl = tcb->m_cWnd.Get();
    if (tcb->m_ssThresh.Get() / mss != window.ssthresh)
    {
        tcb->m_ssThresh = Bytes(window.ssthresh, mss);
    }
    if (window.pacing != before.pacing)
    {
        const DataRate rate(static_cast<uint64_t>(BitsPerSecond(window.pacing)));
        tcb->m_pacing = tcb->m_paceInitialWindow = window.pacing != 0;
        tcb->m_pacingRate = std::min(rate, tcb->m_maxPacingRate);
    }
}

} // namespace

bool
WwTcpWestwood::HasCongControl() const
{
    const unsigned needs = WW_NEEDS_RATE | WW_OWNS_RECOVERY | WW_FOLLOWS_PACKETS;
    return (ww_traits(&m_core->config) & needs) != 0;
}

bool
WwTcpWestwood::FollowsPackets() const
{
    return ww_follows_packets(&m_core->config);
}

void
WwTcpWestwood::SetSegments(Ptr<WwSegments> segments)
{
    segments->SetListeners(MakeCallback(&WwTcpWestwood::OnSent, this),
                           MakeCallback(&WwTcpWestwood::OnLost, this));
    m_core->segments = segments;
}

void
WwTcpWestwood::OnSent(const ww_sent& sent)
{
    ww_window& window = m_core->Window(m_watched);
    const ww_window before = window;
    ww_on_packet_sent(&m_core->config, &m_core->state, &window, &sent);
    SetWindow(m_watched, before, window);
}

void
WwTcpWestwood::OnLost(const ww_lost& lost)
{
    ww_window& window = m_core->Window(m_watched);
    ww_on_packet_lost(&m_core->config, &m_core->state, &window, &lost);
}

void
WwTcpWestwood::CongControl(Ptr<TcpSocketState> tcb,
                           const TcpRateOps::TcpRateConnection& rc,
                           const TcpRateOps::TcpRateSample& rs)
{
    NS_LOG_FUNCTION(this << tcb << rc << rs);
    Core& core = *m_core;
    const uint32_t mss = tcb->m_segmentSize;
    const ww_window before = core.Window(tcb);
    NS_ABORT_MSG_IF(FollowsPackets() && !core.segments,
                    "this control hears of each segment: it needs a socket of WwTcpHelper");
    ww_sample sample = SampleOf(tcb, core.arrivedIn);
    if (!sample.is_dupack && sample.phase == WW_DISORDER)
    {
        sample.phase = WW_OPEN; // the ACK ends disorder, or brings a new one
    }
    if (core.segments)
    {
        core.segments->FindLosses();
        core.segments->Fill(sample);
    }
    else
    {
        core.deliveries.Fill(tcb, rc, rs, sample);
    }
    const bool answersMark = tcb->m_congState == TcpSocketState::CA_CWR; // not a recovery
    core.arrivedIn = answersMark ? WW_OPEN : WwPhaseOf(tcb->m_congState);
    core.hasSack |= sample.is_dupack && sample.newly_delivered > 0;
    if (sample.is_dupack &&
        (sample.in_flight == 0 || (core.hasSack && sample.newly_delivered == 0)))
    {
        return; // it reports nothing new, so it is no duplicate by RFC 6675, 2
    }
    sample.is_cwnd_limited = rs.m_priorInFlight / mss >= before.cwnd;
    ww_window& window = *core.window;
    ww_on_ack(&core.config, &core.state, &window, &sample);
    Trace();
    if (std::exchange(m_entering, false))
    {
        ww_on_loss(&core.config, &core.state, &window, NowUs(), core.pipe, mss);
    }
    if (tcb->m_ecnState == TcpSocketState::ECN_ECE_RCVD && !ww_ignores_marks(&core.config))
    {
        window.cwnd = std::min(window.cwnd, before.cwnd); // RFC 3168, 6.1.2: no growth
    }
    if (std::exchange(core.isMarked, false) && answersMark && !ww_ignores_marks(&core.config))
    {
        ww_on_mark(&core.config, &core.state, &window, NowUs(), core.pipe, mss);
        m_leaving = true; // the answer is complete at once
    }
    if (std::exchange(m_leaving, false))
    {
        ww_on_recovery_exit(&core.config, &core.state, &window, NowUs(), mss);
    }
    SetWindow(tcb, before, window);
}

void
WwTcpWestwood::OnState(Ptr<TcpSocketState> tcb, TcpSocketState::TcpCongState_t state)
{
    Core& core = *m_core;
    if (state == TcpSocketState::CA_RECOVERY)
    {
        m_entering = true;
    }
    else if (state == TcpSocketState::CA_LOSS)
    {
        const uint32_t mss = tcb->m_segmentSize;
        ww_window& window = core.Window(tcb);
        ww_on_rto(&core.config, &core.state, &window, NowUs(), core.pipe, mss, false);
        tcb->m_ssThresh = Bytes(window.ssthresh, mss); // the socket then sets cwnd to one segment
        core.arrivedIn = WW_LOSS;
        core.isMarked = false;
        core.deliveries.TimedOut();
        if (core.segments)
        {
            core.segments->TimeOut();
        }
        Trace();
    }
    else if (state == TcpSocketState::CA_OPEN && m_congState == TcpSocketState::CA_RECOVERY)
    {
        tcb->m_ssThresh = tcb->m_cWnd.Get(); // the socket sets cwnd to it: avoids a jump
        m_leaving = true;
    }
    m_congState = state;
}

} // namespace ns3
