// SPDX-License-Identifier: BSD-3-Clause
//
// A host reports ACKs and does what the core decides. tests/golden/acks/*.txt are ACKs as they
// arrived at a sender, and the decision on each: the simulator's sender must decide the same again,
// and so must ns-3's socket and the kernel (ww-acks of ns3/, tests/linux/bpf/test_acks.py).
#include <array>

#include "connected.hpp"
#include "golden.hpp"
#include "scripted.hpp"

namespace ww::sim::test {
namespace {

struct Recording {
    const char* label;
    ww_protocol protocol;
    const char* losses;
    Recovery recovery;
    bool of_kernel;

    std::string name() const {
        if (of_kernel) return std::string(label) + "-" + losses;
        return std::string(label) + "-" + name_of(recovery) + "-" + losses;
    }
    Script script() const {
        Script script;
        script.lost = lost();
        script.change = [this](Network& network) {
            Flow& flow = network.flows[0];
            flow.cc = ww_configure(protocol);
            flow.cc.byte_counting = false;
            flow.size_bytes = flow.receive_window_bytes = kSegments * flow.mss();
            if (of_kernel)
                as_in_the_kernel(flow);
            else
                as_in_ns3(flow);
            network.trace.capture_link = 0;
        };
        return script;
    }

  private:
    static constexpr std::uint32_t kSegments = 180;

    std::vector<Transmission> lost() const {
        const std::string what = losses;
        if (what == "timeout") return {{44}, {44, 2}};
        if (what == "four-drops") return {{24}, {60}, {62}, {64}};
        if (what == "one-drop") return {{70}};
        std::vector<Transmission> tail;  // nothing comes back from it, so the timer decides
        for (std::int64_t segment = kSegments - 15; segment < kSegments; segment++)
            tail.push_back({segment});
        return tail;
    }
    static void as_in_ns3(Flow& flow) {
        flow.cc.validate_cwnd = false;       // ns-3 has no RFC 7661
        flow.flight_excludes_sacked = true;  // and halves its pipe
    }
    static void as_in_the_kernel(Flow& flow) {
        flow.cc.batched_acks = true;
        flow.cc.validate_cwnd =
            false;  // it does, but slow start goes on up to twice what was in flight
        flow.initial_ssthresh = WW_SSTHRESH_INFINITE;
        // Its RTO is SRTT + max(4 RTTVAR, 200 ms): the minimum is the variance's, not the sum's.
        flow.min_rto = flow.clock_granularity = kSecond / 5;
    }
};

struct Ack {
    std::int64_t at_us;
    std::int64_t segment;  // the next one expected
    std::vector<std::array<std::int64_t, 2>> sacked;

    std::string text() const {
        std::ostringstream line;
        line << at_us << " " << segment;
        for (const auto& [start, end] : sacked) line << " " << start << "-" << end;
        return line.str();
    }
};

// Lists the ACKs that arrived at the sender.
std::vector<Ack> record(const Recording& recording) {
    const ScriptedRun run(recording.recovery, recording.script());
    std::vector<Ack> acks;
    for (const Captured& packet : run.result().captured) {
        if ((packet.flags & kAck) == 0 || (packet.flags & kBare) != 0) continue;
        const auto segment = [](std::uint32_t number) {
            return static_cast<std::int64_t>((number - 1) / 1000);  // sequence numbers start with 0
        };
        Ack ack{packet.at / kMicrosecond, segment(packet.number), {}};
        for (unsigned i = 0; i < packet.sack_count; i++)
            ack.sacked.push_back({segment(packet.sack[2 * i]), segment(packet.sack[2 * i + 1])});
        acks.push_back(ack);
    }
    return acks;
}

std::vector<Ack> read(const std::string& text) {
    std::istringstream file(text);
    std::vector<Ack> acks;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#') continue;
        std::istringstream words(line.substr(0, line.find('|')));
        Ack ack{};
        words >> ack.at_us >> ack.segment;
        for (std::array<std::int64_t, 2> block{}; words >> block[0];) {
            words.ignore(1, '-');
            words >> block[1];
            ack.sacked.push_back(block);
        }
        acks.push_back(ack);
    }
    return acks;
}

// A sender alone, with its timer and its pacing.
class Replay {
  public:
    explicit Replay(const Recording& recording)
        : network_(changed(recording)),
          sender_(settings_of(network_.flows[0]), network_.flows[0], 0) {
        sender_.on_syn_sent(0);
    }

