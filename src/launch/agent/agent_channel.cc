#include "launch/agent/agent_channel.h"

#include <unistd.h>

#include <array>
#include <cerrno>

#include "core/text/strings.h"

namespace tensorbraid {

AgentChannel::AgentChannel(std::function<void(std::string_view)> on_error_line)
    : on_error_line_(std::move(on_error_line)) {}

Status AgentChannel::Open(const std::vector<std::string>& command, int death_signal) {
  Close();
  const bool is_killed = death_signal == SIGKILL;
  TF_ASSIGN_OR_RETURN(process_,
                      ChildProcess::Start(command, {}, ChildProcess::Stdout::kPipe, ChildProcess::Stdin::kPipe,
                                          is_killed ? ChildProcess::Orphan::kIsKilled : ChildProcess::Orphan::kGoesOn));
  if (!is_killed) {
    guard_.emplace(GroupGuardOptions{
        .process = process_->pid(), .signal = death_signal, .outputs = {process_->out().get(), process_->err().get()}});
  }
  program_ = command[0];
  error_lines_.emplace([this](std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);  // ssh writes for a terminal
    // mpirun draws lines around its errors.
    if (line.find_first_not_of("- ") != std::string_view::npos) last_error_ = line;
    on_error_line_(line);
  });
  return OkStatus();
}

void AgentChannel::Close() {
  process_.reset();
  guard_.reset();
  unsent_.clear();
  unparsed_.clear();
  last_error_.clear();
}

void AgentChannel::Send(std::string_view lines) {
  if (!is_open()) return;
  unsent_ += lines;
  Write();
}

void AgentChannel::Write() {
  while (!unsent_.empty()) {
    const ssize_t written = ::write(process_->in().get(), unsent_.data(), unsent_.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // later; or the process has ended, which Handle sees
    unsent_.erase(0, static_cast<size_t>(written));
  }
}

void AgentChannel::AddEvents(std::vector<pollfd>* events) {
  if (!is_open()) return;
  events->push_back({process_->end_event().get(), POLLIN, 0});
  events->push_back({process_->out().get(), POLLIN, 0});
  events->push_back({process_->err().get(), POLLIN, 0});
  if (!unsent_.empty()) events->push_back({process_->in().get(), POLLOUT, 0});
}

std::optional<std::string> AgentChannel::Handle(const std::function<void(std::string_view)>& on_line) {
  if (!is_open()) return std::nullopt;
  pollfd end = {process_->end_event().get(), POLLIN, 0};
  const bool has_ended = ::poll(&end, 1, 0) == 1;  // asked first, so that all of its output is read below
  Write();
  Read(on_line);
  if (!has_ended || !is_open()) return std::nullopt;
  Read(on_line);
  if (!is_open()) return std::nullopt;
  const std::string how = StrCat(program_, " ", process_->Reap().ToString());
  const std::string text = last_error_.empty() ? how : StrCat(how, ": ", last_error_);
  Close();
  return text;
}

void AgentChannel::Read(const std::function<void(std::string_view)>& on_line) {
  std::array<char, 65536> bytes;
  // Both loops are bounded, so that tasks that write endlessly do not keep the launcher from handling signals.
  for (int i = 0; i < 16 && process_->err().is_open(); ++i) {
    const ssize_t got = ::read(process_->err().get(), bytes.data(), bytes.size());
    if (got > 0) {
      error_lines_->Add({bytes.data(), static_cast<size_t>(got)});
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      process_->err().Close();
      error_lines_->Finish();
    } else {
      break;
    }
  }
  for (int i = 0; i < 16 && process_->out().is_open(); ++i) {
    const ssize_t got = ::read(process_->out().get(), bytes.data(), bytes.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (got <= 0) {
      process_->out().Close();
      break;
    }
    unparsed_.append(bytes.data(), static_cast<size_t>(got));
  }
  const std::string lines = std::move(unparsed_);
  unparsed_.clear();
  size_t begin = 0;
  for (size_t end; (end = lines.find('\n', begin)) != std::string::npos; begin = end + 1) {
    on_line(std::string_view(lines).substr(begin, end - begin));
    if (!is_open()) return;
  }
  unparsed_ = lines.substr(begin);
}

void AgentChannel::Signal(int signal) {
  if (is_open()) process_->Signal(signal);
}

void AgentChannel::CloseInput() {
  if (is_open()) process_->in().Close();
}

bool AgentChannel::AwaitEnd(std::chrono::steady_clock::time_point deadline) {
  if (!is_open()) return true;
  for (;;) {
    // A process whose output is not read might never end.
    std::array<pollfd, 3> events = {{{process_->end_event().get(), POLLIN, 0},
                                     {process_->out().get(), POLLIN, 0},
                                     {process_->err().get(), POLLIN, 0}}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0 || ::poll(events.data(), events.size(), static_cast<int>(left.count())) == 0) return false;
    std::array<char, 4096> ignored;
    for (Fd* fd : {&process_->out(), &process_->err()}) {
      if (!fd->is_open()) continue;
      const ssize_t got = ::read(fd->get(), ignored.data(), ignored.size());
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) fd->Close();
    }
    if (events[0].revents != 0) return true;
  }
}

}  // namespace tensorbraid
