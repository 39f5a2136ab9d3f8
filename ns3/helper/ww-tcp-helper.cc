/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "ww-tcp-helper.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/string.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/ww-catalogue.h"
#include "ns3/ww-tcp-socket.h"
#include "ns3/ww-tcp-westwood.h"

#include <map>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("WwTcpHelper");

std::string
WwTcpHelper::FactoryOf(const std::string& recovery)
{
    static const std::map<std::string, std::string> factories{
        {"tahoe", "ns3::WwTcpTahoeFactory"},
        {"reno", "ns3::WwTcpRenoFactory"},
        {"newreno", "ns3::WwTcpNewRenoFactory"},
        {"sack", "ns3::WwTcpSackFactory"},
    };
    const auto found = factories.find(recovery);
    return found == factories.end() ? "" : found->second;
}

WwTcpHelper::WwTcpHelper(const std::string& protocol)
{
    const WwProtocol* const row = WwFindProtocol(protocol);
    const std::string name = row ? "ns3::" + row->ns3Class : protocol;
    TypeId tid;
    NS_ABORT_MSG_UNLESS(TypeId::LookupByNameFailSafe(name, &tid),
                        "protocol \""
                            << protocol
                            << "\": expected a name of core/catalogue.h that ns-3 has, or "
                               "the TypeId of a congestion control");
    m_congestion.SetTypeId(tid);
    if (tid == WwTcpWestwood::GetTypeId() && row)
    {
        m_congestion.Set("Protocol", StringValue(protocol));
    }
    SetRecovery(row && !FactoryOf(row->recovery).empty() ? row->recovery : "sack");
}

void
WwTcpHelper::SetRecovery(const std::string& recovery)
{
    m_factory = FactoryOf(recovery);
    NS_ABORT_MSG_IF(m_factory.empty(),
                    "recovery \"" << recovery << "\": expected tahoe, reno, newreno or sack");
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
                            "node " << (*i)->GetId()
                                    << " has no TCP: install an internet stack first");
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
    return m_factory;
}

} // namespace ns3
