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
 * \brief Installs a TCP on nodes, beside those that are there
 *
 *     WwTcpHelper westwood("westwood");
 *     westwood.SetAttribute("Tau", TimeValue(MilliSeconds(250)));
 *     westwood.Install(nodes.Get(0));
 *     BulkSendHelper source(westwood.GetSocketFactory(), sinkAddress);
 *
 * The senders' nodes need it; a receiver may use any TCP. Unlike TcpL4Protocol's SocketType, which
 * is one for all nodes unless it is set on each, and whose attributes are one for all sockets,
 * every node may have its own settings. A node has one congestion control for each recovery.
 */
class WwTcpHelper
{
  public:
    /**
     * \brief Choose a protocol
     * \param protocol a name of the catalogue, such as "westwood+", "newreno" or "cubic", with the
     *        recovery that belongs to it; or the TypeId of a congestion control ("ns3::TcpCubic").
     *        Where none belongs to it, or one that the module does not have, it is SACK
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
     * \brief Install on nodes that have an internet stack, or change what was installed there
     * \param nodes the senders' nodes
     */
    void Install(NodeContainer nodes) const;

    /**
     * \brief The socket factory that applications of these nodes are to name
     * \return its TypeId's name
     */
    std::string GetSocketFactory() const;

    /**
     * \brief The factory of sockets that recover in a way
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
