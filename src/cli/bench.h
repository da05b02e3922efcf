// `tensorbraid bench`: what a machine, or a cluster of processes on it, gives.
//
// Every benchmark prints one line per result: JSON with --json, otherwise text. Those that need a cluster start this
// program again as its tasks (bench_cluster.h); a task does as it is told by the process that started it
// (bench_task.h). Values are verified at the end, so that what is fast is also right.
#ifndef TENSORBRAID_CLI_BENCH_H_
#define TENSORBRAID_CLI_BENCH_H_

#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tensorbraid/status.h"

namespace tensorbraid {

struct BenchOptions {
  std::string name;            // step, softmax, push, pull
  std::string mode = "async";  // softmax: local, async, sync
  int workers = 1;
  int ps = 1;
  double mb = 100;           // of the variable, 1e6 bytes; over all parameter servers
  int64_t bytes = 0;         // instead of mb
  double background_mb = 0;  // pushed meanwhile, between the same tasks
  int steps = 0;             // 0: as many as the benchmark finds right
  int rounds = 0;            // push, pull: with processes of their own; the quietest counts; 0: as for steps
  bool rss = false;          // report memory over the steps
  bool baseline = true;      // measure raw gRPC beside it
  bool smoke = false;        // a short run, to see that it works
  bool json = false;
  std::string protocol = "grpc";

  int64_t variable_bytes() const;
};

// Runs one benchmark and prints its results.
Status RunBench(const BenchOptions& options);

// Each returns its results, as they are printed with --json.
using BenchResults = std::vector<nlohmann::ordered_json>;
StatusOr<BenchResults> BenchStep(const BenchOptions& options);
StatusOr<BenchResults> BenchSoftmax(const BenchOptions& options);
StatusOr<BenchResults> BenchTransfer(const BenchOptions& options);  // push and pull

// Of times; `values` not empty.
double Minimum(const std::vector<double>& values);
double Percentile(std::vector<double> values, double percent);
inline double MedianOf(const std::vector<double>& values) { return Percentile(values, 50); }

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_BENCH_H_
