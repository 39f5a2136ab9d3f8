// SPDX-License-Identifier: GPL-2.0-only
//
// Feeds the emulator any text as a plan and any bytes as a packet: it parses or rejects them without a fault.
#include <algorithm>
#include <sstream>

#include "linux/path/packet.hpp"
#include "linux/path/plan.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<std::uint8_t> packet(data, data + std::min<std::size_t>(size, 2000));
    if (ww::path::parse(packet) || ww::path::parse_any(packet, true)) ww::path::mark(packet);
    std::istringstream text(std::string(reinterpret_cast<const char*>(data), size));
    try {
        (void)ww::path::read_plan(text);
    } catch (const ww::path::PlanError&) {
    }
    return 0;
}
