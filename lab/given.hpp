// SPDX-License-Identifier: BSD-3-Clause
//
// A scenario that a page hands over value by value: it opens a table or a list, gives what is in it, and closes it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "../plan/value.hpp"

namespace ww::lab {

class Given {
  public:
    // Names the value that follows, in a table.
    void key(std::string name) { key_ = std::move(name); }

    void add(plan::Value value) {
        if (open_.empty()) {
            whole_ = std::move(value);
            return;
        }
        plan::Value& within = open_.back().second;
        if (auto* table = std::get_if<plan::Table>(&within.is))
            table->push_back({key_, std::move(value)});
        else
            std::get_if<plan::List>(&within.is)->push_back(std::move(value));
    }

    // A page's numbers are doubles, also the whole ones.
    void add_number(double number) {
        constexpr double kMost = 1e15;
        if (std::abs(number) <= kMost && number == std::floor(number))
            add({static_cast<std::int64_t>(number)});
        else
            add({number});
    }

    void open(plan::Value value) { open_.emplace_back(key_, std::move(value)); }

    void close() {
        auto [name, value] = std::move(open_.back());
        open_.pop_back();
        key_ = std::move(name);
        add(packed(std::move(value)));
    }

    // Returns the scenario, and is then empty.
    plan::Table take() {
        plan::Value given = std::exchange(whole_, {plan::Table()});
        auto* table = std::get_if<plan::Table>(&given.is);
        return table ? std::move(*table) : plan::Table();
    }

  private:
    // A list of whole numbers only becomes Numbers.
    static plan::Value packed(plan::Value value) {
        const auto* list = std::get_if<plan::List>(&value.is);
        if (list == nullptr || list->empty()) return value;
        plan::Numbers numbers;
        for (const plan::Value& item : *list) {
            const auto* number = std::get_if<std::int64_t>(&item.is);
            if (number == nullptr) return value;
            numbers.push_back(*number);
        }
        return {std::move(numbers)};
    }

    plan::Value whole_ = {plan::Table()};
    std::vector<std::pair<std::string, plan::Value>>
        open_;  // with their keys in what encloses them
    std::string key_;
};

}  // namespace ww::lab
