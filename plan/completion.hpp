// SPDX-License-Identifier: BSD-3-Clause
//
// Completes a scenario with the values of its profile (westwood/scenario/profiles/), for every language.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../core/westwood.h"
#include "section.hpp"

namespace ww::plan {

// The keys that a flow of datagrams accepts.
extern const std::vector<std::string_view> kKeysOfDatagrams;

// The defaults of a profile by section: link, loss, flow, sack, cc, cubic and westwood.
class Profile {
  public:
    explicit Profile(Table sections) : sections_(std::move(sections)) {}

    // Returns what a flow has that sets neither: the recovery that follows from its protocol if it names none, and the
    // settings that follow from the recovery.
    Table flow(const std::string& cc, const std::optional<std::string>& recovery) const;

    // Returns the settings of `cc` that the protocol uses. source: identifies a loaded control (controls.hpp).
    Table cc(const std::string& cc, const std::string& source = "") const;

    // Adds what a scenario does not set. Throws Problem for what has no effect on datagrams; what else is wrong stays
    // as it is, for read_scenario to refuse.
    void complete(Table& scenario) const;

  private:
    const Table& section(std::string_view name) const;
    // Returns the settings of the protocol that a loaded control is like, where the control has parameters of these
    // names, as the numbers of their fields.
    Table parameters(const ww_control_ops& control) const;
    void complete_link(Table& link) const;
    void complete_flow(Table& flow, const std::string& name) const;

    Table sections_;
};

}  // namespace ww::plan
