// SPDX-License-Identifier: BSD-3-Clause
//
// Binds what makes a network of a scenario (plan/). A scenario comes as Python has it: a dict with tables, lists,
// text, numbers and flags; None is the same as a missing key.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>

#include <optional>

#include "../engine/validate.hpp"
#include "../plan/completion.hpp"
#include "../plan/parts.hpp"
#include "../plan/routes.hpp"
#include "../plan/scenario.hpp"
#include "../plan/settings.hpp"
#include "../wire/write.hpp"
#include "bindings.hpp"

namespace ww::bindings {
namespace {

plan::Value value_of(nb::handle given);

plan::Table table_of(nb::handle given) {
    plan::Table table;
    table.reserve(nb::len(given));
    for (const auto& [key, value] : nb::borrow<nb::dict>(given))
        if (!value.is_none()) table.push_back({nb::cast<std::string>(key), value_of(value)});
    return table;
}

bool is_whole(nb::handle given) {
    return nb::isinstance<nb::int_>(given) && !nb::isinstance<nb::bool_>(given);
}

plan::Value list_of(nb::handle given) {
    const nb::object first = nb::len(given) > 0 ? nb::object(given[0]) : nb::none();
    if (is_whole(first)) return {nb::cast<plan::Numbers>(given)};
    plan::List list;
    for (const nb::handle element : given) list.push_back(value_of(element));
    return {std::move(list)};
}

plan::Value value_of(nb::handle given) {
    if (nb::isinstance<nb::str>(given)) return {nb::cast<std::string>(given)};
    if (nb::isinstance<nb::bool_>(given)) return {nb::cast<bool>(given)};
    if (nb::isinstance<nb::int_>(given)) return {nb::cast<std::int64_t>(given)};
    if (nb::isinstance<nb::float_>(given)) return {nb::cast<double>(given)};
    if (nb::isinstance<nb::dict>(given)) return {table_of(given)};
    if (nb::isinstance<nb::list>(given) || nb::isinstance<nb::tuple>(given)) return list_of(given);
    throw std::invalid_argument("no value of a scenario");
}

// Throws std::invalid_argument for what no scenario has: a number beyond 64 bits, a list of mixed values.
plan::Table given_table(nb::handle given) {
    try {
        return table_of(given);
    } catch (const std::bad_cast&) {
        throw std::invalid_argument("a value that no scenario has");
    }
}

nb::object object_of(const plan::Value& value);

nb::dict dict_of(const plan::Table& table) {
    nb::dict dict;
    for (const plan::Entry& entry : table) dict[entry.key.c_str()] = object_of(entry.value);
    return dict;
}

nb::object object_of(const plan::Value& value) {
    if (const auto* table = std::get_if<plan::Table>(&value.is)) return dict_of(*table);
    if (const auto* all = std::get_if<plan::List>(&value.is)) {
        nb::list list;
        for (const plan::Value& element : *all) list.append(object_of(element));
        return list;
    }
    return std::visit(
        [](const auto& plain) -> nb::object {
            using Plain = std::decay_t<decltype(plain)>;
            if constexpr (std::is_same_v<Plain, plan::Table> || std::is_same_v<Plain, plan::List>)
                return nb::none();
            else
                return nb::cast(plain);
        },
        value.is);
}

void bind_profile(nb::module_& m) {
    nb::class_<plan::Profile>(m, "Profile", "The defaults of a profile.")
        .def(
            "__init__",
            [](plan::Profile* self, const nb::dict& sections) {
                new (self) plan::Profile(given_table(sections));
            },
            "sections"_a)
        .def(
            "flow",
            [](const plan::Profile& self, const std::string& cc,
               const std::optional<std::string>& recovery) {
                return dict_of(self.flow(cc, recovery));
            },
            "cc"_a, "recovery"_a = nb::none(),
            nb::sig(
                "def flow(self, cc: str, recovery: str | None = None) -> dict[str, typing.Any]"),
            "Returns what a flow has that sets nothing but its protocol and its recovery.")
        .def(
            "cc",
            [](const plan::Profile& self, const std::string& cc, const std::string& source) {
                return dict_of(self.cc(cc, source));
            },
            "cc"_a, "source"_a = "",
            nb::sig("def cc(self, cc: str, source: str = \"\") -> dict[str, typing.Any]"),
            "Returns the profile's settings of `cc` that the protocol uses.");
}

}  // namespace

void bind_plan(nb::module_& m) {
    bind_profile(m);
#define WW_ROW(kind, setting, other, value, word) {#setting, #other, word},
    m.attr("SETTINGS_THAT_NEED") =
        nb::cast(std::vector<std::vector<std::string>>{WW_SETTINGS_THAT_NEED(WW_ROW)});
#undef WW_ROW
    m.attr("KEYS_OF_DATAGRAMS") = nb::cast(
        std::vector<std::string>(plan::kKeysOfDatagrams.begin(), plan::kKeysOfDatagrams.end()));
    nb::class_<plan::Scenario>(m, "Plan", "A network with the protocols of its flows.")
        .def_prop_ro(
            "network", [](const plan::Scenario& self) { return self.plan.network; },
            nb::rv_policy::move, "A copy, for a run.")
        .def(
            "__deepcopy__", [](nb::handle self, nb::handle) { return nb::borrow(self); },
            nb::sig("def __deepcopy__(self, memo: dict, /) -> Plan"), "Itself: it never changes.")
        .def_prop_ro(
            "problem", [](const plan::Scenario& self) { return sim::validate(self.plan.network); },
            "Why the engine would refuse the network; empty if it accepts it.")
        .def_ro("flows", &plan::Scenario::flows,
                "The names of single flows; a group gives NAME-1, NAME-2 and so on.")
        .def_ro("limits", &plan::Scenario::limits,
                "Packets of the queue limits in products or times, by the place of the link.")
        .def_ro(
            "windows", &plan::Scenario::windows,
            "Bytes of the receive windows that are not given, by the place of the flow's table.")
        .def(
            "text", [](const plan::Scenario& self) { return wire::write_plan(self.plan); },
            "The statements for a separate host (wire/plan.hpp).")
        .def(
            "passage", [](const plan::Scenario& self) { return wire::write_passage(self.plan); },
            "The statements of the links, and of the first flow's end nodes.");
    m.def(
        "plan", [](const nb::dict& scenario) { return plan::read_whole(given_table(scenario)); },
        "scenario"_a,
        "Makes a plan of a completed scenario, in the form of a scenario file. Raises ValueError "
        "with one line if a value is wrong.");
    m.def(
        "configure",
        [](const std::string& name, const nb::dict& settings) {
            plan::Table cc = given_table(settings);
            cc.push_back({"name", {name}});
            ww_config config;
            if (plan::read_control(plan::Section(cc, ""), config) == WW_PROTOCOL_COUNT)
                throw std::invalid_argument("udp has no congestion control");
            return config;
        },
        "name"_a, "settings"_a = nb::dict(),
        "The core's settings of a protocol of the catalogue, with these settings of a scenario. "
        "ValueError if it has none of this name.");
    m.def("mean_rate_bps", nb::overload_cast<std::size_t, std::uint64_t>(&plan::mean_rate_bps),
          "opportunities"_a, "last_ms"_a, "The mean rate of a trace.");
    m.def("routes", &plan::routes, "links"_a, "pairs"_a,
          "The channels between each pair of nodes, as the simulator chooses them: 2 i is link i's "
          "forward direction, 2 i + 1 its backward one. A link is the pair of its nodes.");
}

}  // namespace ww::bindings
