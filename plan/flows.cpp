// SPDX-License-Identifier: BSD-3-Clause
#include "parts.hpp"
#include "settings.hpp"

namespace ww::plan {
namespace {

constexpr ww_protocol kDatagrams = WW_PROTOCOL_COUNT;

// Returns the payload of a full segment, in which windows are counted.
std::int64_t segment_bytes(const Section& section, const sim::Flow& usual) {
    const Item packet = section["packet"], header = section["header"];
    const auto bytes = [](const Item& item, std::int64_t fallback) {
        return item ? size_bytes(item, 1, UINT16_MAX) : fallback;
    };
    const std::int64_t mss = bytes(packet, usual.packet_bytes) - bytes(header, usual.header_bytes);
    if (mss < 1) packet.refuse("expected more than the header");
    return mss;
}

void set_declared(const Section& section, sim::Flow& o) {
    using namespace sim;
    const std::int64_t mss = segment_bytes(section, o);
    WW_FLOW_SETTINGS(WW_SET_SETTING)
}

// Sets what the protocol obeys of its settings.
void set_declared(const Section& section, ww_config& o) {
#define WW_ROW(kind, setting, fallback, least, most, controls, ...) \
    if ((controls) >> o.algorithm & 1)                              \
    WW_SET_ROW(kind, setting, WW_FIELD(kind, setting), least, most)
    WW_SETTINGS(WW_ROW)
#undef WW_ROW
}

ww_protocol protocol_of(const Section& cc) {
#define WW_ROW(ID, name, ...) {name, WW_PROTOCOL_##ID},
    return cc.need("name").choice<ww_protocol>({WW_PROTOCOLS(WW_ROW){"udp", kDatagrams}});
#undef WW_ROW
}

sim::Recovery recovery_of(const Item& item) {
#define WW_ROW(ID, id, name, ...) {name, sim::Recovery::id},
    return item.choice<sim::Recovery>({WW_RECOVERIES(WW_ROW)});
#undef WW_ROW
}

void read_datagrams(const Section& app, sim::Datagrams& source) {
    source.on = true;
    source.rate_bps = rate_bps(app.need("rate"), 1'000, sim::kFastest);
    const Item on = app["on"], off = app["off"];
    if (!on != !off) (on ? off : on).refuse("is missing: a source has both on and off, or neither");
    if (on) {
        source.on_mean = time_ps(on, sim::kMicrosecond, sim::kLongest);
        source.off_mean = time_ps(off, sim::kMicrosecond, sim::kLongest);
    }
    source.spread = spread_of(app, "durations", sim::Spread::fixed);
    source.spacing = spread_of(app, "spacing", sim::Spread::fixed);
}

// Reads what the flow sends: datagrams, or data of a connection.
void read_app(const Section& app, sim::Flow& flow) {
    const Item kind = app["kind"];
    if (kind && kind.choice<bool>({{"bulk", false}, {"udp", true}}))
        read_datagrams(app, flow.datagrams);
    app.done();
}

void read_arrivals(const Section& arrivals, sim::Flow& flow) {
    flow.arrivals_mean = time_ps(arrivals.need("every"), sim::kMicrosecond, sim::kLongest);
    flow.size_bytes = size_bytes(arrivals.need("size"), 1, sim::kLargestSize);
    flow.size_spread = spread_of(arrivals, "sizes", sim::Spread::fixed);
    arrivals.done();
}

}  // namespace

ww_protocol read_control(const Section& section, ww_config& config) {
    const ww_protocol protocol = protocol_of(section);
    if (protocol != kDatagrams) {
        config = ww_configure(protocol);
        set_declared(section, config);
    }
    section.done();
    return protocol;
}

ww_protocol read_flow(const Section& section, sim::Flow& flow) {
    const Item cc_item = section.need("cc");
    const Table& cc = cc_item.table("a table with the name of a protocol");
    const ww_protocol protocol = read_control({cc, "cc", &section}, flow.cc);
    if (const Item app = section["app"])
        read_app(
            {app.table("a table such as { kind = \"udp\", rate = \"1Mbps\" }"), "app", &section},
            flow);
    if (flow.datagrams.on != (protocol == kDatagrams))
        cc_item.refuse(flow.datagrams.on ? "expected \"udp\", as its app is"
                                         : "expected a protocol, since its app is \"bulk\"");
    set_declared(section, flow);
    const Item recovery = section["recovery"], arrivals = section["arrivals"];
    if (recovery && !flow.datagrams.on) flow.recovery = recovery_of(recovery);
    if (arrivals) {
        if (flow.size_bytes != sim::kUnlimited)
            section["size"].refuse("expected none, since arrivals has a size");
        read_arrivals({arrivals.table("a table with every and size"), "arrivals", &section}, flow);
    }
    if (flow.stop <= flow.start) section["stop"].refuse("expected a time after start");
    return protocol;
}

}  // namespace ww::plan
