// Gradient descent on the rows of a large table that a batch of ids selects.
#include <random>

#include "cli/bench/steps.h"
#include "core/text/strings.h"
#include "tensorbraid/cluster/replica_device_setter.h"
#include "tensorbraid/cluster/server.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/optimizers/optimizer.h"
#include "tensorbraid/optimizers/rules.h"
#include "tensorbraid/session/session.h"
#include "tensorbraid/variables/embedding.h"
#include "tensorbraid/variables/partitioned_variable.h"

namespace tensorbraid {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr size_t kSparseBatches = 32;  // used in rotation

class SparseStep final : public RepeatedStep {
 public:
  explicit SparseStep(const json& config) {
    const int index = config["index"].get<int>();
    const auto rows = config["rows"].get<int64_t>();
    const auto ps_hosts = config["ps_hosts"].get<std::vector<std::string>>();
    auto device = graph_.Device(ReplicaDeviceSetter(
        {.ps_tasks = static_cast<int>(ps_hosts.size()), .worker_device = StrCat("/job:worker/task:", index)}));
    const PartitionedVariable table(graph_, {rows, config["dim"].get<int64_t>()}, Zeros(),
                                    FixedSizePartitioner(static_cast<int64_t>(ps_hosts.size())), {.name = "table"});
    for (const Variable& part : table.parts()) init_.push_back(part.initializer());
    const auto k = config["k"].get<int64_t>();
    ids_ = Placeholder(graph_, kInt64, {k});
    loss_ = ReduceMean(Square(nn::EmbeddingLookup(table, ids_) - 1.0f));
    // The learning rate is large, because the loss is a mean over many elements.
    train_ = GradientDescentOptimizer(100.0).Minimize(loss_);
    for (size_t i = 0; i < kSparseBatches; ++i) {
      std::mt19937_64 random(i + 1000 * static_cast<size_t>(index));
      Tensor ids(kInt64, {k});
      for (int64_t& id : ids.mutable_data<int64_t>()) id = static_cast<int64_t>(random() % static_cast<uint64_t>(rows));
      batches_.push_back(std::move(ids));
    }
  }

  Status Start(const std::string& target, bool is_first) override {
    TF_ASSIGN_OR_RETURN(session_, Session::Create(graph_, {.target = target}));
    if (is_first) TF_RETURN_IF_ERROR(session_->Run({init_.begin(), init_.end()}).status());
    TF_ASSIGN_OR_RETURN(run_, session_->Prepare({train_, loss_}, {ids_}));
    return OkStatus();
  }

  Status Run() override { return run_.Run({batches_[next_++ % kSparseBatches]}).status(); }

  Status Verify(int64_t) override {
    TF_ASSIGN_OR_RETURN(const auto loss, session_->Run({loss_}, {{ids_, batches_[0]}}));
    const float now = loss[0].scalar<float>();
    // Rows that are still 0 have a loss of 1.
    return now < 1 ? OkStatus() : Internal("the loss has not fallen: it is ", now);
  }

 private:
  Graph graph_;
  Output ids_, loss_;
  Operation train_;
  std::vector<Operation> init_;
  std::vector<Tensor> batches_;
  size_t next_ = 0;
  std::unique_ptr<Session> session_;
  Session::Prepared run_;
};

}  // namespace

std::unique_ptr<RepeatedStep> MakeSparseStep(const json& config) { return std::make_unique<SparseStep>(config); }

StatusOr<BenchResults> BenchSparse(const BenchOptions& options) {
  const int steps = options.steps > 0 ? options.steps : options.smoke ? 50 : 2000;
  const int rounds = options.rounds > 0 ? options.rounds : options.smoke ? 1 : 2;
  const json config{{"bench", "sparse"},    {"protocol", options.protocol}, {"wire", options.wire},
                    {"rows", options.rows}, {"dim", options.dim},           {"k", options.k}};
  TF_ASSIGN_OR_RETURN(const StepTimes times, MeasureSteps(options, config, steps, rounds));
  ordered_json result{
      {"bench", "sparse"}, {"rows", options.rows},       {"dim", options.dim},          {"k", options.k},
      {"ps", options.ps},  {"workers", options.workers}, {"protocol", options.protocol}};
  AddTimes(times, &result);
  return BenchResults{result};
}

}  // namespace tensorbraid
