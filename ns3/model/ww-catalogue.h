/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef WW_CATALOGUE_NS3_H
#define WW_CATALOGUE_NS3_H

#include <string>
#include <vector>

namespace ns3
{

/** \brief A congestion control as listed in core/catalogue.h. */
struct WwProtocol
{
    std::string name;     //!< its name in the project's scenarios and for the attribute Protocol
    std::string ns3Class; //!< the class that implements it, such as "TcpCubic"; empty: none does
    std::string recovery; //!< the loss recovery that belongs to it; empty: any
    bool hasCongControl;  //!< needs delivery rates, or sets cwnd in recovery itself
};

/**
 * \brief Get the catalogue
 * \return all rows in order
 */
const std::vector<WwProtocol>& WwProtocols();

/**
 * \brief Find a row of the catalogue by name
 * \param name the name
 * \return the row, or nullptr if there is none
 */
const WwProtocol* WwFindProtocol(const std::string& name);

/**
 * \brief Get the members of the family that WwTcpWestwood implements
 * \return their names, which its attribute Protocol accepts
 */
const std::vector<std::string>& WwFamily();

} // namespace ns3

#endif /* WW_CATALOGUE_NS3_H */
