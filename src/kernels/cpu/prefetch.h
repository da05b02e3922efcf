// Prefetches rows of large tables that are visited in an order which the processor cannot predict.
#ifndef TENSORBRAID_KERNELS_CPU_PREFETCH_H_
#define TENSORBRAID_KERNELS_CPU_PREFETCH_H_

#include <cstdint>

namespace tensorbraid::cpu {

// A loop over rows calls PrefetchRow for the row that it visits this many iterations later. With a smaller distance,
// rows would arrive too late. With a larger one, they would leave the cache again, or exceed the number of requests
// that a core can wait for.
inline constexpr int64_t kPrefetchedRows = 8;

// Begins to load the first bytes of a row. The rest of the row follows in memory, so the processor predicts it.
// `kWrite` means that the row will be changed.
template <bool kWrite>
void PrefetchRow(const void* row, int64_t bytes) {
  constexpr int64_t kLine = 64, kMost = 512;
  const char* const begin = static_cast<const char*>(row);
  for (int64_t at = 0; at < bytes && at < kMost; at += kLine) __builtin_prefetch(begin + at, kWrite ? 1 : 0);
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_PREFETCH_H_
