// SPDX-License-Identifier: BSD-3-Clause
//
// The words of a plan about what a connection's application writes (plan.hpp).
#pragma once

#include "../engine/network.hpp"
#include "words.hpp"

namespace ww::wire {

inline void read_spread(Words& words, sim::Spread& spread) {
#define WW_WORD(id) {#id, sim::Spread::id},
    words.into(spread, {WW_SPREADS(WW_WORD)});
#undef WW_WORD
}

inline void read_periods(Words& words, sim::Application& o) {
    words.into(o.on_mean, 1, sim::kLongest, -1, sim::kNever);
    words.into(o.off_mean, 0, sim::kLongest);
    read_spread(words, o.spread);
}

inline void read_media(Words& words, sim::MediaFrames& o) {
    words.into(o.interval, sim::kMicrosecond, sim::kHour);
    words.into(o.frame_bytes, 1, sim::kLargestFrame);
    words.into(o.key_bytes, 0, sim::kLargestFrame);
    words.into(o.group, 1, UINT32_MAX);
    words.into(o.upper_bytes, 0, sim::kLargestFrame);
    words.into(o.upper_key_bytes, 0, sim::kLargestFrame);
    words.into(o.patience, 0, sim::kLongest, -1, sim::kNever);
    words.into(o.warm_up, 0, sim::kLongest);
}

inline void read_application(Words& words, sim::Application& o) {
    using sim::ApplicationKind;
#define WW_WORD(id) {#id, ApplicationKind::id},
    words.into(o.kind, {WW_APPLICATION_KINDS(WW_WORD)});
#undef WW_WORD
    if (o.kind == ApplicationKind::rate) {
        words.into(o.rate_bps, 1, sim::kFastest);
        words.into(o.bulk, 0, sim::kLongest);
    }
    if (o.kind == ApplicationKind::rate || o.kind == ApplicationKind::on_off)
        read_periods(words, o);
    if (o.kind == ApplicationKind::request) {
        words.into(o.size_bytes, 1, sim::kLargestSize);
        read_spread(words, o.size_spread);
        words.into(o.think_mean, 0, sim::kLongest);
        read_spread(words, o.spread);
    }
    if (o.kind == ApplicationKind::media) read_media(words, o.media);
    if (o.kind != ApplicationKind::video) return;
    words.into(o.chunk, 1, sim::kHour);
    words.into(o.buffer, 1, sim::kLongest);
    o.ladder_bps.clear();
    while (words.is_more()) words.into(o.ladder_bps.emplace_back(), 1, sim::kFastest);
}

}  // namespace ww::wire
