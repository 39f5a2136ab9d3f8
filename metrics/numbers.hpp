// SPDX-License-Identifier: BSD-3-Clause
//
// A column of numbers of any type, wherever it lies: the field of an array of rows, or an array of its own.
#pragma once

#include <cstddef>
#include <cstring>

namespace ww::metrics {

class Numbers {
  public:
    Numbers() = default;

    template <class T>
    Numbers(const T* first, std::size_t stride_bytes = sizeof(T))
        : first_(reinterpret_cast<const char*>(first)),
          stride_bytes_(stride_bytes),
          read_(read<T>) {}

    double operator[](std::size_t row) const { return read_(first_ + row * stride_bytes_); }

  private:
    template <class T>
    static double read(const char* address) {
        T value;
        std::memcpy(&value, address, sizeof value);
        return static_cast<double>(value);
    }

    const char* first_ = nullptr;
    std::size_t stride_bytes_ = 0;
    double (*read_)(const char*) = nullptr;
};

}  // namespace ww::metrics
