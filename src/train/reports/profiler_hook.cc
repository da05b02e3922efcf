// The hook that records runs for trace viewers during training (see ProfilerHook in hooks.h).
#include <set>

#include "core/system/clock.h"
#include "core/text/strings.h"
#include "io/file.h"
#include "tensorbraid/train/file_writer.h"
#include "tensorbraid/train/hooks.h"
#include "train/sessions/train_op.h"

namespace tensorbraid {
namespace {

constexpr int64_t kDefaultProfilerSteps = 100;

class TimelineHook final : public SessionRunHook {
 public:
  TimelineHook(std::string directory, ProfilerOptions options)
      : directory_(directory.empty() ? "." : std::move(directory)), options_(options) {
    if (!options_.every_n_steps && !options_.every) options_.every_n_steps = kDefaultProfilerSteps;
  }

  Status Begin(Graph& graph) override {
    if ((options_.every_n_steps && *options_.every_n_steps <= 0) || (options_.every && options_.every->count() < 0)) {
      return InvalidArgument("ProfilerHook: every_n_steps must be positive and every must not be negative");
    }
    TF_RETURN_IF_ERROR(CheckGlobalStep(graph, "ProfilerHook"));
    TF_ASSIGN_OR_RETURN(writer_, summary::FileWriter::Open(directory_));
    return OkStatus();
  }

  // The new session may have another global step, and prepares the step again.
  Status AfterCreateSession(SessionRunContext&) override {
    seen_step_ = -1;
    return OkStatus();
  }

  SessionRunArgs BeforeRun(SessionRunContext& context) override {
    due_ = false;
    SessionRunArgs args;
    if (!context.trains()) return args;
    args.global_step = true;
    // The step of this run will be at least seen_step_ + 1.
    due_ = seen_step_ >= 0 && ((options_.every_n_steps && seen_step_ + 1 - last_step_ >= *options_.every_n_steps) ||
                               (options_.every && MonotonicClock::now() - last_time_ >= *options_.every));
    if (due_) args.options.trace_level = TraceLevel::kFull;
    return args;
  }

  Status AfterRun(SessionRunContext& context, const SessionRunValues& values) override {
    if (!context.trains()) return OkStatus();
    if (seen_step_ < 0) {  // counts from the step before the first run
      last_step_ = values.global_step - 1;
      last_time_ = MonotonicClock::now();
    }
    seen_step_ = values.global_step;
    if (!due_ || values.metadata == nullptr) return OkStatus();
    last_step_ = seen_step_;
    last_time_ = MonotonicClock::now();
    TF_ASSIGN_OR_RETURN(const std::string json, values.metadata->ToChromeTrace(options_.trace));
    TF_RETURN_IF_ERROR(WriteFile(JoinPath(directory_, StrCat("timeline-", seen_step_, ".json")), json));
    // A training that goes on from a checkpoint repeats steps. An event file has each once.
    if (!recorded_.insert(seen_step_).second) return OkStatus();
    return writer_->AddRunMetadata(*values.metadata, StrCat("step_", seen_step_), seen_step_);
  }

  Status End(SessionRunContext&, const Status&) override { return writer_->Close(); }

 private:
  const std::string directory_;
  ProfilerOptions options_;
  bool due_ = false;
  int64_t seen_step_ = -1;  // the global step after the last run that trained; -1: none in this session
  int64_t last_step_ = -1;  // the step of the last record, or that before the first run
  MonotonicClock::time_point last_time_;
  std::unique_ptr<summary::FileWriter> writer_;
  std::set<int64_t> recorded_;  // the steps whose records are in the event file
};

}  // namespace

std::shared_ptr<SessionRunHook> ProfilerHook(std::string directory, ProfilerOptions options) {
  return std::make_shared<TimelineHook>(std::move(directory), options);
}

}  // namespace tensorbraid
