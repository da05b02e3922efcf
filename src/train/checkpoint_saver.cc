#include "train/checkpoint_saver.h"

#include <algorithm>

#include "checkpoint/files.h"
#include "core/clock.h"
#include "core/logging.h"
#include "core/strings.h"
#include "tensorbraid/train.h"

namespace tensorbraid {
namespace {

using Clock = MonotonicClock;

constexpr std::chrono::minutes kDefaultInterval{10};

class CheckpointSaverHook final : public SessionRunHook {
 public:
  CheckpointSaverHook(std::string directory, CheckpointSaverOptions options)
      : directory_(std::move(directory)), options_(std::move(options)) {
    if (!options_.every_n_steps && !options_.every) options_.every = kDefaultInterval;
  }

  Status Begin(Graph& graph) override {
    if (directory_.empty()) return InvalidArgument("CheckpointSaver: the directory is empty");
    if ((options_.every_n_steps && *options_.every_n_steps <= 0) || (options_.every && options_.every->count() < 0)) {
      return InvalidArgument("CheckpointSaver: every_n_steps must be positive and every must not be negative");
    }
    global_step_ = GetGlobalStep(graph);
    if (!global_step_.valid()) {
      return FailedPrecondition(
          "CheckpointSaver needs a global step: call GetOrCreateGlobalStep and give it to the optimizer");
    }
    if (options_.saver == nullptr) options_.saver = std::make_shared<Saver>(graph);
    return graph.status();
  }

  Status AfterCreateSession(SessionRunContext& context) override {
    TF_ASSIGN_OR_RETURN(const int64_t step, Step(context.session()));
    last_time_ = Clock::now();
    last_step_ = step;
    // The checkpoint that has just been restored exists already. Writing it again would put it at risk.
    const auto latest = LatestCheckpoint(directory_);
    if (latest.ok() && *latest == StrCat(Path(), "-", step)) return OkStatus();
    return Save(context.session(), step);
  }

  SessionRunArgs BeforeRun(SessionRunContext& context) override {
    return {.fetches = {}, .feeds = {}, .global_step = context.trains()};
  }

  Status AfterRun(SessionRunContext& context, const SessionRunValues& values) override {
    if (!context.trains() || values.global_step <= last_step_) return OkStatus();
    const std::chrono::duration<double> passed = Clock::now() - last_time_;
    const bool due = (options_.every && passed >= *options_.every) ||
                     (options_.every_n_steps && values.global_step - last_step_ >= *options_.every_n_steps);
    if (!due) return OkStatus();
    // Other workers may have made further steps by now.
    TF_ASSIGN_OR_RETURN(const int64_t step, Step(context.session()));
    return Save(context.session(), step);
  }

  Status End(SessionRunContext& context, const Status& status) override {
    if (!status.ok()) return OkStatus();
    TF_ASSIGN_OR_RETURN(const int64_t step, Step(context.session()));
    return step == last_step_ ? OkStatus() : Save(context.session(), step);
  }

 private:
  std::string Path() const { return JoinPath(directory_, options_.basename); }

  StatusOr<int64_t> Step(Session& session) const {
    TF_ASSIGN_OR_RETURN(const auto value, session.Run({global_step_}));
    return value[0].dtype() == kInt64 ? value[0].scalar<int64_t>() : value[0].scalar<int32_t>();
  }

  Status Save(Session& session, int64_t step) {
    const auto saved = options_.saver->Save(session, Path(), {.global_step = step});
    if (!saved.ok()) return Annotate(saved.status(), StrCat("cannot save a checkpoint to '", directory_, "'"));
    TB_LOG(Info, "train") << "saved " << *saved;
    last_time_ = Clock::now();
    last_step_ = step;
    return OkStatus();
  }

  const std::string directory_;
  CheckpointSaverOptions options_;
  Variable global_step_;
  Clock::time_point last_time_;
  int64_t last_step_ = -1;
};

}  // namespace

std::shared_ptr<SessionRunHook> CheckpointSaver(std::string directory, CheckpointSaverOptions options) {
  return std::make_shared<CheckpointSaverHook>(std::move(directory), std::move(options));
}

StatusOr<bool> RestoreLatest(Saver& saver, Session& session, const std::string& directory) {
  const auto state = GetCheckpointState(directory);
  if (absl::IsNotFound(state.status())) return false;
  TF_RETURN_IF_ERROR(state.status());
  std::vector<std::string> paths = state->all_model_checkpoint_paths;
  const std::string& latest = state->model_checkpoint_path;
  if (!latest.empty() && (paths.empty() || paths.back() != latest)) paths.push_back(latest);
  if (paths.empty()) return false;
  Status damaged;
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
    if (!CheckpointExists(*path)) {
      TB_LOG(Warning, "train") << "the checkpoint '" << *path << "' does not exist any more";
      continue;
    }
    const Status restored = saver.Restore(session, *path);
    if (restored.ok()) {
      TB_LOG(Info, "train") << "restored " << *path;
      if (saver.last_checkpoints().empty()) saver.RecoverLastCheckpoints(state->all_model_checkpoint_paths);
      return true;
    }
    if (!absl::IsDataLoss(restored)) return restored;
    TB_LOG(Error, "train") << "the checkpoint '" << *path << "' cannot be used: " << ToString(restored);
    if (damaged.ok()) damaged = restored;
  }
  if (!damaged.ok()) return damaged;
  // To initialise the variables anew would lose the training without a word.
  return DataLoss(
      "the file '", JoinPath(directory, "checkpoint"), "' names the checkpoints ", StrJoin(paths, ", "),
      ", but this process cannot see any of them: the directory must be on storage that all tasks share; to "
      "start the training anew, remove the file");
}

}  // namespace tensorbraid
