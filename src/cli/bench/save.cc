// Measures saves while a worker trains: how much longer the worker's steps take, and how fast the checkpoint is
// written.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "cli/bench/bench.h"
#include "cli/bench/task.h"
#include "core/system/env.h"
#include "core/text/strings.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/session/session.h"
#include "tensorbraid/train/saver.h"

namespace tensorbraid {
namespace {

using SaveClock = std::chrono::steady_clock;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kVariables = 10;

double SecondsSince(SaveClock::time_point start) {
  return std::chrono::duration<double>(SaveClock::now() - start).count();
}

// Every step adds this to element i, exactly in float32 for a million steps.
float Addend(int64_t i) { return static_cast<float>(i % 11 + 1); }

// Internal unless every element is the sum of equally many steps.
Status CheckWhole(const std::string& name, const Tensor& t) {
  const auto values = t.data<float>();
  const float steps = values[0] / Addend(0);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    if (values[i] != steps * Addend(i)) {
      return Internal("element ", i, " of ", name, " is ", values[i], " after ", steps, " steps");
    }
  }
  return OkStatus();
}

// Ten variables on one parameter server, initially zero.
class SavedModel {
 public:
  explicit SavedModel(int64_t bytes) : elements_(std::max<int64_t>(bytes / 4, 1)) {
    auto device = graph_.Device("/job:ps/task:0");
    for (int i = 0; i < kVariables; ++i) {
      variables_.emplace_back(graph_, Shape{elements_}, Zeros(), VariableOptions{.name = StrCat("v", i)});
    }
  }
  int64_t bytes() const { return elements_ * 4 * kVariables; }

 protected:
  Status Start(const Server& server) {
    TF_ASSIGN_OR_RETURN(session_, Session::Create(graph_, {.target = server.target()}));
    return OkStatus();
  }

  const int64_t elements_;
  Graph graph_;
  std::vector<Variable> variables_;
  std::unique_ptr<Session> session_;
};

// Worker 0: saves and does not train.
class SavingWorker : public SavedModel {
 public:
  SavingWorker(const json& config)
      : SavedModel(config["bytes"].get<int64_t>()), prefix_(config["directory"].get<std::string>() + "/model") {}

  Status Start(const Server& server) {
    saver_ = std::make_unique<Saver>(graph_, SaverOptions{.max_to_keep = 1});
    const Operation init = VariablesInitializer(graph_, variables_);
    TF_RETURN_IF_ERROR(SavedModel::Start(server));
    return session_->Run({init}).status();
  }
  // Saves `times` times, each time with another step number, and returns the durations in seconds.
  StatusOr<std::vector<double>> Save(int times) {
    std::vector<double> seconds;
    for (int i = 0; i < times; ++i) {
      const auto start = SaveClock::now();
      TF_ASSIGN_OR_RETURN(latest_, saver_->Save(*session_, prefix_, {.global_step = ++step_}));
      seconds.push_back(SecondsSince(start));
    }
    return seconds;
  }
  // Checks every element of the last checkpoint.
  Status Verify() const {
    TF_ASSIGN_OR_RETURN(const auto reader, CheckpointReader::Open(latest_));
    for (const Variable& v : variables_) {
      TF_ASSIGN_OR_RETURN(const Tensor value, reader->GetTensor(v.name()));
      TF_RETURN_IF_ERROR(CheckWhole(v.name(), value));
    }
    return OkStatus();
  }

 private:
  const std::string prefix_;
  std::unique_ptr<Saver> saver_;
  std::string latest_;
  int64_t step_ = 0;
};

// Worker 1: in each step, pushes a tensor to every variable.
class TrainingWorker : public SavedModel {
 public:
  using SavedModel::SavedModel;
  ~TrainingWorker() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

