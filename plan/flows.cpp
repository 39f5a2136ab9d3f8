// SPDX-License-Identifier: BSD-3-Clause
#include "applications.hpp"
#include "controls.hpp"
#include "parts.hpp"

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
    const ww_config usual = o;
#define WW_ROW(kind, setting, fallback, least, most, controls, ...) \
    if ((controls) >> o.algorithm & 1)                              \
    WW_SET_ROW(kind, setting, WW_FIELD(kind, setting), least, most)
    WW_SETTINGS(WW_ROW)
#undef WW_ROW
#define WW_ROW(kind, setting, other, value, word)                                         \
    if (const Item item = section[#setting];                                              \
        o.WW_FIELD(kind, setting) != usual.WW_FIELD(kind, setting) && o.other != (value)) \
        item.refuse("has no effect without " #other " = \"" word "\"");
    WW_SETTINGS_THAT_NEED(WW_ROW)
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
        const ww_parameter& parameter = control->parameters[i];
        const Item item = section[parameter.name];
        o.own[i] = item ? static_cast<std::uint32_t>(item.whole(parameter.least, parameter.most))
                        : parameter.fallback;
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

void set_rates(const Item& item, std::vector<std::int64_t>& rates_bps, std::int64_t least,
               std::int64_t most) {
    static const std::string expected = "ascending rates such as [\"1Mbps\", \"3Mbps\"]";
    for (const Value& value : item.list(expected)) {
        const std::int64_t rate = rate_bps({item.section(), item.key(), &value}, least, most);
        if (!rates_bps.empty() && rate <= rates_bps.back()) item.refuse("expected " + expected);
        rates_bps.push_back(rate);
    }
    if (rates_bps.empty()) item.refuse("expected " + expected);
}

#define WW_SET_SIZE WW_SET_BYTES
#define WW_SET_SPREAD(setting, member, least, most) \
    o.member = spread_of(section, #setting, sim::Spread::fixed)
#define WW_SET_RATES(setting, member, least, most) set_rates(item, o.member, least, most)

// Sets a setting of an application; one without a default is needed.
#define WW_SET_APP_SETTING(kind, setting, member, fallback, least, most, what, why) \
    if (std::string_view(why).empty())                                              \
        section.need(#setting);                                                     \
    else                                                                            \
        o.member = static_cast<decltype(o.member)>(fallback);                       \
    WW_SET_ROW(kind, setting, member, least, most)

#define WW_APP(kind, PREFIX, ...)                                                                \
    void read_##PREFIX([[maybe_unused]] const Section& section, [[maybe_unused]] sim::Flow& o) { \
        using namespace sim;                                                                     \
        WW_##PREFIX##_APP_SETTINGS(WW_SET_APP_SETTING)                                           \
    }
WW_APPLICATIONS(WW_APP)
#undef WW_APP

void check_together(const Section& app) {
    const auto check = [&](const char* key, const char* other) {
        const Item first = app[key], second = app[other];
        if (!first != !second)
            (first ? second : first).refuse("is missing: a source has both on and off, or neither");
    };
#define WW_PAIR(key, other) check(#key, #other);
    WW_APP_SETTINGS_TOGETHER(WW_PAIR)
#undef WW_PAIR
}

// Reads what the flow sends: datagrams, or data of a connection.
void read_app(const Section& app, sim::Flow& flow) {
#define WW_APP(kind, PREFIX, ...) of_##PREFIX,
    enum Kind { WW_APPLICATIONS(WW_APP) };
#undef WW_APP
#define WW_APP(kind, PREFIX, ...) {kind, of_##PREFIX},
    const Item kind_item = app["kind"];
    const Kind kind = kind_item ? kind_item.choice<Kind>({WW_APPLICATIONS(WW_APP)}) : of_BULK;
#undef WW_APP
#define WW_APP(kind, PREFIX, ...) \
    case of_##PREFIX:             \
        read_##PREFIX(app, flow); \
        break;
    switch (kind) { WW_APPLICATIONS(WW_APP) }
#undef WW_APP
    sim::Application& o = flow.application;
    flow.datagrams.on = kind == of_UDP;
    o.kind = kind <= of_UDP ? sim::ApplicationKind::bulk
                            : static_cast<sim::ApplicationKind>(kind - of_UDP);
    if (kind == of_UDP || kind == of_RATE) check_together(app);
    if (kind == of_VIDEO) {
        if (o.buffer == 0) o.buffer = 5 * o.chunk;
        if (o.buffer < o.chunk) app["buffer"].refuse("expected room for a chunk");
    }
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
    section["stack"];  // whose connections use the control: only engines with QUIC stacks read it
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
