// SPDX-License-Identifier: BSD-3-Clause
//
// The settings of senders and estimators that tests make by hand: they outlive them.
#pragma once

#include "engine/sender_settings.hpp"

namespace ww::sim::test {

inline const SenderSettings& settings_of(const Flow& flow) {
    static SharedSettings all;
    return all.of(flow);
}

}  // namespace ww::sim::test
