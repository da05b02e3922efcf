// Reads 64-bit words from bytes that need not be aligned.
#ifndef TENSORBRAID_CORE_VALUES_LOAD_H_
#define TENSORBRAID_CORE_VALUES_LOAD_H_

#include <cstdint>
#include <cstring>

namespace tensorbraid {

// The eight bytes at `p`, which need not be aligned, in the machine's byte order.
inline uint64_t Load64(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_VALUES_LOAD_H_
