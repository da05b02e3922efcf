#include "pjrt/program_cache.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <utility>

#include "core/system/clock.h"
#include "core/system/file_access.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "pjrt/compile_log.h"
#include "pjrt/program_dump.h"

namespace tensorbraid {
namespace {

int64_t MillisecondsSince(MonotonicClock::time_point began) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(MonotonicClock::now() - began).count();
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
  Request(std::move(text), std::move(options), nullptr, ready);
}

void ProgramCache::GetAhead(std::string text, pjrt::CompileOptions options, std::weak_ptr<const void> user,
                            const Ready& ready) {
  Request(std::move(text), std::move(options), &user, ready);
}

void ProgramCache::Request(std::string text, pjrt::CompileOptions options, const std::weak_ptr<const void>* user,
                           const Ready& ready) {
  CompileQueue& queue = CompileQueue::Global();
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
      if (user == nullptr) {
        if (!added && !entry.is_waited_for) queue.Hurry(entry.turn);
        entry.is_waited_for = true;
      } else {
        entry.users.push_back(*user);
      }
      if (!added) return;
      const int64_t request = CompileLog::Global().Begin(options.name);
      entry.turn = queue.Add(user == nullptr ? CompileQueue::Order::kNow : CompileQueue::Order::kLater,
                             [this, request, text = std::move(text), options = std::move(options)]() {
                               // The step that has asked may be limited to the files of its client.
                               const ScopedFileAccess no_limit(nullptr);
                               if (IsWanted(text)) Compiled(text, Make(text, options));
                               CompileLog::Global().End(request);
                             });
      return;
    }
  }
  ready(program);
}

bool ProgramCache::IsWanted(const std::string& text) {
  std::vector<Ready> dropped;  // destroyed without the lock
  MutexLock lock(mu_);
  const auto at = entries_.find(text);
  Entry& entry = at->second;
  const bool has_user = std::ranges::any_of(entry.users, [](const auto& user) { return !user.expired(); });
  if (entry.is_waited_for || has_user) return true;
  dropped.swap(entry.waiting);
  uses_.erase(entry.use);
  entries_.erase(at);
  return false;
}

StatusOr<std::shared_ptr<pjrt::Program>> ProgramCache::Wait(std::string text, pjrt::CompileOptions options) {
  using Made = StatusOr<std::shared_ptr<pjrt::Program>>;
  const auto made = std::make_shared<std::promise<Made>>();
  Get(std::move(text), std::move(options), [made](const Made& program) { made->set_value(program); });
  return made->get_future().get();
}

StatusOr<std::shared_ptr<pjrt::Program>> ProgramCache::Make(const std::string& text,
                                                            const pjrt::CompileOptions& options) {
  DumpProgram(options.name, text);  // before the compiler, which may end the process
  auto loaded = Load(text, options);
  if (loaded.ok()) return loaded;
  if (loaded.status().code() != absl::StatusCode::kNotFound) {
    TB_LOG(Warning, "accelerators") << loaded.status();
  }
  TB_LOG(Info, "accelerators") << "compiling " << options.name << " (" << text.size() << " bytes)";
  const auto began = MonotonicClock::now();
  auto compiled = client_.Compile(text, options);
  CompileLog::Global().Count(compiled.ok(), MonotonicClock::now() - began);
  TB_LOG(Info, "accelerators") << (compiled.ok() ? "compiled " : "could not compile ") << options.name << " in "
                               << MillisecondsSince(began) << " ms";
  if (const ProgramFiles* const files = Files(); files != nullptr && compiled.ok()) {
    const StatusOr<std::string> bytes = (*compiled)->Serialize();
    const Status written = bytes.ok() ? files->Write(text, *bytes) : bytes.status();
    if (!written.ok()) {
      TB_LOG(Warning, "accelerators") << options.name << " is not kept on disk: " << written;
    }
  }
  return compiled;
}

StatusOr<std::shared_ptr<pjrt::Program>> ProgramCache::Load(const std::string& text,
                                                            const pjrt::CompileOptions& options) {
  const ProgramFiles* const files = Files();
  if (files == nullptr) return NotFound("no directory of compiled programs");
  const auto began = MonotonicClock::now();
  TF_ASSIGN_OR_RETURN(const std::string bytes, files->Read(text));
  TF_ASSIGN_OR_RETURN(auto program, client_.LoadProgram(bytes, options));
  TB_LOG(Info, "accelerators") << "loaded " << options.name << " in " << MillisecondsSince(began) << " ms";
  return program;
}

const ProgramFiles* ProgramCache::Files() {
  MutexLock lock(files_mu_);
  if (std::exchange(files_opened_, true)) return files_.get();
  const char* const directory = std::getenv(ProgramFiles::kVariable);
  if (directory == nullptr || *directory == '\0') return nullptr;
  StatusOr<std::string> compiler = CompilerOf(client_);
  auto files = compiler.ok() ? ProgramFiles::Open(directory, *std::move(compiler)) : compiler.status();
  if (!files.ok()) {
    TB_LOG(Warning, "accelerators") << ProgramFiles::kVariable << ": programs are not kept on disk: " << files.status();
    return nullptr;
  }
  files_ = *std::move(files);
  return files_.get();
}

void ProgramCache::Compiled(const std::string& text, const StatusOr<std::shared_ptr<pjrt::Program>>& program) {
  std::vector<Ready> waiting;
  {
    MutexLock lock(mu_);
    const auto at = entries_.find(text);
    waiting.swap(at->second.waiting);
    at->second.users.clear();
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
