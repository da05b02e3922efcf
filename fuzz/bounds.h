// What the targets that run graphs have in common: bounds, and what must not be run.
#ifndef TENSORBRAID_FUZZ_BOUNDS_H_
#define TENSORBRAID_FUZZ_BOUNDS_H_

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace tensorbraid {

// Tensors beyond this are refused, as a server refuses what is beyond the machine's memory.
inline constexpr int64_t kMemoryLimit = int64_t{256} << 20;
// What a step may take; what must end has ended some time later, or the target fails.
inline constexpr std::chrono::milliseconds kStepTimeout{100};
inline constexpr std::chrono::seconds kPatience{20};

// Whether a GraphDef may name files: a fuzzer finds the names of the ops, and has no business there.
inline bool MayTouchFiles(std::string_view bytes) {
  for (const char* word : {"File", "Save", "Restore", "Checkpoint", "Reader", "Record", "TextLine", "Summary", "Cache",
                           "Shard", "Snapshot", "InitializeTableFrom", "Print"}) {
    if (bytes.find(word) != std::string_view::npos) return true;
  }
  return false;
}

[[noreturn]] inline void Hangs(std::string_view what) {
  std::cerr << "hangs: " << what << std::endl;
  std::abort();
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_FUZZ_BOUNDS_H_
