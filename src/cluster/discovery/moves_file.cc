#include "cluster/discovery/moves_file.h"

#include <chrono>
#include <cstdlib>
#include <utility>

#include "core/text/host_port.h"
#include "core/text/json.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "core/threads/thread.h"
#include "io/file.h"

namespace tensorbraid {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{500};

class FileWatch final : public RunningWatch {
 public:
  FileWatch(std::string path, ClusterWatch::Changed changed) : path_(std::move(path)), changed_(std::move(changed)) {
    thread_ = Thread("tb-moves", [this] { Run(); });
  }
  ~FileWatch() override {
    {
      MutexLock lock(mu_);
      stopping_ = true;
      stopped_.NotifyAll();
    }
    thread_.Join();
  }

 private:
  void Run() {
    AddressMoves known;
    do {
      auto moves = Read();
      if (moves.ok() && *moves != known) {
        known = *std::move(moves);
        changed_(known);
      } else if (!moves.ok() && !std::exchange(failed_, true)) {
        TB_LOG(Warning, "cluster") << "tasks that the launcher moves are not followed: " << moves.status().message();
      }
    } while (!Pause());
  }

  StatusOr<AddressMoves> Read() const {
    const auto text = ReadFile(path_);
    if (absl::IsNotFound(text.status())) return AddressMoves();
    TF_RETURN_IF_ERROR(text.status());
    auto moves = ParseMoves(*text);
    if (!moves.ok()) return Annotate(moves.status(), StrCat("'", path_, "'"));
    return moves;
  }

  // Returns whether the watch ends.
  bool Pause() {
    MutexLock lock(mu_);
    return stopped_.WaitFor(mu_, kBetweenLooks, [this]() TB_REQUIRES(mu_) { return stopping_; });
  }

  const std::string path_;
  const ClusterWatch::Changed changed_;
  bool failed_ = false;  // an error has been logged
  Mutex mu_;
  CondVar stopped_;
  bool stopping_ TB_GUARDED_BY(mu_) = false;
  Thread thread_;
};

}  // namespace

std::shared_ptr<MovesFile> MovesFile::FromEnvironment() {
  const char* const path = std::getenv(kVariable);
  if (path == nullptr || *path == '\0') return nullptr;
  return std::make_shared<MovesFile>(path);
}

MovesFile::MovesFile(std::string path) : path_(std::move(path)) {}

std::unique_ptr<RunningWatch> MovesFile::Start(Changed changed) {
  return std::make_unique<FileWatch>(path_, std::move(changed));
}

std::string MovesToJson(const AddressMoves& moves) { return JsonText(nlohmann::json(moves)); }

StatusOr<AddressMoves> ParseMoves(std::string_view text) {
  const auto json = ParseJsonOrDiscard(text);
  if (!json.is_object()) return InvalidArgument("not a JSON object of addresses: ", text.substr(0, 80));
  AddressMoves moves;
  for (const auto& [from, to] : json.items()) {
    if (!to.is_string()) return InvalidArgument("the new address of '", from, "' is not a string");
    moves[from] = to.get<std::string>();
    for (const std::string& address : {from, moves[from]}) TF_RETURN_IF_ERROR(ParseHostPort(address).status());
  }
  return moves;
}

}  // namespace tensorbraid
