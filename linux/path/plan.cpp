// SPDX-License-Identifier: GPL-2.0-only
#include "plan.hpp"

#include <charconv>
#include <functional>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "../../engine/validate.hpp"

namespace ww::path {
namespace {

using sim::kNever;
using sim::kUnlimited;
using Words = std::vector<std::string>;

constexpr std::uint32_t kMaxParts = 1u
                                    << 16;  // links or flows: an address has 16 bits for the flow

// Reads the words of a statement behind its name, one after the other.
class Arguments {
  public:
    explicit Arguments(const Words& words) : words_(words) {}

    const std::string& word() {
        if (next_ == words_.size()) throw PlanError("too few words");
        return words_[next_++];
    }

    template <class Number>
    void into(Number& number) {
        const std::string& text = word();
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc() || end != text.data() + text.size())
            throw PlanError("expected a number, not " + text);
    }

    void into(bool& flag) {
        const std::string& text = word();
        if (text != "0" && text != "1") throw PlanError("expected 0 or 1, not " + text);
        flag = text == "1";
    }

    // Reads a number, where -1 means `unlimited`.
    template <class Number>
    void into(Number& number, Number unlimited) {
        std::int64_t value = 0;
        into(value);
        if (!std::in_range<Number>(value) && value != -1) throw PlanError("number out of range");
        number = value == -1 ? unlimited : static_cast<Number>(value);
    }

    void into(sim::Spread& spread) {
        const std::string& text = word();
        if (text != "fixed" && text != "exponential")
            throw PlanError("expected fixed or exponential, not " + text);
        spread = text == "fixed" ? sim::Spread::fixed : sim::Spread::exponential;
    }

    void into(std::vector<std::uint64_t>& numbers) {
        while (next_ < words_.size()) into(numbers.emplace_back());
    }

    template <class... Fields>
    void all(Fields&... fields) {
        (into(fields), ...);
    }

    void done() const {
        if (next_ != words_.size()) throw PlanError("too many words");
    }

  private:
    const Words& words_;
    std::size_t next_ = 1;  // after the statement's name
};

void read_loss(Arguments& words, sim::Loss& loss) {
    const std::string& kind = words.word();
    if (kind == "none") return;
    if (kind == "uniform" || kind == "bits") {
        loss.kind = kind == "bits" ? sim::LossKind::bits : sim::LossKind::uniform;
        words.into(loss.rate);
    } else if (kind == "script") {
        loss.kind = sim::LossKind::script;
        words.into(loss.packets);
    } else if (kind == "states") {
        loss.kind = sim::LossKind::states;
        words.all(loss.state_mean[0], loss.state_mean[1], loss.state_rate[0], loss.state_rate[1],
                  loss.state_fixed);
    } else {
        throw PlanError("unknown loss " + kind);
    }
}

void read_datagrams(Arguments& words, sim::Datagrams& source) {
    source.on = true;
    words.into(source.rate_bps);
    words.into(source.on_mean, kNever);
    words.all(source.off_mean, source.spread);
}

template <class Target>
using Statements = std::map<std::string_view, std::function<void(Arguments&, Target&)>>;

const Statements<sim::Direction> kOfDirection = {
    {"rate_bps", [](auto& w, auto& d) { w.into(d.rate_bps); }},
    {"delay_ps", [](auto& w, auto& d) { w.into(d.delay); }},
    {"jitter_ps", [](auto& w, auto& d) { w.into(d.jitter); }},
    {"reorder", [](auto& w, auto& d) { w.all(d.reorder_rate, d.reorder_delay); }},
    {"queue",
     [](auto& w, auto& d) {
         w.into(d.queue_packets, kUnlimited);
         w.into(d.queue_bytes, kUnlimited);
     }},
    {"loss", [](auto& w, auto& d) { read_loss(w, d.loss); }},
    {"red",
     [](auto& w, auto& d) {
         d.red.on = true;
         w.all(d.red.min_packets, d.red.max_packets, d.red.max_p, d.red.weight,
               d.red.mean_packet_bytes, d.red.gentle, d.red.ecn);
     }},
    {"opportunities", [](auto& w, auto& d) { w.into(d.opportunities_ms); }},
};

const Statements<sim::Flow> kOfFlow = {
    {"start_ps", [](auto& w, auto& f) { w.into(f.start); }},
    {"start_spread_ps", [](auto& w, auto& f) { w.into(f.start_spread); }},
    {"stop_ps", [](auto& w, auto& f) { w.into(f.stop, kNever); }},
    {"size_bytes", [](auto& w, auto& f) { w.into(f.size_bytes, kUnlimited); }},
    {"arrivals", [](auto& w, auto& f) { w.all(f.arrivals_mean, f.size_spread); }},
    {"datagrams", [](auto& w, auto& f) { read_datagrams(w, f.datagrams); }},
    {"mss", [](auto& w, auto& f) { w.into(f.mss); }},
    {"header_bytes", [](auto& w, auto& f) { w.into(f.header_bytes); }},
    {"initial_cwnd", [](auto& w, auto& f) { w.into(f.initial_cwnd); }},
    {"receive_window", [](auto& w, auto& f) { w.into(f.receive_window); }},
    {"min_rto_ps", [](auto& w, auto& f) { w.into(f.min_rto); }},
    {"max_rto_ps", [](auto& w, auto& f) { w.into(f.max_rto); }},
    {"delayed_ack", [](auto& w, auto& f) { w.into(f.delayed_ack); }},
    {"dupack_threshold", [](auto& w, auto& f) { w.into(f.dupack_threshold); }},
    {"ecn", [](auto& w, auto& f) { w.into(f.ecn); }},
};

class Reader {
  public:
    Plan plan;

