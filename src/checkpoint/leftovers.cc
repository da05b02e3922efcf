#include "checkpoint/leftovers.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "checkpoint/bundle_writer.h"
#include "checkpoint/files.h"
#include "core/system/env.h"
#include "core/text/strings.h"
#include "io/file.h"

namespace tensorbraid {
namespace {

std::string_view NameIn(const std::string& path) {
  return std::string_view(path).substr(path.rfind('/') + 1);  // npos + 1 is 0
}

// The Take functions remove something from the front of `*rest`. They return false if it is not there.
bool TakeText(std::string_view* rest, std::string_view text) {
  if (!rest->starts_with(text)) return false;
  rest->remove_prefix(text.size());
  return true;
}

// A number has at least one digit.
bool TakeNumber(std::string_view* rest) {
  const size_t digits = std::min(rest->find_first_not_of("0123456789"), rest->size());
  rest->remove_prefix(digits);
  return digits > 0;
}

// ".data-00000-of-00002"
bool TakeDataSuffix(std::string_view* rest) {
  return TakeText(rest, ".data-") && TakeNumber(rest) && TakeText(rest, "-of-") && TakeNumber(rest);
}

// "_temp_0123456789abcdef": the directory of the parts of a sharded save.
bool IsPartsSuffix(std::string_view rest) {
  return TakeText(&rest, "_temp_") && rest.size() == 16 &&
         std::all_of(rest.begin(), rest.end(), [](unsigned char c) { return absl::ascii_isxdigit(c); });
}

bool IsTempstate(std::string_view rest) {
  return TakeText(&rest, kTemporarySuffix) && TakeNumber(&rest) && rest.empty();
}

// ".index.tempstate123", and likewise for the data and the graph.
bool IsTemporarySuffix(std::string_view rest) {
  const std::string_view all = rest;
  if (!TakeDataSuffix(&rest)) {
    rest = all;
    if (!TakeText(&rest, ".index") && !TakeText(&rest, ".meta")) return false;
  }
  return IsTempstate(rest);
}

class LeftoverRemover {
 public:
  LeftoverRemover(std::string directory, std::string base, std::string state_name, WallClock::time_point newest)
      : directory_(std::move(directory)), base_(std::move(base)), state_name_(std::move(state_name)), newest_(newest) {}

  Status Run() {
    TF_ASSIGN_OR_RETURN(const auto paths, MatchingPaths(JoinPath(directory_, "*")));
    std::vector<std::string> temporary, parts, data;
    std::set<std::string> killed;  // the prefixes of the saves that were killed
    for (const std::string& path : paths) {
      const std::string_view name = NameIn(path);
      std::string_view rest = name;
      if (TakeText(&rest, state_name_) && IsTempstate(rest)) {
        if (IsOld(std::string(name), false)) temporary.emplace_back(name);
        continue;
      }
      rest = name;
      if (!TakeText(&rest, base_)) continue;
      if (std::string_view step = rest; TakeText(&step, "-") && TakeNumber(&step)) rest = step;
      const std::string prefix(name.substr(0, name.size() - rest.size()));
      const bool is_temporary = IsTemporarySuffix(rest), are_parts = IsPartsSuffix(rest);
      if (is_temporary || are_parts) {
        if (!IsOld(std::string(name), are_parts)) continue;
        (is_temporary ? temporary : parts).emplace_back(name);
        killed.insert(prefix);
      } else if (TakeDataSuffix(&rest) && rest.empty()) {
        data.emplace_back(name);
      }
    }
    // The data files go first, because the other files show that the save was killed.
    for (const std::string& name : data) {
      const std::string prefix = name.substr(0, name.rfind(".data-"));
      if (!killed.contains(prefix) || FileExists(BundleIndexName(JoinPath(directory_, prefix)))) continue;
      if (IsOld(name, false)) TF_RETURN_IF_ERROR(Remove(name));
    }
    for (const std::string& name : temporary) TF_RETURN_IF_ERROR(Remove(name));
    for (const std::string& name : parts) {
      TF_ASSIGN_OR_RETURN(const auto files, MatchingPaths(JoinPath(JoinPath(directory_, name), "*")));
      for (const std::string& file : files) TF_RETURN_IF_ERROR(Remove(JoinPath(name, std::string(NameIn(file)))));
      TF_RETURN_IF_ERROR(RemoveDirectory(JoinPath(directory_, name)));
    }
    return OkStatus();
  }
  int removed() const { return removed_; }

 private:
  // Whether a file, or a directory with all of its files, is old. False if the age is not known.
  bool IsOld(const std::string& name, bool is_directory) const {
    const std::string path = JoinPath(directory_, name);
    const auto info = Env::Default().Stat(path);
    if (!info.ok() || info->is_directory != is_directory || info->modified > newest_ - kLeftoverAge) return false;
    if (!is_directory) return true;
    const auto files = MatchingPaths(JoinPath(path, "*"));
    return files.ok() && std::all_of(files->begin(), files->end(), [&](const std::string& file) {
             const auto inner = Env::Default().Stat(file);
             return inner.ok() && inner->modified <= newest_ - kLeftoverAge;
           });
  }
  Status Remove(const std::string& name) {
    TF_RETURN_IF_ERROR(RemoveFile(JoinPath(directory_, name)));
    ++removed_;
    return OkStatus();
  }

  const std::string directory_;
  const std::string base_;
  const std::string state_name_;
  const WallClock::time_point newest_;
  int removed_ = 0;
};

}  // namespace

StatusOr<int> RemoveLeftovers(const std::string& path, const std::string& newest, const std::string& state_name) {
  TF_RETURN_IF_ERROR(CheckBundlePrefix(path));
  TF_ASSIGN_OR_RETURN(const auto index, Env::Default().Stat(BundleIndexName(newest)));
  LeftoverRemover remover(DirectoryOf(path), std::string(NameIn(path)), state_name, index.modified);
  TF_RETURN_IF_ERROR(remover.Run());
  return remover.removed();
}

}  // namespace tensorbraid
