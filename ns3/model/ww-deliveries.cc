/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "ww-deliveries.h"

#include "core/delivery.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

void
WwDeliveries::PipeChanged(uint32_t before, uint32_t now)
{
    const uint32_t sent = now > before ? now - before : 0; // only sending increases it
    Account();
    m_sent += sent;
    m_all += sent;
}

void
WwDeliveries::HighestChanged(SequenceNumber32 before, SequenceNumber32 now)
{
    Account();
    m_new += static_cast<uint32_t>(now - before);
}

void
WwDeliveries::MaySendAgain()
{
    m_again.insert(Simulator::Now());
}

void
WwDeliveries::Account()
{
    if (Simulator::Now() == m_accountOf)
    {
        return;
    }
    if (m_all > m_new)
    {
        m_again.insert(m_accountOf);
    }
    m_accountOf = Simulator::Now();
    m_all = m_new = 0;
}

Time
WwDeliveries::NewestSent(Time first, uint32_t rttUs)
{
    const Time sent = rttUs == 0 ? first : std::max(first, Simulator::Now() - MicroSeconds(rttUs));
    m_newest[first] = sent;
    return sent;
}

Time
WwDeliveries::BeganAt(Time first)
{
    m_newest.erase(m_newest.begin(), m_newest.lower_bound(first));
    const auto found = m_newest.find(first);
    return found == m_newest.end() ? first : found->second;
}

bool
WwDeliveries::WasSentAgain(Time when)
{
    Account();
    m_again.erase(m_again.begin(), m_again.lower_bound(when));
    return m_again.count(when) != 0;
}

void
WwDeliveries::TimedOut()
{
    m_base = m_sent = 0;
}

void
WwDeliveries::Fill(Ptr<const TcpSocketState> tcb,
                   const TcpRateOps::TcpRateConnection& rc,
                   const TcpRateOps::TcpRateSample& rs,
                   ww_sample& sample)
{
    const uint32_t mss = tcb->m_segmentSize;
    const auto segments = [mss](uint64_t bytes) {
        return static_cast<uint32_t>((bytes + mss - 1) / mss);
    };
    // The pipe at the ACK's arrival includes everything sent before, so the rest was sent since.
    const uint32_t before = rs.m_priorInFlight;
    const uint32_t sent = m_sent - std::min(m_sent, before - std::min(before, m_base));
    const uint32_t after = tcb->m_bytesInFlight.Get();
    const uint32_t pipe = after - std::min(after, sent);
    const uint32_t left = before - std::min(before, pipe);
    m_base = after;
    m_sent = 0;
    sample.pipe = segments(pipe);
    sample.newly_lost = segments(left - std::min(left, rs.m_ackedSacked));
    sample.delivered = segments(rc.m_delivered);
    sample.newly_delivered = sample.delivered - m_delivered;
    m_delivered = sample.delivered;
    m_minRtt = std::min(m_minRtt, tcb->m_minRtt);
    if (sample.rtt_us != 0)
    {
        m_minRtt = std::min(m_minRtt, MicroSeconds(sample.rtt_us));
    }
    if (sample.newly_delivered == 0)
    {
        return;
    }
    if (rs.m_priorDelivered == 0 || rs.m_priorDelivered != m_prior)
    {
        m_prior = rs.m_priorDelivered;
        m_priorAt = Simulator::Now() - rs.m_ackElapsed;
    }
    else if (rc.m_txItemDelivered != m_prior)
    {
        return; // the ACK only covers segments sent before earlier deliveries
    }
    const Time newest = NewestSent(rc.m_firstSentTime, sample.rtt_us);
    const Time began = BeganAt(rc.m_firstSentTime - rs.m_sendElapsed);
    ww_delivery_record record = {};
    record.sent = static_cast<uint64_t>(newest.GetNanoSeconds());
    record.first_sent = static_cast<uint64_t>(began.GetNanoSeconds());
    record.delivered_at = static_cast<uint64_t>(m_priorAt.GetNanoSeconds());
    const auto interval =
        ww_delivery_interval(&record,
                             static_cast<uint64_t>(Simulator::Now().GetNanoSeconds()),
                             static_cast<uint64_t>(m_minRtt.GetNanoSeconds()));
    sample.rate_interval_us = ww_delivery_us(interval, 1000);
    sample.rate_segments = segments(static_cast<uint32_t>(rc.m_delivered) - m_prior);
    sample.prior_delivered = sample.delivered - sample.rate_segments;
    sample.is_app_limited = rs.m_isAppLimited;
    if (!WasSentAgain(rc.m_firstSentTime))
    {
        sample.rate_rtt_us = static_cast<uint32_t>((Simulator::Now() - newest).GetMicroSeconds());
    }
}

} // namespace ns3
