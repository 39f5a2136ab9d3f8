/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Makes attributes of WwTcpWestwood from the settings of core/settings.h. Users of the module don't
 * need this header.
 */
#ifndef WW_SETTINGS_NS3_H
#define WW_SETTINGS_NS3_H

#include "core/catalogue.h"
#include "core/loaded.h"

#include "ns3/attribute.h"
#include "ns3/object-base.h"
#include "ns3/type-id.h"

#include <cstdint>
#include <map>
#include <string>

namespace ns3
{

/**
 * \brief A connection's member of the family, and the settings that its user has changed
 *
 * A setting that was not set, or was set to "Default", is the protocol's own.
 */
class WwSettings
{
  public:
    /// Finds the settings of an object with these attributes.
    using Of = WwSettings& (*)(const ObjectBase& object);

    /**
     * \brief Add an attribute for each setting that the family uses
     * \param tid the TypeId to add them to
     * \param of finds the settings of an object of that type
     * \return the TypeId
     */
    static TypeId AddAttributes(TypeId tid, Of of);

    /**
     * \brief Get the values that the attribute Protocol accepts
     * \return the names of WwFamily() in one text
     */
    static std::string ProtocolNames();

    /**
     * \brief Get the checker of the attribute Protocol
     * \return one that accepts the names of WwFamily()
     */
    static Ptr<const AttributeChecker> ProtocolChecker();

    /**
     * \brief Get the attributes that reproduce a configuration, whatever its protocol
     * \param config the configuration
     * \return the values by the attributes' names
     */
    static std::map<std::string, Ptr<AttributeValue>> Values(const ww_config& config);

    /**
     * \brief Get the controls that users have added
     * \return their tables by name
     */
    static std::map<std::string, const ww_control_ops*>& Controls();

    /**
     * \brief Get the core's configuration: the protocol's, ns-3's conventions, and the user's
     * settings
     * \param parameters those of a user's control as text; empty: their defaults
     * \return the configuration
     */
    ww_config Configuration(const std::string& parameters = "") const;

    /**
     * \brief Apply the user's settings to a configuration
     * \param own the configuration
     * \return the configuration with the settings applied
     */
    ww_config Over(ww_config own) const;

    std::string protocol;                  //!< a name of WwFamily()
    std::string control;                   //!< a name of Controls(), or empty
    std::map<std::string, uint32_t> given; //!< user's values by attribute, in the field's unit
};

} // namespace ns3

#endif /* WW_SETTINGS_NS3_H */
