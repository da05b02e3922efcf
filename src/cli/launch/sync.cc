#include "cli/launch/sync.h"

#include <algorithm>
#include <filesystem>

#include "cli/launch/job_folder.h"
#include "cli/launch/remote_shell.h"
#include "cli/launch/run_command.h"
#include "cli/launch/sync_progress.h"
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
    if (file == kManifest || IsWrittenByJobs(entry->path().filename())) continue;
    // In a list of files, rsync takes a line that begins with one of these two for a comment.
    files.push_back(file.starts_with('#') || file.starts_with(';') ? "./" + file : file);
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

// Where a directory stands on one machine.
struct Place {
  const AgentNode& node;
  size_t number;  // of the machine
};

Status SyncTo(const Place& place, const Directory& directory, const std::string& manifest_file,
              const std::vector<std::string>& ssh, SyncProgress* progress) {
  const std::string& name = place.node.name;
  const std::string what = StrCat("--sync: ", name);
  const RemoteShell shell(place.node, ssh);
  progress->Show(place.number, StrCat("launch: ", name, ": ", directory.path));
  TF_RETURN_IF_ERROR(Annotate(shell.Run("mkdir -p " + ShellWord(directory.path)).status(), what));

  std::string summary;
  const auto on_line = [&](const std::string& line) {
    const std::string percent = PercentOf(line);
    if (!percent.empty()) progress->Show(place.number, StrCat("launch: ", name, ": ", directory.path, " ", percent));
    if (line.starts_with("sent ")) summary = line;
  };
  const auto brought = shell.Rsync(
      {"--recursive", "--links", "--perms", "--times", "--compress", "--checksum", "--files-from=" + manifest_file,
       "--info=progress2,stats1", "--no-human-readable", directory.path + "/", directory.path + "/"},
      on_line);
  TF_RETURN_IF_ERROR(Annotate(brought.status(), what));

  // Removes what an earlier call has brought and this one has not.
  const std::string path = ShellWord(StrCat(directory.path, "/", kManifest));
  const auto listed = shell.Rsync({manifest_file, StrCat(directory.path, "/", kManifest, ".new")});
  TF_RETURN_IF_ERROR(Annotate(listed.status(), what));
  const auto removed =
      shell.Run(StrCat("cd ", ShellWord(directory.path), " && m=", path, " && { [ ! -f \"$m\" ] || ",
                       "LC_ALL=C comm -23 \"$m\" \"$m.new\" | while IFS= read -r f; do rm -f -- \"$f\"; done; } && ",
                       "mv -f \"$m.new\" \"$m\""));
  TF_RETURN_IF_ERROR(Annotate(removed.status(), what));
  const auto files = std::count(directory.manifest.begin(), directory.manifest.end(), '\n');
  progress->Finish(place.number, StrCat("launch: ", name, " has the ", files, " files of ", directory.path, " (",
                                        summary.substr(0, summary.find("  ")), ")"));
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
    SyncProgress progress(options.err_fd, options.nodes.size());
    TF_RETURN_IF_ERROR(ForEachMachine(options.nodes.size(), [&](size_t i) {
      return SyncTo({options.nodes[i], i}, directory, folder.path() + "/manifest", options.ssh, &progress);
    }));
  }
  return OkStatus();
}

}  // namespace tensorbraid
