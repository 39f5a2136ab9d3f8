// SPDX-License-Identifier: GPL-2.0-only
//
// Any text as a plan, any bytes as a packet: read or refused, never more.
#include <algorithm>
#include <sstream>

#include "linux/path/packet.hpp"
#include "linux/path/plan.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<std::uint8_t> packet(data, data + std::min<std::size_t>(size, 2000));
    if (ww::path::look_at(packet)) ww::path::mark(packet);
    std::istringstream text(std::string(reinterpret_cast<const char*>(data), size));
    try {
        (void)ww::path::read_plan(text);
    } catch (const ww::path::PlanError&) {
    }
    return 0;
}
