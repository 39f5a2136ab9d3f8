// SPDX-License-Identifier: BSD-3-Clause
//
// Which applications simulate() rejects, and with which message.
#include "engine/validate.hpp"
#include "one_link.hpp"

namespace ww::sim::test {
namespace {

using ApplicationChange = void (*)(Application&);

// Returns the error of a flow whose application of this kind, sound before, was changed.
std::string error_of(ApplicationKind kind, ApplicationChange change, bool arrives = false) {
    Flow flow = tcp(WW_PROTOCOL_CUBIC);
    Application& a = flow.application;
    a.kind = kind;
    a.rate_bps = 1'000'000;
    a.on_mean = a.off_mean = a.think_mean = a.chunk = kSecond;
    a.size_bytes = 1000;
    a.ladder_bps = {1000, 2000};
    a.buffer = 5 * kSecond;
    a.media.interval = kSecond;
    a.media.frame_bytes = 1000;
    change(a);
    if (arrives) {
        flow.size_bytes = 1000;
        flow.arrivals_mean = kSecond;
    }
    Network network = one_link(10'000'000, kMs, kSecond, {flow});
    return validate(network);
}

void change_nothing(Application&) {}

TEST(ValidateApplication, AcceptsSoundOnes) {
    for (const ApplicationKind kind :
         {ApplicationKind::bulk, ApplicationKind::rate, ApplicationKind::on_off,
          ApplicationKind::request, ApplicationKind::video, ApplicationKind::media})
        EXPECT_EQ(error_of(kind, change_nothing), "");
}

TEST(ValidateApplication, RatesAndPeriods) {
    constexpr ApplicationKind kRate = ApplicationKind::rate, kOnOff = ApplicationKind::on_off;
    EXPECT_EQ(error_of(kRate, [](Application& a) { a.rate_bps = 0; }),
              "flow 0: rate must be 1 bit/s to 1 Tbit/s");
    EXPECT_EQ(error_of(kRate, [](Application& a) { a.rate_bps = 1; }), "");
    EXPECT_EQ(error_of(kRate, [](Application& a) { a.bulk = -1; }),
              "flow 0: a bulk phase must last 0 to 26 days");
    EXPECT_EQ(error_of(kRate, [](Application& a) { a.on_mean = kNever; }), "") << "always on";
    const std::string periods =
        "flow 0: an application must be on 1 us or longer, and off at most 26 days";
    EXPECT_EQ(error_of(kRate, [](Application& a) { a.on_mean = 0; }), periods);
    EXPECT_EQ(error_of(kRate, [](Application& a) { a.off_mean = -1; }), periods);
    EXPECT_EQ(error_of(kOnOff, [](Application& a) { a.on_mean = kNever; }), periods);
    EXPECT_EQ(error_of(kOnOff, [](Application& a) { a.off_mean = 0; }), periods);
}

TEST(ValidateApplication, Media) {
    constexpr ApplicationKind kMedia = ApplicationKind::media;
    const std::string apart = "flow 0: frames must be 1 us to 1 hour apart";
    EXPECT_EQ(error_of(kMedia, [](Application& a) { a.media.interval = 0; }), apart);
    EXPECT_EQ(error_of(kMedia, [](Application& a) { a.media.interval = 2 * kHour; }), apart);
    EXPECT_EQ(error_of(kMedia, [](Application& a) { a.media.frame_bytes = 0; }),
              "flow 0: a frame must have 1 byte or more");
    const std::string large = "flow 0: a frame must have at most 1073741824 bytes";
    EXPECT_EQ(error_of(kMedia, [](Application& a) { a.media.upper_bytes = -1; }), large);
    EXPECT_EQ(error_of(kMedia, [](Application& a) { a.media.key_bytes = kUnlimited; }), large);
    EXPECT_EQ(error_of(kMedia, [](Application& a) { a.media.group = 0; }),
              "flow 0: a group must have 1 frame or more");
    EXPECT_EQ(error_of(kMedia, [](Application& a) { a.media.warm_up = -1; }),
              "flow 0: patience and warm-up must be 0 or longer");
}

TEST(ValidateApplication, Requests) {
    constexpr ApplicationKind kRequest = ApplicationKind::request;
    const std::string size = "flow 0: a response must have 1 to 1125899906842624 bytes";
    EXPECT_EQ(error_of(kRequest, [](Application& a) { a.size_bytes = 0; }), size);
    EXPECT_EQ(error_of(kRequest, [](Application& a) { a.size_bytes = kUnlimited; }), size);
    EXPECT_EQ(error_of(kRequest, [](Application& a) { a.think_mean = -1; }),
              "flow 0: a think time must be 0 to 26 days");
}

TEST(ValidateApplication, Videos) {
    constexpr ApplicationKind kVideo = ApplicationKind::video;
    const std::string ladder = "flow 0: a ladder must have ascending rates of 1 bit/s to 1 Tbit/s";
    EXPECT_EQ(error_of(kVideo, [](Application& a) { a.ladder_bps = {}; }), ladder);
    EXPECT_EQ(error_of(kVideo, [](Application& a) { a.ladder_bps = {2, 1}; }), ladder);
    EXPECT_EQ(error_of(kVideo, [](Application& a) { a.ladder_bps = {0}; }), ladder);
    EXPECT_EQ(error_of(kVideo, [](Application& a) { a.ladder_bps = {1, INT64_MAX}; }), ladder);
    const std::string chunk = "flow 0: a chunk must play 1 us to 1 hour";
    EXPECT_EQ(error_of(kVideo, [](Application& a) { a.chunk = 0; }), chunk);
    EXPECT_EQ(error_of(kVideo, [](Application& a) { a.chunk = 2 * kHour; }), chunk);
    EXPECT_EQ(error_of(kVideo, [](Application& a) { a.buffer = a.chunk - 1; }),
              "flow 0: a buffer must have room for a chunk");
}

TEST(ValidateApplication, OnlyOneConnectionHasOne) {
    EXPECT_EQ(error_of(static_cast<ApplicationKind>(9), change_nothing),
              "flow 0: unknown kind of application");
    EXPECT_EQ(error_of(ApplicationKind::rate, change_nothing, true),
              "flow 0: datagrams and connections that arrive have no application");
    EXPECT_EQ(error_of(ApplicationKind::bulk, change_nothing, true), "");
}

}  // namespace
}  // namespace ww::sim::test
