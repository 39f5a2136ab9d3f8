/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Makes the settings of core/settings.h attributes of WwTcpWestwood. Users of the module don't need
 * this header.
 */
#ifndef WW_SETTINGS_NS3_H
#define WW_SETTINGS_NS3_H

#include "core/catalogue.h"

#include "ns3/attribute.h"
#include "ns3/object-base.h"
#include "ns3/type-id.h"

#include <cstdint>
#include <map>
#include <string>

namespace ns3
{

/**
 * \brief Which member of the family a connection is, and what its user has set otherwise
 *
 * A setting that was not set, or was set to "Default", is the protocol's own.
 */
class WwSettings
{
  public:
    /// Finds the settings of an object that has the attributes.
    using Of = WwSettings& (*)(const ObjectBase& object);

    /**
     * \brief Add an attribute for each setting that the family obeys
     * \param tid the TypeId to add them to
     * \param of finds the settings of an object of that type
     * \return the TypeId
     */
    static TypeId AddAttributes(TypeId tid, Of of);

    /**
     * \brief What the attribute Protocol takes
     * \return the names of WwFamily() in one text
     */
    static std::string ProtocolNames();

    /**
     * \brief The checker of the attribute Protocol
     * \return one that accepts the names of WwFamily()
     */
    static Ptr<const AttributeChecker> ProtocolChecker();

    /**
     * \brief The attributes that make a connection one of a configuration, whatever its protocol
     * \param config the configuration
     * \return the values by the attributes' names
     */
    static std::map<std::string, Ptr<AttributeValue>> Values(const ww_config& config);

    /**
     * \brief The core's configuration: the protocol's, ns-3's habits, and what was set
     * \return the configuration
     */
    ww_config Configuration() const;

    /**
     * \brief Put what was set over a configuration
     * \param own the configuration
     * \return the same with the settings that were set
     */
    ww_config Over(ww_config own) const;

    std::string protocol;                  //!< a name of WwFamily()
    std::map<std::string, uint32_t> given; //!< what was set, by attribute, in the field's unit
};

} // namespace ns3

#endif /* WW_SETTINGS_NS3_H */
