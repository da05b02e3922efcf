#include "launch/engines/kubernetes/kubectl.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>

#include "core/text/strings.h"
#include "launch/processes/run_command.h"

namespace tensorbraid {
namespace {

// What Kubernetes calls the reasons of its errors: "Error from server (Forbidden): ...".
struct ErrorReason {
  std::string_view text;
  absl::StatusCode code;
};
constexpr std::array<ErrorReason, 8> kErrorReasons = {{{"exceeded quota", absl::StatusCode::kResourceExhausted},
                                                       {"denied the request", absl::StatusCode::kFailedPrecondition},
                                                       {"(Forbidden)", absl::StatusCode::kPermissionDenied},
                                                       {"(Unauthorized)", absl::StatusCode::kPermissionDenied},
                                                       {"(AlreadyExists)", absl::StatusCode::kAlreadyExists},
                                                       {"(NotFound)", absl::StatusCode::kNotFound},
                                                       {"(Invalid)", absl::StatusCode::kInvalidArgument},
                                                       {"(BadRequest)", absl::StatusCode::kInvalidArgument}}};
constexpr size_t kMaxErrors = 64 * 1024;

}  // namespace

StatusOr<std::unique_ptr<KubectlCall>> KubectlCall::Start(const std::vector<std::string>& command, std::string input,
                                                          std::function<void(std::string_view)> on_line) {
  const auto standard_input = input.empty() ? ChildProcess::Stdin::kEmpty : ChildProcess::Stdin::kPipe;
  TF_ASSIGN_OR_RETURN(ChildProcess process,
                      ChildProcess::Start(command, {}, ChildProcess::Stdout::kPipe, standard_input));
  return std::unique_ptr<KubectlCall>(new KubectlCall(std::move(process), std::move(input), std::move(on_line)));
}

KubectlCall::KubectlCall(ChildProcess process, std::string input, std::function<void(std::string_view)> on_line)
    : process_(std::move(process)), unsent_(std::move(input)) {
  if (on_line != nullptr) lines_.emplace(std::move(on_line));
  Write();
}

void KubectlCall::AddEvents(std::vector<pollfd>* events) {
  for (Fd* fd : {&process_.out(), &process_.err()}) {
    if (fd->is_open()) events->push_back({fd->get(), POLLIN, 0});
  }
  if (!unsent_.empty()) events->push_back({process_.in().get(), POLLOUT, 0});
  // Its output is read to the end, and then its end is waited for.
  if (!process_.out().is_open() && !process_.err().is_open()) {
    events->push_back({process_.end_event().get(), POLLIN, 0});
  }
}

bool KubectlCall::Handle() {
  if (end_.has_value()) return true;
  Write();
  Read();
  if (process_.out().is_open() || process_.err().is_open()) return false;
  pollfd end = {process_.end_event().get(), POLLIN, 0};
  if (::poll(&end, 1, 0) != 1) return false;
  end_ = process_.Reap();
  return true;
}

bool KubectlCall::AwaitEnd(MonotonicClock::time_point deadline) {
  while (!Handle()) {
    std::vector<pollfd> events;
    AddEvents(&events);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - MonotonicClock::now());
    if (left.count() <= 0 || ::poll(events.data(), events.size(), static_cast<int>(left.count())) == 0) return false;
  }
  return true;
}

Status KubectlCall::status() const {
  if (end_->ok()) return OkStatus();
  return errors_.empty() ? absl::UnavailableError(StrCat("kubectl ", end_->ToString())) : KubectlError(errors_);
}

void KubectlCall::Write() {
  while (!unsent_.empty()) {
    const ssize_t written = ::write(process_.in().get(), unsent_.data(), unsent_.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) return;
    if (written <= 0) unsent_.clear();  // kubectl reads no more; its end says why
    if (written > 0) unsent_.erase(0, static_cast<size_t>(written));
  }
  process_.in().Close();
}

void KubectlCall::Read() {
  std::array<char, 65536> bytes;
  for (Fd* fd : {&process_.err(), &process_.out()}) {
    // Bounded, so that tasks that write endlessly do not keep the launcher from handling signals.
    for (int i = 0; i < 16 && fd->is_open(); ++i) {
      const ssize_t got = ::read(fd->get(), bytes.data(), bytes.size());
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) break;
      const bool is_out = fd == &process_.out();
      const std::string_view text(bytes.data(), got > 0 ? static_cast<size_t>(got) : 0);
      if (got <= 0) {
        fd->Close();
        if (is_out && lines_.has_value()) lines_->Finish();
      } else if (!is_out) {
        if (errors_.size() < kMaxErrors) errors_ += text;
      } else if (lines_.has_value()) {
        lines_->Add(text);
      } else {
        output_ += text;
      }
    }
  }
}

