#include "launch/bring/sync_plan.h"

#include <algorithm>
#include <set>

#include "absl/strings/escaping.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// A path for the user. Bytes that are not printable are escaped.
std::string ForUser(const std::string& path) { return StrCat("'", absl::Utf8SafeCEscape(path), "'"); }

std::string NameOfType(char type) {
  switch (type) {
    case 'f':
      return "a file";
    case 'l':
      return "a link";
    case 'd':
      return "a directory";
    default:
      return "neither a file nor a directory";
  }
}

// The folder of a path that exists and is not a directory; "" if all its folders are directories.
std::string Barrier(const FoundFiles& found, const std::string& path) {
  for (const std::string& folder : FoldersOf(path)) {
    const auto there = found.find(folder);
    if (there != found.end() && there->second.type != 'd') return folder;
  }
  return "";
}

class SyncPlanner {
 public:
  SyncPlanner(const WantedFiles& wanted, const SyncManifest& manifest, const FoundFiles& found)
      : wanted_(wanted), manifest_(manifest), found_(found) {}

  SyncPlan Plan() {
    for (const auto& [path, contents] : manifest_.contents()) {
      if (!wanted_.contains(path)) ConsiderRemoval(path);
    }
    for (const auto& [path, file] : wanted_) {
      for (std::string& folder : FoldersOf(path)) wanted_folders_.insert(std::move(folder));
    }
    for (const auto& [path, file] : wanted_) ConsiderBringing(path, file);
    PlanDirectories();
    plan_.during.AddAll(manifest_);
    plan_.during.AddAll(plan_.after);
    return std::move(plan_);
  }

 private:
  const FoundFile* Find(const std::string& path) const {
    const auto found = found_.find(path);
    return found == found_.end() ? nullptr : &found->second;
  }

  bool IsBrought(const std::string& path, const FoundFile& found) const {
    return (found.type == 'f' || found.type == 'l') && manifest_.Has(path, found.content);
  }

  void ConsiderRemoval(const std::string& path) {
    const FoundFile* const found = Find(path);
    if (found == nullptr || !Barrier(found_, path).empty() || !IsBrought(path, *found)) return;
    plan_.remove[path] = found->content;
    removed_ids_.insert(found->id);
  }

  void ConsiderBringing(const std::string& path, const WantedFile& file) {
    const std::string barrier = Barrier(found_, path);
    if (!barrier.empty()) {
      if (plan_.remove.contains(barrier)) return Bring(path, file, std::nullopt);
      return Obstruct(barrier, StrCat("is ", NameOfType(Find(barrier)->type), " there, and a directory here"));
    }
    const FoundFile* const found = Find(path);
    // On a file system that ignores case, a wanted file may be found under its old name.
    if (found == nullptr || removed_ids_.contains(found->id)) return Bring(path, file, std::nullopt);
    if (found->type == 'd') {
      if (HoldsNothingElse(path)) Bring(path, file, std::nullopt);
    } else if (found->content == file.content && !found->content.value.empty()) {
      const bool is_link = found->type == 'l';
      const bool is_alike = is_link || (found->mode == file.mode && found->time_s == file.time_s);
      if (!manifest_.Lists(path)) return;
      if (!is_alike) return Bring(path, file, found->content);
      plan_.after.Add(path, file.content);
    } else if (IsBrought(path, *found)) {
      Bring(path, file, found->content);
    } else if (found->type != 'f' && found->type != 'l') {
      Obstruct(path, StrCat("is ", NameOfType(found->type), " there"));
    } else {
      Obstruct(path, WhyItStays(path));
    }
  }

  std::string WhyItStays(const std::string& path) const {
    if (!manifest_.Lists(path)) return "differs, and was not brought by --sync";
    const bool has_checksum = !manifest_.contents().at(path).empty();
    return has_checksum ? "was changed there"
                        : "differs, and an older version, which kept no checksums, has brought it";
  }

  // Whether the plan removes all files in a directory. Adds the other files to the obstacles.
  bool HoldsNothingElse(const std::string& directory) {
    bool nothing_else = true;
    const std::string inside = directory + "/";
    for (auto found = found_.lower_bound(inside); found != found_.end() && found->first.starts_with(inside); ++found) {
      if (found->second.type == 'd' || plan_.remove.contains(found->first)) continue;
      nothing_else = false;
      Obstruct(found->first, StrCat("was not brought by --sync, and ", ForUser(directory), " is no directory here"));
    }
    return nothing_else;
  }

  void Bring(const std::string& path, const WantedFile& file, std::optional<FileContent> present) {
    plan_.bring[path] = std::move(present);
    plan_.after.Add(path, file.content);
  }

  void Obstruct(const std::string& path, const std::string& why) {
    if (obstacles_.insert(path).second) plan_.obstacles.push_back(StrCat(ForUser(path), " ", why));
  }

  void PlanDirectories() {
    std::set<std::string> empty, tidy;
    for (const auto& [path, found] : found_) {
      if (found.type != 'd' || !Barrier(found_, path).empty()) continue;
      if (wanted_.contains(path)) empty.insert(path);
      for (const std::string& folder : FoldersOf(path)) {
        if (wanted_.contains(folder)) empty.insert(path);
      }
    }
    for (const auto& [path, content] : plan_.remove) {
      for (const std::string& folder : FoldersOf(path)) {
        if (!wanted_folders_.contains(folder) && !empty.contains(folder)) tidy.insert(folder);
      }
    }
    // A folder is sorted before what is in it.
    plan_.empty.assign(empty.rbegin(), empty.rend());
    plan_.tidy.assign(tidy.rbegin(), tidy.rend());
  }

  const WantedFiles& wanted_;
  const SyncManifest& manifest_;
  const FoundFiles& found_;
  SyncPlan plan_;
  std::set<std::string> wanted_folders_;
  std::set<std::string> removed_ids_;
  std::set<std::string> obstacles_;
};

}  // namespace

std::vector<std::string> PathsToLookAt(const WantedFiles& wanted, const SyncManifest& manifest) {
  std::set<std::string> paths;
  const auto add = [&paths](const std::string& path) {
    paths.insert(path);
    for (std::string& folder : FoldersOf(path)) paths.insert(std::move(folder));
  };
  for (const auto& [path, file] : wanted) add(path);
  for (const auto& [path, contents] : manifest.contents()) add(path);
  return {paths.begin(), paths.end()};
}

std::vector<std::string> DirectoriesInTheWay(const WantedFiles& wanted, const FoundFiles& found) {
  std::vector<std::string> directories;
  for (const auto& [path, file] : found) {
    if (file.type == 'd' && wanted.contains(path) && Barrier(found, path).empty()) directories.push_back(path);
  }
  return directories;
}

SyncPlan PlanSync(const WantedFiles& wanted, const SyncManifest& manifest, const FoundFiles& found) {
  return SyncPlanner(wanted, manifest, found).Plan();
}

}  // namespace tensorbraid
