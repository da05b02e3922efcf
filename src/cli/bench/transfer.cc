// Push and pull: steps that only transfer data between a worker and the parameter servers.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <thread>

#include "cli/bench/bench.h"
#include "cli/bench/raw_grpc.h"
#include "cli/bench/task.h"
#include "cli/bench/ucx_perftest.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/session/session.h"
#include "transport/new_transport.h"

namespace tensorbraid {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;
using nlohmann::ordered_json;

// Element i of the tensor that each step adds. Its sums are exact in float32 for a million steps.
float Pattern(int64_t i) { return static_cast<float>(i % 13 + 1); }

Tensor MakePattern(int64_t elements) {
  Tensor t(kFloat32, {elements});
  auto values = t.mutable_data<float>();
  for (int64_t i = 0; i < elements; ++i) values[i] = Pattern(i);
  return t;
}

Status CheckElement(const Tensor& t, int64_t i, int64_t times) {
  const float have = t.data<float>()[i];
  const float want = Pattern(i) * static_cast<float>(times);
  if (have == want) return OkStatus();
  return Internal("element ", i, " is ", have, " after ", times, " steps, expected ", want);
}

Status CheckAll(const Tensor& t, int64_t times) {
  for (int64_t i = 0; i < t.num_elements(); ++i) TF_RETURN_IF_ERROR(CheckElement(t, i, times));
  return OkStatus();
}

// The number of messages for ucx_perftest, and the smallest variable with which it is compared: its bandwidth is not
// meaningful for small messages.
constexpr int kPerftestMessages = 20;
constexpr int64_t kLeastPerftestBytes = 1'000'000;

// The work of a transfer in each step.
enum class Kind {
  kPush,  // the server adds a tensor of the worker to its variable
  kPull,  // the worker gets the value of a variable of the server
  kSum,   // as kPull, and the worker adds all elements up
};

// One variable per parameter server, initially zero. For each of them there is a second variable of the same size,
// whose value is added to the first. The second variable is on the worker (push) or on the server (pull). If
// `is_local`, all variables are on the worker, and nothing is transferred.
class Transfer {
 public:
  Transfer(Kind kind, int ps, int64_t bytes, const std::string& prefix, bool is_local = false)
      : kind_(kind), is_push_(kind == Kind::kPush), ps_(ps) {
    elements_ = std::max<int64_t>(bytes / 4 / ps, 1);
    const std::string worker = "/job:worker/task:0";
    for (int i = 0; i < ps; ++i) {
      const std::string server = is_local ? worker : StrCat("/job:ps/task:", i);
      Variable shard;
      {
        auto device = graph_.Device(server);
        shard = Variable(graph_, {elements_}, Zeros(), {.name = StrCat(prefix, "shard_", i)});
      }
      {
        auto device = graph_.Device(worker);
        sums_.push_back(ReduceSum(shard.value()));
      }
      auto device = graph_.Device(is_push_ ? worker : server);
      Variable delta(graph_, {elements_}, Zeros(), {.name = StrCat(prefix, "delta_", i)});
      const Output given = Placeholder(graph_, kFloat32, {elements_});
      fill_.push_back(delta.Assign(given));
      given_.push_back(given);
      add_.push_back(shard.AssignAdd(delta.value()));
      values_.push_back(shard.value());
    }
    init_ = GlobalVariablesInitializer(graph_);
  }

  Status Start(const std::string& target) {
    SessionOptions options;
    options.target = target;
    TF_ASSIGN_OR_RETURN(session_, Session::Create(graph_, options));
    TF_RETURN_IF_ERROR(session_->Run({init_}).status());
    for (int i = 0; i < ps_; ++i) {
      TF_RETURN_IF_ERROR(session_->Run({fill_[i]}, {{given_[i], MakePattern(elements_)}}).status());
    }
    TF_ASSIGN_OR_RETURN(run_add_, session_->Prepare({add_.begin(), add_.end()}));
    TF_ASSIGN_OR_RETURN(run_read_, session_->Prepare({values_.begin(), values_.end()}));
    TF_ASSIGN_OR_RETURN(run_sum_, session_->Prepare({sums_.begin(), sums_.end()}));
    return OkStatus();
  }

