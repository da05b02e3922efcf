#include "train/checkpoints/increment_series.h"

#include <algorithm>
#include <chrono>

#include "core/system/env.h"
#include "core/text/strings.h"
#include "io/file.h"
#include "tensorbraid/checkpoint/checkpoint.h"

namespace tensorbraid {
namespace {

constexpr size_t kMostIncrements = 64;

Output Fed(Graph& g, const std::string& name, const Tensor& value) {
  const Output initial =
      NodeBuilder(g, "Const").Name(name + "/default").Attr("value", value).Attr("dtype", value.dtype()).Output();
  const Shape shape = value.shape().is_scalar() ? Shape() : Shape({Shape::kUnknownDim});
  return NodeBuilder(g, "PlaceholderWithDefault").Name(name).Input(initial).Attr("shape", shape).Output();
}

std::string NameOf(const std::string& prefix) { return prefix.substr(prefix.rfind('/') + 1); }

Output FedIncrements(Graph& g) { return Fed(g, "increments", Tensor::Vector(std::vector<std::string>())); }

// Random numbers, because the saves of several processes meet in one table. 0 means that there is none.
int64_t NewNumber() { return static_cast<int64_t>(RandomSeed() | 1); }

}  // namespace

RecordedRestore FollowedIncrements(Graph& graph) {
  auto scope = graph.NameScope("increment");
  const Output increments = FedIncrements(graph);
  const Tensor none = Tensor::Scalar<int64_t>(0);
  return {.increments = increments,
          .number = NodeBuilder(graph, "Const").Name("number").Attr("value", none).Attr("dtype", kInt64).Output()};
}

IncrementSeries::IncrementSeries(Graph& graph) : listed_(/*max_to_keep=*/0, std::chrono::hours(10'000)) {
  auto scope = graph.NameScope("increment");
  number_ = Fed(graph, "number", Tensor::Scalar<int64_t>(0));
  predecessor_ = Fed(graph, "predecessor", Tensor::Scalar<int64_t>(0));
  link_ = Fed(graph, "link", Tensor::Vector(std::vector<std::string>(5)));
  increments_ = FedIncrements(graph);
}

std::string IncrementSeries::WhyFull(const std::string& path) const {
  if (saved_ == 0 || chain_.full.empty()) return "this is the first save";
  if (DirectoryOf(path) != DirectoryOf(chain_.full)) return "the last full checkpoint is in another directory";
  if (!CheckpointExists(chain_.full)) return "the last full checkpoint is gone";
  if (chain_.increments.size() >= kMostIncrements) return StrCat("it has ", kMostIncrements, " increments");
  if (bytes_ > full_bytes_) return "its increments have more bytes than the full checkpoint";
  return "";
}

std::string IncrementSeries::NextPrefix(const std::string& path, std::optional<int64_t> step) const {
  const std::string base =
      StrCat(IncrementPath(path), "-", step.value_or(static_cast<int64_t>(chain_.increments.size())));
  std::string prefix = base;
  // An increment must not replace one that is before it.
  for (size_t i = 1; std::ranges::count(chain_.increments, prefix) > 0; ++i) prefix = StrCat(base, "-", i);
  return prefix;
}

std::vector<Feed> IncrementSeries::SaveFeeds() {
  next_ = NewNumber();
  return {{number_, Tensor::Scalar(next_)}, {predecessor_, Tensor::Scalar(saved_)}};
}

std::vector<Feed> IncrementSeries::IncrementFeeds() {
  std::vector<Feed> feeds = SaveFeeds();
  feeds.emplace_back(link_, LinkTensor({.full = NameOf(chain_.full),
                                        .full_id = full_id_,
                                        .predecessor = NameOf(chain_.newest()),
                                        .predecessor_id = newest_id_,
                                        .number = static_cast<int64_t>(chain_.increments.size()) + 1}));
  return feeds;
}

Status IncrementSeries::SavedFull(const std::string& prefix) {
  TF_ASSIGN_OR_RETURN(full_id_, CheckpointId(prefix));
  newest_id_ = full_id_;
  full_bytes_ = CheckpointBytes(prefix);
  bytes_ = 0;
  chain_ = {.full = prefix};
  saved_ = next_;
  return OkStatus();
}

Status IncrementSeries::SavedIncrement(const std::string& prefix, std::optional<int64_t> keep_later_step) {
  TF_ASSIGN_OR_RETURN(const std::string id, CheckpointId(prefix));
  std::vector<std::string> others = listed_.paths();
  std::erase_if(others, [&](const std::string& other) { return DirectoryOf(other) != DirectoryOf(prefix); });
  listed_.Recover(others);  // drops those that were removed with their full checkpoint
  TF_RETURN_IF_ERROR(listed_.Add(prefix, DirectoryOf(prefix), "checkpoint", keep_later_step));
  newest_id_ = id;
  bytes_ += CheckpointBytes(prefix);
  chain_.increments.push_back(prefix);
  saved_ = next_;
  return OkStatus();
}

std::vector<Feed> IncrementSeries::RestoreFeeds(const IncrementChain& chain) {
  next_ = NewNumber();
  saved_ = 0;  // the tables may be restored even if the restore as a whole fails
  return {{number_, Tensor::Scalar(next_)}, {increments_, Tensor::Vector(chain.increments)}};
}

Status IncrementSeries::Restored(const IncrementChain& chain) {
  chain_ = {};
  if (chain.of_deeprec) return OkStatus();  // the next save is a full one
  const auto full_id = CheckpointId(chain.full);
  if (absl::IsNotFound(full_id.status())) return OkStatus();  // of version 1, which no increment follows
  TF_RETURN_IF_ERROR(full_id.status());
  full_id_ = *full_id;
  TF_ASSIGN_OR_RETURN(newest_id_, CheckpointId(chain.newest()));
  full_bytes_ = CheckpointBytes(chain.full);
  bytes_ = 0;
  for (const std::string& increment : chain.increments) bytes_ += CheckpointBytes(increment);
  listed_.Recover(ListIncrements(chain.full));
  chain_ = chain;
  saved_ = next_;
  return OkStatus();
}

}  // namespace tensorbraid
