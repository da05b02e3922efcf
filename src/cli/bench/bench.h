// `tensorbraid bench`: measures this machine, or a cluster of processes on it.
//
// Every benchmark prints one line per result: JSON with --json, otherwise text. A benchmark that needs a cluster starts
// this program again for each task (cluster.h); a task follows the instructions of the process that started it
// (task.h). Every benchmark verifies the computed values at the end.
#ifndef TENSORBRAID_CLI_BENCH_BENCH_H_
#define TENSORBRAID_CLI_BENCH_BENCH_H_

#include <optional>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tensorbraid/core/status.h"
#include "tensorbraid/transport/tls_options.h"

namespace tensorbraid {

struct BenchOptions {
  std::string name;            // step, softmax, lenet, lstm, crnn, push, pull, allpairs, nullstep, sparse, save
  std::string mode = "async";  // softmax: local, async, sync
  int threads = 0;             // lenet, lstm, crnn: threads of this process; 0: one per core
  int workers = 1;  // softmax, nullstep, sparse: number of workers; lenet, lstm, crnn: if more than 1, that many
                    // workers train synchronously, with one core each
  int ps = 1;
  double mb = 100;    // size of the variable in 1e6 bytes, summed over all parameter servers; save: of each variable
  int64_t bytes = 0;  // size of the variable in bytes; replaces `mb` if not 0
  // softmax on parameter servers: how many busy programs run beside it. It is then measured with the polling gate
  // (core/threads/polling_gate.h) and without it, alternately.
  std::optional<int> beside = std::nullopt;
  bool polling_gate = true;  // whether the tasks have the polling gate; no option of the command
  double background_mb = 0;  // size of the pushes between the same tasks in the background; 0: none
  int steps = 0;             // 0: chosen by the benchmark
  int rounds = 0;  // number of rounds; except for save, each has new processes, and the fastest is reported; 0: chosen
                   // by the benchmark
  std::vector<std::string> wire = {};  // softmax, nullstep, sparse, models with workers: rules of ParseWireRules
  int64_t rows = 1'000'000;            // sparse: rows of the table
  int64_t dim = 64;                    // sparse: columns of the table
  int64_t k = 1024;                    // sparse: ids in a step
  std::string directory = ".";         // save: where to make a directory for the checkpoints
  std::string target = "";             // allpairs: a task of a running cluster; "": start one
  TlsOptions tls = {};                 // of the session with `target`, as in SessionOptions
  std::string token_file = "";
  bool insecure = false;  // with target: as in SessionOptions
  bool sum = false;       // pull: the worker adds all elements up
  bool rss = false;       // report how much memory each task uses over the steps
  bool baseline = true;   // also measure raw gRPC (push, pull), float32 (nullstep with `wire`), oneDNN alone or a local
                          // session (lenet, lstm, crnn)
  bool smoke = false;     // a short run that only checks that the benchmark works
  bool json = false;
  std::string protocol = "";

  int64_t variable_bytes() const;
};

// Runs one benchmark and prints its results.
Status RunBench(const BenchOptions& options);

// Each function returns its results in the form that --json prints.
using BenchResults = std::vector<nlohmann::ordered_json>;
StatusOr<BenchResults> BenchStep(const BenchOptions& options);
StatusOr<BenchResults> BenchSoftmax(const BenchOptions& options);
StatusOr<BenchResults> BenchModels(const BenchOptions& options);    // lenet, lstm, crnn
StatusOr<BenchResults> BenchTransfer(const BenchOptions& options);  // push and pull
StatusOr<BenchResults> BenchAllPairs(const BenchOptions& options);
StatusOr<BenchResults> BenchNullStep(const BenchOptions& options);
StatusOr<BenchResults> BenchSparse(const BenchOptions& options);
StatusOr<BenchResults> BenchSave(const BenchOptions& options);

// Statistics of times. `values` must not be empty.
double Minimum(const std::vector<double>& values);
double Percentile(std::vector<double> values, double percent);
inline double MedianOf(const std::vector<double>& values) { return Percentile(values, 50); }

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_BENCH_BENCH_H_
