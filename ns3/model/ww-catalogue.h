/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef WW_CATALOGUE_NS3_H
#define WW_CATALOGUE_NS3_H

#include <string>
#include <vector>

namespace ns3
{

/** \brief A congestion control as core/catalogue.h lists it. */
struct WwProtocol
{
    std::string name;     //!< what the project's scenarios and the attribute Protocol call it
    std::string ns3Class; //!< the class that has it in ns-3, such as "TcpCubic"; empty: none has
    std::string recovery; //!< the loss recovery that belongs to it; empty: any does
    bool hasCongControl;  //!< it needs delivery rates, or sets cwnd in recovery itself
};

/**
 * \brief The catalogue
 * \return every row, in its order
 */
const std::vector<WwProtocol>& WwProtocols();

/**
 * \brief A row of the catalogue by its name
 * \param name the name
 * \return the row, or nullptr if there is none of that name
 */
const WwProtocol* WwFindProtocol(const std::string& name);

/**
 * \brief The members of the family that WwTcpWestwood has
 * \return their names, which its attribute Protocol takes
 */
const std::vector<std::string>& WwFamily();

} // namespace ns3

#endif /* WW_CATALOGUE_NS3_H */
