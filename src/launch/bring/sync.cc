#include "launch/bring/sync.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_format.h"
#include "cluster/registry/digest.h"
#include "core/system/env.h"
#include "core/text/strings.h"
#include "core/threads/thread.h"
#include "launch/bring/libraries.h"
#include "launch/bring/remote_shell.h"
#include "launch/bring/sync_host.h"
#include "launch/bring/sync_manifest.h"
#include "launch/bring/sync_plan.h"
#include "launch/bring/sync_progress.h"

namespace tensorbraid {
namespace {

namespace fs = std::filesystem;

// "  1,234,567  45%  12.3MB/s ..." -> "45%".
std::string PercentOf(const std::string& line) {
  const size_t end = line.find('%');
  if (end == std::string::npos) return "";
  const size_t begin = line.rfind(' ', end);
  return line.substr(begin + 1, end - begin);
}

// Differs before and after a write to a file.
struct Stamp {
  int64_t changed_ns = 0;
  off_t size = 0;
  ino_t inode = 0;
  bool operator==(const Stamp&) const = default;
};

Stamp StampOf(const struct stat& info) {
  return {info.st_ctim.tv_sec * 1'000'000'000 + info.st_ctim.tv_nsec, info.st_size, info.st_ino};
}

// The files of all sources.
struct Cargo {
  const std::vector<SyncSource>& sources;
  WantedFiles files = {};
  std::map<std::string, Stamp> stamps = {};  // of the files, from before they were read

  std::string PathHere(const std::string& path, const WantedFile& file) const {
    return StrCat(sources[file.source].directory, "/", path);
  }
};

// Finds the files without reading them. Leaves out files that have just been removed, and what is neither a file nor a
// link.
Status FindFiles(Cargo* cargo) {
  for (size_t source = 0; source < cargo->sources.size(); ++source) {
    for (const std::string& path : cargo->sources[source].files) {
      WantedFile file{.source = source};
      struct stat info;
      if (::lstat(cargo->PathHere(path, file).c_str(), &info) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) continue;
        return absl::ErrnoToStatus(errno, StrCat("cannot read '", cargo->PathHere(path, file), "'"));
      }
      if (S_ISLNK(info.st_mode)) {
        file.content.kind = FileContent::Kind::kLink;
      } else if (!S_ISREG(info.st_mode)) {
        continue;
      }
      file.mode = info.st_mode & 07777;
      file.time_s = info.st_mtim.tv_sec;
      if (!cargo->files.emplace(path, std::move(file)).second) {
        return InvalidArgument("'", path, "' is in two of the directories that are brought to the same place");
      }
      cargo->stamps[path] = StampOf(info);
    }
  }
  for (const auto& [path, file] : cargo->files) {
    for (const std::string& folder : FoldersOf(path)) {
      if (!cargo->files.contains(folder)) continue;
      return InvalidArgument("'", folder, "' is a file in one directory, and a directory in another one, and both are ",
                             "brought to the same place");
    }
  }
  return OkStatus();
}

// Reads the contents of the files. A file that has been removed meanwhile gets no content.
Status ReadContents(Cargo* cargo) {
  for (auto& [path, file] : cargo->files) {
    const std::string here = cargo->PathHere(path, file);
    if (file.content.kind == FileContent::Kind::kLink) {
      std::error_code error;
      file.content.value = fs::read_symlink(here, error);
      continue;
    }
    auto sum = Sha256OfFile(here);
    if (sum.ok()) {
      file.content.value = *std::move(sum);
    } else if (!absl::IsNotFound(sum.status())) {
      return sum.status();
    }
  }
  return OkStatus();
}

// Marks the directory of this machine with a file. A machine that sees the file has the same directory. The destructor
// removes the file.
class MarkHere {
 public:
  MarkHere(const std::vector<SyncSource>& sources, const std::string& target, const std::string& mark) {
    if (sources.size() != 1 || sources[0].directory != target) return;
    path_ = StrCat(target, "/", MarkFile(mark));
    // If this process may not write here, neither may the machines that share the directory.
    std::ofstream(path_).flush();
  }
  ~MarkHere() {
    std::error_code error;
    if (!path_.empty()) fs::remove(path_, error);
  }
  MarkHere(const MarkHere&) = delete;
  MarkHere& operator=(const MarkHere&) = delete;

 private:
  std::string path_;  // "" if there is none
};

// A machine, and what is known of its directory.
struct Place {
  const std::string& name;
  RemoteShell shell;
  SyncHost host;
  bool is_open = false;
  SyncManifest manifest = {};
  FoundFiles found = {};
  std::vector<std::string> marks = {};  // in the directory, as the machine sees it
  SyncPlan plan = {};
};

// Brings files to the same directory of several machines.
class Bringing {
 public:
  Bringing(const SyncOptions& options, const std::vector<SyncSource>& sources, const std::string& target)
      : target_(target),
        mark_(absl::StrFormat("%016x-", Env::Default().RandomSeed())),
        cargo_{sources},
        progress_(options.err_fd, options.nodes.size()) {
    for (size_t i = 0; i < options.nodes.size(); ++i) {
      const RemoteShell shell(options.nodes[i], options.ssh);
      places_.push_back({options.nodes[i].name, shell, SyncHost(shell, target, StrCat(mark_, i))});
    }
  }

