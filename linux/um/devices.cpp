// SPDX-License-Identifier: GPL-2.0-only
//
// Namespaces and devices of the machine in virtual time, in place of ../path/devices.cpp.
#include <string>

#include "../path/host.hpp"
#include "machine.h"

namespace ww::path {

void set_parameter(const std::string& name, const std::string& value) {
    ww_machine_parameter(name.c_str(), value.c_str());
}

static int last_namespace = -1;

void enter_new_namespace() {
    last_namespace = ww_machine_new_namespace();
    if (last_namespace < 0) throw Unavailable("too many hosts");
}

Descriptor current_namespace() { return Descriptor(last_namespace); }

void enter(int net) { ww_machine_enter(net); }

// The descriptor is the device's number, which no call of a descriptor knows.
Descriptor make_device(std::string& name, std::uint32_t packet_bytes) {
    char room[WW_NAME] = {};
    name.copy(room, sizeof room - 1);
    Descriptor device(ww_machine_device(room, packet_bytes));
    if (!device) throw Unavailable("no device");
    name = room;
    return device;
}

std::uint64_t Host::overruns() const { return ww_machine_drops(tun()); }

}  // namespace ww::path
