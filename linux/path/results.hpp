// SPDX-License-Identifier: GPL-2.0-only
//
// Prints a run's report (wire/report.hpp), for ww-path and for the machine in virtual time.
#pragma once

#include <cstdio>
#include <vector>

#include "loop.hpp"
#include "model.hpp"
#include "traffic.hpp"

namespace ww::path {

// Prints the connections and the directions of the links, and writes the trace of queues and drops.
void print_results(std::FILE* out, const Plan& plan, const sim::Connections& connections,
                   const Traffic& traffic, Model& model, wire::Trace& trace);

// Prints the line `emulator`.
void print_accuracy(std::FILE* out, const LoopReport& report, const std::vector<Host>& hosts,
                    const Queues& queues);

// Returns the CPU time of this process in s.
double cpu_seconds();

}  // namespace ww::path
