// SPDX-License-Identifier: BSD-3-Clause
//
// A statement of a plan: its name and the words after it, which are taken one by one.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace ww::wire {

// Thrown if the text is not a valid plan; the message names the line.
struct PlanError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A word and the value it stands for.
template <class Value>
struct Choice {
    const char* word;
    Value value;
};

class Words {
  public:
    explicit Words(std::string line) : line_(std::move(line)) {
        std::istringstream split(line_);
        for (std::string word; split >> word;) words_.push_back(word);
    }

    bool is_empty() const { return words_.empty(); }
    const std::string& name() const { return words_.front(); }
    // Returns whether the statement's name is `prefix` and then `rest`.
    bool is(std::string_view prefix, std::string_view rest) const {
        const std::string_view whole = name();
        return whole.substr(0, prefix.size()) == prefix &&
               whole.substr(std::min(prefix.size(), whole.size())) == rest;
    }
    bool is_more() const { return next_ < words_.size(); }

    const std::string& word() {
        if (!is_more()) throw PlanError("too few words");
        return words_[next_++];
    }

    // Takes the rest of the line, with the spaces in it.
    std::string rest() {
        const std::string& first = word();
        const std::size_t place = line_.find(first, line_.find(words_[next_ - 2]) + 1);
        next_ = words_.size();
        return line_.substr(place);
    }

    template <class Number>
    Number number() {
        const std::string& text = word();
        Number number{};
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc() || end != text.data() + text.size())
            throw PlanError("expected a number, not " + text);
        return number;
    }

    void into(bool& flag) {
        const std::string& text = word();
        if (text != "0" && text != "1") throw PlanError("expected 0 or 1, not " + text);
        flag = text == "1";
    }

    // Takes a number from `least` to `most`.
    template <class Field, class Least, class Most>
    void into(Field& field, Least least, Most most) {
        using Wide = std::conditional_t<std::is_floating_point_v<Field>, double, std::int64_t>;
        const auto value = number<Wide>();
        const bool is_within =
            value >= static_cast<Wide>(least) && value <= static_cast<Wide>(most);
        if (!is_within)  // also for NaN
            throw PlanError("expected " + shown(least) + " to " + shown(most) + ", not " +
                            words_[next_ - 1]);
        field = static_cast<Field>(value);
    }

    // The same, but `sign` is also accepted and gives `none`.
    template <class Field, class Least, class Most, class None>
    void into(Field& field, Least least, Most most, int sign, None none) {
        if (is_more() && words_[next_] == std::to_string(sign)) {
            next_++;
            field = static_cast<Field>(none);
        } else {
            into(field, least, most);
        }
    }

    // Takes one of the listed words and stores its value.
    template <class Field>
    void into(Field& field, std::initializer_list<Choice<Field>> choices) {
        const std::string& text = word();
        std::string expected;
        for (const Choice<Field>& choice : choices) {
            if (text == choice.word) {
                field = choice.value;
                return;
            }
            expected += (expected.empty() ? "" : ", ") + std::string(choice.word);
        }
        throw PlanError("expected one of " + expected + ", not " + text);
    }

    void done() const {
        if (is_more()) throw PlanError("too many words");
    }

  private:
    template <class Number>
    static std::string shown(Number number) {
        std::ostringstream text;
        text << number;
        return text.str();
    }

    std::string line_;
    std::vector<std::string> words_;
    std::size_t next_ = 1;  // after the statement's name
};

}  // namespace ww::wire
