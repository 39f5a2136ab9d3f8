// SPDX-License-Identifier: BSD-3-Clause
//
// A first-in-first-out ring. It grows by doubling, so its capacity is a power of two, and it
// allocates nothing once it has reached its largest size.
#pragma once

#include <cstddef>
#include <vector>

namespace ww::sim {

template <class T>
class Ring {
  public:
    Ring() = default;
    Ring(Ring&&) = default;  // a moved vector keeps its memory
    Ring& operator=(Ring&&) = default;

    bool empty() const { return head_ == tail_; }
    std::size_t size() const { return tail_ - head_; }
    const T& front() const { return data_[head_ & mask_]; }
    const T& back() const { return data_[(tail_ - 1) & mask_]; }
    T& at(std::size_t i) { return data_[(head_ + i) & mask_]; }  // the i-th from the front
    // The i-th item, or any stored one if fewer are queued. Only for prefetching.
    const T& glance(std::size_t i) const { return data_[(head_ + i) & mask_]; }
    void pop() { head_++; }

    void push(const T& item) {
        if (size() > mask_) [[unlikely]]
            grow();
        data_[tail_++ & mask_] = item;
    }

  private:
    [[gnu::noinline]] void grow() {
        std::vector<T> larger(items_.size() * 2);
        for (std::size_t i = 0, n = size(); i < n; i++) larger[i] = items_[(head_ + i) & mask_];
        tail_ -= head_;
        head_ = 0;
        items_.swap(larger);
        data_ = items_.data();
        mask_ = items_.size() - 1;
    }

    std::vector<T> items_ = std::vector<T>(16);
    T* data_ = items_.data();
    std::size_t head_ = 0, tail_ = 0, mask_ = 15;
};

}  // namespace ww::sim
