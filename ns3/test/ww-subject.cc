/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "ww-subject.h"

#include "../model/ww-releases.h"

#include "ns3/ww-catalogue.h"
#include "ns3/ww-classic-recovery.h"
#include "ns3/ww-tcp-helper.h"
#include "ns3/ww-tcp-westwood.h"

namespace ns3
{

WwSubject
WwSubject::Ours(const std::string& protocol)
{
    WwSubject subject;
    subject.name = "WwTcpWestwood";
    subject.congestion.SetTypeId(WwTcpWestwood::GetTypeId());
    subject.congestion.Set("Protocol", StringValue(protocol));
    subject.recovery.SetTypeId(WwClassicRecovery::GetTypeId());
    subject.newReno = WwTcpHelper("newreno").GetSocketFactory();
    return subject;
}

ObjectFactory
WwSubject::Factory(const std::string& protocol,
                   const std::vector<std::pair<std::string, std::string>>& more)
{
    ObjectFactory factory = Ours(protocol).congestion;
    for (const auto& [name, value] : more)
    {
        factory.Set(name, StringValue(value));
    }
    return factory;
}

std::string
WwSubject::Setting(const std::string& protocol, const std::string& name)
{
    StringValue value;
    Factory(protocol).Create()->GetAttribute(name, value);
    return value.Get();
}

std::vector<std::string>
WwSubject::Classics()
{
    std::vector<std::string> names;
    for (const std::string& name : WwFamily())
    {
        if (!WwFindProtocol(name)->hasCongControl)
        {
            names.push_back(name);
        }
    }
    return names;
}

std::optional<WwSubject>
WwSubject::Mainline()
{
    WwSubject subject;
    TypeId tid;
    if (TypeId::LookupByNameFailSafe("ns3::TcpWestwoodPlus", &tid))
    {
        subject.name = "TcpWestwoodPlus";
        subject.congestion.SetTypeId(tid);
    }
    else if (TypeId::LookupByNameFailSafe("ns3::TcpWestwood", &tid)) // up to 3.37
    {
        subject.name = "TcpWestwood";
        subject.congestion.SetTypeId(tid);
        subject.congestion.Set("ProtocolType", StringValue("WestwoodPlus"));
    }
    else
    {
        return std::nullopt;
    }
    subject.recovery.SetTypeId("ns3::TcpClassicRecovery");
    subject.newReno = "ns3::TcpSocketFactory";
    return subject;
}

void
WwEstimates::Connect(Ptr<TcpCongestionOps> ops)
{
    TypeId::TraceSourceInformation source;
    ops->GetInstanceTypeId().LookupTraceSourceByName("EstimatedBW", &source);
    if (source.callback == "ns3::TracedValueCallback::DataRate")
    {
        ops->TraceConnectWithoutContext("EstimatedBW", MakeCallback(&WwEstimates::Rate, this));
    }
    else
    {
        ops->TraceConnectWithoutContext("EstimatedBW", MakeCallback(&WwEstimates::Number, this));
    }
}

double
WwEstimates::Mean(Time begin) const
{
    double sum = 0;
    for (std::size_t i = 0; i < all.size(); i++)
    {
        const Time from = std::max(begin, all[i].first);
        const Time to = i + 1 < all.size() ? all[i + 1].first : Simulator::Now();
        sum += to > from ? all[i].second * (to - from).GetSeconds() : 0;
    }
    return sum / (Simulator::Now() - begin).GetSeconds();
}

void
WwEstimates::Number(double, double bw)
{
    all.emplace_back(Simulator::Now(), bw);
}

void
WwEstimates::Rate(DataRate, DataRate bw)
{
    Number(0, static_cast<double>(bw.GetBitRate()));
}

WwDriven::WwDriven(const ObjectFactory& congestion)
    : tcb(CreateObject<TcpSocketState>())
{
    ObjectFactory factory = congestion;
    ops = factory.Create<TcpCongestionOps>();
    tcb->m_segmentSize = MSS;
    tcb->m_cWnd = 100 * MSS;
    tcb->m_ssThresh = 50 * MSS;
    tcb->m_lastRtt = MilliSeconds(100);
    tcb->m_minRtt = MilliSeconds(100);
    tcb->m_lastAckedSeq = SequenceNumber32(1);
    estimates.Connect(ops);
    ops->Init(tcb);
    // No RTT exceeds the time on the clock.
    Simulator::Stop(Seconds(1));
    Simulator::Run();
}

void
WwDriven::Ack(Time after, uint32_t segments)
{
    Ack(after, segments, tcb->m_lastRtt, tcb->m_lastRtt);
}

void
WwDriven::Ack(Time after, uint32_t segments, Time rtt, Time smoothed)
{
    Simulator::Stop(after);
    Simulator::Run();
    tcb->m_lastAckedSeq += segments * MSS;
    tcb->m_highTxMark = tcb->m_lastAckedSeq + 100 * MSS;
    tcb->m_lastRtt = KeepsRttSamples<TcpSocketState>::value ? rtt : smoothed;
    ops->PktsAcked(tcb, segments, smoothed);
    ops->IncreaseWindow(tcb, segments);
}

void
WwDriven::Settle(int acks)
{
    for (int i = 0; i < acks; i++)
    {
        Ack(MilliSeconds(10));
    }
}

} // namespace ns3
