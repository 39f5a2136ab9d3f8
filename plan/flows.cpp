// SPDX-License-Identifier: BSD-3-Clause
#include "controls.hpp"
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

// Sets the configuration of a loaded control and its parameters.
void set_loaded(const Section& section, ww_config& o) {
    const Item source = section.need(kSource);
    const ww_control_ops* const control = find_control(source.text("what identifies a control"));
    if (control == nullptr) source.refuse("no such control is loaded in this process");
    o = ww_configure(static_cast<ww_protocol>(control->like));
    o.algorithm = WW_ALG_LOADED;
    o.control = control;
    for (std::uint32_t i = 0; i < control->parameter_count; i++) {
        const ww_parameter& one = control->parameters[i];
        const Item item = section[one.name];
        o.own[i] =
            item ? static_cast<std::uint32_t>(item.whole(one.least, one.most)) : one.fallback;
    }
    set_declared(section, o);
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

// Reads the lengths of on and off periods, both or neither.
void read_periods(const Section& app, bool needed, sim::Time& on_mean, sim::Time& off_mean,
                  sim::Spread& spread) {
    const Item on = needed ? app.need("on") : app["on"];
    const Item off = needed ? app.need("off") : app["off"];
    if (!on != !off) (on ? off : on).refuse("is missing: a source has both on and off, or neither");
    if (on) {
        on_mean = time_ps(on, sim::kMicrosecond, sim::kLongest);
        off_mean = time_ps(off, sim::kMicrosecond, sim::kLongest);
    }
    spread = spread_of(app, "durations", sim::Spread::fixed);
}

void read_datagrams(const Section& app, sim::Datagrams& source) {
    source.on = true;
    source.rate_bps = rate_bps(app.need("rate"), 1'000, sim::kFastest);
    read_periods(app, false, source.on_mean, source.off_mean, source.spread);
    source.spacing = spread_of(app, "spacing", sim::Spread::fixed);
}

void read_rate(const Section& app, sim::Application& o) {
    o.rate_bps = rate_bps(app.need("rate"), 1'000, sim::kFastest);
    if (const Item bulk = app["bulk"]) o.bulk = time_ps(bulk, 0, sim::kLongest);
}

void read_request(const Section& app, sim::Application& o) {
    o.size_bytes = size_bytes(app.need("size"), 1, sim::kLargestSize);
    o.size_spread = spread_of(app, "sizes", sim::Spread::fixed);
    if (const Item think = app["think"]) o.think_mean = time_ps(think, 0, sim::kHour);
    o.spread = spread_of(app, "durations", sim::Spread::fixed);
}

void read_video(const Section& app, sim::Application& o) {
    static const std::string expected = "ascending rates such as [\"1Mbps\", \"3Mbps\"]";
    const Item ladder = app.need("ladder");
    for (const Value& rung : ladder.list(expected)) {
        o.ladder_bps.push_back(rate_bps({app, "ladder", &rung}, 1'000, sim::kFastest));
        if (o.ladder_bps.size() > 1 && o.ladder_bps.back() <= *(o.ladder_bps.end() - 2))
            ladder.refuse("expected " + expected);
    }
    if (o.ladder_bps.empty()) ladder.refuse("expected " + expected);
    const Item chunk = app["chunk"], buffer = app["buffer"];
    o.chunk = chunk ? time_ps(chunk, sim::kMicrosecond, sim::kHour) : 4 * sim::kSecond;
    o.buffer = buffer ? time_ps(buffer, 0, sim::kLongest) : 5 * o.chunk;
    if (o.buffer < o.chunk) buffer.refuse("expected room for a chunk");
}

// Reads what the flow sends: datagrams, or data of a connection.
void read_app(const Section& app, sim::Flow& flow) {
    enum Kind { bulk, udp, rate, on_off, request, video };
    const Item kind_item = app["kind"];
    const Kind kind = kind_item ? kind_item.choice<Kind>({{"bulk", bulk},
                                                          {"udp", udp},
                                                          {"rate", rate},
                                                          {"on-off", on_off},
                                                          {"request", request},
                                                          {"video", video}})
                                : bulk;
    sim::Application& o = flow.application;
    o.kind =
        kind <= udp ? sim::ApplicationKind::bulk : static_cast<sim::ApplicationKind>(kind - udp);
    if (kind == udp) read_datagrams(app, flow.datagrams);
    if (kind == rate) read_rate(app, o);
    if (kind == rate || kind == on_off)
        read_periods(app, kind == on_off, o.on_mean, o.off_mean, o.spread);
    if (kind == request) read_request(app, o);
    if (kind == video) read_video(app, o);
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
    const Value* const name = section.need("name").value();
    if (const auto* text = std::get_if<std::string>(&name->is); text && names_file(*text)) {
        set_loaded(section, config);
        section.done();
        return WW_PROTOCOL_SACK;
    }
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
                                         : "expected a protocol, since its app is not \"udp\"");
    set_declared(section, flow);
    const Item recovery = section["recovery"], arrivals = section["arrivals"];
    if (recovery && !flow.datagrams.on) flow.recovery = recovery_of(recovery);
    if (arrivals && flow.application.kind != sim::ApplicationKind::bulk)
        section["app"].refuse("expected \"bulk\", since arrivals is for transfers");
    if (arrivals) {
        if (flow.size_bytes != sim::kUnlimited)
            section["size"].refuse("expected none, since arrivals has a size");
        read_arrivals({arrivals.table("a table with every and size"), "arrivals", &section}, flow);
    }
    if (flow.stop <= flow.start) section["stop"].refuse("expected a time after start");
    return protocol;
}

}  // namespace ww::plan
