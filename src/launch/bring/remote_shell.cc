#include "launch/bring/remote_shell.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "core/text/strings.h"
#include "core/threads/thread.h"
#include "launch/processes/run_command.h"

namespace tensorbraid {

const std::vector<std::string>& SshOptionsOfLauncher() {
  static const std::vector<std::string>* const options = new std::vector<std::string>(
      {"-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"});
  return *options;
}

RemoteShell::RemoteShell(const AgentNode& node, const std::vector<std::string>& ssh) : node_(node.name), ssh_(ssh) {
  const std::vector<std::string>& options = SshOptionsOfLauncher();
  ssh_.insert(ssh_.end(), options.begin(), options.end());
}

StatusOr<std::string> RemoteShell::Run(const std::string& script, std::string_view input) const {
  std::vector<std::string> command = ssh_;
  command.insert(command.end(), {node_, "--", "exec sh -c " + ShellWord(script)});
  const auto output = RunCommand(command, nullptr, input);
  // What ssh says of that depends on its LogLevel.
  const std::string message(output.status().message());
  if (absl::IsUnavailable(output.status()) && message.ends_with("exited with 255")) {
    return absl::UnavailableError(
        StrCat(message, ": the connection has ended, or ", node_, " has said nothing for 15 s"));
  }
  return output;
}

StatusOr<std::string> RemoteShell::Rsync(std::vector<std::string> arguments,
                                         const std::function<void(const std::string&)>& on_line,
                                         std::string_view input) const {
  const bool is_ipv6 = node_.find(':') != std::string::npos;
  const size_t at = node_.find('@') + 1;  // 0 if there is no user
  const std::string host = is_ipv6 ? StrCat(node_.substr(0, at), "[", node_.substr(at), "]") : node_;
  arguments.back() = StrCat(host, ":", arguments.back());
  std::vector<std::string> command = {"rsync", "--rsh=" + StrJoin(ssh_, " "), "--protect-args"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return RunCommand(command, on_line, input);
}

Status ForEachMachine(size_t machines, const std::function<Status(size_t)>& function) {
  constexpr size_t kAtATime = 16;
  std::vector<Status> results(machines);
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  const auto work = [&] {
    for (size_t i; (i = next++) < machines && !failed;) {
      results[i] = function(i);
      if (!results[i].ok()) failed = true;
    }
  };
  std::vector<Thread> threads;
  for (size_t i = 0; i < std::min(machines, kAtATime); ++i) threads.emplace_back("sync", work);
  for (Thread& thread : threads) thread.Join();
  for (const Status& result : results) TF_RETURN_IF_ERROR(result);
  return OkStatus();
}

}  // namespace tensorbraid
