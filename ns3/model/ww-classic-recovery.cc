/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "ww-classic-recovery.h"

#include "ns3/log.h"
#include "ns3/tcp-socket-state.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("WwClassicRecovery");
NS_OBJECT_ENSURE_REGISTERED(WwClassicRecovery);

TypeId
WwClassicRecovery::GetTypeId()
{
    static TypeId tid = TypeId("ns3::WwClassicRecovery")
                            .SetParent<TcpClassicRecovery>()
                            .SetGroupName("Internet")
                            .AddConstructor<WwClassicRecovery>();
    return tid;
}

std::string
WwClassicRecovery::GetName() const
{
    return "WwClassicRecovery";
}

void
WwClassicRecovery::EnterRecovery(Ptr<TcpSocketState> tcb,
                                 uint32_t dupAckCount,
                                 uint32_t unAckDataCount,
                                 uint32_t deliveredBytes)
{
    NS_LOG_FUNCTION(this << tcb << dupAckCount << unAckDataCount << deliveredBytes);
    const uint32_t before = tcb->m_cWnd.Get();
    TcpClassicRecovery::EnterRecovery(tcb, dupAckCount, unAckDataCount, deliveredBytes);
    if (tcb->m_cWnd.Get() > before)
    {
        NS_LOG_LOGIC("ssthresh " << tcb->m_ssThresh << " is above cwnd, which stays " << before);
        tcb->m_cWndInfl = tcb->m_cWndInfl.Get() - (tcb->m_cWnd.Get() - before);
        tcb->m_cWnd = before;
    }
}

Ptr<TcpRecoveryOps>
WwClassicRecovery::Fork()
{
    return CopyObject<WwClassicRecovery>(this);
}

} // namespace ns3
