// SPDX-License-Identifier: BSD-3-Clause
//
// The Python module westwood._engine has the declarations (catalogue.cpp), the simulator's data
// (network.cpp, results.cpp) and simulate(), which runs with the interpreter lock released. Policy and
// metrics are in Python.
#include "bindings.hpp"

NB_MODULE(_engine, m) {
    using namespace ww::bindings;
    m.doc() = "The Westwood simulator's engine.";
    bind_catalogue(m);
    bind_network(m);
    bind_results(m);

    m.def(
        "simulate",
        [](const ww::sim::Network& network, std::uint64_t seed) {
            ww::sim::Result result;
            {
                nb::gil_scoped_release unlocked;
                result = ww::sim::simulate(network, seed);
            }
            if (!result.error.empty()) throw std::invalid_argument(result.error);
            return result;
        },
        "network"_a, "seed"_a,
        "Runs a network. Same network and seed, same result to the bit. ValueError says in one "
        "line "
        "what is wrong with the network. The interpreter lock is released meanwhile.");
}
