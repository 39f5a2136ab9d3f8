// SPDX-License-Identifier: BSD-3-Clause
//
// Binds quantities with a unit (plan/quantities.hpp). What is wrong with one is a ValueError, without the value.
#include "../plan/quantities.hpp"

#include "bindings.hpp"

namespace ww::bindings {
namespace {

// Any object but a number and text is a flag, which no quantity is.
plan::Value value_of_quantity(nb::handle given) {
    std::string text;
    double number = 0;
    if (nb::try_cast(given, text)) return {std::move(text)};
    const bool is_number = nb::isinstance<nb::float_>(given) || nb::isinstance<nb::int_>(given);
    if (is_number && !nb::isinstance<nb::bool_>(given) && nb::try_cast(given, number))
        return {number};
    return {false};
}

// Calls a reader of plan/ with the value.
template <class Read>
auto read(nb::handle given, Read reader) {
    const plan::Table table = {{"", value_of_quantity(given)}};
    const plan::Section section(table, "");
    try {
        return reader(section[""]);
    } catch (const plan::Problem& wrong) {
        throw std::invalid_argument(wrong.problem);
    }
}

nb::dict scales(const plan::Kind& kind) {
    nb::dict by_unit;
    for (const plan::Unit& unit : kind.units) by_unit[unit.name] = unit.scale;
    return by_unit;
}

nb::object count_of(const plan::Amount& amount) {
    return amount.count ? nb::object(nb::int_(*amount.count)) : nb::none();
}

}  // namespace

void bind_quantities(nb::module_& m) {
    nb::class_<plan::Kind>(m, "Kind", "A kind of quantity with its units.")
        .def_prop_ro("units", &scales, nb::sig("def units(self) -> dict[str, int]"),
                     "The units by name, in base units.")
        .def(
            "read",
            [](const plan::Kind& self, nb::handle value) {
                return read(value, [&](const auto& item) { return plan::read(item, self); });
            },
            "value"_a.none(), "Returns a quantity in base units.")
        .def(
            "read",
            [](const plan::Kind& self, nb::handle value, std::int64_t least, std::int64_t most) {
                return read(value,
                            [&](const auto& item) { return plan::read(item, self, least, most); });
            },
            "value"_a.none(), "least"_a, "most"_a, "The same, within bounds.")
        .def(
            "write", [](const plan::Kind& self, std::int64_t value) { return self.written(value); },
            "value"_a, "Returns a quantity as text, which reads back as the same value.");
    m.attr("RATE") = plan::kRate;
    m.attr("TIME") = plan::kTime;
    m.attr("SIZE") = plan::kSize;
    m.attr("QUEUE_LIMIT") = plan::kLimitExpected;
    m.def(
        "fraction", [](nb::handle value) { return read(value, plan::fraction); }, "value"_a.none(),
        "Reads 0.005 or \"0.5%\".");
    m.def(
        "amount",
        [](nb::handle value, bool finite) {
            const plan::Amount amount =
                read(value, [&](const auto& item) { return plan::amount(item, finite); });
            return nb::make_tuple(count_of(amount), amount.in_packets);
        },
        "value"_a.none(), "finite"_a,
        nb::sig("def amount(value: object, finite: bool) -> tuple[int | None, bool]"),
        "Reads \"100p\" or \"64KiB\": the count, and whether it is in packets. None is unlimited.");
    m.def(
        "limit",
        [](nb::handle value) {
            const plan::Limit limit = read(value, plan::limit);
            return nb::make_tuple(limit.is_relative(), count_of(limit.amount),
                                  limit.amount.in_packets);
        },
        "value"_a.none(), nb::sig("def limit(value: object) -> tuple[bool, int | None, bool]"),
        "Reads the limit of a queue: whether it depends on the link, and otherwise its amount.");
    m.def(
        "measure",
        [](const std::string& text) {
            const plan::Measure measure = plan::measure(text);
            return std::pair(std::string(measure.kind), measure.number);
        },
        "text"_a, "Reads a quantity whose kind its unit tells: plan/quantities.hpp.");
}

}  // namespace ww::bindings
