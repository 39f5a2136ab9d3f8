// SPDX-License-Identifier: BSD-3-Clause
//
// The kinds of impairments. A row makes an impairment known to scenarios, plans, bindings, the laboratory and the
// tests over all kinds:
//
//   X(name, settings, class, PREFIX, "title")
//
// `name` is its word everywhere, and the member of a direction with its settings. The kind's file declares
// WW_PREFIX_SETTINGS(X), as in engine/settings.hpp. Impairments act in the order of their rows.
#pragma once

#include "ack_filter.hpp"
#include "aggregation.hpp"
#include "detour.hpp"
#include "policer.hpp"
#include "wifi_jitter.hpp"

#define WW_IMPAIRMENT_KINDS(X)                                          \
    X(policer, Policer, TokenBucket, POLICER, "a policer")              \
    X(ack_filter, AckFilter, AckFiltering, ACK_FILTER, "an ACK filter") \
    X(detour, Detour, Detours, DETOUR, "a detour")                      \
    X(wifi_jitter, WifiJitter, WifiDelays, WIFI_JITTER, "Wi-Fi jitter") \
    X(aggregation, Aggregation, Aggregator, AGGREGATION, "aggregation")
