// SPDX-License-Identifier: GPL-2.0-only
//
// Lets what comes out of a gateway (gateway.hpp) leave this machine under the machine's own address: masquerading,
// by a table of nf_tables that belongs to one socket. The kernel removes the table with the socket, so that
// whatever ends ww-path ends it.
#pragma once

#include <istream>
#include <memory>
#include <string>

#include "gateway.hpp"
#include "netlink.hpp"

namespace ww::path {

struct Nat {
    std::unique_ptr<Netlink> owner;  // null: nothing is translated
    std::string lacking;             // why not, and the remedy; empty: nothing is lacking
};

// Sets it up in the namespace of the calling thread, if that forwards packets at all: it changes nothing of a
// machine that does not.
Nat make_nat(const Gateway& gateway);

// Returns a nameserver on loopback, if this resolv.conf(5) has no other: inside a gateway nobody is there.
std::string loopback_nameserver(std::istream& file);

}  // namespace ww::path