  // Runs one push, or one pull of a value that has changed since the last one, and returns its duration.
  StatusOr<double> StepMs() {
    ++steps_;
    // For a pull, the server changes the value before the clock starts.
    if (!is_push_) TF_RETURN_IF_ERROR(run_add_.Run().status());
    const auto start = Clock::now();
    const Session::Prepared& step = is_push_ ? run_add_ : kind_ == Kind::kSum ? run_sum_ : run_read_;
    TF_ASSIGN_OR_RETURN(const auto got, step.Run());
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    if (kind_ == Kind::kSum) return ms;
    for (size_t i = 0; !is_push_ && i < got.size(); ++i) {
      for (const int64_t at : {int64_t{0}, elements_ / 2, elements_ - 1}) {
        TF_RETURN_IF_ERROR(CheckElement(got[i], at, steps_));
      }
    }
    return ms;
  }

  // Compares every element, and the sums.
  Status Verify() {
    TF_ASSIGN_OR_RETURN(const auto sums, run_sum_.Run());
    double pattern = 0;
    for (int64_t i = 0; i < elements_; ++i) pattern += Pattern(i);
    for (const Tensor& sum : sums) {
      const double want = pattern * static_cast<double>(steps_);
      if (std::abs(sum.scalar<float>() - want) > 1e-4 * want) {
        return Internal("the sum is ", sum.scalar<float>(), " after ", steps_, " steps, expected ", want);
      }
    }
    TF_ASSIGN_OR_RETURN(const auto values, run_read_.Run());
    for (const Tensor& value : values) TF_RETURN_IF_ERROR(CheckAll(value, steps_));
    return OkStatus();
  }

  int64_t bytes() const { return elements_ * 4 * ps_; }

 private:
  const Kind kind_;
  const bool is_push_;
  const int ps_;
  int64_t elements_;
  Graph graph_;
  std::vector<Operation> fill_, add_;
  std::vector<Output> given_, values_, sums_;
  Operation init_;
  std::unique_ptr<Session> session_;
  Session::Prepared run_add_, run_read_, run_sum_;
  int64_t steps_ = 0;
};

// Pushes continuously in the background of a measurement.
class Background {
 public:
  Status Start(const std::string& target, int64_t bytes) {
    transfer_ = std::make_unique<Transfer>(Kind::kPush, 1, bytes, "background_");
    TF_RETURN_IF_ERROR(transfer_->Start(target));
    TF_RETURN_IF_ERROR(transfer_->StepMs().status());
    thread_ = std::thread([this] {
      while (!stop_ && status_.ok()) {
        status_ = transfer_->StepMs().status();
        ++steps_;
      }
    });
    return OkStatus();
  }
  ~Background() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  Status Finish() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    return transfer_ == nullptr || !status_.ok() ? status_ : transfer_->Verify();
  }
  int64_t steps() const { return steps_; }

 private:
  std::unique_ptr<Transfer> transfer_;
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> steps_{0};
  Status status_;
  std::thread thread_;
};

// Plain gRPC, measured alternately with our transport, so that a slow phase of the machine affects both.
class Baseline {
 public:
  static StatusOr<std::unique_ptr<Baseline>> Start(bool is_push, int64_t bytes) {
    std::unique_ptr<Baseline> baseline(new Baseline(is_push, bytes));
    TF_ASSIGN_OR_RETURN(baseline->raw_, bench::RawGrpc::Start());
    TF_RETURN_IF_ERROR(baseline->Measure());  // allocates its buffers
    for (auto& times : baseline->times_) times.clear();
    return baseline;
  }
  Status Measure() {
    for (size_t i = 0; i < std::size(bench::kRawGrpcMessageBytes); ++i) {
      const size_t message = bench::kRawGrpcMessageBytes[i];
      if (i > 0 && static_cast<size_t>(bytes_) <= bench::kRawGrpcMessageBytes[i - 1])
        break;  // a larger size would still give one message
      TF_ASSIGN_OR_RETURN(const double ms, is_push_ ? raw_->Push(bytes_, message, /*add_on_receive=*/true)
                                                    : raw_->Pull(bytes_, message));
      times_[i].push_back(ms);
    }
    return OkStatus();
  }
  double BestMedianMs() const {
    double best = 0;
    for (const auto& times : times_) {
      if (!times.empty() && (best == 0 || MedianOf(times) < best)) best = MedianOf(times);
    }
    return best;
  }

 private:
  Baseline(bool is_push, int64_t bytes) : is_push_(is_push), bytes_(bytes) {}

