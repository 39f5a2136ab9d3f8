// SPDX-License-Identifier: BSD-3-Clause
//
// Reads the links and flows of a scenario.
#pragma once

#include <string>
#include <vector>

#include "../wire/plan.hpp"
#include "quantities.hpp"
#include "section.hpp"

namespace ww::plan {

// Returns a name: letters, digits, _, - and +, not starting with a digit.
const std::string& name_of(const Item& item);

// Returns what errors call a link or a flow: its name, or its place in the list `key`.
std::string name_of_part(const Table& table, const std::string& key, std::size_t place);

sim::Spread spread_of(const Section& section, const char* key, sim::Spread fallback);

// Sets the rates, delays, queue, losses and framing of a link. Returns its queue's limit, which `set_limits` sets if
// it is relative.
Limit read_link(const Section& section, sim::Link& link);

// Sets a protocol's configuration, from the table of its name and settings; returns the protocol, or
// WW_PROTOCOL_COUNT for datagrams, which have none. A loaded control (controls.hpp) counts as `sack`.
ww_protocol read_control(const Section& section, ww_config& config);

// Sets everything but the nodes of a flow; returns its protocol.
ww_protocol read_flow(const Section& section, sim::Flow& flow);

}  // namespace ww::plan
