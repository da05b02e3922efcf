// Divides the sizes of memory blocks into classes. Allocators keep a free list for each class.
#ifndef TENSORBRAID_CORE_MEMORY_SIZE_CLASS_H_
#define TENSORBRAID_CORE_MEMORY_SIZE_CLASS_H_

#include <algorithm>
#include <bit>
#include <cstddef>

namespace tensorbraid {

// Eight classes per power of two, starting at 64 bytes, so a block is at most 12.5 % larger than what it holds. The
// size of a class is the largest request that it serves.
inline constexpr int kSizeClassesPerDoubling = 8;
inline constexpr int kMinSizeClassShift = 6;
inline constexpr int kNumSizeClasses = (48 - kMinSizeClassShift) * kSizeClassesPerDoubling;

// The smallest class whose size is at least `size`.
constexpr int SizeClass(size_t size) {
  if (size <= (size_t{1} << kMinSizeClassShift)) return 0;
  const int shift = std::bit_width(size - 1) - 1;  // 2^shift < size <= 2^(shift+1)
  const size_t step = std::max<size_t>(1, (size_t{1} << shift) / kSizeClassesPerDoubling);
  const int sub = static_cast<int>((size - (size_t{1} << shift) + step - 1) / step);  // 1..8
  return (shift - kMinSizeClassShift) * kSizeClassesPerDoubling + sub;
}

constexpr size_t SizeOfClass(int c) {
  if (c == 0) return size_t{1} << kMinSizeClassShift;
  const int shift = kMinSizeClassShift + (c - 1) / kSizeClassesPerDoubling;
  const int sub = (c - 1) % kSizeClassesPerDoubling + 1;
  const size_t step = (size_t{1} << shift) / kSizeClassesPerDoubling;
  return (size_t{1} << shift) + sub * step;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_MEMORY_SIZE_CLASS_H_
