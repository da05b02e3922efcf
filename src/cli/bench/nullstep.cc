// Null steps: training steps without a model. A worker reads all parameters, and sends a gradient of the same size. The
// idea is from "TensorFlow: A System for Large-Scale Machine Learning" (OSDI 2016), section 6.2.
#include <algorithm>
#include <cmath>

#include "cli/bench/steps.h"
#include "core/text/strings.h"
#include "tensorbraid/core/wire.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// Element i of the gradient. Sums of them are exact in float32 for a million steps.
float GradientAt(int64_t i) { return static_cast<float>(i % 13 + 1); }

// The largest difference between the sum of a worker's gradients and the sum that has been applied. The sender keeps
// the part of a gradient that the wire type loses, and adds it to the next gradient, so the difference does not grow
// with the steps. None for kTopK, whose elements may be sent much later.
std::optional<double> ToleranceOf(const std::vector<std::string>& wire) {
  double tolerance = 0;
  const auto rules = ParseWireRules(wire).value();
  for (const auto& [job, types] : rules) {
    if (types.gradients == Wire::kTopK) return std::nullopt;
    if (types.gradients == Wire::kInt8) tolerance = 1;
    if (types.gradients == Wire::kOneBit) tolerance = 50;
  }
  return tolerance;
}

class NullStep final : public RepeatedStep {
 public:
  explicit NullStep(const json& config) : wire_(config["wire"].get<std::vector<std::string>>()) {
    const int index = config["index"].get<int>();
    num_workers_ = static_cast<int>(config["worker_hosts"].size());
    const auto ps = static_cast<int64_t>(config["ps_hosts"].size());
    elements_ = std::max<int64_t>(config["bytes"].get<int64_t>() / 4 / ps, 1);
    const std::string worker = StrCat("/job:worker/task:", index);
    {
      auto device = graph_.Device(worker);
      one_ = Placeholder(graph_, kFloat32, {});
    }
    for (int64_t i = 0; i < ps; ++i) {
      Variable parameters;
      {
        auto device = graph_.Device(StrCat("/job:ps/task:", i));
        parameters = Variable(graph_, {elements_}, Zeros(), {.name = StrCat("parameters_", i)});
      }
      auto device = graph_.Device(worker);
      const Variable gradient(graph_, {elements_}, Zeros(), {.name = StrCat("gradient_", index, "_", i)});
      given_.push_back(Placeholder(graph_, kFloat32, {elements_}));
      fill_.push_back(gradient.Assign(given_.back()));
      sums_.push_back(ReduceSum(parameters.value()));  // reads every element
      Output sent;
      {
        auto after = graph_.ControlDependencies(std::vector<Output>{sums_.back()});
        sent = gradient.value() * one_;  // new bytes in each step
      }
      updates_.push_back(parameters.AssignAdd(sent));
      values_.emplace_back(parameters.value());
      init_parameters_.push_back(parameters.initializer());
    }
  }

  Status Start(const std::string& target, bool is_first) override {
    TF_ASSIGN_OR_RETURN(session_, Session::Create(graph_, {.target = target}));
    if (is_first) {
      for (const Operation& init : init_parameters_) TF_RETURN_IF_ERROR(session_->Run({init}).status());
    }
    Tensor gradient(kFloat32, {elements_});
    auto values = gradient.mutable_data<float>();
    for (int64_t i = 0; i < elements_; ++i) values[i] = GradientAt(i);
    for (size_t i = 0; i < fill_.size(); ++i) {
      TF_RETURN_IF_ERROR(session_->Run({fill_[i]}, {{given_[i], gradient}}).status());
    }
    std::vector<Fetch> fetches(updates_.begin(), updates_.end());
    fetches.insert(fetches.end(), sums_.begin(), sums_.end());
    TF_ASSIGN_OR_RETURN(run_, session_->Prepare(fetches, {one_}));
    return OkStatus();
  }

  Status Run() override { return run_.Run({Tensor::Scalar(1.0f)}).status(); }

  Status Verify(int64_t steps) override {
    const auto tolerance = ToleranceOf(wire_);
    for (const Fetch& fetch : values_) {
      TF_ASSIGN_OR_RETURN(const auto value, session_->Run({fetch}));
      const auto have = value[0].data<float>();
      for (int64_t i = 0; i < elements_; ++i) {
        const double want = GradientAt(i) * static_cast<double>(steps);
        const bool close = tolerance ? std::abs(have[i] - want) <= *tolerance * num_workers_ : std::isfinite(have[i]);
        if (!close) return Internal("element ", i, " is ", have[i], " after ", steps, " steps, expected ", want);
      }
    }
    return OkStatus();
  }

 private:
  const std::vector<std::string> wire_;
  int num_workers_ = 0;
  int64_t elements_ = 0;
  Graph graph_;
  Output one_;
  std::vector<Output> given_;
  std::vector<Operation> fill_, updates_, init_parameters_;
  std::vector<Output> sums_;
  std::vector<Fetch> values_;
  std::unique_ptr<Session> session_;
  Session::Prepared run_;
};

int NullStepsFor(const BenchOptions& options) {
  if (options.steps > 0) return options.steps;
  if (options.smoke) return 5;
  const double mb = static_cast<double>(options.variable_bytes()) / 1e6;
  return mb < 0.1 ? 2000 : mb < 50 ? 200 : mb < 500 ? 30 : 5;
}

}  // namespace

std::unique_ptr<RepeatedStep> MakeNullStep(const json& config) { return std::make_unique<NullStep>(config); }

StatusOr<BenchResults> BenchNullStep(const BenchOptions& options) {
  const double mb = static_cast<double>(options.variable_bytes()) / 1e6;
  const int steps = NullStepsFor(options), rounds = options.rounds > 0 ? options.rounds : options.smoke ? 1 : 2;
  json config{{"bench", "nullstep"}, {"protocol", options.protocol}, {"bytes", options.variable_bytes()}};
  const auto measure = [&](const std::vector<std::string>& wire) {
    config["wire"] = wire;
    return MeasureSteps(options, config, steps, rounds);
  };
  TF_ASSIGN_OR_RETURN(const StepTimes times, measure(options.wire));
  ordered_json result{{"bench", "nullstep"}, {"mb", mb}, {"ps", options.ps}, {"workers", options.workers}};
  if (!options.wire.empty()) result["wire"] = StrJoin(options.wire, ",");
  result["protocol"] = options.protocol;
  AddTimes(times, &result);
  if (!options.wire.empty() && options.baseline) {
    TF_ASSIGN_OR_RETURN(const StepTimes plain, measure({}));
    result["baseline"] = "float32 on the wire";
    result["baseline_median_ms"] = MedianOf(plain.ms);
    result["ratio"] = times.steps_per_s / plain.steps_per_s;
  }
  return BenchResults{result};
}

}  // namespace tensorbraid
