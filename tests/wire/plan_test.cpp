// SPDX-License-Identifier: BSD-3-Clause
//
// wire/plan.hpp turns a plan into its network, and names the line that is wrong.
#include "wire/plan.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "wire/write.hpp"

namespace ww::wire::test {
namespace {

Plan read(const std::string& text) {
    std::istringstream stream(text);
    return read_plan(stream);
}

std::string problem(const std::string& text) {
    try {
        read(text);
    } catch (const PlanError& error) {
        return error.what();
    }
    return "none";
}

const std::string kLink =
    "duration 1000000000000\nnodes 2\nlink 0 1\noverhead_bytes 18\n"
    "forward\nrate_bps 10000000\ndelay 5\nqueue 100 -1\nloss uniform\nuniform.rate 0.25\n"
    "backward\nrate_bps 20000000\ndelay 7\nqueue -1 64000\nloss none\n";
const std::string kFlow = "flow 0 1 cubic\npacket_bytes 1500\nheader_bytes 52\n";

TEST(WirePlan, DescribesTheNetwork) {
    const Plan plan = read(
        kLink + kFlow + "size_bytes 1000\nrecovery prr\nreceive_window_bytes 99999\n" +
        "flow 1 0 udp\ndatagrams 1000000 -1 0 fixed fixed\npacket_bytes 100\nheader_bytes 28\n" +
        "seed 18446744073709551615\nsample_us 500\nhold\nend\n");
    ASSERT_EQ(plan.network.links.size(), 1u);
    const sim::Link& link = plan.network.links[0];
    EXPECT_EQ(link.overhead_bytes, 18u);
    EXPECT_EQ(link.forward.rate_bps, 10'000'000);
    EXPECT_EQ(link.forward.queue_packets, 100);
    EXPECT_EQ(link.forward.queue_bytes, sim::kUnlimited);
    EXPECT_EQ(std::get<sim::Uniform>(link.forward.loss).rate, 0.25);
    EXPECT_EQ(link.forward.queue_kind, sim::QueueKind::droptail);
    EXPECT_EQ(link.backward.delay, 7);
    EXPECT_EQ(link.backward.queue_packets, sim::kUnlimited);
    EXPECT_EQ(link.backward.queue_bytes, 64'000);
    ASSERT_EQ(plan.network.flows.size(), 2u);
    EXPECT_EQ(plan.protocols, (std::vector{WW_PROTOCOL_CUBIC, WW_PROTOCOL_COUNT}));
    EXPECT_EQ(plan.network.flows[0].recovery, sim::Recovery::prr);
    EXPECT_EQ(plan.network.flows[0].size_bytes, 1000);
    EXPECT_EQ(plan.network.flows[0].mss(), 1448u);
    EXPECT_EQ(plan.network.flows[0].stop, sim::kNever);
    EXPECT_TRUE(plan.network.flows[1].datagrams.on);
    EXPECT_EQ(plan.network.flows[1].datagrams.on_mean, sim::kNever);
    EXPECT_EQ(plan.seed, UINT64_MAX);
    EXPECT_EQ(plan.sample, 500 * sim::kMicrosecond);
    EXPECT_TRUE(plan.hold);
    EXPECT_EQ(plan.trace.windows, "");
    EXPECT_FALSE(plan.network.trace.windows || plan.network.trace.queues);
}

TEST(WirePlan, HasEveryApplicationOfTheEngine) {
    const auto application = [](const std::string& words) {
        const Plan plan = read(kLink + kFlow + "application " + words + "\nend\n");
        // What is written reads as the same.
        const std::string text = write_plan(plan);
        EXPECT_NE(text.find("application " + words + "\n"), std::string::npos) << text;
        return plan.network.flows[0].application;
    };
    const sim::Application rate = application("rate 2000000 7 -1 0 fixed");
    EXPECT_EQ(rate.kind, sim::ApplicationKind::rate);
    EXPECT_EQ(rate.rate_bps, 2'000'000);
    EXPECT_EQ(rate.bulk, 7);
    EXPECT_EQ(rate.on_mean, sim::kNever);
    const sim::Application on_off = application("on_off 5 7 exponential");
    EXPECT_EQ(on_off.kind, sim::ApplicationKind::on_off);
    EXPECT_EQ(on_off.on_mean, 5);
    EXPECT_EQ(on_off.off_mean, 7);
    EXPECT_EQ(on_off.spread, sim::Spread::exponential);
    const sim::Application request = application("request 1000 exponential 9 fixed");
    EXPECT_EQ(request.size_bytes, 1000);
    EXPECT_EQ(request.size_spread, sim::Spread::exponential);
    EXPECT_EQ(request.think_mean, 9);
    EXPECT_EQ(request.spread, sim::Spread::fixed);
    const sim::Application video = application("video 4 20 1000 3000");
    EXPECT_EQ(video.chunk, 4);
    EXPECT_EQ(video.buffer, 20);
    EXPECT_EQ(video.ladder_bps, (std::vector<std::int64_t>{1000, 3000}));
    EXPECT_EQ(read(kLink + kFlow + "end\n").network.flows[0].application.kind,
              sim::ApplicationKind::bulk);
    EXPECT_NE(problem(kLink + kFlow + "application mail\nend\n").find(": application: "),
              std::string::npos);
    EXPECT_NE(problem(kLink + kFlow + "application rate 0 0 -1 0 fixed\nend\n"), "none");
}

TEST(WirePlan, HasEveryKindOfLoss) {
    const auto loss = [](const std::string& words) {
        return read(kLink + "forward\nloss " + words + "\n" + kFlow + "end\n")
            .network.links[0]
            .forward.loss;
    };
    for (std::size_t kind = 0; kind < std::size(sim::kLossKinds); kind++)
        EXPECT_EQ(loss(sim::kLossKinds[kind]).index(), kind);
    EXPECT_EQ(std::get<sim::LossList>(loss("script 3 5 8")).packets,
              (std::vector<std::uint64_t>{3, 5, 8}));
    EXPECT_EQ(std::get<sim::Bits>(loss("bits\nbits.rate 0.25")).rate, 0.25);
    EXPECT_EQ(std::get<sim::Markov>(loss("markov\nmarkov.durations fixed")).durations, sim::kFixed);
}

TEST(WirePlan, ASettingOfAnotherKindOfLossIsRefused) {
    EXPECT_THROW(read(kLink + "forward\nloss uniform\nbits.rate 0.1\n" + kFlow + "end\n"),
                 PlanError);
}

TEST(WirePlan, AFlowStartsWithItsProtocolsSettings){
#define WW_CASE(ID, name, ...)                                                                \
    {                                                                                         \
        const Plan plan = read(kLink + "flow 0 1 " + name + "\nend\n");                       \
        const sim::Flow& flow = plan.network.flows[0];                                        \
        EXPECT_EQ(plan.protocols[0], WW_PROTOCOL_##ID) << name;                               \
        const ww_config expected = ww_configure(WW_PROTOCOL_##ID);                            \
        EXPECT_EQ(flow.cc.algorithm, expected.algorithm) << name;                             \
        EXPECT_EQ(flow.cc.filter, expected.filter) << name;                                   \
        EXPECT_EQ(flow.cc.sampler, expected.sampler) << name;                                 \
        const ww_recovery own = ww_recovery_of(WW_PROTOCOL_##ID);                             \
        EXPECT_EQ(static_cast<int>(flow.recovery),                                            \
                  own == WW_RECOVERY_ANY ? static_cast<int>(WW_RECOVERY_NEWRENO) : int{own}); \
    }
    WW_PROTOCOLS(WW_CASE)
#undef WW_CASE
}

TEST(WirePlan, AUsersControlHasItsFileAndItsParameters) {
    const std::string object = "object 0123456789abcdef /a folder/of  mine.so\n";
    const std::string control = "control 0123456789abcdef 3 0 4294967295\n";
    const Plan plan = read(kLink + kFlow + kFlow + control + "cc.min_cwnd 5\n" + object + "end\n");
    EXPECT_EQ(plan.controls, (std::vector<std::string>{"", "0123456789abcdef"}));
    EXPECT_EQ(plan.objects.at("0123456789abcdef"), "/a folder/of  mine.so");
    const ww_config& cc = plan.network.flows[1].cc;
    EXPECT_EQ(cc.algorithm, WW_ALG_LOADED);
    EXPECT_EQ(cc.min_cwnd, 5);
    EXPECT_EQ((std::vector(cc.own, cc.own + 4)), (std::vector<std::uint32_t>{3, 0, UINT32_MAX, 0}));
    const std::string text = write_plan(plan);
    EXPECT_NE(text.find("\ncontrol 0123456789abcdef 3 0 4294967295 0"), std::string::npos) << text;
    EXPECT_NE(problem(kLink + kFlow + control + "end\n")
                  .find("no statement `object` of the control 0123456789abcdef"),
              std::string::npos);
    EXPECT_NE(problem(kLink + kFlow + "control a 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\nend\n"),
              "none");
    EXPECT_NE(problem(kLink + control + "end\n"), "none");
}

TEST(WirePlan, ATraceMayGoToAFolderWithSpaces) {
    const Plan plan = read(kLink + kFlow + "  trace  /a /dev/fd/7  c \nend\n");
    EXPECT_EQ(plan.trace.windows + "," + plan.trace.queues + "," + plan.trace.drops,
              "/a,/dev/fd/7,c");
    EXPECT_TRUE(plan.network.trace.windows && plan.network.trace.queues);
}

TEST(WirePlan, TheLastOfTwoStatementsCounts) {
    const Plan plan = read(kLink + kFlow + "packet_bytes 600\nforward\ndelay 9\nend\n");
    EXPECT_EQ(plan.network.flows[0].packet_bytes, 600u);
    EXPECT_EQ(plan.network.links[0].forward.delay, 9);
}

TEST(WirePlan, RejectsInvalidTextByLine) {
    EXPECT_EQ(problem(""), "no line `end`");
    EXPECT_EQ(problem("nodes 2\nhop 3\nend\n"), "line 2: hop: unknown statement");
    EXPECT_EQ(problem("nodes\nend\n"), "line 1: nodes: too few words");
    EXPECT_EQ(problem("nodes 2 3\nend\n"), "line 1: nodes: too many words");
    EXPECT_EQ(problem("nodes two\nend\n"), "line 1: nodes: expected a number, not two");
    EXPECT_EQ(problem("nodes 2.5\nend\n"), "line 1: nodes: expected a number, not 2.5");
    EXPECT_EQ(problem("nodes 99999999999\nend\n"),
              "line 1: nodes: expected 0 to 1048576, not 99999999999");
    EXPECT_EQ(problem("link 0 1\nend\n"), "line 1: link: no two nodes before it");
    EXPECT_EQ(problem("nodes 2\nlink 0 5\nend\n"), "line 2: link: expected 0 to 1, not 5");
    EXPECT_EQ(problem("nodes 2\nlink 0 0\nend\n"), "line 2: link: expected two different nodes");
    EXPECT_EQ(problem("forward\nend\n"), "line 1: forward: no link before it");
    EXPECT_EQ(problem("overhead_bytes 5\nend\n"), "line 1: overhead_bytes: no link before it");
    EXPECT_EQ(problem("rate_bps 5000\nend\n"),
              "line 1: rate_bps: no direction of a link before it");
    EXPECT_EQ(problem("delayed_ack 1\nend\n"), "line 1: delayed_ack: no flow before it");
    EXPECT_EQ(problem("cc.m 10\nend\n"), "line 1: cc.m: no flow before it");
    EXPECT_EQ(problem("sample_us 0\nend\n"), "line 1: sample_us: expected 1 to 3600000000, not 0");
    const std::string fire = problem(kLink + "loss fire\nend\n");
    EXPECT_EQ(fire.rfind("line 16: loss: expected one of none, uniform, bits, ", 0), 0u) << fire;
    EXPECT_EQ(problem(kLink + "loss uniform\nuniform.rate nan\nend\n"),
              "line 17: uniform.rate: expected 0 to 1, not nan");
    EXPECT_EQ(problem(kLink + kFlow + "ecn 2\nend\n"), "line 19: ecn: expected 0 or 1, not 2");
    EXPECT_EQ(problem(kLink + kFlow + "recovery luck\nend\n"),
              "line 19: recovery: expected one of tahoe, reno, newreno, sack, rate-halving, prr, "
              "not luck");
    EXPECT_EQ(problem(kLink + kFlow + "end 1\n"), "line 19: end: too many words");
    EXPECT_EQ(problem("nodes 2\nend\n"), "line 2: end: no statement `duration`");
    EXPECT_EQ(problem(kLink + "flow 0 1 udp\nend\n"),
              "line 17: end: flow 0: expected datagrams of udp, and of no other protocol");
    EXPECT_EQ(problem(kLink + kFlow + "datagrams 1000 -1 0 fixed fixed\nend\n"),
              "line 20: end: flow 0: expected datagrams of udp, and of no other protocol");
}

// Every declared setting is read into its own member, over its whole range, and refused outside it.
const std::string kBefore = kLink + "flow 0 1 westwood\n";  // about a flow, a link or a direction

Plan plan_with(const std::string& statement) { return read(kBefore + statement + "\nend\n"); }

bool is_refused(const std::string& statement) {
    return problem(kBefore + statement + "\nend\n") != "none";
}

template <class Number>
std::string shown(Number value) {
    std::ostringstream text;
    text.precision(19);
    text << value;
    return text.str();
}

// `member` returns the setting's member in a plan.
template <class Member, class Value>
void expect_read(const std::string& name, const std::string& word, Value value, Member member) {
    EXPECT_EQ(member(plan_with(name + " " + word)), value) << name << " " << word;
}

template <class Member, class Least, class Most>
void expect_bounds(const std::string& name, Least least, Most most, Member member) {
    expect_read(name, shown(least), least, member);
    expect_read(name, shown(most), most, member);
    EXPECT_TRUE(is_refused(name + " " + shown(most + 1))) << name;
    EXPECT_TRUE(is_refused(name + " -2")) << name;
    EXPECT_TRUE(is_refused(name + " " + shown(least) + " 0")) << name;
    EXPECT_TRUE(is_refused(name)) << name;
}

#define WW_EXPECT_NUMBER(name, setting, least, most, member) \
    expect_bounds(name, least, most, member)
#define WW_EXPECT_OR(name, least, most, member, word, none) \
    expect_bounds(name, least, most, member);               \
    expect_read(name, word, none, member)
#define WW_EXPECT_SWITCH(name, setting, least, most, member) \
    expect_read(name, "0", false, member);                   \
    expect_read(name, "1", true, member);                    \
    EXPECT_TRUE(is_refused(std::string(name) + " 2"))
#define WW_EXPECT_WORD(id, word) expect_read(name, word, id, member);
#define WW_EXPECT_CHOICE(statement, setting, least, most, get)                     \
    {                                                                              \
        const std::string name = statement;                                        \
        const auto member = get;                                                   \
        WW_CHOICES_##setting(WW_EXPECT_WORD) EXPECT_TRUE(is_refused(name + " 1")); \
    }
#define WW_EXPECT_COUNT WW_EXPECT_NUMBER
#define WW_EXPECT_SPAN WW_EXPECT_NUMBER
#define WW_EXPECT_SHARE WW_EXPECT_NUMBER
#define WW_EXPECT_PACKETS WW_EXPECT_NUMBER
#define WW_EXPECT_RATE WW_EXPECT_NUMBER
#define WW_EXPECT_TIME WW_EXPECT_NUMBER
#define WW_EXPECT_BYTES WW_EXPECT_NUMBER
#define WW_EXPECT_SEGMENTS WW_EXPECT_NUMBER
#define WW_EXPECT_COUNT_OR_NONE(name, setting, least, most, member) \
    WW_EXPECT_OR(name, least, most, member, "0", 0)
#define WW_EXPECT_FACTOR_OR_NONE WW_EXPECT_COUNT_OR_NONE
#define WW_EXPECT_TIME_OR_NEVER(name, setting, least, most, member) \
    WW_EXPECT_OR(name, least, most, member, "-1", sim::kNever)
#define WW_EXPECT_SIZE_OR_ALL(name, setting, least, most, member) \
    WW_EXPECT_OR(name, least, most, member, "-1", sim::kUnlimited)
#define WW_EXPECT_SSTHRESH(name, setting, least, most, member) \
    WW_EXPECT_OR(name, least, most, member, "-1", WW_SSTHRESH_INFINITE)

// Expects all this of a row of the declarations whose member belongs to object `o` of a plan.
#define WW_EXPECT(prefix, kind, setting, field, least, most, o)        \
    WW_EXPECT_##kind(prefix WW_READ_TEXT(field), setting, least, most, \
                     [](const Plan& plan) { return plan.network.o.field; });

#define WW_OF_FLOW(kind, setting, fallback, least, most, ...) \
    WW_EXPECT("", kind, setting, WW_ENGINE_FIELD(kind, setting), least, most, flows[0])
#define WW_OF_LINK(kind, setting, fallback, least, most, ...) \
    WW_EXPECT("", kind, setting, WW_ENGINE_FIELD(kind, setting), least, most, links[0])
#define WW_OF_DIRECTION(kind, setting, fallback, least, most, ...) \
    WW_EXPECT("", kind, setting, WW_ENGINE_FIELD(kind, setting), least, most, links[0].backward)
#define WW_OF_CONTROL(kind, setting, fallback, least, most, ...) \
    WW_EXPECT("cc.", kind, setting, WW_FIELD(kind, setting), least, most, flows[0].cc)

TEST(WirePlanSettings, OfFlowsAndLinksAreReadWithinTheirBounds) {
    using namespace sim;
    WW_FLOW_SETTINGS(WW_OF_FLOW)
    WW_LINK_SETTINGS(WW_OF_LINK)
    WW_DIRECTION_SETTINGS(WW_OF_DIRECTION)
    WW_SETTINGS(WW_OF_CONTROL)
}

TEST(WirePlanSettings, OfAQueueAreReadWithinTheirBounds) {
    using namespace sim;
#define WW_ROW(kind, setting, fallback, least, most, ...)                                  \
    WW_EXPECT_##kind(                                                                      \
        prefix + WW_READ_TEXT(WW_ENGINE_FIELD(kind, setting)), setting, least, most,       \
        [=](const Plan& plan) {                                                            \
            return (plan.network.links[0].backward.*queue).WW_ENGINE_FIELD(kind, setting); \
        });
#define WW_QUEUE(name, Settings, Queue, PREFIX, ...)         \
    {                                                        \
        const std::string prefix = #name ".";                \
        Settings Direction::*const queue = &Direction::name; \
        WW_##PREFIX##_SETTINGS(WW_ROW)                       \
    }
    WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE
#undef WW_ROW
    const sim::Link link = plan_with("red.min_packets 3").network.links[0];
    EXPECT_EQ(link.backward.queue_kind, sim::QueueKind::red);
    EXPECT_EQ(link.forward.queue_kind, sim::QueueKind::droptail);
}

TEST(WirePlanSettings, OfALossAreReadWithinTheirBounds) {
    using namespace sim;
#define WW_ROW(kind, setting, fallback, least, most, ...)                                         \
    WW_EXPECT_##kind(prefix + WW_READ_TEXT(WW_ENGINE_FIELD(kind, setting)), setting, least, most, \
                     [](const Plan& plan) {                                                       \
                         const Loss& loss = plan.network.links[0].backward.loss;                  \
                         return std::get<Settings>(loss).WW_ENGINE_FIELD(kind, setting);          \
                     });
#define WW_LOSS(name, Type, Model, PREFIX, ...)                  \
    {                                                            \
        using Settings = Type;                                   \
        const std::string prefix = "loss " #name "\n" #name "."; \
        WW_##PREFIX##_SETTINGS(WW_ROW)                           \
    }
    WW_LOSS_KINDS(WW_LOSS)
#undef WW_LOSS
#undef WW_ROW
}

TEST(WirePlanSettings, ChangesOfTheDelayAreATimeAndADelayEach) {
    const sim::DelayChanges changes =
        plan_with("delays 900 5 70 60 0").network.links[0].backward.delay_changes;
    EXPECT_EQ(changes.period, 900);
    EXPECT_EQ(changes.at, std::vector<sim::Time>({5, 60}));
    EXPECT_EQ(changes.delays, std::vector<sim::Time>({70, 0}));
    EXPECT_THROW(plan_with("delays 900 5"), PlanError);
    EXPECT_THROW(plan_with("delays 900 5 -1"), PlanError);
}

TEST(WirePlanSettings, OfAnImpairmentAreReadWithinTheirBounds) {
    using namespace sim;
#define WW_ROW(kind, setting, fallback, least, most, ...)                                         \
    WW_EXPECT_##kind(prefix + WW_READ_TEXT(WW_ENGINE_FIELD(kind, setting)), setting, least, most, \
                     [=](const Plan& plan) {                                                      \
                         const Direction& direction = plan.network.links[0].backward;             \
                         return (direction.*member)->WW_ENGINE_FIELD(kind, setting);              \
                     });
#define WW_IMPAIRMENT(name, Settings, Class, PREFIX, ...)                    \
    {                                                                        \
        const std::string prefix = #name ".";                                \
        std::optional<Settings> Direction::*const member = &Direction::name; \
        WW_##PREFIX##_SETTINGS(WW_ROW)                                       \
    }
    WW_IMPAIRMENT_KINDS(WW_IMPAIRMENT)
#undef WW_IMPAIRMENT
#undef WW_ROW
    const sim::Link link = plan_with("policer.burst_bytes 3").network.links[0];
    EXPECT_TRUE(link.backward.policer && !link.forward.policer);
}

}  // namespace
}  // namespace ww::wire::test
