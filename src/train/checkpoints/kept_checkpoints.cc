#include "train/checkpoints/kept_checkpoints.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "checkpoint/state_file.h"
#include "core/system/clock.h"
#include "core/system/env.h"
#include "core/text/logging.h"
#include "core/text/strings.h"

namespace tensorbraid {

KeptCheckpoints::KeptCheckpoints(int max_to_keep, std::chrono::milliseconds keep_every)
    : max_to_keep_(max_to_keep),
      keep_every_(keep_every),
      next_preserved_(CheckpointState::Timestamp(WallClock::now()) + keep_every) {}

Status KeptCheckpoints::Add(const std::string& path, const std::string& directory, const std::string& latest_filename,
                            std::optional<int64_t> keep_later_step) {
  std::erase_if(kept_, [&](const Kept& k) { return k.path == path; });
  kept_.push_back({path, WallClock::now()});
  if (!keep_later_step) return UpdateCheckpointState(directory, State(), latest_filename);
  const Status updated = ReplaceCheckpointState(directory, State(), latest_filename, [&] {
    return CheckNoLaterStep(directory, latest_filename, *keep_later_step);
  });
  if (absl::IsAborted(updated)) kept_.pop_back();
  return updated;
}

CheckpointState KeptCheckpoints::State() const {
  CheckpointState state{.last_preserved_timestamp = last_preserved_};
  state.model_checkpoint_path = kept_.back().path;
  const size_t limit = static_cast<size_t>(std::max(max_to_keep_, 0));
  const size_t first = limit > 0 && kept_.size() > limit ? kept_.size() - limit : 0;
  for (size_t i = first; i < kept_.size(); ++i) {
    state.all_model_checkpoint_paths.push_back(kept_[i].path);
    state.all_model_checkpoint_timestamps.push_back(kept_[i].time);
  }
  return state;
}

Status KeptCheckpoints::CheckNoLaterStep(const std::string& directory, const std::string& latest_filename,
                                         int64_t step) const {
  const auto state = GetCheckpointState(directory, latest_filename);
  if (!state.ok()) return OkStatus();  // the file does not exist, or it is damaged and is written anew
  const std::string& latest = state->model_checkpoint_path;
  int64_t latest_step = 0;
  const bool is_known = std::any_of(kept_.begin(), kept_.end(), [&](const Kept& k) { return k.path == latest; });
  if (is_known || !absl::SimpleAtoi(latest.substr(latest.rfind('-') + 1), &latest_step) || latest_step <= step) {
    return OkStatus();
  }
  return Aborted("the checkpoint of step ", step, " is not made the latest one, because another process has saved '",
                 latest, "' meanwhile");
}

void KeptCheckpoints::RemoveOld() {
  if (max_to_keep_ <= 0) return;
  while (kept_.size() > static_cast<size_t>(max_to_keep_)) {
    const Kept old = kept_.front();
    kept_.erase(kept_.begin());
    if (old.time > next_preserved_) {
      next_preserved_ += keep_every_;
      last_preserved_ = old.time;
      continue;
    }
    if (const Status status = RemoveCheckpoint(old.path); !status.ok()) {
      TB_LOG(Warning, "train") << "cannot remove an old checkpoint: " << ToString(status);
    }
  }
}

void KeptCheckpoints::Recover(const std::vector<std::string>& paths) {
  kept_.clear();
  for (const std::string& path : paths) {
    if (!CheckpointExists(path)) continue;
    const auto index = Env::Default().Stat(path + ".index");
    kept_.push_back({path, index.ok() ? index->modified : WallClock::now()});
  }
}

std::vector<std::string> KeptCheckpoints::paths() const {
  std::vector<std::string> paths;
  for (const Kept& k : kept_) paths.push_back(k.path);
  return paths;
}

}  // namespace tensorbraid
