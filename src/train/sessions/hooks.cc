#include "tensorbraid/train/hooks.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "absl/strings/str_format.h"
#include "core/system/clock.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "tensorbraid/train/file_writer.h"
#include "train/sessions/progress_line.h"
#include "train/sessions/train_op.h"

namespace tensorbraid {
namespace {

using Clock = MonotonicClock;

double Seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

class StopAtStepHook final : public SessionRunHook {
 public:
  explicit StopAtStepHook(int64_t last_step) : last_step_(last_step) {}

  Status Begin(Graph& graph) override { return CheckGlobalStep(graph, "StopAtStep"); }
  // A worker that starts after the last step must not add a step.
  Status AfterCreateSession(SessionRunContext& context) override {
    const Variable step = GetGlobalStep(context.session().graph());
    TF_ASSIGN_OR_RETURN(const auto value, context.session().Run({step}));
    if (value[0].dtype() == kInt64 && value[0].scalar<int64_t>() >= last_step_) context.RequestStop();
    return OkStatus();
  }
  SessionRunArgs BeforeRun(SessionRunContext&) override { return {.fetches = {}, .feeds = {}, .global_step = true}; }
  Status AfterRun(SessionRunContext& context, const SessionRunValues& values) override {
    if (values.global_step >= last_step_) context.RequestStop();
    return OkStatus();
  }
  std::optional<int64_t> last_step() const override { return last_step_; }

 private:
  const int64_t last_step_;
};

class ShowProgressHook final : public SessionRunHook {
 public:
  ShowProgressHook(Output loss, ShowProgressOptions options)
      : loss_(loss), line_(std::move(options.sink)), interval_(line_.interval(options.interval)) {}

  SessionRunArgs BeforeRun(SessionRunContext& context) override {
    due_ = false;
    if (!context.trains()) return {};
    const Clock::time_point now = Clock::now();
    // The first line is written early, to show that training has started.
    if (first_step_ < 0) next_ = now + std::min<Clock::duration>(interval_, std::chrono::milliseconds(500));
    due_ = now >= next_;
    SessionRunArgs args;
    args.global_step = true;
    // Fetched in every run, because any run may turn out to be the last one, and the last line shows its loss.
    if (loss_.valid()) args.fetches.push_back(loss_);
    return args;
  }

  Status AfterRun(SessionRunContext& context, const SessionRunValues& values) override {
    if (!context.trains()) return OkStatus();
    const Clock::time_point now = Clock::now();
    ++runs_;
    step_ = values.global_step >= 0 ? values.global_step : runs_;
    if (first_step_ < 0) {
      first_step_ = shown_step_ = step_;
      first_time_ = shown_time_ = now;
    }
    if (!values.results.empty()) last_loss_ = values.results[0];
    if (!due_) return OkStatus();
    Show(context, Seconds(now - shown_time_), step_ - shown_step_);
    shown_step_ = step_;
    shown_time_ = now;
    next_ = now + interval_;
    return OkStatus();
  }

  Status End(SessionRunContext& context, const Status&) override {
    if (first_step_ >= 0) Show(context, Seconds(Clock::now() - first_time_), step_ - first_step_);
    line_.Finish();
    return OkStatus();
  }

 private:
  static std::string LossText(const Tensor& t) {
    if (t.num_elements() != 1) return t.ToString();
    if (t.dtype() == kFloat32) return absl::StrFormat("%.4g", t.scalar<float>());
    if (t.dtype() == kFloat64) return absl::StrFormat("%.4g", t.scalar<double>());
    return t.ToString();
  }