  const bool is_push_;
  const int64_t bytes_;
  std::unique_ptr<bench::RawGrpc> raw_;
  std::vector<double> times_[std::size(bench::kRawGrpcMessageBytes)];
};

int TransfersFor(const BenchOptions& options) {
  if (options.steps > 0) return options.steps;
  if (options.rss) return 1000;
  if (options.smoke) return 10;
  const double mb = options.variable_bytes() / 1e6;
  return mb < 0.1 ? 5000 : mb < 5 ? 1000 : mb < 50 ? 250 : 150;
}

}  // namespace

Status RunTransferWorker(JsonChannel& parent, const json& config, const Server& server) {
  const Kind kind = config["bench"] == "push" ? Kind::kPush : config["sum"].get<bool>() ? Kind::kSum : Kind::kPull;
  const int ps = static_cast<int>(config["ps_hosts"].size());
  const auto variable_bytes = config["bytes"].get<int64_t>();
  Transfer transfer(kind, ps, variable_bytes, "");
  TF_RETURN_IF_ERROR(transfer.Start(server.target()));
  TF_RETURN_IF_ERROR(transfer.StepMs().status());
  std::optional<Transfer> local;
  if (config["local"].get<bool>()) {
    local.emplace(kind, 1, variable_bytes, "local_", /*is_local=*/true);
    TF_RETURN_IF_ERROR(local->Start(server.target()));
    TF_RETURN_IF_ERROR(local->StepMs().status());
  }
  Background background;
  if (const auto bytes = config["background_bytes"].get<int64_t>(); bytes > 0) {
    TF_RETURN_IF_ERROR(background.Start(server.target(), bytes));
  }
  TF_RETURN_IF_ERROR(parent.Send({{"bytes", transfer.bytes()}}));
  while (true) {
    TF_ASSIGN_OR_RETURN(const json message, parent.Receive());
    const auto what = message["do"].get<std::string>();
    if (what == "stop") return OkStatus();
    json reply = json::object();
    if (what == "measure") {
      std::vector<double> times, local_times;
      for (int i = message["steps"].get<int>(); i > 0; --i) {
        TF_ASSIGN_OR_RETURN(const double ms, transfer.StepMs());
        times.push_back(ms);
        if (!local) continue;
        TF_ASSIGN_OR_RETURN(const double local_ms, local->StepMs());
        local_times.push_back(local_ms);
      }
      reply["times_ms"] = times;
      reply["local_times_ms"] = local_times;
    } else if (what == "use") {
      TF_ASSIGN_OR_RETURN(reply, UseOfThisProcess());
    } else if (what == "verify") {
      TF_RETURN_IF_ERROR(background.Finish());
      TF_RETURN_IF_ERROR(transfer.Verify());
      if (local) TF_RETURN_IF_ERROR(local->Verify());
      reply["background_steps"] = background.steps();
    }
    TF_RETURN_IF_ERROR(parent.Send(reply));
  }
}

