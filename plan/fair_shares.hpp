// SPDX-License-Identifier: BSD-3-Clause
//
// Max-min fair shares: no flow could get more without taking from a flow that has no more (Bertsekas and Gallager, Data
// Networks, 6.5.2). They are of goodput, so a link carries the headers and framing of each packet, too.
//
// A flow gets no more than it can use: what its application or source of datagrams sends in the mean, or its receive
// window per round trip. A flow with arrivals counts as one flow of its offered load. What ACKs and losses take of a
// link, and times in which an application pauses at random, count as nothing.
#pragma once

#include <utility>
#include <vector>

#include "../engine/network.hpp"

namespace ww::plan {

// Returns the share of each flow, the mean over the time in which it is active, in bit/s; NaN if it never is.
// `active` has the seconds from which and to which each flow is.
std::vector<double> fair_shares_bps(const sim::Network& network,
                                    const std::vector<std::pair<double, double>>& active);

}  // namespace ww::plan