std::vector<std::string> Kubectl::Command(const std::vector<std::string>& arguments) const {
  std::vector<std::string> command = program;
  command.push_back("--namespace=" + name_space);
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

std::string Kubectl::DeleteCommand() const {
  std::vector<std::string> words;
  for (const std::string& word : Command({"delete", kinds, "-l", "app.kubernetes.io/instance=" + job})) {
    words.push_back(ShellWord(word));
  }
  return StrJoin(words, " ");
}

Status Kubectl::Explained(const Status& status) const {
  const std::string text(status.message());
  if (absl::IsAlreadyExists(status)) {
    return absl::AlreadyExistsError(StrCat("the name ", job, " is taken in namespace ", name_space,
                                           ": give another --name, or delete what has it: ", DeleteCommand(), " (",
                                           text, ")"));
  }
  if (absl::IsPermissionDenied(status) && text.find(" cannot ") != text.npos) {
    const bool is_of_job = text.find("\"jobs\"") != text.npos;
    return absl::PermissionDeniedError(StrCat(
        text, "; the launcher needs a role in namespace ", name_space,
        " that may create, get, list, watch and delete pods, services and secrets, get pods/log, and also patch jobs",
        is_of_job ? "; --lost_launcher_s=0 does without jobs" : ""));
  }
  if (absl::IsPermissionDenied(status) && text.find("PodSecurity") != text.npos) {
    return absl::PermissionDeniedError(
        StrCat(text, "; the pods of the launcher satisfy the level 'restricted', unless --user=0 is given"));
  }
  if (absl::IsResourceExhausted(status)) {
    return absl::ResourceExhaustedError(StrCat(
        text,
        "; ask for less by --workers, --ps, --cpus, --memory or --gpus_per_worker, or end what uses the quota of "
        "namespace ",
        name_space, ": ", StrJoin(Command({"describe", "resourcequota"}), " ")));
  }
  if (absl::IsFailedPrecondition(status)) {
    return absl::FailedPreconditionError(
        StrCat(text, "; that is a rule of the cluster: 'tensorbraid launch --dry-run' prints what it was asked for"));
  }
  if (absl::IsUnavailable(status)) {
    return absl::UnavailableError(StrCat(text, "; '", StrJoin(Command({"get", "pods"}), " "),
                                         "' must work: --kubectl=\"kubectl --context=NAME\" chooses the cluster"));
  }
  return status;
}

Status KubectlError(std::string_view errors) {
  std::vector<std::string> lines;
  for (const std::string& line : StrSplit(errors, '\n')) {
    // "E1127 01:45:15.123456  8731 memcache.go:265] ..." says the same as the last line, five times.
    const bool is_log =
        line.size() > 5 && line[0] == 'E' && line.substr(1, 4).find_first_not_of("0123456789") == line.npos;
    if (!line.empty() && !is_log && !line.starts_with("Warning: ")) lines.push_back(line);
  }
  const std::string text = lines.empty() ? std::string(errors) : StrJoin(lines, "; ");
  for (const ErrorReason& reason : kErrorReasons) {
    if (text.find(reason.text) != text.npos) return {reason.code, text};
  }
  if (text.find("Unauthorized") != text.npos) return absl::PermissionDeniedError(text);
  return absl::UnavailableError(text);
}

Status ErrorOf(const std::string& object, const Status& status) {
  const std::string text(status.message());
  std::string error;
  size_t begin = 0;
  for (size_t end = 0; end != text.npos; begin = end + 2) {
    // An error begins so; other "; " are within one.
    end = text.find("; Error from server", begin);
    const std::string part = text.substr(begin, end == text.npos ? end : end - begin);
    if (error.empty() || part.find(StrCat("\"", object, "\"")) != part.npos) error = part;
    if (part.find(StrCat("\"", object, "\"")) != part.npos) break;
  }
  return KubectlError(error);
}

bool HasReachedServer(const Status& status) {
  const std::string text(status.message());
  return text.find("dial tcp") == text.npos && text.find("was refused") == text.npos;
}

}  // namespace tensorbraid
