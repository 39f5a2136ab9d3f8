/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef WW_TCP_HELPER_H
#define WW_TCP_HELPER_H

#include "ns3/attribute.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/ww-classic-recovery.h"
#include "ns3/ww-tcp-westwood.h"

#include <string>

namespace ns3
{

/**
 * \ingroup tcp
 *
 * \brief Installs a TCP on nodes, without replacing the TCP that they have
 *
 *     WwTcpHelper westwood("westwood");
 *     westwood.SetAttribute("Tau", TimeValue(MilliSeconds(250)));
 *     westwood.Install(nodes.Get(0));
 *     BulkSendHelper source(westwood.GetSocketFactory(), sinkAddress);
 *
 * Only the senders' nodes need it; a receiver may use any TCP. Each node may have its own
 * settings. TcpL4Protocol's SocketType instead is the same for all nodes unless set on each, and
 * its attributes are the same for all sockets. A node has one congestion control for each recovery.
 */
class WwTcpHelper
{
  public:
    /**
     * \brief Choose a protocol
     * \param protocol a name of the catalogue, such as "westwood+", "newreno" or "cubic", which
     *        brings its recovery; or the TypeId of a congestion control ("ns3::TcpCubic"). SACK is
     *        used if it has no recovery, or one that the module lacks
     */
    explicit WwTcpHelper(const std::string& protocol);

    /**
     * \brief Choose how the sockets recover from losses
     * \param recovery "tahoe", "reno", "newreno" or "sack"
     */
    void SetRecovery(const std::string& recovery);

    /**
     * \brief Set an attribute of the congestion control
     * \param name its name
     * \param value its value
     */
    void SetAttribute(const std::string& name, const AttributeValue& value);

    /**
     * \brief Install on nodes that have an internet stack, or change an earlier installation
     * \param nodes the senders' nodes
     */
    void Install(NodeContainer nodes) const;

    /**
     * \brief Get the name of the socket factory for applications on these nodes
     * \return its TypeId's name
     */
    std::string GetSocketFactory() const;

    /**
     * \brief Get the factory of sockets with a recovery
     * \param recovery its name in core/recoveries.h
     * \return the name of the factory's TypeId; empty if the module has no such sockets
     */
    static std::string FactoryOf(const std::string& recovery);

  private:
    ObjectFactory m_congestion; //!< makes the congestion control
    std::string m_factory;      //!< the sockets' factory
};

} // namespace ns3

#endif /* WW_TCP_HELPER_H */