  void Show(const SessionRunContext& context, double seconds, int64_t steps) {
    const double rate = seconds > 0 ? steps / seconds : 0;
    // The global step may be beyond the last step, because other workers notice the end of training later.
    std::string text = absl::StrFormat("step %d", std::min(step_, context.last_step().value_or(step_)));
    if (context.last_step()) text += absl::StrFormat("/%d", *context.last_step());
    if (rate > 0) text += absl::StrFormat("  %.*f steps/s", rate < 10 ? 2 : 0, rate);
    if (last_loss_.is_valid()) text += "  loss " + LossText(last_loss_);
    if (context.last_step() && rate > 0 && step_ < *context.last_step()) {
      const int left = static_cast<int>(std::ceil((*context.last_step() - step_) / rate));
      text += left < 3600 ? absl::StrFormat("  %d:%02d left", left / 60, left % 60)
                          : absl::StrFormat("  %d:%02d:%02d left", left / 3600, left / 60 % 60, left % 60);
    }
    line_.Write(text);
  }

  const Output loss_;
  ProgressLine line_;
  const Clock::duration interval_;
  Clock::time_point next_, first_time_, shown_time_;
  bool due_ = false;
  int64_t runs_ = 0;
  int64_t step_ = 0;
  int64_t first_step_ = -1;
  int64_t shown_step_ = 0;
  Tensor last_loss_;  // of the last run
};

class LogTensorsHook final : public SessionRunHook {
 public:
  LogTensorsHook(std::vector<std::pair<std::string, Output>> tensors, LoggingOptions options)
      : tensors_(std::move(tensors)), options_(std::move(options)) {}

  SessionRunArgs BeforeRun(SessionRunContext& context) override {
    due_ = false;
    if (!context.trains() || options_.every_n_steps < 0) return {};
    const Clock::time_point now = Clock::now();
    due_ = runs_ == 0 || (options_.every_n_steps > 0 ? runs_ % options_.every_n_steps == 0 : now >= next_);
    ++runs_;
    SessionRunArgs args;
    if (!due_) return args;
    next_ = now + options_.every;
    args.global_step = true;
    for (const auto& [name, tensor] : tensors_) args.fetches.push_back(tensor);
    return args;
  }

  Status AfterRun(SessionRunContext&, const SessionRunValues& values) override {
    if (!due_) return OkStatus();
    return Log(values.global_step >= 0 ? StrCat("step ", values.global_step) : StrCat("run ", runs_), values.results);
  }

  Status End(SessionRunContext& context, const Status& status) override {
    if (!options_.at_end || !status.ok()) return OkStatus();
    std::vector<Fetch> fetches;
    for (const auto& [name, tensor] : tensors_) fetches.emplace_back(tensor);
    TF_ASSIGN_OR_RETURN(const auto values, context.session().Run(fetches));
    return Log("at the end", values);
  }

 private:
  Status Log(std::string text, const std::vector<Tensor>& values) const {
    if (options_.format) {
      std::vector<std::pair<std::string, Tensor>> named;
      for (size_t i = 0; i < tensors_.size(); ++i) named.emplace_back(tensors_[i].first, values[i]);
      TF_ASSIGN_OR_RETURN(text, options_.format(named));
    } else {
      for (size_t i = 0; i < tensors_.size(); ++i) {
        text += StrCat(i == 0 ? ": " : ", ", tensors_[i].first, " = ", values[i].ToString());
      }
    }
    if (options_.sink) {
      options_.sink(text);
    } else {
      TB_LOG(Info, "train") << text;
    }
    return OkStatus();
  }

