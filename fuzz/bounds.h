// Limits shared by the targets that run graphs, and a check for graphs that they must not run.
#ifndef TENSORBRAID_FUZZ_BOUNDS_H_
#define TENSORBRAID_FUZZ_BOUNDS_H_

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace tensorbraid {

// Larger tensors are refused, as a server refuses tensors that exceed the machine's memory.
inline constexpr int64_t kMemoryLimit = int64_t{256} << 20;
// How long a step may run, and how long the target then waits for the end before it fails.
inline constexpr std::chrono::milliseconds kStepTimeout{100};
inline constexpr std::chrono::seconds kPatience{20};

// Whether a GraphDef may have ops that access files. A fuzzer can find the names of such ops, but must not run them.
inline bool MayTouchFiles(std::string_view bytes) {
  for (const char* word : {"File", "Save", "Restore", "Checkpoint", "Reader", "Record", "TextLine", "Summary", "Cache",
                           "Shard", "Snapshot", "InitializeTableFrom", "Print"}) {
    if (bytes.find(word) != std::string_view::npos) return true;
  }
  return false;
}

[[noreturn]] inline void Hangs(std::string_view what) {
  std::cerr << "does not end: " << what << std::endl;
  std::abort();
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_FUZZ_BOUNDS_H_