  Status Run() {
    TF_RETURN_IF_ERROR(Annotate(FindFiles(&cargo_), "--sync"));
    if (const Status status = LookAround(); !status.ok()) {
      RemoveMarks();
      return status;
    }
    TF_RETURN_IF_ERROR(MakePlans());
    TF_RETURN_IF_ERROR(ForEachMachine(places_.size(), [this](size_t i) { return Annotate(Bring(i), What(i)); }));
    for (size_t i = 0; i < places_.size(); ++i) {
      if (const std::string partner = PartnerOf(i); !partner.empty()) Finish(i, partner);
    }
    return OkStatus();
  }

 private:
  std::string What(size_t i) const { return StrCat("--sync: ", places_[i].name); }
  void Show(size_t i, const std::string& text) { progress_.Show(i, StrCat("launch: ", places_[i].name, ": ", text)); }
  void Finish(size_t i, const std::string& how) {
    progress_.Finish(i, StrCat("launch: ", places_[i].name, " has the ", cargo_.files.size(), " files of ", target_,
                               " (", how, ")"));
  }

  // Reads the files here, and the manifests and files on the machines, at the same time.
  Status LookAround() {
    const MarkHere mark(cargo_.sources, target_, mark_ + "here");
    TF_RETURN_IF_ERROR(ForEachMachine(places_.size(), [this](size_t i) -> Status {
      Place& place = places_[i];
      Show(i, target_);
      auto manifest = place.host.Open();
      TF_RETURN_IF_ERROR(Annotate(manifest.status(), What(i)));
      place.manifest = *std::move(manifest);
      place.is_open = true;
      return OkStatus();
    }));
    Status contents;
    Thread reader("sync", [&contents, this] { contents = Annotate(ReadContents(&cargo_), "--sync"); });
    const Status looked =
        ForEachMachine(places_.size(), [this](size_t i) { return Annotate(LookAt(places_[i]), What(i)); });
    reader.Join();
    TF_RETURN_IF_ERROR(contents);
    TF_RETURN_IF_ERROR(looked);
    std::erase_if(cargo_.files, [](const auto& file) { return file.second.content.value.empty(); });
    return OkStatus();
  }

  // Uses the paths of the cargo, not its contents, which another thread reads.
  Status LookAt(Place& place) {
    TF_ASSIGN_OR_RETURN(place.found,
                        place.host.Look(PathsToLookAt(cargo_.files, place.manifest), {}, mark_, &place.marks));
    const std::vector<std::string> directories = DirectoriesInTheWay(cargo_.files, place.found);
    if (directories.empty()) return OkStatus();
    std::vector<std::string> ignored;
    TF_ASSIGN_OR_RETURN(FoundFiles more, place.host.Look({}, directories, mark_, &ignored));
    place.found.merge(std::move(more));
    return OkStatus();
  }

  void RemoveMarks() {
    const Status ignored = ForEachMachine(places_.size(), [this](size_t i) -> Status {
      if (places_[i].is_open) places_[i].host.Close().IgnoreError();
      return OkStatus();
    });
  }

  // Why the machine gets no files of its own: it shares its directory with this machine, or with another one that gets
  // them. "" if it gets them. One of two machines that share a directory may have removed its mark before the other one
  // looked, so one mark that was seen is enough.
  std::string PartnerOf(size_t i) const {
    std::set<size_t> group = {i};
    const auto sees = [this](size_t a, const std::string& other) {
      const std::vector<std::string>& marks = places_[a].marks;
      return std::find(marks.begin(), marks.end(), mark_ + other) != marks.end();
    };
    for (size_t size = 0; size != group.size();) {
      size = group.size();
      for (size_t other = 0; other < places_.size(); ++other) {
        const bool is_same = std::any_of(group.begin(), group.end(), [&](size_t member) {
          return sees(member, StrCat(other)) || sees(other, StrCat(member));
        });
        if (is_same) group.insert(other);
      }
    }
    if (std::any_of(group.begin(), group.end(), [&](size_t member) { return sees(member, "here"); })) {
      return "in the directory of this machine, which it shares";
    }
    const size_t first = *group.begin();
    return first == i ? "" : StrCat("in the directory of ", places_[first].name, ", which it shares");
  }