  Status Start(const Server& server) {
    const Output given = Placeholder(graph_, kFloat32, {elements_});
    std::vector<Operation> fill, add;
    for (const Variable& v : variables_) {
      auto device = graph_.Device("/job:worker/task:1");
      const Variable delta(graph_, {elements_}, Zeros(), {.name = "delta_" + v.name()});
      fill.push_back(delta.Assign(given));
      add.push_back(v.AssignAdd(delta.value()));
    }
    Tensor addend(kFloat32, {elements_});
    for (int64_t i = 0; i < elements_; ++i) addend.mutable_data<float>()[i] = Addend(i);
    TF_RETURN_IF_ERROR(SavedModel::Start(server));
    for (const Operation& op : fill) TF_RETURN_IF_ERROR(session_->Run({op}, {{given, addend}}).status());
    TF_ASSIGN_OR_RETURN(run_, session_->Prepare({add.begin(), add.end()}));
    return StepMs().status();
  }
  StatusOr<double> StepMs() {
    const auto start = SaveClock::now();
    TF_RETURN_IF_ERROR(run_.Run().status());
    return SecondsSince(start) * 1e3;
  }
  // Trains on a thread until End, which returns the duration of each step.
  void Begin() {
    stop_ = false;
    times_.clear();
    thread_ = std::thread([this] {
      while (!stop_ && status_.ok()) {
        const auto ms = StepMs();
        if (ms.ok()) times_.push_back(*ms);
        status_ = ms.status();
      }
    });
  }
  StatusOr<std::vector<double>> End() {
    stop_ = true;
    thread_.join();
    TF_RETURN_IF_ERROR(status_);
    return times_;
  }

