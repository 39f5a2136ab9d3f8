// SPDX-License-Identifier: BSD-3-Clause
//
// Keeps the settings that tests make by hand alive for senders and estimators.
#pragma once

#include "engine/tcp/sender_settings.hpp"

namespace ww::sim::test {

inline const SenderSettings& settings_of(const Flow& flow) {
    static SharedSettings all;
    return all.of(flow);
}

}  // namespace ww::sim::test
