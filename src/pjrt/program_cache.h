// Compiles programs, each once.
#ifndef TENSORBRAID_PJRT_PROGRAM_CACHE_H_
#define TENSORBRAID_PJRT_PROGRAM_CACHE_H_

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/threads/mutex.h"
#include "pjrt/client.h"
#include "pjrt/compile_queue.h"
#include "pjrt/program.h"
#include "pjrt/program_files.h"

namespace tensorbraid {

// The compiled programs of a client, keyed by their text. Equal clusters, such as those of towers on several devices or
// those of a second session with the same graph, share a program. Thread-safe.
class ProgramCache {
 public:
  // The cache of this client. It exists until the process ends, like the plugin's compiler.
  static ProgramCache& Of(pjrt::Client& client);

  using Ready = std::function<void(const StatusOr<std::shared_ptr<pjrt::Program>>&)>;
  // Calls `ready` once: at once if the program exists, otherwise from another thread, after it has been compiled. A
  // program that another caller is waiting for is compiled once for both. `ready` must return soon. An error is not
  // kept: the next call compiles again. Does not block.
  void Get(std::string text, pjrt::CompileOptions options, const Ready& ready);
  // The same for a program that no step waits for yet: programs that steps wait for are compiled first. If `user` has
  // ended when the program's turn comes, and no other call has asked for it, it is not compiled, and `ready` is not
  // called.
  void GetAhead(std::string text, pjrt::CompileOptions options, std::weak_ptr<const void> user, const Ready& ready);
  // The same, but blocks until the program exists.
  StatusOr<std::shared_ptr<pjrt::Program>> Wait(std::string text, pjrt::CompileOptions options);

 private:
  // How many programs are kept that no cluster uses.
  static constexpr size_t kMaxUnused = 256;
  struct Entry {
    std::shared_ptr<pjrt::Program> program;  // null while it is being compiled
    std::vector<Ready> waiting;
    // Until it is compiled:
    std::vector<std::weak_ptr<const void>> users;  // of the calls of GetAhead
    bool is_waited_for = false;                    // Get or Wait was called
    uint64_t turn = 0;                             // its number in the queue
    std::list<std::string>::iterator use;
  };
  explicit ProgramCache(pjrt::Client& client) : client_(client) {}
  // As Get if `user` is null.
  void Request(std::string text, pjrt::CompileOptions options, const std::weak_ptr<const void>* user,
               const Ready& ready);
  // Whether a call waits for the program, which has not been compiled yet, or a user of GetAhead still exists. If not,
  // forgets the program.
  bool IsWanted(const std::string& text);
  // Loads the program from the files of earlier processes, or compiles it. Blocks until then.
  StatusOr<std::shared_ptr<pjrt::Program>> Make(const std::string& text, const pjrt::CompileOptions& options);
  StatusOr<std::shared_ptr<pjrt::Program>> Load(const std::string& text, const pjrt::CompileOptions& options);
  // Null if the environment names no directory, or one that cannot be used, which the log says.
  const ProgramFiles* Files();
  void Compiled(const std::string& text, const StatusOr<std::shared_ptr<pjrt::Program>>& program);
  void DropUnused() TB_REQUIRES(mu_);

  pjrt::Client& client_;
  Mutex files_mu_;
  bool files_opened_ TB_GUARDED_BY(files_mu_) = false;
  std::unique_ptr<ProgramFiles> files_ TB_GUARDED_BY(files_mu_);  // does not change once opened
  Mutex mu_;
  std::map<std::string, Entry> entries_ TB_GUARDED_BY(mu_);  // keyed by text
  std::list<std::string> uses_ TB_GUARDED_BY(mu_);           // texts, the one that was used last at the end
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_PJRT_PROGRAM_CACHE_H_
