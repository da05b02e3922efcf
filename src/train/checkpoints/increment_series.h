// What a Saver keeps besides if increments can follow its checkpoints.
#ifndef TENSORBRAID_TRAIN_CHECKPOINTS_INCREMENT_SERIES_H_
#define TENSORBRAID_TRAIN_CHECKPOINTS_INCREMENT_SERIES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/session/session.h"
#include "train/checkpoints/increments.h"
#include "train/checkpoints/kept_checkpoints.h"
#include "train/checkpoints/saved_tables.h"

namespace tensorbraid {

// The tensors for a restore that follows increments and records nothing.
RecordedRestore FollowedIncrements(Graph& graph);

// The chain that the next increment continues, and the tensors that are fed for it. Each save has a random number, with
// which it takes the changes of tables (runtime/tables/changes.h). Not thread-safe.
class IncrementSeries {
 public:
  // Adds the tensors to the graph.
  explicit IncrementSeries(Graph& graph);

  RecordedSave save(bool only_changes) const { return {number_, predecessor_, only_changes}; }
  RecordedRestore restore() const { return {.increments = increments_, .number = number_}; }
  Output link() const { return link_; }  // the tensor kLinkTensor of the next increment
  Output saved;                          // the tensor to fetch in order to save an increment

  // Why the next save to `path` must be a full checkpoint; "" if it can be an increment.
  std::string WhyFull(const std::string& path) const;
  // The prefix of the next increment.
  std::string NextPrefix(const std::string& path, std::optional<int64_t> step) const;
  const IncrementChain& chain() const { return chain_; }

  // The feeds of a save with a new number, which SavedFull or SavedIncrement then completes.
  std::vector<Feed> SaveFeeds();
  std::vector<Feed> IncrementFeeds();
  // Call them once the checkpoint is complete, SavedFull also once it is listed. After an error, do not call them.
  Status SavedFull(const std::string& prefix);
  // A full checkpoint is complete, but perhaps not listed: nobody knows which one the next restore takes.
  void Forget() { saved_ = 0; }
  // Lists the increment; `keep_later_step` is explained at KeptCheckpoints::Add.
  Status SavedIncrement(const std::string& prefix, std::optional<int64_t> keep_later_step);

  // The feeds of a restore with a new number, which Restored then completes.
  std::vector<Feed> RestoreFeeds(const IncrementChain& chain);
  Status Restored(const IncrementChain& chain);

 private:
  Output number_, predecessor_, link_, increments_;
  int64_t next_ = 0;   // the number of the save or restore that is being made
  int64_t saved_ = 0;  // the number of the last one that was completed; 0 if there is none
  IncrementChain chain_;
  std::string full_id_, newest_id_;
  int64_t full_bytes_ = 0, bytes_ = 0;  // of the full checkpoint, and of the increments
  KeptCheckpoints listed_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_CHECKPOINTS_INCREMENT_SERIES_H_