  const std::vector<std::pair<std::string, Output>> tensors_;
  const LoggingOptions options_;
  Clock::time_point next_;
  int64_t runs_ = 0;
  bool due_ = false;
};

bool AllFinite(const Tensor& t) {
  const auto finite = [](const auto& values) {
    for (const auto v : values) {
      if (!std::isfinite(static_cast<double>(static_cast<float>(v)))) return false;
    }
    return true;
  };
  switch (t.dtype()) {
    case DType::kFloat32:
      return finite(t.data<float>());
    case DType::kFloat16:
      return finite(t.data<Float16>());
    case DType::kBfloat16:
      return finite(t.data<Bfloat16>());
    case DType::kFloat64:
      for (double v : t.data<double>()) {
        if (!std::isfinite(v)) return false;
      }
      return true;
    default:
      return true;
  }
}

class NanCheckHook final : public SessionRunHook {
 public:
  NanCheckHook(Output loss, NanCheckOptions options) : loss_(loss), options_(options) {}
  SessionRunArgs BeforeRun(SessionRunContext& context) override {
    if (!context.trains()) return {};
    return {.fetches = {loss_}, .feeds = {}, .global_step = true};
  }
  Status AfterRun(SessionRunContext& context, const SessionRunValues& values) override {
    if (!context.trains() || AllFinite(values.results[0])) return OkStatus();
    const std::string what = StrCat("the loss '", loss_.name(), "' is ", values.results[0].ToString(),
                                    values.global_step >= 0 ? StrCat(" at step ", values.global_step) : "",
                                    ": the training has diverged; a smaller learning rate often helps");
    if (!options_.stop_only) return InvalidArgument(what);
    TB_LOG(Warning, "train") << what;
    context.RequestStop();
    return OkStatus();
  }

 private:
  const Output loss_;
  const NanCheckOptions options_;
};

class StepCounterHook final : public SessionRunHook {
 public:
  explicit StepCounterHook(StepCounterOptions options) : options_(std::move(options)) {}
  // Without an operation that changes the global step, this hook has nothing to report. It only warns, because the
  // training itself does not need the step.
  Status Begin(Graph& graph) override {
    const Status counts = CheckGlobalStep(graph, "StepCounter");
    if (counts.ok() || !GetGlobalStep(graph).valid()) return counts;
    TB_LOG(Warning, "train") << counts.message();
    return OkStatus();
  }
  SessionRunArgs BeforeRun(SessionRunContext&) override { return {.fetches = {}, .feeds = {}, .global_step = true}; }
  // The new session may have another global step, so the next rate is measured from its first run.
  Status AfterCreateSession(SessionRunContext&) override {
    last_step_ = -1;
    return OkStatus();
  }
  Status AfterRun(SessionRunContext&, const SessionRunValues& values) override {
    const bool by_steps = options_.every_n_steps > 0;
    if (by_steps && last_step_ >= 0 && values.global_step - last_step_ < options_.every_n_steps) return OkStatus();
    const Clock::time_point now = Clock::now();
    if (!by_steps && last_step_ >= 0 && now - last_time_ < options_.every) return OkStatus();
    if (last_step_ >= 0) {
      const double rate = (values.global_step - last_step_) / std::max(Seconds(now - last_time_), 1e-9);
      if (options_.sink) options_.sink(values.global_step, rate);
      if (options_.writer != nullptr) {
        const std::string tag = "global_step/sec";
        TF_RETURN_IF_ERROR(options_.writer->AddScalar(tag, static_cast<float>(rate), values.global_step));
      }
      if (!options_.sink && options_.writer == nullptr) {
        TB_LOG(Info, "train") << "step " << values.global_step << ": " << rate << " steps/s";
      }
    }
    last_step_ = values.global_step;
    last_time_ = now;
    return OkStatus();
  }

 private:
  const StepCounterOptions options_;
  int64_t last_step_ = -1;
  Clock::time_point last_time_;
};

}  // namespace

std::shared_ptr<SessionRunHook> StopAtStep(int64_t last_step) { return std::make_shared<StopAtStepHook>(last_step); }
std::shared_ptr<SessionRunHook> ShowProgress(Output loss, ShowProgressOptions options) {
  return std::make_shared<ShowProgressHook>(loss, std::move(options));
}
std::shared_ptr<SessionRunHook> LoggingHook(std::vector<std::pair<std::string, Output>> tensors,
                                            LoggingOptions options) {
  return std::make_shared<LogTensorsHook>(std::move(tensors), std::move(options));
}
std::shared_ptr<SessionRunHook> NanCheck(Output loss, NanCheckOptions options) {
  return std::make_shared<NanCheckHook>(loss, options);
}
std::shared_ptr<SessionRunHook> StepCounter(StepCounterOptions options) {
  return std::make_shared<StepCounterHook>(std::move(options));
}

}  // namespace tensorbraid
