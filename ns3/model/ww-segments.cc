/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "ww-segments.h"

#include "ns3/simulator.h"
#include "ns3/tcp-tx-item.h"

#include <algorithm>
#include <utility>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(WwSegments);

TypeId
WwSegments::GetTypeId()
{
    static TypeId tid = TypeId("ns3::WwSegments")
                            .SetParent<TcpRateLinux>()
                            .SetGroupName("Internet")
                            .AddConstructor<WwSegments>();
    return tid;
}

void
WwSegments::Follow(Ptr<const TcpSocketState> tcb, Ptr<const TcpTxBuffer> buffer)
{
    m_tcb = tcb;
    m_buffer = buffer;
}

void
WwSegments::SetListeners(Callback<void, const ww_sent&> sent, Callback<void, const ww_lost&> lost)
{
    m_onSent = sent;
    m_onLost = lost;
}

uint32_t
WwSegments::Pipe(uint32_t excluded) const
{
    const uint32_t mss = m_tcb->m_segmentSize;
    const uint32_t all = (m_buffer->BytesInFlight() + mss - 1) / mss;
    return all - std::min(all, excluded);
}

bool
WwSegments::IsLimited()
{
    return GetConnectionRate().m_appLimited != 0;
}

void
WwSegments::SkbSent(TcpTxItem* item, bool isStartOfTransmission)
{
    TcpRateLinux::SkbSent(item, isStartOfTransmission);
    const bool isNew = m_out.find(item) == m_out.end();
    Segment& segment = m_out[item];
    if (isNew)
    {
        segment.start = m_tcb->m_highTxMark.Get();
        m_order.push_back(item);
    }
    // A third transmission leaves the scoreboard's count as it is.
    const uint32_t added = segment.isOutAgain ? 0 : 1;
    m_sentInAck += added;
    if (!isNew)
    {
        FindLosses(); // while the lost transmission is known
    }
    if (isStartOfTransmission)
    {
        m_firstSent = m_deliveredAt = Simulator::Now();
    }
    ReportSent(Pipe(added));
    segment.sent = Simulator::Now();
    segment.firstSent = m_firstSent;
    segment.deliveredAt = m_deliveredAt;
    segment.delivered = m_delivered;
    segment.pipe = Pipe(0);
    segment.foundLost = m_foundLost;
    segment.isLimited = IsLimited();
    segment.isAgain = segment.isOutAgain = !isNew;
}

void
WwSegments::ReportSent(uint32_t pipe)
{
    ww_sent sent = {};
    sent.now_us = static_cast<uint64_t>(Simulator::Now().GetMicroSeconds());
    sent.mss = m_tcb->m_segmentSize;
    sent.srtt_us = SmoothedRttUs(*m_tcb);
    sent.pipe = pipe;
    sent.delivered = m_delivered;
    sent.is_app_limited = IsLimited();
    m_onSent(sent);
}

void
WwSegments::SkbDelivered(TcpTxItem* item)
{
    TcpRateLinux::SkbDelivered(item);
    const auto found = m_out.find(item);
    if (found == m_out.end())
    {
        return;
    }
    Segment& segment = found->second;
    if (!std::exchange(segment.isDelivered, true))
    {
        m_delivered++;
        m_deliveredAt = Simulator::Now();
        // Segments sent at the same time are ordered by their sequence numbers.
        if (!m_hasNewest || segment.sent > m_newest.sent ||
            (segment.sent == m_newest.sent && segment.start > m_newest.start))
        {
            m_newest = segment;
            m_hasNewest = true;
            m_firstSent = segment.sent;
        }
    }
    if (segment.start < m_buffer->HeadSequence()) // acknowledged: ns-3 deletes it now
    {
        m_order.erase(std::find(m_order.begin(), m_order.end(), item));
        m_out.erase(found);
    }
}

void
WwSegments::AckArrives()
{
    m_sentInAck = 0;
}

void
WwSegments::ReportLost(const Segment& segment)
{
    m_foundLost++;
    ww_lost lost = {};
    lost.now_us = static_cast<uint64_t>(Simulator::Now().GetMicroSeconds());
    lost.mss = m_tcb->m_segmentSize;
    lost.pipe = Pipe(m_sentInAck);
    lost.delivered = m_delivered;
    lost.prior_delivered = segment.delivered;
    lost.prior_pipe = segment.pipe;
    lost.lost_since = m_foundLost - segment.foundLost;
    lost.is_app_limited = segment.isLimited;
    lost.continues = segment.start == m_lastLost;
    m_lastLost = segment.start + lost.mss;
    m_onLost(lost);
}

void
WwSegments::FindLosses()
{
    // The scoreboard marks everything lost below some segment.
    m_lostBelow = std::max(m_lostBelow, m_buffer->HeadSequence());
    if (m_buffer->GetLost() == 0)
    {
        return;
    }
    for (const TcpTxItem* const item : m_order)
    {
        const Segment& segment = m_out.at(item);
        if (segment.start < m_lostBelow || segment.isDelivered)
        {
            continue;
        }
        if (!m_buffer->IsLost(segment.start))
        {
            break;
        }
        m_lostBelow = segment.start + m_tcb->m_segmentSize;
        ReportLost(segment);
    }
}

void
WwSegments::TimeOut()
{
    m_sentInAck = 0;
    for (const TcpTxItem* const item : m_order)
    {
        Segment& segment = m_out.at(item);
        segment.isOutAgain = false;
        m_lostBelow = segment.start + m_tcb->m_segmentSize;
        if (!segment.isDelivered)
        {
            ReportLost(segment);
        }
    }
}

void
WwSegments::Fill(ww_sample& sample)
{
    const Time now = Simulator::Now();
    if (sample.rtt_us != 0)
    {
        m_minRtt = std::min(m_minRtt, MicroSeconds(sample.rtt_us));
    }
    sample.pipe = Pipe(m_sentInAck);
    sample.newly_lost = m_foundLost - std::exchange(m_reportedLost, m_foundLost);
    sample.delivered = m_delivered;
    sample.newly_delivered = m_delivered - std::exchange(m_reportedDelivered, m_delivered);
    if (!std::exchange(m_hasNewest, false))
    {
        return;
    }
    const Time interval = std::max(m_newest.sent - m_newest.firstSent, now - m_newest.deliveredAt);
    sample.prior_delivered = m_newest.delivered;
    sample.rate_segments = m_delivered - m_newest.delivered;
    sample.is_app_limited = m_newest.isLimited;
    sample.prior_pipe = m_newest.pipe;
    sample.lost_since = m_foundLost - m_newest.foundLost;
    const auto microseconds = [](Time span) {
        return static_cast<uint32_t>(std::min<int64_t>(span.GetMicroSeconds(), UINT32_MAX));
    };
    if (!m_newest.isAgain)
    {
        sample.rate_rtt_us = microseconds(now - m_newest.sent);
        m_minRtt = std::min(m_minRtt, now - m_newest.sent);
    }
    if (interval >= m_minRtt)
    {
        sample.rate_interval_us = microseconds(interval);
    }
}

} // namespace ns3
