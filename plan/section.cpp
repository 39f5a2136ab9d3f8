// SPDX-License-Identifier: BSD-3-Clause
#include "section.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

namespace ww::plan {
namespace {

constexpr std::size_t kLongestShown = 60;  // characters of a value in a message
constexpr std::size_t kMostNames = 24;
constexpr std::size_t kNear = 2;  // edits between a wrong name and the one that was meant

void show(std::ostringstream& text, const Value& value);

template <class Items, class Show>
void show_all(std::ostringstream& text, const Items& items, const char* ends, Show show_one) {
    text << ends[0];
    for (std::size_t i = 0; i < items.size() && i <= kLongestShown; i++) {
        if (i > 0) text << ',';
        show_one(items[i]);
    }
    text << ends[1];
}

void show(std::ostringstream& text, const Value& value) {
    struct Shown {
        std::ostringstream& text;
        void operator()(bool flag) const { text << (flag ? "true" : "false"); }
        void operator()(std::int64_t number) const { text << number; }
        void operator()(double number) const { text << number; }
        void operator()(const std::string& words) const { text << '"' << words << '"'; }
        void operator()(const Numbers& all) const {
            show_all(text, all, "[]", [this](std::int64_t number) { text << number; });
        }
        void operator()(const List& all) const {
            show_all(text, all, "[]", [this](const Value& entry) { show(text, entry); });
        }
        void operator()(const Table& all) const {
            show_all(text, all, "{}", [this](const auto& entry) {
                text << '"' << entry.key << "\":";
                show(text, entry.value);
            });
        }
    };
    std::visit(Shown{text}, value.is);
}

std::string shown(const Value& value) {
    std::ostringstream text;
    show(text, value);
    std::string line = text.str();
    for (char& character : line)
        if (static_cast<unsigned char>(character) < ' ') character = ' ';
    return line.size() > kLongestShown ? line.substr(0, kLongestShown) + "..." : line;
}

std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); i++) {
        std::size_t before = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); j++) {
            const std::size_t same = before + (a[i - 1] == b[j - 1] ? 0 : 1);
            before = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, same});
        }
    }
    return row[b.size()];
}

bool is_near(std::string_view a, std::string_view b) {
    const std::size_t longer = std::max(a.size(), b.size());
    return longer - std::min(a.size(), b.size()) <= kNear && distance(a, b) <= kNear;
}

}  // namespace

std::string suggestion(std::string_view name, const std::vector<std::string_view>& known) {
    for (const std::string_view candidate : known)
        if (is_near(candidate, name)) return "did you mean \"" + std::string(candidate) + "\"?";
    std::string text = "expected one of: ";
    for (std::size_t i = 0; i < known.size() && i < kMostNames; i++)
        text += (i > 0 ? ", " : "") + std::string(known[i]);
    if (known.size() > kMostNames)
        text += " and " + std::to_string(known.size() - kMostNames) + " more";
    return text;
}

void Item::refuse(const std::string& problem) const {
    const std::string key = section_.path(key_), equals = key.empty() ? "" : " = ";
    throw Problem(value_ ? key + equals + shown(*value_) : key, problem);
}

void Item::refuse_choice(const std::vector<std::string_view>& known) const {
    const std::string* text = value_ ? std::get_if<std::string>(&value_->is) : nullptr;
    refuse(suggestion(text ? *text : "", known));
}

bool Item::is_flag() const {
    if (const bool* flag = std::get_if<bool>(&value_->is)) return *flag;
    refuse("expected true or false");
}

bool Item::is_zero() const {
    const auto* number = std::get_if<std::int64_t>(&value_->is);
    return number != nullptr && *number == 0;
}

const std::string& Item::text(const std::string& expected) const {
    if (const auto* text = std::get_if<std::string>(&value_->is)) return *text;
    refuse("expected " + expected);
}

const Table& Item::table(const std::string& expected) const {
    if (const auto* table = std::get_if<Table>(&value_->is)) return *table;
    refuse("expected " + expected);
}

const List& Item::list(const std::string& expected) const {
    if (const auto* list = std::get_if<List>(&value_->is)) return *list;
    refuse("expected " + expected);
}

const Numbers& Item::numbers() const {
    static const Numbers none;
    if (const auto* numbers = std::get_if<Numbers>(&value_->is)) return *numbers;
    if (const auto* list = std::get_if<List>(&value_->is); list && list->empty()) return none;
    refuse("expected a list of whole numbers");
}

double Item::number() const {
    if (const auto* whole = std::get_if<std::int64_t>(&value_->is))
        return static_cast<double>(*whole);
    const auto* real = std::get_if<double>(&value_->is);
    return real ? *real : std::nan("");
}

double Item::number(double least, double most) const {
    const double number = this->number();
    if (number >= least && number <= most) return number;
    std::ostringstream text;
    text << "expected a number from " << least << " to " << most;
    refuse(text.str());
}

std::int64_t Item::whole(std::int64_t least, std::int64_t most) const {
    const auto* number = std::get_if<std::int64_t>(&value_->is);
    if (number == nullptr) refuse("expected a whole number");
    return within(*number, least, most);
}

std::int64_t Item::within(std::int64_t value, std::int64_t least, std::int64_t most) const {
    if (value >= least && value <= most) return value;
    refuse("is out of bounds, expected " + std::to_string(least) + " to " + std::to_string(most));
}

Item Section::operator[](std::string_view key) const {
    asked_.push_back(key);
    for (std::size_t i = 0; i < table_.size(); i++) {
        const std::size_t place = next_ + i < table_.size() ? next_ + i : next_ + i - table_.size();
        if (table_[place].key != key) continue;
        next_ = place + 1;
        is_known_[place] = true;
        return {*this, key, &table_[place].value};
    }
    return {*this, key, nullptr};
}

Item Section::need(std::string_view key) const {
    const Item item = (*this)[key];
    if (item) return item;
    for (std::size_t i = 0; i < table_.size(); i++)  // perhaps it is misspelt
        if (!is_known_[i] && is_near(table_[i].key, key)) refuse_key(table_[i].key);
    item.refuse("is missing");
}

void Section::done() const {
    const auto unknown = std::find(is_known_.begin(), is_known_.end(), false);
    if (unknown == is_known_.end()) return;
    refuse_key(table_[static_cast<std::size_t>(unknown - is_known_.begin())].key);
}

void Section::refuse_key(const std::string& key) const {
    throw Problem(path(key), "no such key, " + suggestion(key, asked_));
}

std::string Section::path(std::string_view key) const {
    const std::string full_path = name_.empty() ? std::string(key) : name_ + "." + std::string(key);
    return parent_ == nullptr ? full_path : parent_->path(full_path);
}

}  // namespace ww::plan
