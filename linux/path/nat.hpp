// SPDX-License-Identifier: GPL-2.0-only
//
// Masquerades the packets that leave a gateway (gateway.hpp) for other hosts, by a table of nf_tables that belongs to
// one socket. The kernel removes the table with the socket, however ww-path ends.
#pragma once

#include <istream>
#include <memory>
#include <string>

#include "gateway.hpp"
#include "netlink.hpp"

namespace ww::path {

struct Nat {
    std::unique_ptr<Netlink> owner;  // null: no masquerading
    std::string lacking;             // why not, and the remedy; empty: nothing is lacking
};

// Sets up masquerading in the namespace of the calling thread if it forwards packets. It does not enable forwarding
// on a machine that does not forward.
Nat make_nat(const Gateway& gateway);

// Returns a nameserver on loopback if this resolv.conf(5) lists no other. Inside a gateway it is out of reach.
std::string loopback_nameserver(std::istream& file);

}  // namespace ww::path
