// SPDX-License-Identifier: BSD-3-Clause
//
// The applications of a flow, each with its settings. A row makes an application known to plans, scenarios, the guide and
// the laboratory:
//
//   WW_APPLICATIONS(X)         X("kind", PREFIX, "what it sends")
//   WW_PREFIX_APP_SETTINGS(X)  X(kind, key, member of the flow, default, least, most, "what it is", "why that is the
//                              default")
//
// A row without a reason has no default. Kinds are those of engine/settings.hpp, and
//
//   SIZE     a size in bytes that may exceed 4 GiB
//   SPREAD   "fixed" or "exponential"
//   RATES    a list of ascending rates; the laboratory begins with three, each twice the one before
//
// Of the settings of WW_APP_SETTINGS_TOGETHER, a table has both or neither.
#pragma once

#include "settings.hpp"

#define WW_APPLICATIONS(X)                                                   \
    X("bulk", BULK, "as much as it can")                                     \
    X("udp", UDP, "datagrams at a rate")                                     \
    X("rate", RATE, "payload at a rate")                                     \
    X("on-off", ON_OFF, "as much as it can while on, and nothing while off") \
    X("request", REQUEST, "responses, each asked for after a think time")    \
    X("video", VIDEO, "chunks of video, whose rates a player chooses")       \
    X("media", MEDIA, "frames of live media, which arrive in time or late")

#define WW_APP_SETTINGS_TOGETHER(X) X(on, off)

#define WW_PERIODS_OF_AN_APP(X, o)                                                                 \
    X(TIME_OR_NEVER, on, o.on_mean, kNever, kMicrosecond, kLongest, "Mean length of an on period", \
      "It is always on.")                                                                          \
    X(TIME_OR_NEVER, off, o.off_mean, 0, kMicrosecond, kLongest, "Mean length of an off period",   \
      "It is always on.")                                                                          \
    X(SPREAD, durations, o.spread, 0, 0, 1, "Distribution of the periods", "Periods recur.")

#define WW_BULK_APP_SETTINGS(X)
#define WW_UDP_APP_SETTINGS(X)                                                                   \
    X(RATE, rate, datagrams.rate_bps, 1'000'000, 1'000, kFastest, "Rate of IP packets while on", \
      "")                                                                                        \
    WW_PERIODS_OF_AN_APP(X, datagrams)                                                           \
    X(SPREAD, spacing, datagrams.spacing, 0, 0, 1,                                               \
      "Distribution of the gaps between packets; exponential: a Poisson process",                \
      "A constant rate.")
#define WW_RATE_APP_SETTINGS(X)                                                                 \
    X(RATE, rate, application.rate_bps, 1'000'000, 1'000, kFastest, "Rate of payload while on", \
      "")                                                                                       \
    X(TIME, bulk, application.bulk, 0, 0, kHour, "How long it first writes all it can",         \
      "The rate applies at once.")                                                              \
    WW_PERIODS_OF_AN_APP(X, application)
#define WW_ON_OFF_APP_SETTINGS(X)                                                    \
    X(TIME, on, application.on_mean, 2 * kSecond, kMicrosecond, kLongest,            \
      "Mean length of an on period", "")                                             \
    X(TIME, off, application.off_mean, 2 * kSecond, kMicrosecond, kLongest,          \
      "Mean length of an off period", "")                                            \
    X(SPREAD, durations, application.spread, 0, 0, 1, "Distribution of the periods", \
      "Periods recur.")
#define WW_REQUEST_APP_SETTINGS(X)                                                               \
    X(SIZE, size, application.size_bytes, 100'000, 1, kLargestSize, "Payload of a response", "") \
    X(SPREAD, sizes, application.size_spread, 0, 0, 1, "Distribution of the sizes",              \
      "Responses are alike.")                                                                    \
    X(TIME, think, application.think_mean, 0, 0, kHour,                                          \
      "Mean time from a response to the next request", "The next request follows at once.")      \
    X(SPREAD, durations, application.spread, 0, 0, 1, "Distribution of the think times",         \
      "Think times are alike.")
#define WW_VIDEO_APP_SETTINGS(X)                                                                  \
    X(RATES, ladder, application.ladder_bps, 1'000'000, 1'000, kFastest, "Rates to choose from",  \
      "")                                                                                         \
    X(TIME, chunk, application.chunk, 4 * kSecond, kMicrosecond, kHour, "How long a chunk plays", \
      "Typical of adaptive streaming.")                                                           \
    X(TIME_OR_NEVER, buffer, application.buffer, 0, kMicrosecond, kLongest,                       \
      "How much the player keeps at most", "Five chunks.")
#define WW_MEDIA_APP_SETTINGS(X)                                                                \
    X(TIME, interval, application.media.interval, kSecond / 30, kMicrosecond, kHour,            \
      "Time from one frame to the next", "")                                                    \
    X(SIZE, frame, application.media.frame_bytes, 3750, 1, kLargestFrame, "Payload of a frame", \
      "")                                                                                       \
    X(SIZE, key, application.media.key_bytes, 0, 0, kLargestFrame,                              \
      "Payload of a key frame; 0: like the others", "Key frames are like the others.")          \
    X(COUNT, group, application.media.group, 30, 1, 1'000'000,                                  \
      "Frames of a group, of which the first is a key frame", "A second of 30 frames.")         \
    X(SIZE, upper, application.media.upper_bytes, 0, 0, kLargestFrame,                          \
      "Payload of a frame's second layer, which goes after the first; 0: none",                 \
      "Frames have one layer.")                                                                 \
    X(SIZE, upper_key, application.media.upper_key_bytes, 0, 0, kLargestFrame,                  \
      "Payload of a key frame's second layer; 0: like the others",                              \
      "Key frames are like the others.")                                                        \
    X(TIME_OR_NEVER, patience, application.media.patience, kNever, 0, kLongest,                 \
      "Delay of a frame after which the second layer stops until the next group",               \
      "It never stops.")                                                                        \
    X(TIME, warm_up, application.media.warm_up, 0, 0, kLongest,                                 \
      "Frames that are due earlier are not counted", "All frames are counted.")

#define WW_ENGINE_TYPE_SIZE std::int64_t
#define WW_ENGINE_TYPE_SPREAD std::uint8_t
#define WW_ENGINE_TYPE_RATES std::int64_t
