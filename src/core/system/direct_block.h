// Memory for bytes that files move past the operating system's page cache.
#ifndef TENSORBRAID_CORE_SYSTEM_DIRECT_BLOCK_H_
#define TENSORBRAID_CORE_SYSTEM_DIRECT_BLOCK_H_

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace tensorbraid {

// Bytes that bypass the page cache are moved fastest if they begin at multiples of this number, in the file and in
// memory.
inline constexpr size_t kDirectAlignment = 4096;
// And if they are as many as this number, or a multiple.
inline constexpr size_t kDirectBlock = size_t{4} << 20;

struct FreeDirectBlock {
  void operator()(char* block) const { std::free(block); }
};
// Memory that begins at a multiple of kDirectAlignment.
using DirectBlock = std::unique_ptr<char[], FreeDirectBlock>;

// Null if there is no memory. REQUIRES: `size` is a multiple of kDirectAlignment.
inline DirectBlock MakeDirectBlock(size_t size) {
  return DirectBlock(static_cast<char*>(std::aligned_alloc(kDirectAlignment, size)));
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_SYSTEM_DIRECT_BLOCK_H_