 private:
  Session::Prepared run_;
  std::atomic<bool> stop_{false};
  std::vector<double> times_;
  Status status_;
  std::thread thread_;
};

Status RunSaving(JsonChannel& parent, const json& config, const Server& server) {
  SavingWorker worker(config);
  TF_RETURN_IF_ERROR(worker.Start(server));
  TF_RETURN_IF_ERROR(parent.Send({{"bytes", worker.bytes()}}));
  while (true) {
    TF_ASSIGN_OR_RETURN(const json message, parent.Receive());
    const auto what = message["do"].get<std::string>();
    if (what == "stop") return OkStatus();
    json reply = json::object();
    if (what == "save") {
      TF_ASSIGN_OR_RETURN(reply["seconds"], worker.Save(message["times"].get<int>()));
    } else if (what == "verify") {
      TF_RETURN_IF_ERROR(worker.Verify());
    }
    TF_RETURN_IF_ERROR(parent.Send(reply));
  }
}

Status RunTraining(JsonChannel& parent, const json& config, const Server& server) {
  TrainingWorker worker(config["bytes"].get<int64_t>());
  TF_RETURN_IF_ERROR(parent.Send(json::object()));
  while (true) {
    TF_ASSIGN_OR_RETURN(const json message, parent.Receive());
    const auto what = message["do"].get<std::string>();
    if (what == "stop") return OkStatus();
    json reply = json::object();
    if (what == "start") {  // the variables have values now
      TF_RETURN_IF_ERROR(worker.Start(server));
    } else if (what == "measure") {
      std::vector<double> times;
      for (int i = message["steps"].get<int>(); i > 0; --i) {
        TF_ASSIGN_OR_RETURN(const double ms, worker.StepMs());
        times.push_back(ms);
      }
      reply["times_ms"] = times;
    } else if (what == "begin") {
      worker.Begin();
    } else if (what == "end") {
      TF_ASSIGN_OR_RETURN(reply["times_ms"], worker.End());
    }
    TF_RETURN_IF_ERROR(parent.Send(reply));
  }
}

// The seconds that `dd if=/dev/zero bs=1M conv=fsync` takes for `bytes` bytes.
StatusOr<double> PlainWriteSeconds(const std::string& path, int64_t bytes) {
  const std::string block(1 << 20, '\0');
  const auto start = SaveClock::now();
  {
    TF_ASSIGN_OR_RETURN(const auto file, Env::Default().OpenWritable(path, Env::WriteMode::kCreate));
    for (int64_t left = bytes; left > 0; left -= static_cast<int64_t>(block.size())) {
      TF_RETURN_IF_ERROR(
          file->Append(std::string_view(block).substr(0, std::min<size_t>(block.size(), static_cast<size_t>(left)))));
    }
    TF_RETURN_IF_ERROR(file->Sync());
    TF_RETURN_IF_ERROR(file->Close());
  }
  const double seconds = SecondsSince(start);
  TF_RETURN_IF_ERROR(Env::Default().RemoveFile(path));
  return seconds;
}

// A new directory below `parent`; removed with its content at the end.
class SaveDirectory {
 public:
  static StatusOr<std::unique_ptr<SaveDirectory>> Create(const std::string& parent) {
    std::string path = (std::filesystem::absolute(parent) / "tensorbraid_bench_XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) return absl::ErrnoToStatus(errno, "cannot make a directory in " + parent);
    return std::unique_ptr<SaveDirectory>(new SaveDirectory(std::move(path)));
  }
  ~SaveDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit SaveDirectory(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

// The measurements of all rounds.
struct SaveTimes {
  std::vector<double> step_ms, step_while_saving_ms;
  std::vector<double> save_s, save_while_training_s, plain_write_s, plain_write_again_s;

  void Add(const json& from, const char* key, std::vector<double>* to) {
    for (const double x : from[key]) to->push_back(x);
  }
};

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double x : values) sum += x;
  return sum / static_cast<double>(values.size());
}

}  // namespace

Status RunSaveWorker(JsonChannel& parent, const json& config, const Server& server) {
  return config["index"] == 0 ? RunSaving(parent, config, server) : RunTraining(parent, config, server);
}

StatusOr<BenchResults> BenchSave(const BenchOptions& options) {
  const int rounds = options.rounds > 0 ? options.rounds : options.smoke ? 1 : 4;
  const int64_t bytes = options.smoke ? 1'000'000 : options.variable_bytes();
  TF_ASSIGN_OR_RETURN(const auto directory, SaveDirectory::Create(options.directory));
  TF_ASSIGN_OR_RETURN(
      const auto cluster,
      BenchCluster::Start(
          1, 2,
          {{"bench", "save"}, {"protocol", options.protocol}, {"bytes", bytes}, {"directory", directory->path()}}));
  BenchProcess& saving = *cluster->workers()[0];
  BenchProcess& training = *cluster->workers()[1];
  TF_RETURN_IF_ERROR(training.Call({{"do", "start"}}).status());
  TF_RETURN_IF_ERROR(saving.Call({{"do", "save"}, {"times", 1}}).status());  // warms up
  SaveTimes all;
  for (int i = 0; i < rounds; ++i) {
    // Measured twice, because the first time a virtual machine may have to get the memory of the page cache from its
    // host.
    for (auto* const times : {&all.plain_write_s, &all.plain_write_again_s}) {
      TF_ASSIGN_OR_RETURN(const double plain, PlainWriteSeconds(directory->path() + "/plain", bytes * kVariables));
      times->push_back(plain);
    }
    TF_ASSIGN_OR_RETURN(const json alone, saving.Call({{"do", "save"}, {"times", 1}}));
    all.Add(alone, "seconds", &all.save_s);
    TF_RETURN_IF_ERROR(training.Call({{"do", "begin"}}).status());
    TF_ASSIGN_OR_RETURN(const json both, saving.Call({{"do", "save"}, {"times", 2}}));
    TF_ASSIGN_OR_RETURN(const json during, training.Call({{"do", "end"}}));
    all.Add(both, "seconds", &all.save_while_training_s);
    all.Add(during, "times_ms", &all.step_while_saving_ms);
    TF_ASSIGN_OR_RETURN(const json without, training.Call({{"do", "measure"}, {"steps", during["times_ms"].size()}}));
    all.Add(without, "times_ms", &all.step_ms);
  }
  TF_ASSIGN_OR_RETURN(const json memory, cluster->Use());
  TF_RETURN_IF_ERROR(saving.Call({{"do", "verify"}}).status());

  const double gb = static_cast<double>(bytes) * kVariables / 1e9;
  const double plain_gb_s = gb / MedianOf(all.plain_write_s);
  const double gb_s = gb / MedianOf(all.save_while_training_s);
  return BenchResults{ordered_json{{"bench", "save"},
                                   {"variables", kVariables},
                                   {"mb_each", static_cast<double>(bytes) / 1e6},
                                   {"step_ms", MeanOf(all.step_ms)},
                                   {"step_while_saving_ms", MeanOf(all.step_while_saving_ms)},
                                   {"lengthened", MeanOf(all.step_while_saving_ms) / MeanOf(all.step_ms) - 1},
                                   {"steps", all.step_while_saving_ms.size()},
                                   {"gb_s", gb_s},
                                   {"without_training_gb_s", gb / MedianOf(all.save_s)},
                                   {"baseline", "write and fsync"},
                                   {"baseline_gb_s", plain_gb_s},
                                   {"baseline_again_gb_s", gb / MedianOf(all.plain_write_again_s)},
                                   {"ratio", gb_s / plain_gb_s},
                                   {"ps_peak_mb", memory["ps/0"]["peak_mb"]}}};
}

}  // namespace tensorbraid
