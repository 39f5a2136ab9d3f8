// SPDX-License-Identifier: BSD-3-Clause
//
// Shared by the files of this folder: how names, limits and tables of the engine appear in Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "../engine/network.hpp"

#define WW_TEXT(name) WW_QUOTED(name)  // quotes a name made by a macro
#define WW_QUOTED(name) #name
#define WW_NAME_OF(id) #id,  // an entry of an array of names

namespace ww::bindings {

namespace nb = nanobind;
using namespace nb::literals;

// The congestion controls' names, in the order of enum ww_algorithm.
inline constexpr std::array kAlgorithms = {
#define WW_ROW(ID, name) #name,
    WW_ALGORITHMS(WW_ROW)
#undef WW_ROW
};

template <std::size_t N>
std::size_t position(const std::array<const char*, N>& names, const std::string& name) {
    for (std::size_t i = 0; i < N; i++)
        if (name == names[i]) return i;
    throw std::invalid_argument("unknown name '" + name + "'");
}

// Binds an attribute of T that is an enumerator in C and its name in Python.
template <class T, class Field, std::size_t N>
void named(nb::class_<T>& type, const char* name, Field T::*field,
           const std::array<const char*, N>& names) {
    type.def_prop_rw(
        name,
        [field, &names](const T& self) {
            return std::string(names[static_cast<std::size_t>(self.*field)]);
        },
        [field, &names](T& self, const std::string& value) {
            self.*field = static_cast<Field>(position(names, value));
        });
}

// Binds an attribute whose "no limit" value is -1 in Python.
template <class T, class Field>
void limited(nb::class_<T>& type, const char* name, Field T::*field, Field unlimited) {
    type.def_prop_rw(
        name,
        [field, unlimited](const T& self) {
            return self.*field == unlimited ? std::int64_t{-1}
                                            : static_cast<std::int64_t>(self.*field);
        },
        [field, unlimited](T& self, std::int64_t value) {
            self.*field = value == -1 ? unlimited : static_cast<Field>(value);
        });
}

// A column as a numpy array, which only traces need, or (nb::memview) as a memoryview.
template <class T, class Framework = nb::numpy>
using Column = nb::ndarray<Framework, const T, nb::ndim<1>>;

// A view of a column in a struct of arrays; `owner` is the Python object that holds it.
template <class T>
Column<T> view(nb::handle owner, const std::vector<T>& column) {
    return {column.data(), {column.size()}, owner};
}

// A view of one field in all rows of a table.
template <class To, class Framework = nb::numpy, class Row, class From>
Column<To, Framework> view(nb::handle owner, const std::vector<Row>& rows, From Row::*field) {
    static_assert(sizeof(To) == sizeof(From) && sizeof(Row) % sizeof(To) == 0);
    const Row* first = rows.data();
    const void* data = first == nullptr ? nullptr : &(first->*field);
    return {static_cast<const To*>(data), {rows.size()}, owner, {sizeof(Row) / sizeof(To)}};
}

void bind_catalogue(nb::module_& m);   // binds the declarations: protocols, settings, columns
void bind_gym(nb::module_& m);         // binds environments of westwood.gym
void bind_metrics(nb::module_& m);     // binds rows and statistics
void bind_network(nb::module_& m);     // binds the input of a simulation
void bind_plan(nb::module_& m);        // binds what makes a network of a scenario
void bind_quantities(nb::module_& m);  // binds rates, times, sizes and limits as text
void bind_results(nb::module_& m);     // binds its output

}  // namespace ww::bindings
