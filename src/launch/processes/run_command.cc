#include "launch/processes/run_command.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <string_view>

#include "absl/strings/ascii.h"
#include "core/text/strings.h"
#include "launch/processes/child_process.h"

namespace tensorbraid {
namespace {

// While an object of this class exists, a write of this thread to a pipe without a reader is an error and raises no
// signal.
class PipeSignalBlocked {
 public:
  PipeSignalBlocked() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~PipeSignalBlocked() {
    const timespec at_once = {0, 0};
    if (!sigismember(&before_, SIGPIPE)) ::sigtimedwait(&pipe_, nullptr, &at_once);  // drops it
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  PipeSignalBlocked(const PipeSignalBlocked&) = delete;
  PipeSignalBlocked& operator=(const PipeSignalBlocked&) = delete;

 private:
  sigset_t pipe_, before_;
};

// Writes as much as the program's input takes now. Closes the input when all is written, or when the program has closed
// its end.
void WriteInput(Fd& in, std::string_view& input) {
  while (!input.empty()) {
    const ssize_t written = ::write(in.get(), input.data(), input.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) return;
    if (written <= 0) break;
    input.remove_prefix(static_cast<size_t>(written));
  }
  in.Close();
}

}  // namespace

StatusOr<std::string> RunCommand(const std::vector<std::string>& command,
                                 const std::function<void(const std::string&)>& on_line, std::string_view input) {
  const PipeSignalBlocked blocked;
  auto started = ChildProcess::Start(command, {}, ChildProcess::Stdout::kPipe,
                                     input.empty() ? ChildProcess::Stdin::kEmpty : ChildProcess::Stdin::kPipe);
  if (absl::IsNotFound(started.status())) {
    return absl::NotFoundError(StrCat("there is no program '", command[0], "' here: install it"));
  }
  TF_RETURN_IF_ERROR(started);
  ChildProcess process = *std::move(started);
  std::string output, errors;
  size_t reported = 0;  // bytes of `output` that were passed on as lines
  while (process.out().is_open() || process.err().is_open()) {
    std::array<pollfd, 3> events = {
        {{process.out().get(), POLLIN, 0}, {process.err().get(), POLLIN, 0}, {process.in().get(), POLLOUT, 0}}};
    ::poll(events.data(), events.size(), -1);
    if (process.in().is_open()) WriteInput(process.in(), input);
    for (auto [fd, text] : {std::pair(&process.out(), &output), {&process.err(), &errors}}) {
      if (!fd->is_open()) continue;
      std::array<char, 4096> bytes;
      const ssize_t got = ::read(fd->get(), bytes.data(), bytes.size());
      if (got > 0) text->append(bytes.data(), static_cast<size_t>(got));
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) fd->Close();
    }
    if (on_line == nullptr) continue;
    for (size_t end; (end = output.find_first_of("\r\n", reported)) != std::string::npos; reported = end + 1) {
      on_line(output.substr(reported, end - reported));
    }
  }
  const ProcessEnd end = process.Reap();
  if (end.ok()) return output;
  while (!errors.empty() && (errors.back() == '\n' || errors.back() == '\r')) errors.pop_back();
  return absl::UnavailableError(StrCat(command[0], " ", end.ToString(), errors.empty() ? "" : ": ", errors));
}

std::string ShellWord(const std::string& text) {
  const auto is_plain = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("-_./=:,@%+").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string ShellWords(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) line += StrCat(line.empty() ? "" : " ", ShellWord(word));
  return line;
}

}  // namespace tensorbraid
