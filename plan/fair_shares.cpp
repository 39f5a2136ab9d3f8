// SPDX-License-Identifier: BSD-3-Clause
#include "fair_shares.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "../engine/base/seconds.hpp"
#include "routes.hpp"

namespace ww::plan {
namespace {

constexpr double kWithout = std::numeric_limits<double>::infinity();  // without a limit
constexpr double kMostWork = 5e7;    // steps of the search; beyond, instants are merged
constexpr std::size_t kFewest = 16;  // instants that are never merged

double share_of_time(sim::Time on, sim::Time off) {
    return off == 0 ? 1 : static_cast<double>(on) / static_cast<double>(on + off);
}

// Returns what a layer of frames sends per frame in the mean.
double mean_frame_bytes(std::int64_t frame, std::int64_t key, std::uint32_t group) {
    const double more = key == 0 ? 0 : static_cast<double>(key - frame) / group;
    return static_cast<double>(frame) + more;
}

double application_limit_bps(const sim::Application& app) {
    switch (app.kind) {
    case sim::ApplicationKind::rate:
        return static_cast<double>(app.rate_bps) * share_of_time(app.on_mean, app.off_mean);
    case sim::ApplicationKind::request:
        if (app.think_mean == 0) break;
        return 8 * static_cast<double>(app.size_bytes) / sim::seconds(app.think_mean);
    case sim::ApplicationKind::video:
        if (app.ladder_bps.empty()) break;
        return static_cast<double>(app.ladder_bps.back());
    case sim::ApplicationKind::media: {
        const sim::MediaFrames& media = app.media;
        return 8 *
               (mean_frame_bytes(media.frame_bytes, media.key_bytes, media.group) +
                mean_frame_bytes(media.upper_bytes, media.upper_key_bytes, media.group)) /
               sim::seconds(media.interval);
    }
    case sim::ApplicationKind::bulk:
    case sim::ApplicationKind::on_off:
        break;
    }
    return kWithout;
}

// Returns what a flow can use at most.
double limit_bps(const sim::Flow& flow, double round_trip_s) {
    if (flow.datagrams.on)
        return static_cast<double>(flow.datagrams.rate_bps) *
               share_of_time(flow.datagrams.on_mean, flow.datagrams.off_mean) * flow.mss() /
               flow.packet_bytes;
    if (flow.arrivals_mean > 0)
        return flow.size_bytes == sim::kUnlimited
                   ? kWithout
                   : 8 * static_cast<double>(flow.size_bytes) / sim::seconds(flow.arrivals_mean);
    const double window_bps =
        round_trip_s > 0 ? 8.0 * flow.receive_window_bytes / round_trip_s : kWithout;
    return std::min(window_bps, application_limit_bps(flow.application));
}

using Active = std::pair<double, double>;

struct Use {
    std::uint32_t channel;
    double cost;  // bits on the channel per bit of goodput
};

// Flows that differ in nothing that decides their share.
struct Alike {
    std::vector<Use> uses;
    double limit_bps;
    double active = 0;      // how many are
    double rate_bps = 0;    // of each that is active
    double total_bits = 0;  // its integral
};

class Shares {
  public:
    explicit Shares(const sim::Network& network) {
        std::vector<Ends> links;
        for (const sim::Link& link : network.links) {
            links.emplace_back(link.a, link.b);
            for (const sim::Direction* direction : {&link.forward, &link.backward})
                capacities_bps_.push_back(capacity_bps(*direction));
        }
        std::vector<Ends> pairs;
        for (const sim::Flow& flow : network.flows) pairs.emplace_back(flow.from, flow.to);
        const std::vector<Route> all_routes = routes(links, pairs);
        std::map<std::tuple<Route, std::uint32_t, std::uint32_t, double>, std::size_t> known;
        for (std::size_t i = 0; i < network.flows.size(); i++) {
            const sim::Flow& flow = network.flows[i];
            double round_trip_s = 0;
            Alike alike = {};
            for (const std::uint32_t channel : all_routes[i]) {
                const sim::Link& link = network.links[channel / 2];
                round_trip_s += sim::seconds(link.forward.delay + link.backward.delay);
                alike.uses.push_back(
                    {channel, (flow.packet_bytes + link.overhead_bytes) / double(flow.mss())});
            }
            alike.limit_bps = limit_bps(flow, round_trip_s);
            const auto [place, is_new] = known.try_emplace(
                {all_routes[i], flow.packet_bytes, flow.mss(), alike.limit_bps}, all_.size());
            if (is_new) all_.push_back(std::move(alike));
            of_flow_.push_back(place->second);
        }
    }

    Alike& alike_of(std::size_t flow) { return all_[of_flow_[flow]]; }

    // Returns a bound on the steps of one search.
    double work() const {
        const auto kinds = static_cast<double>(all_.size());
        return kinds * (kinds + static_cast<double>(capacities_bps_.size()));
    }