  Status MakePlans() {
    for (size_t i = 0; i < places_.size(); ++i) {
      if (!PartnerOf(i).empty()) continue;
      places_[i].plan = PlanSync(cargo_.files, places_[i].manifest, places_[i].found);
      const std::vector<std::string>& obstacles = places_[i].plan.obstacles;
      if (obstacles.empty()) continue;
      constexpr size_t kNamed = 5;
      std::string text = StrCat("in ", target_, ": ");
      for (size_t o = 0; o < std::min(obstacles.size(), kNamed); ++o) text += StrCat(o == 0 ? "" : "; ", obstacles[o]);
      if (obstacles.size() > kNamed) text += StrCat("; and ", obstacles.size() - kNamed, " more");
      return FailedPrecondition(What(i), ": ", text,
                                ". Nothing was sent. Move these files away on that machine, and start again");
    }
    return OkStatus();
  }

  Status Bring(size_t i) {
    if (!PartnerOf(i).empty()) return OkStatus();
    Place& place = places_[i];
    SyncPlan& plan = place.plan;
    if (plan.DoesNothing()) {
      if (plan.after.ToText() != place.manifest.ToText()) TF_RETURN_IF_ERROR(place.host.WriteManifest(plan.after));
      Finish(i, "nothing has changed");
      return OkStatus();
    }
    TF_RETURN_IF_ERROR(place.host.Prepare(plan));
    TF_ASSIGN_OR_RETURN(const std::string summary, Transfer(i));
    TF_RETURN_IF_ERROR(FollowChanges(place));
    TF_RETURN_IF_ERROR(place.host.WriteManifest(plan.after));
    Finish(i, summary);
    return OkStatus();
  }

  // Returns a text for the user that says how much was sent.
  StatusOr<std::string> Transfer(size_t i) {
    std::vector<std::string> lists(cargo_.sources.size());
    for (const auto& [path, present] : places_[i].plan.bring) {
      lists[cargo_.files.at(path).source].append("./").append(path).push_back('\0');
    }
    std::string summary;
    for (size_t source = 0; source < lists.size(); ++source) {
      if (lists[source].empty()) continue;
      const std::string& directory = cargo_.sources[source].directory;
      const auto on_line = [&](const std::string& line) {
        const std::string percent = PercentOf(line);
        if (!percent.empty()) Show(i, StrCat(directory, " ", percent));
        if (line.starts_with("sent ")) summary += StrCat(summary.empty() ? "" : "; ", line.substr(0, line.find("  ")));
      };
      const auto brought = places_[i].shell.Rsync(
          {"--recursive", "--links", "--perms", "--times", "--compress", "--checksum", "--from0", "--files-from=-",
           "--info=progress2,stats1", "--no-human-readable", directory + "/", target_ + "/"},
          on_line, lists[source]);
      TF_RETURN_IF_ERROR(brought.status());
    }
    return summary.empty() ? "files were removed" : summary;
  }

  // If a file was written to here while it was brought, the machine may have a third content. Notes that content as
  // brought.
  Status FollowChanges(Place& place) {
    std::vector<std::string> changed;
    for (const auto& [path, present] : place.plan.bring) {
      struct stat info;
      const std::string here = cargo_.PathHere(path, cargo_.files.at(path));
      if (::lstat(here.c_str(), &info) != 0 || StampOf(info) != cargo_.stamps.at(path)) changed.push_back(path);
    }
    if (changed.empty()) return OkStatus();
    std::vector<std::string> ignored;
    TF_ASSIGN_OR_RETURN(const FoundFiles there, place.host.Look(changed, {}, mark_, &ignored));
    for (const auto& [path, file] : there) {
      if (!file.content.value.empty()) place.plan.after.Add(path, file.content);
    }
    return OkStatus();
  }

  const std::string& target_;
  const std::string mark_;  // the beginning of the marks of this call
  Cargo cargo_;
  SyncProgress progress_;
  std::deque<Place> places_;
};

}  // namespace

StatusOr<SyncSource> ReadSyncSource(const std::string& directory, const IsLeftOut& is_left_out) {
  std::error_code error;
  SyncSource source{fs::canonical(directory, error).string(), {}};
  if (error || !fs::is_directory(source.directory)) return InvalidArgument("there is no directory '", directory, "'");
  for (auto entry = fs::recursive_directory_iterator(source.directory, error); !error && entry != fs::end(entry);
       entry.increment(error)) {
    const std::string file = entry->path().lexically_relative(source.directory);
    const bool is_directory = entry->is_directory() && !entry->is_symlink();
    if (is_left_out(file, is_directory) || entry->path().filename().string().starts_with(kManifestName)) {
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
  return Bringing(options, sources, target).Run();
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
    const std::string name = fs::path(file).filename();
    if (!is_directory) return IsWrittenByJobs(name);
    return file == kPythonFolder || name == "__pycache__" || name == kLibrariesFolder;
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
