#include "train/checkpoints/checkpoint_saver.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "checkpoint/bundle_reader.h"
#include "checkpoint/files.h"
#include "core/system/clock.h"
#include "core/system/env.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "tensorbraid/train/hooks.h"
#include "train/checkpoints/find_checkpoints.h"
#include "train/checkpoints/increments.h"

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
    if (options_.increment_every && options_.increment_every->count() < 0) {
      return InvalidArgument("CheckpointSaver: increment_every must not be negative");
    }
    global_step_ = GetGlobalStep(graph);
    if (!global_step_.valid()) {
      return FailedPrecondition(
          "CheckpointSaver needs a global step: call GetOrCreateGlobalStep and give it to the optimizer");
    }
    if (options_.saver == nullptr) {
      options_.saver =
          std::make_shared<Saver>(graph, SaverOptions{.incremental = options_.increment_every.has_value()});
    }
    if (options_.increment_every && graph.status().ok() && !options_.saver->incremental()) {
      return InvalidArgument(
          "CheckpointSaver: increment_every needs a saver with SaverOptions::incremental (in Python, a tf.train.Saver "
          "with incremental_save_restore=True)");
    }
    return graph.status();
  }

  Status AfterCreateSession(SessionRunContext& context) override {
    TF_ASSIGN_OR_RETURN(const int64_t step, Step(context.session()));
    full_time_ = last_time_ = Clock::now();
    full_step_ = last_step_ = step;
    // The checkpoint that has just been restored exists already. Writing it again would put it at risk.
    const auto latest = LatestCheckpoint(directory_);
    if (latest.ok() && *latest == StrCat(Path(), "-", step)) {
      saved_step_ = step;
      return OkStatus();
    }
    const std::string last = options_.saver->last_saved();
    if (!last.empty() && last == StrCat(IncrementPath(AbsolutePath()), "-", step)) return OkStatus();
    return Save(context, step);
  }

  SessionRunArgs BeforeRun(SessionRunContext& context) override {
    return {.fetches = {}, .feeds = {}, .global_step = context.trains()};
  }

  Status AfterRun(SessionRunContext& context, const SessionRunValues& values) override {
    if (!context.trains() || values.global_step <= last_step_) return OkStatus();
    const auto now = Clock::now();
    const bool full = (options_.every && now - full_time_ >= *options_.every) ||
                      (options_.every_n_steps && values.global_step - full_step_ >= *options_.every_n_steps);
    if (!full && !(options_.increment_every && now - last_time_ >= *options_.increment_every)) return OkStatus();
    // Other workers may have made further steps by now.
    TF_ASSIGN_OR_RETURN(const int64_t step, Step(context.session()));
    return full ? Save(context, step) : SaveIncrement(context, step);
  }

  Status End(SessionRunContext& context, const Status& status) override {
    if (!status.ok()) return OkStatus();
    TF_ASSIGN_OR_RETURN(const int64_t step, Step(context.session()));
    if (step == saved_step_) return OkStatus();
    TF_RETURN_IF_ERROR(Tell(options_.before_save, context, step));
    TF_RETURN_IF_ERROR(
        SaveAndLog(*options_.saver, context.session(), Path(), step, options_.write_meta_graph).status());
    return Tell(options_.after_save, context, step);
  }

 private:
  std::string Path() const { return JoinPath(directory_, options_.basename); }
  std::string AbsolutePath() const { return Env::Default().AbsolutePath(Path()).value_or(Path()); }

  StatusOr<int64_t> Step(Session& session) const {
    TF_ASSIGN_OR_RETURN(const auto value, session.Run({global_step_}));
    return value[0].dtype() == kInt64 ? value[0].scalar<int64_t>() : value[0].scalar<int32_t>();
  }

  static Status Tell(const std::function<Status(SessionRunContext&, int64_t)>& listener, SessionRunContext& context,
                     int64_t step) {
    return listener ? listener(context, step) : OkStatus();
  }

  Status Save(SessionRunContext& context, int64_t step) {
    TF_RETURN_IF_ERROR(Tell(options_.before_save, context, step));
    TF_ASSIGN_OR_RETURN(const std::string saved,
                        SaveOrGoOn(*options_.saver, context.session(), Path(), step, options_.write_meta_graph));
    // After a failure, too, so that the next attempt is due after the usual interval.
    full_time_ = last_time_ = Clock::now();
    full_step_ = last_step_ = step;
    if (saved.empty()) return OkStatus();
    saved_step_ = step;
    return Tell(options_.after_save, context, step);
  }

  Status SaveIncrement(SessionRunContext& context, int64_t step) {
    TF_ASSIGN_OR_RETURN(const std::string saved, SaveOrGoOn(*options_.saver, context.session(), Path(), step,
                                                            options_.write_meta_graph, /*increment=*/true));
    last_time_ = Clock::now();
    last_step_ = step;
    if (saved.empty() || IsIncrement(saved)) return OkStatus();
    full_time_ = last_time_;  // it was a full checkpoint
    full_step_ = saved_step_ = step;
    return OkStatus();
  }

  const std::string directory_;
  CheckpointSaverOptions options_;
  Variable global_step_;
  // The time and global step of the last attempt to save a full checkpoint, and of the last attempt to save anything.
  Clock::time_point full_time_, last_time_;
  int64_t full_step_ = -1, last_step_ = -1;
  int64_t saved_step_ = -1;  // the global step of the last checkpoint
};