    // Returns what the sender decided, in the file's format.
    std::string on(const Ack& ack) {
        const Time now = ack.at_us * kMicrosecond;
        while (sender_.established() &&
               std::min(sender_.timer.deadline, sender_.pace.deadline) <= now) {
            const Time due = std::min(sender_.timer.deadline, sender_.pace.deadline);
            if (sender_.pace.deadline == due)
                sender_.pace.deadline = kNever;
            else
                sender_.on_timer(due);
            send(due);
        }
        if (!sender_.established()) {
            sender_.on_syn_ack(now);
        } else {
            SackBlocks blocks;
            for (const auto& [start, end] : ack.sacked)
                blocks.block[blocks.count++] = {sender_.segments().number(start),
                                                sender_.segments().number(end)};
            sender_.on_ack(now, {sender_.segments().number(ack.segment),
                                 blocks.count > 0 ? &blocks : nullptr});
        }
        const std::string decided = decisions(now);
        send(now);
        return decided;
    }

  private:
    static Network changed(const Recording& recording) {
        Network network = scripted_network(recording.recovery);
        recording.script().change(network);
        return network;
    }
    void send(Time now) {
        while (sender_.next_segment(now) >= 0) {
        }
    }
    std::string decisions(Time now) const {
        constexpr std::array<const char*, 4> kPhases = {"open", "disorder", "recovery", "loss"};
        const ww_observation seen = sender_.observe(now);
        std::ostringstream line;
        line << " | " << kPhases.at(sender_.phase()) << " " << sender_.window().cwnd << " "
             << sender_.window().ssthresh << " " << (seen.bandwidth >> WW_BW_FRACTION) << " "
             << (seen.raw >> WW_BW_FRACTION) << " "
             << (seen.rtt_min_us == UINT32_MAX ? 0 : seen.rtt_min_us);
        return line.str();
    }

    Network network_;
    Sender sender_;
};

class ReplayTest : public testing::TestWithParam<Recording> {};

TEST_P(ReplayTest, DecidesAsRecorded) {
    const Recording& recording = GetParam();
    const std::string path = "tests/golden/acks/" + recording.name() + ".txt";
    std::string lines = "# " + recording.name() +
                        ": ACKs, and what a sender decides on each.\n"
                        "# time_us segment sacked... | phase cwnd ssthresh estimate_Bps "
                        "sample_Bps rtt_min_us\n";
    Replay replay(recording);
    for (const Ack& ack : updates_golden() ? record(recording) : read(golden_text(path)))
        lines += ack.text() + replay.on(ack) + "\n";
    expect_golden(path, lines);
}

std::vector<Recording> recordings() {
    std::vector<Recording> all;
    for (const auto& [name, protocol] : {std::pair{"westwood", WW_PROTOCOL_WESTWOOD},
                                         {"westwood+", WW_PROTOCOL_WESTWOOD_PLUS},
                                         {"westwoodnr+", WW_PROTOCOL_WESTWOODNR_PLUS},
                                         {"westwood+-linux", WW_PROTOCOL_WESTWOOD_PLUS_LINUX}})
        for (const Recovery recovery : {Recovery::newreno, Recovery::sack})
            for (const char* losses : {"four-drops", "timeout"})
                all.push_back({name, protocol, losses, recovery, false});
    for (const char* losses : {"four-drops", "timeout"})
        all.push_back({"bbr3", WW_PROTOCOL_BBR3, losses, Recovery::sack, false});
    for (const char* losses : {"one-drop", "tail"}) {
        all.push_back({"ww_westwood", WW_PROTOCOL_WESTWOOD, losses, Recovery::prr, true});
        all.push_back({"ww_plus", WW_PROTOCOL_WESTWOOD_PLUS, losses, Recovery::prr, true});
        all.push_back({"ww_nrplus", WW_PROTOCOL_WESTWOODNR_PLUS, losses, Recovery::prr, true});
        all.push_back({"ww_plus_rh", WW_PROTOCOL_WESTWOOD_PLUS_LINUX24, losses,
                       Recovery::rate_halving, true});
        all.push_back({"ww_cubic", WW_PROTOCOL_WESTWOOD_CUBIC, losses, Recovery::sack, true});
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(Engine, ReplayTest, testing::ValuesIn(recordings()),
                         [](const auto& tested) { return title_of(tested.param.name()); });

}  // namespace
}  // namespace ww::sim::test
