#include "cli/launch/sync.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "cli/launch/job_folder.h"
#include "cli/launch/launched_task.h"
#include "cli/launch/run_command.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

namespace fs = std::filesystem;

// On the machines, in each directory that was brought: the names of the files that were.
constexpr char kManifest[] = ".tensorbraid-sync";

struct Directory {
  std::string path;      // absolute
  std::string manifest;  // the names of its files, a line each
};

StatusOr<Directory> ReadDirectory(const std::string& name) {
  std::error_code error;
  Directory directory{fs::canonical(name, error).string(), ""};
  if (error || !fs::is_directory(directory.path))
    return InvalidArgument("--sync=", name, ": there is no such directory");
  if (directory.path == "/") return InvalidArgument("--sync=/ would bring the whole system");
  std::vector<std::string> files;
  for (auto entry = fs::recursive_directory_iterator(directory.path, error); !error && entry != fs::end(entry);
       entry.increment(error)) {
    if (entry->is_directory() && !entry->is_symlink()) continue;
    const std::string file = entry->path().lexically_relative(directory.path);
    if (file.find('\n') != std::string::npos) return InvalidArgument("--sync: the name '", file, "' has a line break");
    if (file != kManifest && !IsWrittenByJobs(entry->path().filename())) files.push_back(file);
  }
  if (error) return absl::ErrnoToStatus(error.value(), StrCat("--sync: cannot read '", name, "'"));
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) directory.manifest += file + "\n";
  return directory;
}

// "  1,234,567  45%  12.3MB/s ..." -> "45%".
std::string PercentOf(const std::string& line) {
  const size_t end = line.find('%');
  if (end == std::string::npos) return "";
  const size_t begin = line.rfind(' ', end);
  return line.substr(begin + 1, end - begin);
}

Status SyncTo(const AgentNode& node, const Directory& directory, const std::string& manifest_file,
              const SyncOptions& options) {
  const std::string what = StrCat("--sync: ", node.name);
  const bool shows_progress = ::isatty(options.err_fd) != 0;
  const auto show = [&](const std::string& percent) {
    if (shows_progress && !percent.empty()) {
      WriteAll(options.err_fd, StrCat("\rlaunch: ", node.name, ": ", directory.path, " ", percent, "  "));
    }
  };
  std::vector<std::string> ssh = options.ssh;
  ssh.insert(ssh.end(), {"-o", "BatchMode=yes", "-o", "ConnectTimeout=10"});
  std::string shell;  // rsync takes one text
  for (const std::string& word : ssh) shell += (shell.empty() ? "" : " ") + word;
  const bool is_ipv6 = node.name.find(':') != std::string::npos;
  const size_t at = node.name.find('@') + 1;  // 0 if there is no user
  const std::string host = is_ipv6 ? StrCat(node.name.substr(0, at), "[", node.name.substr(at), "]") : node.name;

  std::vector<std::string> command = ssh;
  command.insert(command.end(), {node.name, "--", "mkdir -p " + ShellWord(directory.path)});
  TF_RETURN_IF_ERROR(Annotate(RunCommand(command).status(), what));

  std::string summary;
  const auto on_line = [&](const std::string& line) {
    show(PercentOf(line));
    if (line.starts_with("sent ")) summary = line;
  };
  const auto brought =
      RunCommand({"rsync", "--rsh=" + shell, "--recursive", "--links", "--perms", "--times", "--compress", "--checksum",
                  "--protect-args", "--files-from=" + manifest_file, "--info=progress2,stats1", "--no-human-readable",
                  directory.path + "/", StrCat(host, ":", directory.path, "/")},
                 on_line);
  TF_RETURN_IF_ERROR(Annotate(brought.status(), what));

  // Removes what an earlier call has brought and this one has not.
  const std::string path = ShellWord(StrCat(directory.path, "/", kManifest));
  const auto listed = RunCommand({"rsync", "--rsh=" + shell, "--protect-args", manifest_file,
                                  StrCat(host, ":", directory.path, "/", kManifest, ".new")});
  TF_RETURN_IF_ERROR(Annotate(listed.status(), what));
  command.back() = StrCat("cd ", ShellWord(directory.path), " && m=", path, " && { [ ! -f \"$m\" ] || ",
                          "LC_ALL=C comm -23 \"$m\" \"$m.new\" | while IFS= read -r f; do rm -f -- \"$f\"; done; } && ",
                          "mv -f \"$m.new\" \"$m\"");
  TF_RETURN_IF_ERROR(Annotate(RunCommand(command).status(), what));
  const auto files = std::count(directory.manifest.begin(), directory.manifest.end(), '\n');
  WriteAll(options.err_fd, StrCat(shows_progress ? "\r" : "", "launch: ", node.name, " has the ", files, " files of ",
                                  directory.path, " (", summary.substr(0, summary.find("  ")), ")\n"));
  return OkStatus();
}

}  // namespace

bool IsWrittenByJobs(const std::string& name) {
  return name == "checkpoint" || name.find(".ckpt") != std::string::npos ||
         name.find("tfevents.") != std::string::npos || name.find(".tempstate") != std::string::npos ||
         (name.find(".data-") != std::string::npos && name.find("-of-") != std::string::npos);
}

Status SyncDirectories(const SyncOptions& options) {
  for (const std::string& name : options.directories) {
    TF_ASSIGN_OR_RETURN(const Directory directory, ReadDirectory(name));
    TF_ASSIGN_OR_RETURN(const JobFolder folder, JobFolder::Make({{"manifest", directory.manifest}}));
    for (const AgentNode& node : options.nodes) {
      TF_RETURN_IF_ERROR(SyncTo(node, directory, folder.path() + "/manifest", options));
    }
  }
  return OkStatus();
}

}  // namespace tensorbraid
