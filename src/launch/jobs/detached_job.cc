#include "launch/jobs/detached_job.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_replace.h"
#include "core/system/clock.h"
#include "core/system/host_name.h"
#include "core/text/json.h"
#include "core/text/strings.h"
#include "launch/processes/run_command.h"
#include "launch/processes/write_all.h"

namespace tensorbraid {
namespace {

using Json = nlohmann::json;

constexpr size_t kLatestBytes = 64 << 10;  // that a client gets of what was before it
constexpr size_t kMostUnsent = 1 << 20;    // for a client that does not read
constexpr size_t kLongestRequest = 100;
constexpr std::chrono::seconds kFlushAtEnd{2};

// Calls bind or connect with the address of the job's socket. The name of a socket may have 107 bytes only, and the
// path of the folder may be longer.
template <typename Call>
int WithAddress(const std::string& folder, const Call& call) {
  const Fd directory(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory.is_open()) return -1;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = StrCat("/proc/self/fd/", directory.get(), "/socket");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return call(reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

std::string LineFor(const char* name, std::string_view line) {
  return JsonText(Json{{name, absl::Base64Escape(std::string(line))}}) + "\n";
}

}  // namespace

StatusOr<std::unique_ptr<DetachedJob>> DetachedJob::Create(NewJob job, std::function<void()> on_all_started,
                                                           uint64_t max_log_bytes) {
  auto made = std::unique_ptr<DetachedJob>(new DetachedJob(std::move(job), std::move(on_all_started), max_log_bytes));
  TF_RETURN_IF_ERROR(made->Listen());
  return made;
}

DetachedJob::~DetachedJob() { ::unlink((job_.job.folder + "/socket").c_str()); }

Status DetachedJob::Listen() {
  listener_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto bind = [this](const sockaddr* address, socklen_t size) { return ::bind(listener_.get(), address, size); };
  if (listener_.is_open() && WithAddress(job_.job.folder, bind) == 0 && ::listen(listener_.get(), 16) == 0) {
    return OkStatus();
  }
  return absl::ErrnoToStatus(errno, StrCat("cannot listen on '", job_.job.folder, "/socket'"));
}

Status DetachedJob::Log(const std::string& file, std::string_view line) {
  auto log = logs_.find(file);
  if (log == logs_.end()) {
    TF_ASSIGN_OR_RETURN(BoundedLog opened, BoundedLog::Open(StrCat(job_.job.folder, "/", file), max_log_bytes_));
    log = logs_.emplace(file, std::move(opened)).first;
  }
  return log->second.Write(StrCat(line, "\n"));
}

void DetachedJob::OnTaskLine(const std::string& task, std::string_view line) {
  const std::string file = absl::StrReplaceAll(task, {{"/", "-"}}) + ".log";
  const Status logged = Log(file, line);
  if (logged.ok() || !incomplete_.insert(file).second) return;
  // Clients that follow the job read this. The log of the whole output may be on the full disk, too.
  OnOutput(OutputStream::kErr, StrCat("launch: ", std::string(logged.message()), "; lines of ", task, " are lost\n"));
}

void DetachedJob::OnOutput(OutputStream stream, std::string_view line) {
  OnTaskLine("output", line.substr(0, line.size() - (line.ends_with('\n') ? 1 : 0)));
  const std::string message = LineFor(stream == OutputStream::kOut ? "out" : "err", line);
  latest_.push_back(message);
  latest_bytes_ += message.size();
  while (latest_bytes_ > kLatestBytes && latest_.size() > 1) {
    latest_bytes_ -= latest_.front().size();
    latest_.pop_front();
  }
  for (Client& client : clients_) {
    if (client.follows) Send(client, message);
  }
}

void DetachedJob::AddEvents(std::vector<pollfd>* events) {
  events->push_back({listener_.get(), POLLIN, 0});
  for (const Client& client : clients_) {
    events->push_back({client.fd.get(), static_cast<short>(client.unsent.empty() ? POLLIN : POLLIN | POLLOUT), 0});
  }
}

void DetachedJob::Handle(const std::function<void()>& stop) {
  Accept();
  for (Client& client : clients_) {
    Read(client, stop);
    Flush(client);
  }
  std::erase_if(clients_, [](const Client& client) { return !client.fd.is_open(); });
}

void DetachedJob::Accept() {
  for (;;) {
    Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.is_open()) return;
    clients_.push_back({.fd = std::move(fd)});
  }
}

void DetachedJob::Read(Client& client, const std::function<void()>& stop) {
  std::array<char, 256> bytes;
  const ssize_t got = ::read(client.fd.get(), bytes.data(), bytes.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    client.fd.Close();
    return;
  }
  client.input.append(bytes.data(), static_cast<size_t>(got));
  const size_t end = client.input.find('\n');
  if (end == std::string::npos) {
    if (client.input.size() > kLongestRequest) client.fd.Close();
    return;
  }
  const std::string request = client.input.substr(0, end);
  client.input.clear();
  if (request == "attach" && !client.follows) {
    client.follows = true;
    for (const std::string& line : latest_) Send(client, line);
  } else if (request == "stop") {
    stop();
  } else {
    client.fd.Close();
  }
}

void DetachedJob::Send(Client& client, const std::string& line) {
  if (!client.fd.is_open()) return;
  if (client.unsent.size() > kMostUnsent) {
    ++client.lost_lines;
    return;
  }
  if (client.lost_lines > 0) {
    client.unsent += LineFor(
        "err", StrCat("attach: ", client.lost_lines, " lines were left out, because they were not read in time\n"));
    client.lost_lines = 0;
  }
  client.unsent += line;
  Flush(client);
}

void DetachedJob::Flush(Client& client) {
  while (client.fd.is_open() && !client.unsent.empty()) {
    const ssize_t sent = ::send(client.fd.get(), client.unsent.data(), client.unsent.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent > 0) {
      client.unsent.erase(0, static_cast<size_t>(sent));
    } else {
      client.fd.Close();
    }
  }
}

Status DetachedJob::Finish(const JobResult& result) {
  const Status written = WriteResult(job_.job, result);
  Accept();  // a client that came last wants the result, too
  const std::string end = JsonText(Json{{"exit_code", result.exit_code}, {"failure", result.failure}}) + "\n";
  for (Client& client : clients_) {
    client.unsent += end;
    Flush(client);
  }
  const auto deadline = std::chrono::steady_clock::now() + kFlushAtEnd;
  for (;;) {
    std::erase_if(clients_, [](const Client& c) { return !c.fd.is_open() || c.unsent.empty(); });
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (clients_.empty() || left.count() <= 0) return written;
    std::vector<pollfd> events;
    for (const Client& client : clients_) events.push_back({client.fd.get(), POLLOUT, 0});
    ::poll(events.data(), events.size(), static_cast<int>(left.count()));
    for (Client& client : clients_) Flush(client);
  }
}

namespace {

// Sends a request to the launcher of the job, and handles its lines until the job ends.
StatusOr<JobResult> Ask(const Job& job, std::string_view request, int out_fd, int err_fd) {
  if (job.state == Job::State::kEnded) return job.result;
  const auto lost = [&job]() -> StatusOr<JobResult> {
    const auto now = ReadJob(job.folder);  // it may have ended meanwhile
    if (now.ok() && now->state == Job::State::kEnded) return now->result;
    const std::string tasks =
        job.clean_up.empty() ? "its tasks have ended"
                             : StrCat("its tasks may go on for a while: 'tensorbraid stop ", job.name, "' ends them");
    return absl::UnavailableError(StrCat("the launcher of ", job.name, " is lost: it was killed, or its machine has ",
                                         "failed, and ", tasks, "; 'tensorbraid logs ", job.name,
                                         "' has their output"));
  };
  if (job.state == Job::State::kLost) return lost();
  const Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto connect = [&fd](const sockaddr* address, socklen_t size) { return ::connect(fd.get(), address, size); };
  if (!fd.is_open() || WithAddress(job.folder, connect) != 0) {
    if (job.host != HostName()) {
      return absl::FailedPreconditionError(
          StrCat("the launcher of ", job.name, " runs on ", job.host, ": give the command there"));
    }
    return lost();
  }
  WriteAll(fd.get(), StrCat(request, "\n"));
  std::string input;
  std::array<char, 65536> bytes;
  for (;;) {
    const ssize_t got = ::read(fd.get(), bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return lost();
    input.append(bytes.data(), static_cast<size_t>(got));
    size_t begin = 0;
    for (size_t end; (end = input.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const Json line = ParseJsonOrDiscard(input.substr(begin, end - begin));
      if (!line.is_object()) continue;
      if (line.contains("exit_code")) {
        return JobResult{.exit_code = line.value("exit_code", 1), .failure = line.value("failure", "")};
      }
      for (const auto& [name, output] : {std::pair("out", out_fd), {"err", err_fd}}) {
        std::string text;
        if (line.contains(name) && absl::Base64Unescape(line.value(name, ""), &text)) WriteAll(output, text);
      }
    }
    input.erase(0, begin);
  }
}

}  // namespace

StatusOr<JobResult> AttachToJob(const Job& job, int out_fd, int err_fd) { return Ask(job, "attach", out_fd, err_fd); }

StatusOr<JobResult> StopJob(const Job& job) {
  if (job.state != Job::State::kLost || job.clean_up.empty()) return Ask(job, "stop", -1, -1);
  TF_RETURN_IF_ERROR(
      Annotate(RunCommand(job.clean_up).status(), StrCat("the tasks of ", job.name, " cannot be ended")));
  const JobResult result{.exit_code = 128 + SIGKILL,
                         .failure = "its launcher had been killed, and what it had left has been deleted",
                         .ended_s = static_cast<int64_t>(WallClock::Seconds())};
  TF_RETURN_IF_ERROR(WriteResult(job, result));
  return result;
}

}  // namespace tensorbraid