// Returns the checkpoints of a directory, the latest last, or none if the directory has no file `checkpoint`. If this
// file is damaged, returns the checkpoints that FindCheckpoints finds.
StatusOr<std::vector<std::string>> ListCheckpoints(const std::string& directory) {
  const auto state = GetCheckpointState(directory);
  if (absl::IsNotFound(state.status())) return std::vector<std::string>();
  if (absl::IsDataLoss(state.status())) {
    const std::vector<std::string> found = FindCheckpoints(directory);
    TB_LOG(Error, "train") << ToString(state.status()) << "; trying the checkpoints that are in the directory: "
                           << (found.empty() ? "none" : StrJoin(found, ", "));
    return found.empty() ? StatusOr<std::vector<std::string>>(state.status()) : found;
  }
  TF_RETURN_IF_ERROR(state.status());
  std::vector<std::string> paths = state->all_model_checkpoint_paths;
  const std::string& latest = state->model_checkpoint_path;
  if (!latest.empty() && (paths.empty() || paths.back() != latest)) paths.push_back(latest);
  return paths;
}

// DataLoss if a data file of the checkpoint is missing. OK if the index cannot be read, because Saver::Restore reports
// that.
Status CheckComplete(const std::string& prefix) {
  const auto bundle = BundleReader::Open(prefix);
  const std::string missing = bundle.ok() ? (*bundle)->MissingFile() : "";
  return missing.empty() ? OkStatus() : DataLoss("its file ", missing, " is missing");
}

}  // namespace

std::shared_ptr<SessionRunHook> CheckpointSaver(std::string directory, CheckpointSaverOptions options) {
  return std::make_shared<CheckpointSaverHook>(std::move(directory), std::move(options));
}

StatusOr<bool> RestoreLatest(Saver& saver, Session& session, const std::string& directory) {
  TF_ASSIGN_OR_RETURN(const std::vector<std::string> paths, ListCheckpoints(directory));
  if (paths.empty()) return false;
  Status damaged;
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
    if (!CheckpointExists(*path)) {
      TB_LOG(Warning, "train") << "the checkpoint '" << *path << "' does not exist any more";
      continue;
    }
    Status restored = CheckComplete(*path);
    if (restored.ok()) restored = saver.Restore(session, *path);
    if (restored.ok()) {
      if (saver.last_checkpoints().empty()) saver.RecoverLastCheckpoints(paths);
      return true;
    }
    if (!absl::IsDataLoss(restored)) return restored;
    TB_LOG(Error, "train") << "the checkpoint '" << *path << "' cannot be used: " << ToString(restored);
    if (damaged.ok()) damaged = restored;
  }
  if (!damaged.ok()) return damaged;
  // Initialising the variables again would silently lose what they have learned.
  return DataLoss(
      "the file '", JoinPath(directory, "checkpoint"), "' names the checkpoints ", StrJoin(paths, ", "),
      ", but this process cannot see any of them: the directory must be on storage that all tasks share; to "
      "start the training anew, remove the file");
}

StatusOr<std::string> SaveAndLog(Saver& saver, Session& session, const std::string& path, std::optional<int64_t> step,
                                 bool write_meta_graph, bool increment) {
  TB_LOG(Info, "train") << (increment ? "Saving an increment" : "Saving checkpoints")
                        << (step ? StrCat(" for ", *step) : "") << " into " << path << ".";
  const auto begin = Clock::now();
  const SaveOptions options = {.global_step = step, .write_meta_graph = write_meta_graph, .keep_later_step = true};
  auto saved = increment ? saver.SaveIncrement(session, path, options) : saver.Save(session, path, options);
  if (!saved.ok()) return Annotate(saved.status(), StrCat("cannot save a checkpoint to '", DirectoryOf(path), "'"));
  const std::chrono::duration<double> seconds = Clock::now() - begin;
  TB_LOG(Info, "train") << "saved " << *saved;
  if (saver.incremental()) {
    TB_LOG(Info, "train") << "it holds " << ContentText(*saved) << ", and took "
                          << absl::StrFormat("%.2f s", seconds.count());
  }
  return saved;
}

StatusOr<std::string> SaveOrGoOn(Saver& saver, Session& session, const std::string& path, std::optional<int64_t> step,
                                 bool write_meta_graph, bool increment) {
  auto saved = SaveAndLog(saver, session, path, step, write_meta_graph, increment);
  const Status& status = saved.status();
  if (saved.ok() || absl::IsUnavailable(status) || absl::IsAborted(status) || absl::IsCancelled(status)) return saved;
  const auto latest = LatestCheckpoint(DirectoryOf(path));
  const bool has_none = absl::IsNotFound(latest.status()) || (!latest.ok() && saver.last_checkpoints().empty());
  if (has_none) return saved;
  TB_LOG(Error, "train") << ToString(status) << "; the training goes on, and its latest checkpoint is "
                         << (latest.ok() ? *latest : "unknown: " + ToString(latest.status()));
  return std::string();
}

}  // namespace tensorbraid