namespace {

// The results of one round, which has its own cluster and its own baseline.
struct TransferRound {
  std::vector<double> times;
  std::vector<double> local_times;  // of the same steps within the worker; empty if they are not measured
  double baseline_ms = 0;           // median with the best message size
  double ucx_perftest_ms = 0;       // 0 if it is not measured
  json memory_early;                // null when the round is too short
  json memory;
  int64_t background_steps = 0;
  double median_ms() const { return MedianOf(times); }
};

StatusOr<TransferRound> RunRound(const BenchOptions& options, int steps) {
  constexpr int kEarly = 50;
  const bool is_push = options.name == "push";
  const int64_t bytes = options.variable_bytes();
  TF_ASSIGN_OR_RETURN(const auto cluster,
                      BenchCluster::Start(options.ps, 1,
                                          {{"bench", options.name},
                                           {"protocol", options.protocol},
                                           {"bytes", bytes},
                                           {"sum", options.sum},
                                           {"local", options.baseline && !options.rss && (is_push || options.sum)},
                                           {"background_bytes", static_cast<int64_t>(options.background_mb * 1e6)}}));
  BenchProcess& worker = *cluster->workers()[0];
  std::unique_ptr<Baseline> baseline;
  if (options.baseline && options.background_mb == 0) {
    TF_ASSIGN_OR_RETURN(baseline, Baseline::Start(is_push, bytes));
  }
  TransferRound round;
  const int at_a_time = options.rss ? kEarly : std::max(1, steps / 10);
  while (static_cast<int>(round.times.size()) < steps) {
    const int now = std::min<int>(at_a_time, steps - static_cast<int>(round.times.size()));
    TF_ASSIGN_OR_RETURN(const json measured, worker.Call({{"do", "measure"}, {"steps", now}}));
    for (const double ms : measured["times_ms"]) round.times.push_back(ms);
    for (const double ms : measured["local_times_ms"]) round.local_times.push_back(ms);
    if (round.memory_early.is_null() && static_cast<int>(round.times.size()) >= kEarly) {
      TF_ASSIGN_OR_RETURN(round.memory_early, cluster->Use());
    }
    if (baseline) TF_RETURN_IF_ERROR(baseline->Measure());
  }
  TF_ASSIGN_OR_RETURN(round.memory, cluster->Use());
  TF_ASSIGN_OR_RETURN(const json verified, worker.Call({{"do", "verify"}}));
  round.background_steps = verified["background_steps"].get<int64_t>();
  if (baseline) round.baseline_ms = baseline->BestMedianMs();
  if (baseline && IsUcxProtocol(options.protocol) && bytes >= kLeastPerftestBytes) {
    const StatusOr<double> ms = bench::UcxPerftestMs(bytes, kPerftestMessages);
    if (!ms.ok() && !absl::IsNotFound(ms.status())) return ms.status();
    if (!ms.ok()) {
      TB_LOG(Warning, "bench") << "no figure of ucx_perftest, which is not installed (Debian: ucx-utils)";
    }
    round.ucx_perftest_ms = ms.value_or(0);
  }
  return round;
}

}  // namespace

StatusOr<BenchResults> BenchTransfer(const BenchOptions& options) {
  const double mb = static_cast<double>(options.variable_bytes()) / 1e6;
  const bool once = options.rss || options.smoke || options.background_mb > 0;
  const int rounds = options.rounds > 0 ? options.rounds : once ? 1 : 5;
  const int steps = std::max(1, TransfersFor(options) / rounds);
  TransferRound best;
  double baseline_ms = 0, ucx_perftest_ms = 0;
  for (int i = 0; i < rounds; ++i) {
    TF_ASSIGN_OR_RETURN(TransferRound round, RunRound(options, steps));
    if (i == 0 || round.baseline_ms < baseline_ms) baseline_ms = round.baseline_ms;
    if (i == 0 || round.ucx_perftest_ms < ucx_perftest_ms) ucx_perftest_ms = round.ucx_perftest_ms;
    if (i == 0 || round.median_ms() < best.median_ms()) best = std::move(round);
  }

  const double median_ms = best.median_ms();
  ordered_json result{{"bench", options.sum ? "pull and sum" : options.name},
                      {"mb", mb},
                      {"ps", options.ps},
                      {"protocol", options.protocol},
                      {"min_ms", Minimum(best.times)},
                      {"median_ms", median_ms},
                      {"gb_s", mb / median_ms}};
  if (baseline_ms > 0) {
    result["baseline"] = "raw_grpc";
    result["baseline_gb_s"] = mb / baseline_ms;
    result["ratio"] = baseline_ms / median_ms;
  }
  if (ucx_perftest_ms > 0) {
    result["ucx_perftest_gb_s"] = mb / ucx_perftest_ms;
    result["ucx_perftest_ratio"] = ucx_perftest_ms / median_ms;
  }
  if (!best.local_times.empty()) {
    result["local_ms"] = MedianOf(best.local_times);
    result["times_local"] = median_ms / MedianOf(best.local_times);
  }
  result["p99_ms"] = Percentile(best.times, 99);
  if (options.background_mb > 0) {
    result["background_mb"] = options.background_mb;
    result["background_steps"] = best.background_steps;
  }
  if (options.rss) {
    result["steps"] = steps;
    for (const auto& [task, end] : best.memory.items()) {
      ordered_json of_task;
      if (!best.memory_early.is_null()) of_task["rss_mb_at_step_50"] = best.memory_early[task]["rss_mb"];
      of_task["rss_mb"] = end["rss_mb"];
      of_task["peak_mb"] = end["peak_mb"];
      result["memory"][task] = of_task;
    }
  }
  return BenchResults{result};
}

}  // namespace tensorbraid