    void statement(const Words& words) {
        Arguments rest(words);
        const std::string& name = words[0];
        if (const auto found = kOfDirection.find(name); found != kOfDirection.end()) {
            if (direction_ == nullptr) throw PlanError("no direction of a link before it");
            found->second(rest, *direction_);
        } else if (const auto of_flow = kOfFlow.find(name); of_flow != kOfFlow.end()) {
            if (plan.network.flows.empty()) throw PlanError("no flow before it");
            of_flow->second(rest, plan.network.flows.back());
        } else {
            other(name, rest);
        }
        rest.done();
    }

  private:
    void other(const std::string& name, Arguments& rest) {
        sim::Network& network = plan.network;
        if (name == "seed") {
            rest.into(plan.seed);
        } else if (name == "duration_ps") {
            rest.into(network.duration);
        } else if (name == "sample_us") {
            std::uint32_t microseconds = 0;
            rest.into(microseconds);
            if (microseconds == 0) throw PlanError("expected more than 0");
            plan.sample = microseconds * sim::kMicrosecond;
        } else if (name == "trace") {
            plan.trace = rest.word();
            network.trace.queues = true;
        } else if (name == "hold") {
            plan.hold = true;
        } else if (name == "nodes") {
            rest.into(network.nodes);
        } else if (name == "link" || name == "flow") {
            part(name, rest);
        } else if (name == "forward" || name == "backward") {
            if (network.links.empty()) throw PlanError("no link before it");
            sim::Link& link = network.links.back();
            direction_ = name == "forward" ? &link.forward : &link.backward;
        } else if (name == "sack") {
            if (plan.sack.empty()) throw PlanError("no flow before it");
            bool on = true;
            rest.into(on);
            plan.sack.back() = on;
        } else {
            throw PlanError("unknown statement " + name);
        }
    }

    void part(const std::string& name, Arguments& rest) {
        sim::Network& network = plan.network;
        if (name == "link") {
            direction_ = nullptr;  // a further link may move the others
            sim::Link& link = network.links.emplace_back();
            rest.all(link.a, link.b, link.overhead_bytes);
        } else {
            sim::Flow& flow = network.flows.emplace_back();
            rest.all(flow.from, flow.to);
            plan.control.push_back(rest.word());
            plan.sack.push_back(true);
        }
        if (network.links.size() > kMaxParts || network.flows.size() > kMaxParts)
            throw PlanError("more than 65536 of them");
    }

    sim::Direction* direction_ = nullptr;
};

}  // namespace

Plan read_plan(std::istream& text) {
    Reader reader;
    std::string line;
    for (std::size_t number = 1; std::getline(text, line); number++) {
        std::istringstream split(line);
        Words words;
        for (std::string word; split >> word;) words.push_back(word);
        if (words.empty()) continue;
        if (words.size() == 1 && words[0] == "end") {
            const std::string problem = sim::validate(reader.plan.network);
            if (!problem.empty()) throw PlanError(problem);
            return std::move(reader.plan);
        }
        try {
            reader.statement(words);
        } catch (const PlanError& error) {
            throw PlanError("line " + std::to_string(number) + ": " + words[0] + ": " +
                            error.what());
        }
    }
    throw PlanError("no line `end`");
}

}  // namespace ww::path
