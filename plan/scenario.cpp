// SPDX-License-Identifier: BSD-3-Clause
#include "scenario.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controls.hpp"
#include "parts.hpp"
#include "routes.hpp"

namespace ww::plan {
namespace {

constexpr std::int64_t kMostAlike = 10'000;  // flows of a group
constexpr std::size_t kLongestName = 40;

// The tables of a list, such as those of [[link]].
std::vector<Section> sections(const Section& scenario, const std::string& key) {
    const Item item = scenario.need(key);
    const std::string expected = "at least one table [[" + key + "]]";
    const List& all = item.list(expected);
    if (all.empty()) item.refuse("expected " + expected);
    std::vector<Section> sections;
    for (const Value& value : all) {
        const auto* table = std::get_if<Table>(&value.is);
        if (table == nullptr) item.refuse("expected tables [[" + key + "]]");
        sections.emplace_back(*table, name_of_part(*table, key, sections.size()));
    }
    return sections;
}

class Reader : public Scenario {
  public:
    explicit Reader(const Section& scenario) : scenario_(scenario) {
        name_of(scenario.need("name"));
        plan.network.duration = time_ps(scenario.need("duration"), 1, sim::kLongest);
        for (const char* key : {"profile", "seeds"}) scenario[key];  // of no run
        read_links();
        read_flows();
        scenario.done();
        set_limits(plan.network, limits_);
        for (const RelativeLimit& limit : limits_)
            limits[limit.link] = plan.network.links[limit.link].forward.queue_packets;
        set_receive_windows(plan.network, without_window_);
        for (const std::size_t table : without_window_)
            windows[table] = plan.network.flows[table].receive_window_bytes;
        repeat_flows();
    }

  private:
    void add_name(const Section& section) {
        const Item item = section.need("name");
        const std::string& name = name_of(item);
        if (!names_.insert(name).second)
            item.refuse("expected a name that no other link or flow has");
    }

    void read_links() {
        for (const Section& section : sections(scenario_, "link")) {
            add_name(section);
            sim::Link& link = plan.network.links.emplace_back();
            read_ends(section, link);
            const Limit limit = read_link(section, link);
            if (limit.is_relative()) limits_.push_back({plan.network.links.size() - 1, limit});
        }
        plan.network.nodes = static_cast<std::uint32_t>(nodes_.size());
    }

    // Nodes are counted in the order in which the links name them.
    void read_ends(const Section& section, sim::Link& link) {
        const Item between = section.need("between");
        const List& ends = between.list("the names of two nodes");
        if (ends.size() != 2) between.refuse("expected the names of two nodes");
        for (const auto& [end, node] :
             {std::pair(&ends[0], &link.a), std::pair(&ends[1], &link.b)}) {
            const std::string& name = name_of({section, "between", end});
            *node = nodes_.emplace(name, static_cast<std::uint32_t>(nodes_.size())).first->second;
            if (*node == order_.size()) order_.push_back(name);
        }
        if (link.a == link.b) between.refuse("expected two different nodes");
    }

    std::uint32_t node_of(const Item& item) const {
        const auto node = nodes_.find(name_of(item));
        if (node != nodes_.end()) return node->second;
        item.refuse("no link has this node, " +
                    suggestion(item.text(""), {order_.begin(), order_.end()}));
    }

    // Reads each table as one flow.
    void read_flows() {
        for (const Section& section : sections(scenario_, "flow")) {
            add_name(section);
            sim::Flow& flow = plan.network.flows.emplace_back();
            flow.from = node_of(section.need("from"));
            const Item to = section.need("to");
            flow.to = node_of(to);
            if (flow.from == flow.to) to.refuse("expected another node than the flow comes from");
            const Item count = section["count"];
            counts_.push_back(count ? static_cast<std::size_t>(count.whole(1, kMostAlike)) : 1);
            plan.protocols.push_back(read_flow(section, flow));
            section.done();
            if (flow.start >= plan.network.duration)
                section["start"].refuse("expected less than the duration");
            if (!section["receive_window"] && !flow.datagrams.on)
                without_window_.push_back(counts_.size() - 1);
            flows.push_back(section["name"].text(""));
        }
    }

    // Makes of each table as many flows as its `count` says.
    void repeat_flows() {
        const sim::Flows read = std::exchange(plan.network.flows, {});
        const std::vector<ww_protocol> protocols = std::exchange(plan.protocols, {});
        const std::vector<std::string> names = std::exchange(flows, {});
        for (std::size_t table = 0; table < read.size(); table++) {
            const std::size_t count = counts_[table], end = flows.size() + count;
            const ww_config& cc = read[table].cc;
            plan.network.flows.resize(end, read[table]);
            plan.protocols.resize(end, protocols[table]);
            plan.controls.resize(end, cc.algorithm == WW_ALG_LOADED ? source_of(*cc.control) : "");
            for (std::size_t i = 1; i <= count; i++)
                flows.push_back(count == 1 ? names[table] : names[table] + "-" + std::to_string(i));
        }
    }

    const Section& scenario_;
    std::set<std::string> names_;
    std::map<std::string, std::uint32_t> nodes_;
    std::vector<std::string> order_;  // of the nodes
    std::vector<RelativeLimit> limits_;
    std::vector<std::size_t> counts_;          // flows of each table
    std::vector<std::size_t> without_window_;  // tables that set no receive_window
};

}  // namespace

const std::string& name_of(const Item& item) {
    static const std::string expected =
        "a name: letters, digits, _, - and +, not starting with a digit";
    const std::string& name = item.text(expected);
    const auto is_letter = [](char character) {
        return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
               character == '_' || character == '-' || character == '+';
    };
    const bool is_right = !name.empty() && name.size() <= kLongestName && is_letter(name[0]) &&
                          std::all_of(name.begin(), name.end(), [&](char character) {
                              return is_letter(character) || (character >= '0' && character <= '9');
                          });
    if (!is_right) item.refuse("expected " + expected);
    return name;
}

std::string name_of_part(const Table& table, const std::string& key, std::size_t place) {
    for (const Entry& entry : table)
        if (const auto* text = std::get_if<std::string>(&entry.value.is);
            text && entry.key == "name")
            return text->substr(0, kLongestName);
    return key + " " + std::to_string(place + 1);
}

sim::Spread spread_of(const Section& section, const char* key, sim::Spread fallback) {
    const Item item = section[key];
#define WW_WORD(id) {#id, sim::Spread::id},
    return item ? item.choice<sim::Spread>({WW_SPREADS(WW_WORD)}) : fallback;
#undef WW_WORD
}

Scenario read_whole(const Table& scenario) { return Reader(Section(scenario, "")); }

wire::Plan read_scenario(const Table& scenario) { return read_whole(scenario).plan; }

}  // namespace ww::plan
