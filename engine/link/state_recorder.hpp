// SPDX-License-Identifier: BSD-3-Clause
//
// Records the columns that a queue's discipline declares: a row whenever one of them has changed.
#pragma once

#include <cmath>
#include <vector>

#include "../base/seconds.hpp"
#include "../network.hpp"

namespace ww::sim {

class StateRecorder {
  public:
    void note(Time now, const AnyDiscipline& discipline) {
        std::size_t column = 0;
        std::visit(
            [&](const auto& any) {
                each_column(any, [&](double value) { note(now, column++, value); });
            },
            discipline);
    }

    void move_to(StateTrace& to, std::vector<std::uint32_t>& channels, std::uint32_t channel) {
        channels.resize(channels.size() + rows_.time_s.size(), channel);
#define WW_ROW(type, name, what) \
    to.name.insert(to.name.end(), rows_.name.begin(), rows_.name.end());
        WW_STATE_COLUMNS(WW_ROW)
#undef WW_ROW
        rows_ = {};
    }

  private:
    void note(Time now, std::size_t column, double value) {
        if (column == last_.size()) last_.push_back(std::nan(""));
        if (last_[column] == value) return;
        last_[column] = value;
        rows_.time_s.push_back(seconds(now));
        rows_.column.push_back(static_cast<std::uint8_t>(column));
        rows_.value.push_back(value);
    }

    StateTrace rows_;
    std::vector<double> last_;  // by column
};

}  // namespace ww::sim
