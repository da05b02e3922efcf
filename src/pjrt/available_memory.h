// How much memory this process may still take.
#ifndef TENSORBRAID_PJRT_AVAILABLE_MEMORY_H_
#define TENSORBRAID_PJRT_AVAILABLE_MEMORY_H_

#include <cstdint>
#include <string>

namespace tensorbraid {

// The bytes that the machine can give without swapping, or that the process's control group may still use if that is
// less. Files in the page cache count as free. The largest int64 if the system does not say. Reads a few small files
// below `root`, "" for those of this machine. Thread-safe.
int64_t AvailableMemory(const std::string& root = "");

}  // namespace tensorbraid

#endif  // TENSORBRAID_PJRT_AVAILABLE_MEMORY_H_
