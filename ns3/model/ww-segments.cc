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

namespace
{

uint64_t
NowNs()
{
    return static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
}

} // namespace

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
    ReportSent(Pipe(added));
    const bool wasDelivered = segment.record.is_delivered;
    ww_delivery_on_sent(&m_delivery,
                        &segment.record,
                        NowNs(),
                        Pipe(0),
                        isStartOfTransmission,
                        !isNew);
    segment.record.is_app_limited = IsLimited();
    segment.record.is_delivered = wasDelivered;
    segment.isOutAgain = !isNew;
}

void
WwSegments::ReportSent(uint32_t pipe)
{
    ww_sent sent = {};
    sent.now_us = static_cast<uint64_t>(Simulator::Now().GetMicroSeconds());
    sent.mss = m_tcb->m_segmentSize;
    sent.srtt_us = SmoothedRttUs(*m_tcb);
    sent.pipe = pipe;
    sent.delivered = m_delivery.delivered;
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
    if (!std::exchange(segment.record.is_delivered, true))
    {
        ww_delivery_on_delivered(&m_delivery,
                                 &segment.record,
                                 segment.start.GetValue(),
                                 NowNs(),
                                 1);
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
    m_delivery.lost++;
    ww_lost lost = {};
    lost.now_us = static_cast<uint64_t>(Simulator::Now().GetMicroSeconds());
    lost.mss = m_tcb->m_segmentSize;
    lost.pipe = Pipe(m_sentInAck);
    ww_delivery_fill_lost(&m_delivery, &segment.record, &lost);
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
        if (segment.start < m_lostBelow || segment.record.is_delivered)
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
        if (!segment.record.is_delivered)
        {
            ReportLost(segment);
        }
    }
}

void
WwSegments::Fill(ww_sample& sample)
{
    if (sample.rtt_us != 0)
    {
        m_minRtt = std::min(m_minRtt, MicroSeconds(sample.rtt_us));
    }
    const ww_delivery_record& newest = m_delivery.newest;
    if (m_delivery.has_newest && !newest.is_retransmission)
    {
        m_minRtt = std::min(m_minRtt, NanoSeconds(NowNs() - newest.sent));
    }
    sample.pipe = Pipe(m_sentInAck);
    ww_delivery_fill(&m_delivery,
                     NowNs(),
                     static_cast<uint64_t>(m_minRtt.GetNanoSeconds()),
                     1000,
                     &sample);
}

} // namespace ns3
