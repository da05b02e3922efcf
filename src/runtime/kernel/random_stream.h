// The stream of random numbers that a node draws from (docs/design/0020-state-of-random-ops.md).
#ifndef TENSORBRAID_RUNTIME_KERNEL_RANDOM_STREAM_H_
#define TENSORBRAID_RUNTIME_KERNEL_RANDOM_STREAM_H_

#include <cstdint>

namespace tensorbraid {

// A stream of the Philox 4x32-10 generator, from which the runs of a node take numbers one after the other.
// Thread-safe.
class RandomStream {
 public:
  // A place in the stream: the key, and the 128-bit counter (low, high) of a block.
  struct Place {
    uint64_t key, low, high;
  };

  virtual ~RandomStream() = default;
  // Reserves the numbers of `elements` elements of any distribution for the caller, and returns where they begin.
  virtual Place TakeElements(int64_t elements) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_KERNEL_RANDOM_STREAM_H_
