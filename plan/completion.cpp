// SPDX-License-Identifier: BSD-3-Clause
#include "completion.hpp"

#include <algorithm>

#include "controls.hpp"
#include "parts.hpp"

namespace ww::plan {
namespace {

const std::string kDatagramsName = "udp";

Value* find(Table& table, std::string_view key) {
    const auto entry = std::find_if(table.begin(), table.end(),
                                    [&](const Entry& candidate) { return candidate.key == key; });
    return entry == table.end() ? nullptr : &entry->value;
}

template <class T>
T* find_as(Table& table, std::string_view key) {
    Value* value = find(table, key);
    return value == nullptr ? nullptr : std::get_if<T>(&value->is);
}

const std::string* text_of(Table& table, std::string_view key) {
    return find_as<std::string>(table, key);
}

// Replaces a text by a table with that text at a key.
void wrap(Table& table, std::string_view key, const char* inner) {
    if (const std::string* word = text_of(table, key)) {
        Table table_of_word = {{inner, {*word}}};
        *find(table, key) = {std::move(table_of_word)};
    }
}

void set(Table& table, const Entry& entry) {
    if (Value* value = find(table, entry.key))
        *value = entry.value;
    else
        table.push_back(entry);
}

// Adds the entries that a table lacks.
void add(Table& table, const Table& defaults) {
    for (const Entry& entry : defaults)
        if (find(table, entry.key) == nullptr) table.push_back(entry);
}

struct Recovery {
    const char* name;
    bool uses_sack;
};

const Recovery* recovery_named(std::string_view name) {
#define WW_ROW(ID, id, name, uses_sack, ...) {name, uses_sack != 0},
    static const Recovery kAll[] = {WW_RECOVERIES(WW_ROW)};
#undef WW_ROW
    for (const Recovery& recovery : kAll)
        if (name == recovery.name) return &recovery;
    return nullptr;
}

std::string name_of_recovery(ww_recovery recovery) {
#define WW_ROW(ID, id, name, ...) \
    if (recovery == WW_RECOVERY_##ID) return name;
    WW_RECOVERIES(WW_ROW)
#undef WW_ROW
    return "";  // any
}

struct Protocol {
    std::string recovery;  // its own, if it has one
    std::uint32_t algorithm = 0;
    bool is_known = false;
};

Protocol protocol_named(std::string_view name) {
    if (names_file(name)) return {name_of_recovery(WW_RECOVERY_SACK), WW_ALG_LOADED, true};
#define WW_ROW(ID, its_name, ALGORITHM, RECOVERY, ...) \
    if (name == its_name)                              \
        return {name_of_recovery(WW_RECOVERY_##RECOVERY), WW_ALG_##ALGORITHM, true};
    WW_PROTOCOLS(WW_ROW)
#undef WW_ROW
    return {};
}

const char* name_of_protocol(std::uint32_t protocol) {
#define WW_ROW(ID, name, ...) name,
    static const char* const kAll[] = {WW_PROTOCOLS(WW_ROW)};
#undef WW_ROW
    return kAll[protocol];
}

bool has_parameter(const ww_control_ops& control, std::string_view name) {
    const ww_parameter* const end = control.parameters + control.parameter_count;
    return std::any_of(control.parameters, end,
                       [&](const ww_parameter& parameter) { return name == parameter.name; });
}

// Returns the number that a setting has in a configuration.
std::int64_t number_of(const ww_config& config, std::string_view setting) {
#define WW_ROW(kind, name, ...) \
    if (setting == #name) return config.WW_FIELD(kind, name);
    WW_SETTINGS(WW_ROW)
#undef WW_ROW
    return 0;
}

bool is_used(std::string_view setting, std::uint32_t algorithm) {
#define WW_ROW(kind, name, fallback, least, most, controls, ...) \
    if (setting == #name) return ((controls) >> algorithm & 1) != 0;
    WW_SETTINGS(WW_ROW)
#undef WW_ROW
    return false;
}

}  // namespace

const std::vector<std::string_view> kKeysOfDatagrams = {"name",  "from",   "to",    "cc",
                                                        "count", "app",    "start", "start_spread",
                                                        "stop",  "packet", "header"};

const Table& Profile::section(std::string_view name) const {
    static const Table none;
    for (const Entry& entry : sections_)
        if (entry.key == name) return std::get<Table>(entry.value.is);
    return none;
}

Table Profile::flow(const std::string& cc, const std::optional<std::string>& recovery) const {
    Table sack = section("sack"), westwood = section("westwood");
    std::string chosen = recovery.value_or(protocol_named(cc).recovery);
    if (!recovery && chosen == "sack")
        if (const std::string* of_profile = text_of(sack, "recovery")) chosen = *of_profile;
    if (chosen.empty()) chosen = *text_of(westwood, "recovery");
    Table settings = section("flow");
    const Recovery* known = recovery_named(chosen);
    if (known == nullptr) return settings;
    if (known->uses_sack && cc != kDatagramsName)
        for (const Entry& entry : sack) set(settings, entry);
    set(settings, {"recovery", {chosen}});
    return settings;
}

Table Profile::cc(const std::string& cc, const std::string& source) const {
    const Protocol protocol = protocol_named(cc);
    Table settings = section("cc");
    if (protocol.is_known && protocol.algorithm == WW_ALG_CUBIC)
        for (const Entry& entry : section("cubic")) set(settings, entry);
    std::erase_if(settings, [&](const Entry& entry) {
        return !protocol.is_known || !is_used(entry.key, protocol.algorithm);
    });
    if (const ww_control_ops* const control = find_control(source))
        add(settings, parameters(*control));
    return settings;
}

Table Profile::parameters(const ww_control_ops& control) const {
    const std::string like = name_of_protocol(control.like);
    const Table settings = cc(like);
    Table named = settings;
    add(named, {{"name", {like}}});
    ww_config config;
    read_control({named, "cc"}, config);
    Table values;
    for (const Entry& setting : settings)
        if (has_parameter(control, setting.key))
            values.push_back({setting.key, {number_of(config, setting.key)}});
    return values;
}

void Profile::complete_link(Table& link) const {
    add(link, section("link"));
    if (auto* loss = find_as<Table>(link, "loss")) add(*loss, section("loss"));
}

void Profile::complete_flow(Table& flow, const std::string& name) const {
    wrap(flow, "app", "kind");
    wrap(flow, "cc", "name");
    auto* app = find_as<Table>(flow, "app");
    const std::string* kind = app ? text_of(*app, "kind") : nullptr;
    if (kind != nullptr && *kind == kDatagramsName) {
        const Section section(flow, name);
        for (const Entry& entry : flow)
            if (std::find(kKeysOfDatagrams.begin(), kKeysOfDatagrams.end(), entry.key) ==
                kKeysOfDatagrams.end())
                section[entry.key].refuse("has no effect on datagrams, or is no key");
        add(flow, {{"cc", {Table{{"name", {kDatagramsName}}}}}});
    }
    auto* cc = find_as<Table>(flow, "cc");
    const std::string* protocol = cc ? text_of(*cc, "name") : nullptr;
    if (protocol == nullptr) return add(flow, section("flow"));
    const std::string* recovery = text_of(flow, "recovery");
    const Table defaults =
        this->flow(*protocol, recovery ? std::optional(*recovery) : std::nullopt);
    const std::string* source = text_of(*cc, kSource);
    add(*cc, this->cc(*protocol, source ? *source : ""));
    add(flow, defaults);
}

void Profile::complete(Table& scenario) const {
    if (auto* links = find_as<List>(scenario, "link"))
        for (Value& value : *links)
            if (auto* link = std::get_if<Table>(&value.is)) complete_link(*link);
    if (auto* flows = find_as<List>(scenario, "flow"))
        for (std::size_t i = 0; i < flows->size(); i++)
            if (auto* flow = std::get_if<Table>(&(*flows)[i].is))
                complete_flow(*flow, name_of_part(*flow, "flow", i));
}

}  // namespace ww::plan
