// Rows of large tables in any order, whose memory the processor cannot foresee.
#ifndef TENSORBRAID_KERNELS_CPU_PREFETCH_H_
#define TENSORBRAID_KERNELS_CPU_PREFETCH_H_

#include <cstdint>

namespace tensorbraid::cpu {

// A loop over rows calls PrefetchRow for the row that comes this many iterations later. Fewer would come too late;
// more would be lost from the cache again, or exceed the number of requests that a core can wait for.
inline constexpr int64_t kPrefetchedRows = 8;

// Begins to load the first bytes of a row; the rest, if there is any, follows them in memory, and the processor
// foresees it. `kWrite`: the row is going to be changed.
template <bool kWrite>
void PrefetchRow(const void* row, int64_t bytes) {
  constexpr int64_t kLine = 64, kMost = 512;
  const char* const begin = static_cast<const char*>(row);
  for (int64_t at = 0; at < bytes && at < kMost; at += kLine) __builtin_prefetch(begin + at, kWrite ? 1 : 0);
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_PREFETCH_H_
