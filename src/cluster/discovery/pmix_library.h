// The part of PMIx (https://pmix.github.io) that we use: the interface by which Open MPI and Slurm let processes
// exchange small values. It is loaded at run time, so that no other process needs it.
#ifndef TENSORBRAID_CLUSTER_DISCOVERY_PMIX_LIBRARY_H_
#define TENSORBRAID_CLUSTER_DISCOVERY_PMIX_LIBRARY_H_

#include <sys/time.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "tensorbraid/core/status.h"

namespace tensorbraid::pmix {

// The binary interface of libpmix.so.2, which the PMIx standard fixes for versions 3 to 5. tests/engines/mpi compares
// it with the library's own headers.

using Result = int;  // pmix_status_t
inline constexpr Result kSuccess = 0;
inline constexpr Result kOperationSucceeded = -157;  // a call has completed at once, and makes no callback

inline constexpr uint8_t kGlobal = 3;                   // PMIX_GLOBAL: a value is for all processes
inline constexpr uint32_t kRankWildcard = 0xfffffffeU;  // PMIX_RANK_WILDCARD: the job as a whole
inline constexpr uint16_t kBool = 1, kString = 3, kUint32 = 14;
inline constexpr char kJobSize[] = "pmix.job.size";
inline constexpr char kCollectData[] = "pmix.collect";

struct Process {  // pmix_proc_t
  char nspace[256];
  uint32_t rank;
};

struct Value {  // pmix_value_t
  uint16_t type;
  union {
    bool flag;
    char* string;
    uint32_t uint32;
    timeval time;
    struct {
      char* name;
      char* value;
      char separator;
    } variable;  // the largest member
  } data;
};

struct Info {  // pmix_info_t
  char key[512];
  uint32_t flags;
  Value value;
};

struct Library {
  // Loads the library at the first call. FailedPrecondition if that is not possible; the message says what to install.
  // The result is never destroyed. Thread-safe.
  static StatusOr<const Library*> Load();

  Result (*init)(Process* self, Info* info, size_t count) = nullptr;
  Result (*put)(uint8_t scope, const char* key, Value* value) = nullptr;
  Result (*commit)() = nullptr;
  Result (*fence)(const Process* processes, size_t count, const Info* info, size_t info_count,
                  void (*done)(Result result, void* data), void* data) = nullptr;
  Result (*get)(const Process* process, const char* key, const Info* info, size_t count, Value** value) = nullptr;
  Result (*finalize)(const Info* info, size_t count) = nullptr;
  const char* (*error_text)(Result result) = nullptr;

  // Unavailable with the library's words, or OK.
  Status Check(const char* what, Result result) const;
};

}  // namespace tensorbraid::pmix

#endif  // TENSORBRAID_CLUSTER_DISCOVERY_PMIX_LIBRARY_H_
