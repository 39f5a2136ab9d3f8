// SPDX-License-Identifier: BSD-3-Clause
//
// simulate() survives any small network, by the invariants; an event per hop changes nothing.
#include <cstdio>
#include <cstdlib>

#include "any_network.hpp"
#include "difference.hpp"
#include "invariants.hpp"

using namespace ww::sim;

namespace {

void require(bool holds, const std::string& what) {
    if (holds) return;
    std::fprintf(stderr, "broken: %s\n", what.c_str());
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const std::uint64_t seed = input.byte();
    Network network = fuzz::any_network(input);
    const Result result = simulate(network, seed);
    if (!result.error.empty()) {
        require(result.flows.empty(), "an error simulates nothing");
        return 0;
    }
    const fuzz::Invariants invariants(network, result);
    for (const std::string& broken : invariants.broken()) require(false, broken);
    network.event_per_hop = true;
    const std::string other = fuzz::difference(result, simulate(network, seed));
    require(other.empty(), "the same " + other + " with an event a hop");
    return 0;
}
