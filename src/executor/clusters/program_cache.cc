#include "executor/clusters/program_cache.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/system/clock.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/thread.h"
#include "core/threads/thread_pool.h"

namespace tensorbraid {
namespace {

// Programs are compiled on these threads, which never end, like those of the plugins. A compiler uses threads of its
// own beside them.
ThreadPool& CompileThreads() {
  static auto* const pool = new ThreadPool("compile", std::max(1, NumCores() / 2));
  return *pool;
}

}  // namespace

ProgramCache& ProgramCache::Of(pjrt::Client& client) {
  static auto* const mu = new Mutex;
  static auto* const caches = new std::map<const pjrt::Client*, std::unique_ptr<ProgramCache>>;
  MutexLock lock(*mu);
  auto& cache = (*caches)[&client];
  if (cache == nullptr) cache.reset(new ProgramCache(client));
  return *cache;
}

void ProgramCache::Get(std::string text, pjrt::CompileOptions options, const Ready& ready) {
  std::shared_ptr<pjrt::Program> program;
  {
    MutexLock lock(mu_);
    const auto [at, added] = entries_.try_emplace(text);
    Entry& entry = at->second;
    if (added) {
      entry.use = uses_.insert(uses_.end(), text);
    } else {
      uses_.splice(uses_.end(), uses_, entry.use);
    }
    program = entry.program;
    if (program == nullptr) {
      entry.waiting.push_back(ready);
      if (!added) return;
    }
  }
  if (program != nullptr) return ready(program);
  CompileThreads().Schedule([this, text = std::move(text), options = std::move(options)]() mutable {
    TB_LOG(Info, "accelerators") << "compiling " << options.name << " (" << text.size() << " bytes)";
    const auto began = MonotonicClock::now();
    const std::string name = options.name;
    const auto compiled = client_.Compile(text, std::move(options));
    const std::chrono::duration<double> took = MonotonicClock::now() - began;
    TB_LOG(Info, "accelerators") << (compiled.ok() ? "compiled " : "could not compile ") << name << " in "
                                 << static_cast<int64_t>(took.count() * 1000) << " ms";
    Compiled(text, compiled);
  });
}

void ProgramCache::Compiled(const std::string& text, const StatusOr<std::shared_ptr<pjrt::Program>>& program) {
  std::vector<Ready> waiting;
  {
    MutexLock lock(mu_);
    const auto at = entries_.find(text);
    waiting.swap(at->second.waiting);
    if (program.ok()) {
      at->second.program = *program;
    } else {
      uses_.erase(at->second.use);
      entries_.erase(at);
    }
    DropUnused();
  }
  for (const Ready& ready : waiting) ready(program);
}

void ProgramCache::DropUnused() {
  size_t unused = 0;
  for (auto at = uses_.end(); at != uses_.begin();) {
    const auto entry = entries_.find(*--at);
    // Only the cache holds it, and the lock is held, so no other thread can start to use it.
    if (entry->second.program == nullptr || entry->second.program.use_count() > 1 || ++unused <= kMaxUnused) continue;
    entries_.erase(entry);
    at = uses_.erase(at);
  }
}

}  // namespace tensorbraid
