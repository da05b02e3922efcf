// The hook that writes summaries during training (see SummarySaver in hooks.h).
#include "core/system/clock.h"
#include "core/text/strings.h"
#include "tensorbraid/ops/summary.h"
#include "tensorbraid/train/file_writer.h"
#include "tensorbraid/train/hooks.h"

namespace tensorbraid {
namespace {

constexpr int64_t kDefaultSummarySteps = 100;

class SummarySaverHook final : public SessionRunHook {
 public:
  SummarySaverHook(std::string directory, SummarySaverOptions options)
      : directory_(std::move(directory)), options_(std::move(options)) {
    if (!options_.every_n_steps && !options_.every) options_.every_n_steps = kDefaultSummarySteps;
  }

  Status Begin(Graph& graph) override {
    if ((options_.every_n_steps && *options_.every_n_steps <= 0) || (options_.every && options_.every->count() < 0)) {
      return InvalidArgument("SummarySaver: every_n_steps must be positive and every must not be negative");
    }
    global_step_ = GetGlobalStep(graph);
    if (options_.every_n_steps && !global_step_.valid()) {
      return FailedPrecondition(
          "SummarySaver needs a global step: call GetOrCreateGlobalStep and give it to the optimizer");
    }
    if (!options_.summary_op.valid()) options_.summary_op = summary::MergeAll(graph);
    TF_RETURN_IF_ERROR(graph.status());
    if (options_.writer == nullptr) {
      TF_ASSIGN_OR_RETURN(options_.writer, summary::FileWriter::Open(directory_));
    }
    return OkStatus();
  }

  Status AfterCreateSession(SessionRunContext& context) override {
    if (!graph_written_) TF_RETURN_IF_ERROR(options_.writer->AddGraph(context.session().graph()));
    graph_written_ = true;
    // Training that continues from a checkpoint repeats steps. The kStart event tells TensorBoard to hide the earlier
    // summaries of these steps.
    last_step_ = -1;
    if (!global_step_.valid()) return OkStatus();
    TF_ASSIGN_OR_RETURN(const auto step, context.session().Run({global_step_}));
    if (step[0].dtype() != kInt64) return OkStatus();
    return options_.writer->AddSessionLog(summary::SessionStatus::kStart, step[0].scalar<int64_t>());
  }

  SessionRunArgs BeforeRun(SessionRunContext& context) override {
    due_ = false;
    SessionRunArgs args;
    if (!context.trains() || !options_.summary_op.valid()) return args;
    args.global_step = true;
    // The step of this run will be at least seen_step_ + 1.
    due_ = last_step_ < 0 || (options_.every_n_steps && seen_step_ + 1 - last_step_ >= *options_.every_n_steps) ||
           (options_.every && MonotonicClock::now() - last_time_ >= *options_.every);
    if (due_) args.fetches.push_back(options_.summary_op);
    return args;
  }

  Status AfterRun(SessionRunContext& context, const SessionRunValues& values) override {
    if (!context.trains() || !options_.summary_op.valid()) return OkStatus();
    // Without a global step, counts the runs.
    seen_step_ = values.global_step >= 0 ? values.global_step : ++runs_;
    if (!due_) return OkStatus();
    last_step_ = seen_step_;
    last_time_ = MonotonicClock::now();
    return options_.writer->AddSummary(values.results[0], seen_step_);
  }

  Status End(SessionRunContext&, const Status&) override {
    if (options_.writer == nullptr) return OkStatus();
    if (global_step_.valid() && seen_step_ >= 0) {
      TF_RETURN_IF_ERROR(options_.writer->AddSessionLog(summary::SessionStatus::kStop, seen_step_));
    }
    return options_.writer->Flush();
  }

 private:
  const std::string directory_;
  SummarySaverOptions options_;
  Variable global_step_;
  bool graph_written_ = false;
  bool due_ = false;
  int64_t runs_ = 0;
  int64_t seen_step_ = -1;  // the global step after the last run that trained, or the number of such runs
  int64_t last_step_ = -1;  // the step of the last summary; -1: none in this session
  MonotonicClock::time_point last_time_;
};

}  // namespace

std::shared_ptr<SessionRunHook> SummarySaver(std::string directory, SummarySaverOptions options) {
  return std::make_shared<SummarySaverHook>(std::move(directory), std::move(options));
}

}  // namespace tensorbraid
