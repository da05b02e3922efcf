#include "train/checkpoints/increments.h"

#include <algorithm>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "checkpoint/bundle_reader.h"
#include "checkpoint/bundle_writer.h"
#include "checkpoint/changed_rows.h"
#include "checkpoint/files.h"
#include "core/system/env.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/values/crc32c.h"
#include "tensorbraid/checkpoint/checkpoint.h"
#include "train/checkpoints/find_checkpoints.h"

namespace tensorbraid {
namespace {

std::string FileName(const std::string& path) { return path.substr(path.rfind('/') + 1); }  // npos + 1 is 0

std::string IncrementsOf(const std::string& path) { return JoinPath(DirectoryOf(path), kIncrementDirectory); }

// DataLoss if a data file is missing.
Status CheckFiles(const std::string& increment) {
  TF_ASSIGN_OR_RETURN(const auto bundle, BundleReader::Open(increment));
  const std::string missing = bundle->MissingFile();
  return missing.empty() ? OkStatus() : DataLoss("the file ", missing, " of the increment is missing");
}

// DataLoss if the index is damaged.
Status CheckIndex(const std::string& prefix) {
  TF_ASSIGN_OR_RETURN(const auto bundle, BundleReader::Open(prefix));
  return bundle->List().status();
}

Status Hole(const std::string& increment, const std::string& predecessor, const std::string& what) {
  return FailedPrecondition("the increment '", increment, "' holds what has changed since '", predecessor, "', which ",
                            what, ": put '", predecessor, "' back, or remove '", BundleIndexName(increment),
                            "' to restore the state before it");
}

// The chain that ends with `newest`.
StatusOr<IncrementChain> ChainTo(const std::string& newest) {
  IncrementChain chain;
  std::string increment = newest;
  while (true) {
    TF_RETURN_IF_ERROR(CheckFiles(increment));
    TF_ASSIGN_OR_RETURN(const IncrementLink link, ReadLink(increment));
    chain.increments.insert(chain.increments.begin(), increment);
    const std::string directory = DirectoryOf(increment);
    const bool is_first = link.number <= 1;
    const std::string before = JoinPath(is_first ? DirectoryOf(directory) : directory, link.predecessor);
    const auto id = CheckpointId(before);
    if (absl::IsNotFound(id.status())) return Hole(increment, before, "is gone");
    TF_RETURN_IF_ERROR(id.status());
    if (*id != link.predecessor_id) {
      TF_RETURN_IF_ERROR(CheckIndex(before));
      return Hole(increment, before, "was replaced by another one");
    }
    if (is_first) {
      chain.full = before;
      return chain;
    }
    increment = before;
  }
}

// The step at the end of the name of a checkpoint.
std::optional<int64_t> StepOf(const std::string& prefix) {
  const size_t dash = prefix.rfind('-');
  int64_t step = 0;
  if (dash == std::string::npos || !absl::SimpleAtoi(prefix.substr(dash + 1), &step)) return std::nullopt;
  return step;
}

// Whether a full checkpoint is the newest one of its directory.
bool IsNewest(const std::string& full) {
  const std::string directory = DirectoryOf(full);
  const auto state = GetCheckpointState(directory);
  if (state.ok() && FileName(state->model_checkpoint_path) != FileName(full)) return false;
  return std::ranges::none_of(FindCheckpoints(directory),
                              [&](const std::string& other) { return StepOf(other) > StepOf(full); });
}

// Whether the increment of DeepRec's holds what has changed since the full checkpoint.
bool FollowsInDeepRec(const std::string& increment, const std::string& full) {
  return StepOf(full) && StepOf(increment) > StepOf(full) && IsNewest(full);
}

StatusOr<IncrementChain> ChainOfDeepRec(const std::string& increment, const std::string& full) {
  TF_RETURN_IF_ERROR(CheckFiles(increment));
  return IncrementChain{.full = full, .increments = {increment}, .of_deeprec = true};
}

// The chain of an increment that DeepRec has saved.
StatusOr<IncrementChain> ChainToDeepRec(const std::string& increment) {
  const std::string directory = DirectoryOf(DirectoryOf(increment));
  for (const std::string& full : FindCheckpoints(directory)) {
    if (FollowsInDeepRec(increment, full)) return ChainOfDeepRec(increment, full);
  }
  return FailedPrecondition("the increment '", increment, "' of DeepRec holds what has changed since the last full ",
                            "checkpoint before it, but '", directory, "' has none of an earlier step, or has a later ",
                            "one: name a full checkpoint");
}

Status ReadAll(const std::string& prefix) {
  TF_ASSIGN_OR_RETURN(const auto bundle, BundleReader::Open(prefix));
  TF_ASSIGN_OR_RETURN(const auto tensors, bundle->List());
  for (const auto& tensor : tensors) TF_RETURN_IF_ERROR(bundle->Read(tensor.name).status());
  return OkStatus();
}

}  // namespace

std::string IncrementPath(const std::string& path) { return JoinPath(IncrementsOf(path), FileName(path)); }

bool IsIncrement(const std::string& prefix) { return FileName(DirectoryOf(prefix)) == kIncrementDirectory; }

Tensor LinkTensor(const IncrementLink& link) {
  return Tensor::Vector(
      std::vector<std::string>{link.full, link.full_id, link.predecessor, link.predecessor_id, StrCat(link.number)});
}

StatusOr<IncrementLink> ReadLink(const std::string& increment) {
  TF_ASSIGN_OR_RETURN(const auto bundle, BundleReader::Open(increment));
  const auto found = bundle->Find(kLinkTensor);
  if (absl::IsNotFound(found.status())) {
    return InvalidArgument("'", increment, "' is no increment: it has no tensor '", kLinkTensor, "'");
  }
  TF_RETURN_IF_ERROR(found.status());
  if (found->dtype != kString || found->shape != Shape({5})) {
    return DataLoss("the tensor '", kLinkTensor, "' of '", increment, "' is ", found->dtype, found->shape,
                    ", not five strings");
  }
  TF_ASSIGN_OR_RETURN(const Tensor tensor, bundle->Read(kLinkTensor));
  const auto text = tensor.data<std::string>();
  IncrementLink link = {.full = text[0], .full_id = text[1], .predecessor = text[2], .predecessor_id = text[3]};
  if (!absl::SimpleAtoi(text[4], &link.number)) {
    return DataLoss("the number of the increment '", increment, "' is '", text[4], "'");
  }
  return link;
}

StatusOr<std::string> CheckpointId(const std::string& prefix) {
  TF_ASSIGN_OR_RETURN(const std::string index, ReadWholeFile(BundleIndexName(prefix)));
  return absl::StrFormat("%08x-%d", Crc32c(index), index.size());  // the index has checksums of all tensors
}

int64_t CheckpointBytes(const std::string& prefix) {
  const auto size = [](const std::string& file) {
    const auto info = Env::Default().Stat(file);
    return info.ok() ? static_cast<int64_t>(info->size) : 0;
  };
  const auto bundle = BundleReader::Open(prefix);
  const int shards = bundle.ok() ? (*bundle)->num_shards() : 0;
  int64_t bytes = size(BundleIndexName(prefix));
  for (int i = 0; i < shards; ++i) bytes += size(BundleDataName(prefix, i, shards));
  return bytes;
}

StatusOr<IncrementChain> FindChain(const std::string& path) {
  if (IsIncrement(path)) {
    return absl::IsInvalidArgument(ReadLink(path).status()) ? ChainToDeepRec(path) : ChainTo(path);
  }
  const auto id = CheckpointId(path);
  if (!id.ok()) return IncrementChain{.full = path};  // the restore reports what is wrong with it
  const std::vector<std::string> increments = ListIncrements(path);
  for (auto increment = increments.rbegin(); increment != increments.rend(); ++increment) {
    const auto link = ReadLink(*increment);
    if (absl::IsNotFound(link.status())) continue;  // it was removed
    if (link.ok() && (link->full != FileName(path) || link->full_id != *id)) continue;
    const bool of_deeprec = absl::IsInvalidArgument(link.status());
    if (of_deeprec && !FollowsInDeepRec(*increment, path)) continue;
    const auto chain = of_deeprec  ? ChainOfDeepRec(*increment, path)
                       : link.ok() ? ChainTo(*increment)
                                   : StatusOr<IncrementChain>(link.status());
    if (chain.ok() || absl::IsFailedPrecondition(chain.status())) return chain;
    TB_LOG(Error, "train") << "the increment '" << *increment << "' cannot be used: " << ToString(chain.status());
  }
  return IncrementChain{.full = path};
}

size_t CountReadable(const IncrementChain& chain) {
  for (size_t i = 0; i < chain.increments.size(); ++i) {
    const Status read = ReadAll(chain.increments[i]);
    if (read.ok()) continue;
    TB_LOG(Error, "train") << "the increment '" << chain.increments[i] << "' cannot be used: " << ToString(read);
    return i;
  }
  return chain.increments.size();
}

std::vector<std::string> ListIncrements(const std::string& path) {
  const std::string directory = IncrementsOf(path);
  const auto state = GetCheckpointState(directory);
  if (state.ok()) {
    std::vector<std::string> increments = state->all_model_checkpoint_paths;
    // DeepRec lists absolute paths, which are those of another place if the directory was copied.
    for (std::string& increment : increments) {
      const std::string here = JoinPath(directory, FileName(increment));
      if (IsIncrement(increment) && !CheckpointExists(increment) && CheckpointExists(here)) increment = here;
    }
    // A saver that has changed its directory may have listed others.
    std::erase_if(increments, [&](const std::string& increment) { return DirectoryOf(increment) != directory; });
    return increments;
  }
  if (absl::IsNotFound(state.status())) return {};
  TB_LOG(Error, "train") << ToString(state.status()) << "; trying the increments that are in the directory";
  return FindCheckpoints(directory);
}

bool HasIncrements(const std::string& directory) {
  const auto path = Env::Default().AbsolutePath(JoinPath(directory, "checkpoint"));
  return path.ok() && !ListIncrements(*path).empty();
}

void RemoveOrphans(const std::string& path) {
  for (const std::string& increment : FindCheckpoints(IncrementsOf(path))) {
    const auto link = ReadLink(increment);
    if (!link.ok() || CheckpointExists(JoinPath(DirectoryOf(path), link->full))) continue;
    if (const Status removed = RemoveCheckpoint(increment); !removed.ok()) {
      TB_LOG(Warning, "train") << "cannot remove an old increment: " << ToString(removed);
    }
  }
}

std::string ContentText(const std::string& prefix) {
  const auto bundle = BundleReader::Open(prefix);
  const auto tensors = bundle.ok() ? (*bundle)->List() : StatusOr<std::vector<BundleReader::Info>>(bundle.status());
  int64_t rows = 0, deleted = 0, of_variables = 0;
  if (tensors.ok()) {
    for (const auto& t : *tensors) {
      const auto ends = [&](std::string_view suffix) { return t.name.ends_with(suffix) && t.shape.rank() == 1; };
      const auto has = [&](const std::string& name) {
        return std::ranges::any_of(*tensors, [&](const auto& other) { return other.name == name; });
      };
      if (ends("-keys_deleted")) deleted += t.shape.dim(0);
      if (t.name.find(kChangedValues) != std::string::npos && t.shape.rank() > 0) of_variables += t.shape.dim(0);
      if (!ends("-keys")) continue;
      // A slot of a table has the same keys.
      const std::string table = t.name.substr(0, t.name.size() - 5);
      const size_t slash = table.rfind('/');
      if (slash == std::string::npos || !has(table.substr(0, slash) + "-keys")) rows += t.shape.dim(0);
    }
  }
  return StrCat(rows, " rows of growing tables, ", deleted > 0 ? StrCat(deleted, " deleted keys, ") : "",
                of_variables > 0 ? StrCat(of_variables, " rows of other variables, ") : "",
                absl::StrFormat("%.1f MB", static_cast<double>(CheckpointBytes(prefix)) / 1e6));
}

}  // namespace tensorbraid
