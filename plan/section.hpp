// SPDX-License-Identifier: BSD-3-Clause
//
// Reads the tables of a scenario. Every value knows where it stands, so an error names its key.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "value.hpp"

namespace ww::plan {

// Thrown for a wrong value; one line with the key, the value and what was expected.
struct Problem : std::invalid_argument {
    Problem(const std::string& place, const std::string& what)
        : std::invalid_argument(place.empty() ? what : place + ": " + what), problem(what) {}

    std::string problem;  // without the key and the value
};

// A word of a scenario and what it stands for.
template <class Meaning>
struct Word {
    const char* word;
    Meaning meaning;
};

class Section;

// A value at a key of a section, or none.
class Item {
  public:
    Item(const Section& section, std::string_view key, const Value* value)
        : section_(section), key_(key), value_(value) {}

    explicit operator bool() const { return value_ != nullptr; }

    [[noreturn]] void refuse(const std::string& problem) const;

    bool is_flag() const;  // throws Problem unless it is true or false
    const std::string& text(const std::string& expected) const;
    bool is_zero() const;
    const Table& table(const std::string& expected) const;
    const List& list(const std::string& expected) const;
    const Numbers& numbers() const;
    double number() const;  // NaN: it is none
    double number(double least, double most) const;
    std::int64_t whole(std::int64_t least, std::int64_t most) const;

    // Returns the value, or throws Problem if it is out of bounds.
    std::int64_t within(std::int64_t value, std::int64_t least, std::int64_t most) const;

    template <class Meaning>
    Meaning choice(const std::vector<Word<Meaning>>& words) const {
        const std::string* text = value_ ? std::get_if<std::string>(&value_->is) : nullptr;
        for (const Word<Meaning>& word : words)
            if (text != nullptr && *text == word.word) return word.meaning;
        std::vector<std::string_view> known;
        for (const Word<Meaning>& word : words) known.emplace_back(word.word);
        refuse_choice(known);
    }

    const Value* value() const { return value_; }
    const Section& section() const { return section_; }
    std::string_view key() const { return key_; }

  private:
    [[noreturn]] void refuse_choice(const std::vector<std::string_view>& known) const;

    const Section& section_;
    std::string_view key_;
    const Value* value_;
};

// A table and its place in the scenario.
class Section {
  public:
    Section(const Table& table, std::string name, const Section* parent = nullptr)
        : table_(table), name_(std::move(name)), parent_(parent), is_known_(table.size()) {}

    // Returns the value of a key; the key is then known to `done`.
    Item operator[](std::string_view key) const;
    // The same, but throws Problem if there is none.
    Item need(std::string_view key) const;

    // Throws Problem if the table has a key that nobody asked for.
    void done() const;

    std::string path(std::string_view key) const;

  private:
    [[noreturn]] void refuse_key(const std::string& key) const;

    const Table& table_;
    std::string name_;
    const Section* parent_;
    mutable std::vector<std::string_view> asked_;
    mutable std::vector<bool> is_known_;  // by place in the table
    mutable std::size_t next_ =
        0;  // where a search begins, since keys come in the order of their declarations
};

// Returns "did you mean ...?" or the known names.
std::string suggestion(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace ww::plan
