/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "ww-tcp-socket.h"

#include "ww-classic-recovery.h"
#include "ww-segments.h"
#include "ww-tcp-westwood.h"

#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/object-factory.h"
#include "ns3/rtt-estimator.h"
#include "ns3/simulator.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-tx-buffer.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("WwTcpSocket");
NS_OBJECT_ENSURE_REGISTERED(WwTcpSocket);
NS_OBJECT_ENSURE_REGISTERED(WwTcpSocketFactory);
NS_OBJECT_ENSURE_REGISTERED(WwTcpTahoeFactory);
NS_OBJECT_ENSURE_REGISTERED(WwTcpRenoFactory);
NS_OBJECT_ENSURE_REGISTERED(WwTcpNewRenoFactory);
NS_OBJECT_ENSURE_REGISTERED(WwTcpSackFactory);

TypeId
WwTcpSocket::GetTypeId()
{
    static TypeId tid = TypeId("ns3::WwTcpSocket")
                            .SetParent<TcpSocketBase>()
                            .SetGroupName("Internet")
                            .AddConstructor<WwTcpSocket>();
    return tid;
}

WwTcpSocket::WwTcpSocket()
    : m_recovery(NEWRENO),
      m_goneBack(0)
{
}

WwTcpSocket::WwTcpSocket(const WwTcpSocket& sock)
    : WwNamed(sock),
      m_recovery(sock.m_recovery),
      m_goneBack(sock.m_goneBack)
{
    FollowSegments();
}

void
WwTcpSocket::SetRecovery(Recovery recovery)
{
    NS_LOG_FUNCTION(this << recovery);
    m_recovery = recovery;
    m_sackEnabled = recovery == SACK;
}

void
WwTcpSocket::FollowSegments()
{
    const auto control = DynamicCast<WwTcpWestwood>(m_congestionControl);
    if (control && control->FollowsPackets())
    {
        m_segments = CreateObject<WwSegments>();
        m_segments->Follow(m_tcb, m_txBuffer);
        m_rateOps = m_segments;
        control->SetSegments(m_segments);
    }
}

Ptr<TcpSocketBase>
WwTcpSocket::Fork()
{
    return CopyObject<WwTcpSocket>(this);
}

void
WwTcpSocket::ReceivedAck(Ptr<Packet> packet, const TcpHeader& tcpHeader)
{
    NS_LOG_FUNCTION(this << packet << tcpHeader);
    if (m_segments)
    {
        m_segments->AckArrives();
    }
    const SequenceNumber32 ack = tcpHeader.GetAckNumber();
    const SequenceNumber32 head = m_txBuffer->HeadSequence();
    const auto state = m_tcb->m_congState.Get();
    const bool isNew = ack > head;
    const bool isDuplicate = ack == head && ack < m_tcb->m_highTxMark && packet->GetSize() == 0;
    // Only an ACK beyond everything sent by then starts a recovery (RFC 6582, 3.2, step 2). ACKs
    // for exactly that answer needless retransmissions of the last go-back, and would repeat it for
    // ever.
    const bool mayRecover = ack > m_goneBack;
    if (m_recovery == TAHOE && isDuplicate && state == TcpSocketState::CA_DISORDER &&
        m_dupAckCount + 1 == m_retxThresh && mayRecover)
    {
        GoBack();
        return;
    }
    if (m_recovery == RENO && isNew && state == TcpSocketState::CA_RECOVERY && ack < m_recover)
    {
        NS_LOG_LOGIC("ACK " << ack << " for new data ends Reno's recovery");
        m_recover = ack; // Reno does not know partial ACKs
    }
    if (isDuplicate && !mayRecover && state <= TcpSocketState::CA_DISORDER)
    {
        m_recover = std::max(m_recover, ack + 1); // mainline would also recover at equality
        m_recoverActive = true;
    }
    const bool ends = state == TcpSocketState::CA_DISORDER ||
                      (state == TcpSocketState::CA_RECOVERY && ack >= m_recover);
    if (isNew && ends && !m_sackEnabled)
    {
        m_txBuffer->ResetRenoSack();
    }
    TcpSocketBase::ReceivedAck(packet, tcpHeader);
}

void
WwTcpSocket::ReTxTimeout()
{
    m_goneBack = m_tcb->m_highTxMark;
    TcpSocketBase::ReTxTimeout();
}

void
WwTcpSocket::GoBack()
{
    NS_LOG_FUNCTION(this);
    const Time rto = m_rto;
    const uint32_t retries = m_dataRetrCount;
    ReTxTimeout();
    m_rto = rto; // the timer did not expire, so no back-off
    m_dataRetrCount = retries;
    m_retxEvent.Cancel();
    m_retxEvent = Simulator::Schedule(m_rto, &WwTcpSocket::ReTxTimeout, this);
}

TypeId
WwTcpSocketFactory::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::WwTcpSocketFactory").SetParent<SocketFactory>().SetGroupName("Internet");
    return tid;
}

void
WwTcpSocketFactory::SetCongestion(const ObjectFactory& congestion)
{
    NS_LOG_FUNCTION(this << congestion);
    m_congestion = congestion;
    m_hasCongestion = true;
}

Ptr<Socket>
WwTcpSocketFactory::CreateSocket()
{
    Ptr<Node> node = GetObject<Node>();
    Ptr<TcpL4Protocol> tcp = node->GetObject<TcpL4Protocol>();
    ObjectFactory factory = m_congestion;
    if (!m_hasCongestion)
    {
        TypeIdValue congestion;
        tcp->GetAttribute("SocketType", congestion);
        factory.SetTypeId(congestion.Get());
    }
    Ptr<WwTcpSocket> socket = CreateObject<WwTcpSocket>();
    socket->SetNode(node);
    socket->SetTcp(tcp);
    socket->SetRtt(CreateObject<RttMeanDeviation>());
    socket->SetCongestionControlAlgorithm(factory.Create<TcpCongestionOps>());
    socket->FollowSegments();
    socket->SetRecoveryAlgorithm(CreateObject<WwClassicRecovery>());
    socket->SetRecovery(Kind());
    tcp->AddSocket(socket);
    return socket;
}

template <WwTcpSocket::Recovery R>
TypeId
WwTcpRecoveryFactory<R>::GetTypeId()
{
    static const char* const NAMES[] = {"Tahoe", "Reno", "NewReno", "Sack"}; // as in Recovery
    static TypeId tid = TypeId("ns3::WwTcp" + std::string(NAMES[R]) + "Factory")
                            .template SetParent<WwTcpSocketFactory>()
                            .SetGroupName("Internet")
                            .template AddConstructor<WwTcpRecoveryFactory<R>>();
    return tid;
}

template class WwTcpRecoveryFactory<WwTcpSocket::TAHOE>;
template class WwTcpRecoveryFactory<WwTcpSocket::RENO>;
template class WwTcpRecoveryFactory<WwTcpSocket::NEWRENO>;
template class WwTcpRecoveryFactory<WwTcpSocket::SACK>;

} // namespace ns3
