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
WwClassicRecovery::Entered(Ptr<TcpSocketState> tcb, uint32_t cwndBefore)
{
    NS_LOG_FUNCTION(this << tcb << cwndBefore);
    if (tcb->m_cWnd.Get() > cwndBefore)
    {
        NS_LOG_LOGIC("ssthresh " << tcb->m_ssThresh << " is above cwnd, which stays "
                                 << cwndBefore);
        tcb->m_cWndInfl = tcb->m_cWndInfl.Get() - (tcb->m_cWnd.Get() - cwndBefore);
        tcb->m_cWnd = cwndBefore;
    }
}

Ptr<TcpRecoveryOps>
WwClassicRecovery::Fork()
{
    return CopyObject<WwClassicRecovery>(this);
}

} // namespace ns3
