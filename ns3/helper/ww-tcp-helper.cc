/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "ww-tcp-helper.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/string.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/ww-tcp-socket.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("WwTcpHelper");

namespace
{

bool
IsRecovery(const std::string& name)
{
    return name == "Tahoe" || name == "Reno" || name == "NewReno" || name == "Sack";
}

} // namespace

WwTcpHelper::WwTcpHelper(const std::string& protocol)
    : m_recovery(IsRecovery(protocol) ? protocol : "Sack")
{
    TypeId tid;
    if (IsRecovery(protocol))
    {
        m_congestion.SetTypeId("ns3::TcpNewReno");
    }
    else if (TypeId::LookupByNameFailSafe(protocol, &tid))
    {
        m_congestion.SetTypeId(tid);
    }
    else
    {
        m_congestion.SetTypeId("ns3::WwTcpWestwood");
        m_congestion.Set("Protocol", StringValue(protocol)); // complains about an unknown one
    }
}

void
WwTcpHelper::SetRecovery(const std::string& recovery)
{
    NS_ABORT_MSG_UNLESS(IsRecovery(recovery),
                        "recovery \"" << recovery << "\": expected Tahoe, Reno, NewReno or Sack");
    m_recovery = recovery;
}

void
WwTcpHelper::SetAttribute(const std::string& name, const AttributeValue& value)
{
    m_congestion.Set(name, value);
}

void
WwTcpHelper::Install(NodeContainer nodes) const
{
    const TypeId tid = TypeId::LookupByName(GetSocketFactory());
    for (auto i = nodes.Begin(); i != nodes.End(); ++i)
    {
        NS_LOG_FUNCTION(this << (*i)->GetId() << m_congestion << tid);
        NS_ABORT_MSG_UNLESS((*i)->GetObject<TcpL4Protocol>(),
                            "node " << (*i)->GetId() << " has no TCP: install an internet stack first");
        Ptr<WwTcpSocketFactory> factory = (*i)->GetObject<WwTcpSocketFactory>(tid);
        if (!factory)
        {
            ObjectFactory made;
            made.SetTypeId(tid);
            factory = made.Create<WwTcpSocketFactory>();
            (*i)->AggregateObject(factory);
        }
        factory->SetCongestion(m_congestion);
    }
}

std::string
WwTcpHelper::GetSocketFactory() const
{
    return "ns3::WwTcp" + m_recovery + "Factory";
}

} // namespace ns3