    // Sets the rates of the flows that are active: all rise together, until a link is full or a flow has enough.
    void fill() {
        std::vector<double> left_bps = capacities_bps_;
        std::vector<double> load(left_bps.size(), 0);
        std::vector<Alike*> rising;
        for (Alike& alike : all_) {
            if (alike.active == 0) continue;
            rising.push_back(&alike);
            for (const Use& use : alike.uses) load[use.channel] += alike.active * use.cost;
        }
        double level_bps = 0;
        while (!rising.empty()) {
            double rise_bps = kWithout;
            for (const Alike* alike : rising)
                rise_bps = std::min(rise_bps, alike->limit_bps - level_bps);
            std::vector<bool> is_full(left_bps.size(), false);
            for (std::size_t i = 0; i < load.size(); i++)
                if (load[i] > 0) rise_bps = std::min(rise_bps, left_bps[i] / load[i]);
            for (std::size_t i = 0; i < load.size(); i++)
                if (load[i] > 0) is_full[i] = left_bps[i] / load[i] <= rise_bps * (1 + kEqual);
            if (!std::isfinite(rise_bps)) return;
            level_bps += rise_bps;
            for (std::size_t i = 0; i < load.size(); i++)
                left_bps[i] = std::max(0.0, left_bps[i] - rise_bps * load[i]);
            const auto stays = [&](Alike* alike) {
                const bool stops =
                    alike->limit_bps <= level_bps * (1 + kEqual) ||
                    std::any_of(alike->uses.begin(), alike->uses.end(),
                                [&](const Use& use) { return is_full[use.channel]; });
                if (!stops) return true;
                alike->rate_bps = level_bps;
                for (const Use& use : alike->uses) load[use.channel] -= alike->active * use.cost;
                return false;
            };
            rising.erase(std::stable_partition(rising.begin(), rising.end(), stays), rising.end());
            // What rounding leaves of a load that has gone would fill its link.
            for (std::size_t i = 0; i < load.size(); i++)
                if (is_full[i]) load[i] = 0;
        }
    }

    // Lets time pass.
    void pass(double time_s) {
        for (Alike& alike : all_)
            if (alike.active > 0) alike.total_bits += alike.rate_bps * time_s;
    }

  private:
    static constexpr double kEqual = 1e-9;  // rates that differ by less are equal

    static double capacity_bps(const sim::Direction& direction) {
        const double rate_bps = mean_rate_bps(direction);
        return direction.policer
                   ? std::min(rate_bps, static_cast<double>(direction.policer->rate_bps))
                   : rate_bps;
    }

    std::vector<double> capacities_bps_;  // by channel
    std::vector<Alike> all_;
    std::vector<std::size_t> of_flow_;
};

// Returns the times at which a flow begins or ends, or so many of them that the search stays short.
std::vector<double> instants(const std::vector<Active>& active, double work) {
    std::vector<double> all;
    for (const auto& [from_s, to_s] : active) {
        if (!(from_s < to_s)) continue;
        all.push_back(from_s);
        all.push_back(to_s);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    const std::size_t most = std::max(kFewest, static_cast<std::size_t>(kMostWork / work));
    if (all.size() <= most) return all;
    std::vector<double> fewer;
    for (std::size_t i = 0; i < most; i++) fewer.push_back(all[i * (all.size() - 1) / (most - 1)]);
    return fewer;
}

}  // namespace

std::vector<double> fair_shares_bps(const sim::Network& network,
                                    const std::vector<std::pair<double, double>>& active) {
    Shares shares(network);
    const std::vector<double> at_s = instants(active, shares.work());
    const auto place = [&](double time_s) {
        return static_cast<std::size_t>(std::lower_bound(at_s.begin(), at_s.end(), time_s) -
                                        at_s.begin());
    };
    std::vector<std::vector<std::size_t>> begin(at_s.size()), end(at_s.size());
    std::vector<double> rates_bps(active.size(), std::nan("")), since_bits(active.size());
    for (std::size_t i = 0; i < active.size(); i++) {
        if (!(active[i].first < active[i].second)) continue;
        const std::size_t last = place(active[i].second);  // at least 1, since the first is a start
        begin[std::min(place(active[i].first), last - 1)].push_back(i);
        end[last].push_back(i);
    }
    std::vector<double> since_s(active.size());
    for (std::size_t i = 0; i < at_s.size(); i++) {
        for (const std::size_t flow : end[i]) {
            Alike& alike = shares.alike_of(flow);
            alike.active--;
            rates_bps[flow] = (alike.total_bits - since_bits[flow]) / (at_s[i] - since_s[flow]);
        }
        for (const std::size_t flow : begin[i]) {
            Alike& alike = shares.alike_of(flow);
            alike.active++;
            since_bits[flow] = alike.total_bits;
            since_s[flow] = at_s[i];
        }
        if (i + 1 == at_s.size()) break;
        shares.fill();
        shares.pass(at_s[i + 1] - at_s[i]);
    }
    return rates_bps;
}

}  // namespace ww::plan
