#include "io/file_origins.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"

namespace tensorbraid {
namespace {

constexpr size_t kMostFiles = 4096;
constexpr size_t kLookedAt = 256;  // bytes at the beginning and at the end

struct Origins {
  Mutex mu;
  absl::flat_hash_map<size_t, std::string> path_of TB_GUARDED_BY(mu);  // keyed by fingerprint
  std::deque<size_t> oldest_first TB_GUARDED_BY(mu);
};

Origins& AllOrigins() {
  static auto* origins = new Origins;
  return *origins;
}

// Files of one size with the same beginning and end have the same fingerprint; errors then name the last of them.
size_t FingerprintOf(std::string_view contents) {
  const size_t end = contents.size() - std::min(contents.size(), kLookedAt);
  return absl::HashOf(contents.size(), contents.substr(0, kLookedAt), contents.substr(end));
}

}  // namespace

void NoteFileContents(const std::string& path, std::string_view contents) {
  const size_t fingerprint = FingerprintOf(contents);
  Origins& origins = AllOrigins();
  MutexLock lock(origins.mu);
  const auto [it, is_new] = origins.path_of.insert_or_assign(fingerprint, path);
  if (!is_new) return;
  origins.oldest_first.push_back(fingerprint);
  if (origins.oldest_first.size() <= kMostFiles) return;
  origins.path_of.erase(origins.oldest_first.front());
  origins.oldest_first.pop_front();
}

Status AboutFileContents(const Status& status, std::string_view contents) {
  if (status.ok()) return status;
  const size_t fingerprint = FingerprintOf(contents);
  Origins& origins = AllOrigins();
  MutexLock lock(origins.mu);
  const auto it = origins.path_of.find(fingerprint);
  return it == origins.path_of.end() ? status : Annotate(status, StrCat("the file '", it->second, "'"));
}

}  // namespace tensorbraid
