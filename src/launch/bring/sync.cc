#include "launch/bring/sync.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/text/strings.h"
#include "launch/bring/remote_shell.h"
#include "launch/bring/sync_progress.h"
#include "launch/credentials/job_folder.h"
#include "launch/processes/run_command.h"

namespace tensorbraid {
namespace {

namespace fs = std::filesystem;

// On the machines, in each directory that was brought: the names of the files that were.
constexpr char kManifest[] = ".tensorbraid-sync";

// "  1,234,567  45%  12.3MB/s ..." -> "45%".
std::string PercentOf(const std::string& line) {
  const size_t end = line.find('%');
  if (end == std::string::npos) return "";
  const size_t begin = line.rfind(' ', end);
  return line.substr(begin + 1, end - begin);
}

std::string LinesOf(const std::vector<std::string>& names, const char* before) {
  std::string lines;
  for (const std::string& name : names) lines += StrCat(before, name, "\n");
  return lines;
}

// What is brought to each machine. The lists of files are files, too, for rsync.
struct Cargo {
  const std::vector<SyncSource>& sources;
  std::vector<std::string> lists;  // of the sources
  std::string manifest;            // the list of all
  size_t files;
  std::string target;
};

// Where a machine stands.
struct Place {
  const AgentNode& node;
  size_t number;  // of the machine
};

Status BringTo(const Place& place, const Cargo& cargo, const std::vector<std::string>& ssh, SyncProgress* progress) {
  const std::string& name = place.node.name;
  const std::string what = StrCat("--sync: ", name);
  const RemoteShell shell(place.node, ssh);
  progress->Show(place.number, StrCat("launch: ", name, ": ", cargo.target));
  TF_RETURN_IF_ERROR(Annotate(shell.Run("mkdir -p " + ShellWord(cargo.target)).status(), what));

  std::string summary;
  for (size_t i = 0; i < cargo.sources.size(); ++i) {
    const std::string& directory = cargo.sources[i].directory;
    const auto on_line = [&](const std::string& line) {
      const std::string percent = PercentOf(line);
      if (!percent.empty()) progress->Show(place.number, StrCat("launch: ", name, ": ", directory, " ", percent));
      if (line.starts_with("sent ")) summary += StrCat(summary.empty() ? "" : "; ", line.substr(0, line.find("  ")));
    };
    const auto brought = shell.Rsync(
        {"--recursive", "--links", "--perms", "--times", "--compress", "--checksum", "--files-from=" + cargo.lists[i],
         "--info=progress2,stats1", "--no-human-readable", directory + "/", cargo.target + "/"},
        on_line);
    TF_RETURN_IF_ERROR(Annotate(brought.status(), what));
  }

  // Removes what an earlier call has brought and this one has not.
  // Two machines may share the directory.
  const std::string manifest = StrCat(cargo.target, "/", kManifest);
  const std::string new_manifest = StrCat(manifest, ".", place.number);
  const auto listed = shell.Rsync({cargo.manifest, new_manifest});
  TF_RETURN_IF_ERROR(Annotate(listed.status(), what));
  const auto removed =
      shell.Run(StrCat("cd ", ShellWord(cargo.target), " && m=", ShellWord(manifest), " && n=", ShellWord(new_manifest),
                       " && { [ ! -f \"$m\" ] || LC_ALL=C comm -23 \"$m\" \"$n\" | ",
                       "while IFS= read -r f; do rm -f -- \"$f\"; done; } && mv -f \"$n\" \"$m\""));
  TF_RETURN_IF_ERROR(Annotate(removed.status(), what));
  progress->Finish(place.number,
                   StrCat("launch: ", name, " has the ", cargo.files, " files of ", cargo.target, " (", summary, ")"));
  return OkStatus();
}

}  // namespace

StatusOr<SyncSource> ReadSyncSource(const std::string& directory, const IsLeftOut& is_left_out) {
  std::error_code error;
  SyncSource source{fs::canonical(directory, error).string(), {}};
  if (error || !fs::is_directory(source.directory)) return InvalidArgument("there is no directory '", directory, "'");
  for (auto entry = fs::recursive_directory_iterator(source.directory, error); !error && entry != fs::end(entry);
       entry.increment(error)) {
    const std::string file = entry->path().lexically_relative(source.directory);
    if (file.find('\n') != std::string::npos) return InvalidArgument("the name '", file, "' has a line break");
    const bool is_directory = entry->is_directory() && !entry->is_symlink();
    if (is_left_out(file, is_directory) || file.starts_with(kManifest)) {
      if (is_directory) entry.disable_recursion_pending();
    } else if (!is_directory) {
      source.files.push_back(file);
    }
  }
  if (error) return absl::ErrnoToStatus(error.value(), StrCat("cannot read '", directory, "'"));
  std::sort(source.files.begin(), source.files.end());
  return source;
}

Status BringFiles(const SyncOptions& options, const std::vector<SyncSource>& sources, const std::string& target) {
  std::map<std::string, std::string> lists;
  std::vector<std::string> all;
  for (size_t i = 0; i < sources.size(); ++i) {
    // rsync skips lines that begin with '#' or ';'.
    lists[StrCat("list-", i)] = LinesOf(sources[i].files, "./");
    all.insert(all.end(), sources[i].files.begin(), sources[i].files.end());
  }
  std::sort(all.begin(), all.end());
  lists["manifest"] = LinesOf(all, "");
  TF_ASSIGN_OR_RETURN(const JobFolder folder, JobFolder::Make(lists));
  Cargo cargo{
      .sources = sources, .lists = {}, .manifest = folder.path() + "/manifest", .files = all.size(), .target = target};
  for (size_t i = 0; i < sources.size(); ++i) cargo.lists.push_back(StrCat(folder.path(), "/list-", i));
  SyncProgress progress(options.err_fd, options.nodes.size());
  return ForEachMachine(options.nodes.size(), [&](size_t i) {
    return BringTo({options.nodes[i], i}, cargo, options.ssh, &progress);
  });
}

StatusOr<std::string> SyncedDirectory(const std::string& name) {
  std::error_code error;
  std::string path = fs::canonical(name, error);
  if (error || !fs::is_directory(path)) return InvalidArgument("--sync=", name, ": there is no such directory");
  if (path == "/") return InvalidArgument("--sync=/ would bring the whole system");
  return path;
}

Status BringDirectory(const SyncOptions& options, const std::string& name) {
  TF_ASSIGN_OR_RETURN(const std::string path, SyncedDirectory(name));
  const auto is_left_out = [](const std::string& file, bool is_directory) {
    return is_directory ? file == kPythonFolder : IsWrittenByJobs(fs::path(file).filename());
  };
  auto source = ReadSyncSource(path, is_left_out);
  if (!source.ok()) return Annotate(source.status(), "--sync");
  return BringFiles(options, {*std::move(source)}, path);
}

bool IsWrittenByJobs(const std::string& name) {
  return name == "checkpoint" || name.find(".ckpt") != std::string::npos ||
         name.find("tfevents.") != std::string::npos || name.find(".tempstate") != std::string::npos ||
         (name.find(".data-") != std::string::npos && name.find("-of-") != std::string::npos);
}

}  // namespace tensorbraid
