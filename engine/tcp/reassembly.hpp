// SPDX-License-Identifier: BSD-3-Clause
//
// Sorted and disjoint ranges of numbers: the data that a receiver holds beyond the first gap.
// `Reassembly` adds the order in which SACK reports them (RFC 2018, section 4: first the block of
// the segment that just arrived, then the most recently reported ones).
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "../link/packet.hpp"

namespace ww::sim {

struct Range {
    std::int64_t start, end;  // end excluded
};

class Ranges {
  public:
    bool empty() const { return ranges_.empty(); }
    std::size_t size() const { return ranges_.size(); }
    const Range& first() const { return ranges_.front(); }
    const Range& last() const { return ranges_.back(); }
    const std::vector<Range>& all() const { return ranges_; }

    // Adds [start, end) if it begins where the last range ends. Returns true if it did.
    bool lengthen(std::int64_t start, std::int64_t end) {
        if (ranges_.empty() || ranges_.back().end != start) return false;
        ranges_.back().end = end;
        return true;
    }

    // Adds [start, end) and calls fresh(a, b) for each new part. Returns the merged range.
    template <class Fresh>
    Range add(std::int64_t start, std::int64_t end, Fresh&& fresh) {
        if (!ranges_.empty() && start >= last().start && start <= last().end) {  // the usual case
            const std::int64_t before = last().end;
            if (before < end) fresh(before, ranges_.back().end = end);
            return last();
        }
        if (ranges_.empty() || start > last().end) {  // a new gap
            fresh(start, end);
            ranges_.push_back({start, end});
            return last();
        }
        auto low = at_or_after(start);
        if (low != ranges_.begin() && std::prev(low)->end >= start) --low;
        if (low != ranges_.end() && low->start <= start && end <= low->end) return *low;
        Range merged{start, end};
        auto high = low;
        std::int64_t covered = start;
        for (; high != ranges_.end() && high->start <= end; ++high) {
            if (covered < high->start) fresh(covered, high->start);
            covered = std::max(covered, high->end);
            merged.start = std::min(merged.start, high->start);
            merged.end = std::max(merged.end, high->end);
        }
        if (covered < end) fresh(covered, end);
        if (low == high) {
            ranges_.insert(low, merged);
        } else {
            *low = merged;
            ranges_.erase(std::next(low), high);
        }
        return merged;
    }

    void remove_below(std::int64_t number) {
        auto keep = ranges_.begin();
        while (keep != ranges_.end() && keep->end <= number) ++keep;
        ranges_.erase(ranges_.begin(), keep);
        if (!ranges_.empty()) ranges_.front().start = std::max(ranges_.front().start, number);
    }

  private:
    std::vector<Range>::iterator at_or_after(std::int64_t start) {
        return std::lower_bound(ranges_.begin(), ranges_.end(), start,
                                [](const Range& range, std::int64_t s) { return range.start < s; });
    }

    std::vector<Range> ranges_;
};

// Holds a receiver's out-of-order data, in bytes of the stream.
class Reassembly {
  public:
    bool empty() const { return ranges_.empty(); }

    // Returns the place, in the order of reports, of the first block that [start, end) touches; that of a new
    // one if it touches none.
    std::size_t place(std::int64_t start, std::int64_t end) const {
        std::size_t i = 0;
        while (i < recents_ && (end < recent_[i].start || start > recent_[i].end)) i++;
        return i;
    }

    // Adds [start, end). Returns true if any of it is new.
    bool add(std::int64_t start, std::int64_t end) {
        bool is_new = ranges_.lengthen(start, end);
        if (is_new && recents_ > 0 && recent_[0].start == ranges_.last().start) {
            recent_[0].end = end;
            return true;
        }
        const Range merged =
            ranges_.add(start, end, [&](std::int64_t, std::int64_t) { is_new = true; });
        forget([&](std::int64_t s) { return s >= merged.start && s < merged.end; });
        recents_ = std::min<std::size_t>(recents_ + 1, kMaxSackBlocks);
        std::copy_backward(recent_.begin(), recent_.begin() + recents_ - 1,
                           recent_.begin() + recents_);
        recent_[0] = merged;
        return is_new;
    }

    // Data up to `next` is complete. Returns the end of the data that is now contiguous.
    std::int64_t advance(std::int64_t next) {
        if (ranges_.empty() || ranges_.first().start > next) return next;
        next = std::max(next, ranges_.first().end);
        ranges_.remove_below(next);
        forget([&](std::int64_t s) { return s < next; });
        return next;
    }

    // Adds blocks, until `blocks` has `most`. Byte n of the stream has sequence number origin + n.
    void report(std::uint32_t origin, std::uint32_t most, SackBlocks& blocks) {
        const std::uint32_t before = blocks.count;
        for (std::size_t i = 0; i < recents_ && blocks.count < most; i++)
            append(blocks, origin, recent_[i]);
        if (blocks.count == most || blocks.count - before == ranges_.size()) return;
        // "As many distinct SACK blocks as possible": fills up with ranges that were pushed out
        // before.
        for (const Range& range : ranges_.all()) {
            if (blocks.count == most) return;
            if (!is_recent(range)) append(blocks, origin, range);
        }
    }

  private:
    static void append(SackBlocks& blocks, std::uint32_t origin, const Range& range) {
        blocks.block[blocks.count++] = {origin + static_cast<std::uint32_t>(range.start),
                                        origin + static_cast<std::uint32_t>(range.end)};
    }

    bool is_recent(const Range& range) const {
        return std::any_of(recent_.begin(), recent_.begin() + recents_,
                           [&](const Range& recent) { return recent.start == range.start; });
    }

    // Drops the recent ranges whose start the predicate accepts.
    template <class Predicate>
    void forget(Predicate&& drops) {
        const auto end = std::remove_if(recent_.begin(), recent_.begin() + recents_,
                                        [&](const Range& recent) { return drops(recent.start); });
        recents_ = static_cast<std::size_t>(end - recent_.begin());
    }

    Ranges ranges_;
    std::array<Range, kMaxSackBlocks> recent_{};  // copies, most recently touched first
    std::size_t recents_ = 0;
};

}  // namespace ww::sim
