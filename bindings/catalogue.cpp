// SPDX-License-Identifier: BSD-3-Clause
//
// Passes the declarations of core/ and engine/ to Python: protocols, recoveries, settings and
// columns, with their descriptions.
#include "../engine/link/opportunities.hpp"
#include "../engine/shown.hpp"
#include "../plan/applications.hpp"
#include "bindings.hpp"

namespace ww::bindings {
namespace {

using namespace ww::sim;

// The congestion control in Linux itself, or in linux/ (`ours`), that a row of the catalogue names.
struct Kernel {
    const char* name;
    bool ours;
};
#define WW_UPSTREAM(name) \
    Kernel { name, false }
#define WW_OURS(name) \
    Kernel { #name, true }
#define WW_NOWHERE \
    Kernel { "", false }

std::string recovery_name(ww_recovery recovery) {
    switch (recovery) {
#define WW_ROW(ID, id, name, ...) \
    case WW_RECOVERY_##ID:        \
        return name;
        WW_RECOVERIES(WW_ROW)
#undef WW_ROW
    case WW_RECOVERY_ANY:
        break;
    }
    return "";
}

nb::list protocols() {
    nb::list rows;
    const auto add = [&](const char* name, ww_algorithm algorithm, ww_recovery recovery,
                         const char* label, const char* look, const char* ns3, Kernel kernel,
                         const char* source) {
        nb::dict row;
        row["name"] = name;
        row["algorithm"] = kAlgorithms[algorithm];
        row["recovery"] = recovery_name(recovery);
        row["label"] = label;
        row["look"] = look;
        row["ns3"] = ns3;
        row["kernel"] = kernel.name;
        row["ours"] = kernel.ours;
        row["source"] = source;
        rows.append(row);
    };
#define WW_ROW(ID, name, ALGORITHM, RECOVERY, settings, label, look, ns3, kernel, source) \
    add(name, WW_ALG_##ALGORITHM, WW_RECOVERY_##RECOVERY, label, look, ns3, kernel, source);
    WW_PROTOCOLS(WW_ROW)
#undef WW_ROW
    return rows;
}

// Returns the modes and quantities that a trace shows of each algorithm.
nb::dict shown() {
    nb::dict rows;
#define WW_NAME(name) name,
#define WW_QUANTITY(name, unit, value) #name,
#define WW_ROW(ID, name)                                               \
    rows[kAlgorithms[WW_ALG_##ID]] =                                   \
        std::pair<std::vector<std::string>, std::vector<std::string>>{ \
            {WW_##ID##_MODES(WW_NAME)}, {WW_##ID##_QUANTITIES(WW_QUANTITY)}};
    WW_ALGORITHMS(WW_ROW)
#undef WW_ROW
#undef WW_QUANTITY
#undef WW_NAME
    return rows;
}

// Returns what the hosts report to a control: rows of core/hosts.h.
std::vector<std::vector<std::string>> host_reports() {
#define WW_ROW(name, ...) {#name, __VA_ARGS__},
    return {WW_HOST_REPORTS(WW_ROW)};
#undef WW_ROW
}

// The names in C, which the file of a control uses.
nb::dict protocol_ids() {
    nb::dict ids;
#define WW_ROW(ID, name, ...) ids[name] = #ID;
    WW_PROTOCOLS(WW_ROW)
#undef WW_ROW
    return ids;
}

nb::list recoveries() {
    nb::list rows;
    const auto add = [&](const char* name, bool uses_sack, bool uses_rate_reduction,
                         const char* source) {
        nb::dict row;
        row["name"] = name;
        row["uses_sack"] = uses_sack;
        row["uses_rate_reduction"] = uses_rate_reduction;
        row["source"] = source;
        rows.append(row);
    };
#define WW_ROW(ID, id, name, uses_sack, uses_rate_reduction, source) \
    add(name, uses_sack != 0, uses_rate_reduction != 0, source);
    WW_RECOVERIES(WW_ROW)
#undef WW_ROW
    return rows;
}

std::vector<std::string> algorithms(std::uint32_t controls) {
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < WW_ALGORITHM_COUNT; i++)
        if (controls >> i & 1) names.emplace_back(kAlgorithms[i]);
    return names;
}

// Returns the words that a setting of the kind CHOICE accepts; other kinds have none.
std::vector<std::string> choices(const std::string& setting) {
#define WW_WORD(id, word) word,
#define WW_WORDS(kind, name, ...) WW_WORDS_##kind(name)
#define WW_WORDS_CHOICE(name) \
    if (setting == #name) return {WW_CHOICES_##name(WW_WORD)};
#define WW_WORDS_SWITCH(name)
#define WW_WORDS_COUNT(name)
#define WW_WORDS_COUNT_OR_NONE(name)
#define WW_WORDS_SPAN(name)
#define WW_WORDS_SHARE(name)
#define WW_WORDS_FACTOR_OR_NONE(name)
#define WW_WORDS_TIME(name)
    WW_SETTINGS(WW_WORDS)
#define WW_LOSS(name, Settings, Model, PREFIX, ...) WW_##PREFIX##_SETTINGS(WW_WORDS)
    WW_LOSS_KINDS(WW_LOSS)
#undef WW_LOSS
#undef WW_WORD
    return {};
}

template <class T>
nb::object number(T value) {
    if constexpr (std::is_same_v<T, bool>) return nb::bool_(value);
    if constexpr (std::is_floating_point_v<T>) return nb::float_(value);
    return nb::int_(value);
}

struct SettingRow {
    const char *section, *name, *field, *kind;
    nb::object fallback, least, most;
    const char *what, *why;
};

nb::dict described(const SettingRow& row, std::uint32_t controls) {
    nb::dict described_row;
    described_row["section"] = row.section;
    described_row["name"] = row.name;
    described_row["field"] = row.field;
    described_row["kind"] = row.kind;
    described_row["fallback"] = row.fallback;
    described_row["least"] = row.least;
    described_row["most"] = row.most;
    described_row["algorithms"] = algorithms(controls);
    described_row["choices"] = choices(row.name);
    described_row["what"] = row.what;
    described_row["why"] = row.why;
    return described_row;
}

nb::list settings() {
    nb::list rows;
#define WW_ROW_OF(section, controls, type, field, kind, name, fallback, least, most, what, why)   \
    rows.append(                                                                                  \
        described({section, #name, WW_TEXT(field), #kind, number(static_cast<type>(fallback)),    \
                   number(static_cast<type>(least)), number(static_cast<type>(most)), what, why}, \
                  controls));
#define WW_ROW(kind, name, fallback, least, most, controls, what, why)                           \
    WW_ROW_OF("cc", controls, WW_TYPE_##kind, WW_FIELD(kind, name), kind, name, fallback, least, \
              most, what, why)
    WW_SETTINGS(WW_ROW)
#undef WW_ROW
#define WW_ENGINE_ROW(section, kind, name, ...)                                           \
    WW_ROW_OF(section, 0, WW_ENGINE_TYPE_##kind, WW_ENGINE_FIELD(kind, name), kind, name, \
              __VA_ARGS__)
#define WW_ROW(...) WW_ENGINE_ROW("flow", __VA_ARGS__)
    WW_FLOW_SETTINGS(WW_ROW)
#undef WW_ROW
#define WW_ROW(...) WW_ENGINE_ROW("link", __VA_ARGS__)
    WW_LINK_SETTINGS(WW_ROW)
    WW_DIRECTION_SETTINGS(WW_ROW)
#undef WW_ROW
#define WW_ROW(...) WW_ENGINE_ROW(section, __VA_ARGS__)
#define WW_QUEUE(name, Settings, Queue, PREFIX, ...) \
    {                                                \
        const char* const section = #name;           \
        WW_##PREFIX##_SETTINGS(WW_ROW)               \
    }
    WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE
#define WW_LOSS(name, Settings, Model, PREFIX, ...) \
    {                                               \
        const char* const section = #name;          \
        WW_##PREFIX##_SETTINGS(WW_ROW)              \
    }
    WW_LOSS_KINDS(WW_LOSS)
#undef WW_LOSS
#define WW_IMPAIRMENT(name, Settings, Class, PREFIX, ...) \
    {                                                     \
        const char* const section = #name;                \
        WW_##PREFIX##_SETTINGS(WW_ROW)                    \
    }
    WW_IMPAIRMENT_KINDS(WW_IMPAIRMENT)
#undef WW_IMPAIRMENT
#undef WW_ROW
#undef WW_ENGINE_ROW
#undef WW_ROW_OF
    return rows;
}

using Pair = std::pair<std::string, std::string>;
using Column = std::vector<std::string>;  // name, unit, what it is

nb::list queues() {
    nb::list rows;
    const auto add = [&](const std::array<const char*, 5>& words, bool held,
                         std::vector<std::string> obeyed, std::vector<Pair> rising,
                         std::vector<std::string> positive, std::vector<Column> columns) {
        nb::dict row;
        constexpr std::array kWords = {"name", "title", "ns2", "ns3", "kernel"};
        for (std::size_t i = 0; i < kWords.size(); i++) row[kWords[i]] = words[i];
        row["holds"] = held;
        row["obeyed"] = obeyed;
        row["rising"] = rising;
        row["positive"] = positive;
        row["columns"] = nb::cast(columns);
        rows.append(row);
    };
#define WW_RISING(kind, lesser, greater) Pair{#lesser, #greater},
#define WW_POSITIVE(kind, setting) #setting,
#define WW_COLUMN(name, unit, what) Column{#name, unit, what},
#define WW_OBEYED(kind, setting, attribute) #setting,
#define WW_QUEUE(name, Settings, Queue, PREFIX, title, ns2, ns3, kernel)                    \
    add({#name, title, ns2, ns3, kernel}, Queue::kHolds, {WW_##PREFIX##_KERNEL(WW_OBEYED)}, \
        {WW_##PREFIX##_RISING(WW_RISING)}, {WW_##PREFIX##_POSITIVE(WW_POSITIVE)},           \
        {WW_##PREFIX##_COLUMNS(WW_COLUMN)});
    WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE
#undef WW_OBEYED
#undef WW_COLUMN
#undef WW_POSITIVE
#undef WW_RISING
    return rows;
}

nb::list losses() {
    nb::list rows;
    const auto add = [&](const char* name, const char* title, bool counts) {
        nb::dict row;
        row["name"] = name;
        row["title"] = title;
        row["counts"] = counts;
        rows.append(row);
    };
#define WW_LOSS(name, Settings, Model, PREFIX, title) add(#name, title, Model::kCounts);
    WW_LOSS_KINDS(WW_LOSS)
#undef WW_LOSS
    return rows;
}

std::vector<Pair> impairments() {
#define WW_IMPAIRMENT(name, Settings, Class, PREFIX, title) Pair{#name, title},
    return {WW_IMPAIRMENT_KINDS(WW_IMPAIRMENT)};
#undef WW_IMPAIRMENT
}

// The settings of each application, as a list of its own: they are no fields of the engine's objects.
nb::list applications() {
    nb::list rows;
    const std::vector<std::string> spreads = {WW_SPREADS(WW_NAME_OF)};
    const auto add = [&](const char* kind, const char* what,
                         const std::vector<SettingRow>& settings) {
        nb::list listed;
        for (const SettingRow& setting : settings) {
            nb::dict described_setting = described(setting, 0);
            if (setting.kind == std::string("SPREAD"))
                described_setting["choices"] = nb::cast(spreads);
            listed.append(described_setting);
        }
        nb::dict row;
        row["kind"] = kind;
        row["what"] = what;
        row["settings"] = listed;
        rows.append(row);
    };
#define WW_ROW(kind, name, member, fallback, least, most, what, why) \
    SettingRow{"app",                                                \
               #name,                                                \
               #name,                                                \
               #kind,                                                \
               number(static_cast<WW_ENGINE_TYPE_##kind>(fallback)), \
               number(static_cast<WW_ENGINE_TYPE_##kind>(least)),    \
               number(static_cast<WW_ENGINE_TYPE_##kind>(most)),     \
               what,                                                 \
               why},
#define WW_APP(kind, PREFIX, what) add(kind, what, {WW_##PREFIX##_APP_SETTINGS(WW_ROW)});
    WW_APPLICATIONS(WW_APP)
#undef WW_APP
#undef WW_ROW
    return rows;
}

std::vector<Pair> app_settings_together() {
#define WW_ROW(key, other) Pair{#key, #other},
    return {WW_APP_SETTINGS_TOGETHER(WW_ROW)};
#undef WW_ROW
}

std::vector<Pair> in_order(const std::string& section) {
#define WW_ROW(lesser, greater) Pair{#lesser, #greater},
    if (section == "cc") return {WW_SETTINGS_IN_ORDER(WW_ROW)};
    return {WW_FLOW_SETTINGS_IN_ORDER(WW_ROW)};
#undef WW_ROW
}

nb::dict column_row(const char* name, const char* type, const char* aggregate, const char* unit,
                    const char* title, const char* head, const char* what) {
    nb::dict row;
    row["name"] = name;
    row["type"] = type;
    row["aggregate"] = aggregate;
    row["unit"] = unit;
    row["title"] = title;
    row["head"] = head;
    row["what"] = what;
    return row;
}

#define WW_ROW(type, name, aggregate, unit, title, head, what) \
    column_row(#name, #type, #aggregate, unit, title, head, what),
std::vector<nb::dict> flow_columns() { return {WW_FLOW_COLUMNS(WW_ROW)}; }
std::vector<nb::dict> message_columns() { return {WW_MESSAGE_COLUMNS(WW_ROW)}; }
std::vector<nb::dict> direction_columns() { return {WW_DIRECTION_COLUMNS(WW_ROW)}; }
#undef WW_ROW

// The numpy types of the trace's columns.
#define WW_NUMPY_SECONDS "float64"
#define WW_NUMPY_NUMBER "float64"
#define WW_NUMPY_CODE "uint8"
#define WW_NUMPY_SIZE "uint32"
#define WW_ROW(type, name, what) {#name, WW_NUMPY_##type},
using TraceColumns = std::initializer_list<std::pair<const char*, const char*>>;
constexpr TraceColumns kWindowColumns = {WW_WINDOW_COLUMNS(WW_ROW)};
constexpr TraceColumns kQueueColumns = {WW_QUEUE_COLUMNS(WW_ROW)};
constexpr TraceColumns kStateColumns = {WW_STATE_COLUMNS(WW_ROW)};
constexpr TraceColumns kDropColumns = {WW_DROP_COLUMNS(WW_ROW)};
#undef WW_ROW

nb::dict trace_columns(TraceColumns columns) {
    nb::dict types;
    for (const auto& [name, type] : columns) types[name] = type;
    return types;
}

}  // namespace

void bind_catalogue(nb::module_& m) {
    // Dictionaries, to which westwood/control/catalogue.py gives types.
    m.attr("PROTOCOLS") = protocols();
    m.attr("HOST_REPORTS") = host_reports();
    m.attr("SHOWN") = shown();
    m.attr("PROTOCOL_IDS") = protocol_ids();
    m.attr("RECOVERIES") = recoveries();
    m.attr("QUEUES") = queues();
    m.attr("LOSSES") = losses();
    m.attr("IMPAIRMENTS") = nb::cast(impairments());
    m.attr("SETTINGS") = settings();
    m.attr("APPLICATIONS") = applications();
    m.attr("APP_SETTINGS_TOGETHER") = nb::cast(app_settings_together());
    m.attr("FLOW_COLUMNS") = nb::cast(flow_columns());
    m.attr("MESSAGE_COLUMNS") = nb::cast(message_columns());
    m.attr("DIRECTION_COLUMNS") = nb::cast(direction_columns());
    m.attr("WINDOW_COLUMNS") = trace_columns(kWindowColumns);
    m.attr("QUEUE_COLUMNS") = trace_columns(kQueueColumns);
    m.attr("STATE_COLUMNS") = trace_columns(kStateColumns);
    m.attr("DROP_COLUMNS") = trace_columns(kDropColumns);
    m.attr("LONGEST_PS") = kLongest;
    m.attr("FASTEST_BPS") = kFastest;
    m.attr("OPPORTUNITY_BYTES") = Opportunities::kBytes;
#define WW_NAME(name) #name,
    m.attr("SETTINGS_OF_SACK") =
        nb::cast(std::vector<std::string>{WW_FLOW_SETTINGS_OF_SACK(WW_NAME)});
#undef WW_NAME
    m.attr("STAMPED_HEADER") = kStampedHeader;
    m.def(
        "settings_in_order", &in_order, "section"_a,
        "Pairs of settings of a section (cc, flow) of which the first must not exceed the second.");
}

}  // namespace ww::bindings
