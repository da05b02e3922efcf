// Compares growing tables with static variables, whose ids are the same keys mod their number of rows: a step looks up
// the keys of 26 tables and updates their rows by Adagrad, in this process or in two. Keys are drawn by Zipf's law from
// 1e8. Blocks of steps of both kinds alternate. First the growing tables are empty, and steps make rows. Then the same
// steps come again, and all keys are known.
//
//   table_benchmark [BLOCKS [ROWS [cluster|grpc]]]
//
// BLOCKS of 25 steps of each kind and pass (default: 12; the first two of a pass are not counted); ROWS of a static
// variable (2^20). With `cluster`, the tables are on a parameter server, which is another process: rows and gradients
// travel, through shared memory. With `grpc` they travel by gRPC. Times of processors are those of both processes.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "core/system/clock.h"
#include "core/system/held_port.h"
#include "core/text/strings.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

constexpr int kTables = 26, kStepsPerBlock = 25;
constexpr int64_t kBatch = 2048, kDim = 16;

// A rank from 1 to 1e8, by the inverse of a continuous distribution with the exponent 1.05.
int64_t ZipfRank(std::mt19937_64& random) {
  constexpr double kExponent = 1.05, kRanks = 1e8;
  const double u = std::uniform_real_distribution<double>(0, 1)(random);
  return static_cast<int64_t>(std::pow((std::pow(kRanks, 1 - kExponent) - 1) * u + 1, 1 / (1 - kExponent)));
}

constexpr const char* kServer = "/job:ps/task:0";
constexpr const char* kWorker = "/job:worker/task:0";

// The ops of one kind of tables, which share the keys.
struct Tables {
  std::vector<Operation> initializers, updates;
};

Output Handle(Graph& g, const char* op, const std::string& name, const Shape& shape) {
  return NodeBuilder(g, op).Attr("shared_name", name).Attr("dtype", kFloat32).Attr("shape", shape).Output();
}

// What the worker makes of the rows of a batch: their gradients. In one process, the rows themselves.
Output GradientsOf(Graph& g, const Output& rows, bool cluster) {
  if (!cluster) return rows;
  const auto device = g.Device(kWorker);
  return rows * 0.9f;
}

Tables MakeStatic(Graph& g, const std::vector<Output>& keys, int64_t rows, bool cluster) {
  const auto device = g.Device(cluster ? kServer : "");
  Tables tables;
  const Shape shape({rows, kDim});
  for (size_t t = 0; t < keys.size(); ++t) {
    const Output var = Handle(g, "VarHandleOp", StrCat("static", t), shape);
    const Output accum = Handle(g, "VarHandleOp", StrCat("static_sums", t), shape);
    for (const Output& handle : {var, accum}) {
      const Output value = Fill(g, {rows, kDim}, 0.1f);
      tables.initializers.push_back(
          NodeBuilder(g, "AssignVariableOp").Input(handle).Input(value).Attr("dtype", kFloat32).Finish());
    }
    Output ids;
    {
      const auto on_worker = g.Device(cluster ? kWorker : "");
      ids = FloorMod(keys[t], Const(g, Tensor::Scalar(rows)));
    }
    const Output rows = NodeBuilder(g, "ResourceGather").Input(var).Input(ids).Attr("dtype", kFloat32).Output();
    tables.updates.push_back(NodeBuilder(g, "ResourceSparseApplyAdagrad")
                                 .Input(var)
                                 .Input(accum)
                                 .Input(Const(g, Tensor::Scalar(0.01f)))
                                 .Input(GradientsOf(g, rows, cluster))
                                 .Input(ids)
                                 .Finish());
  }
  return tables;
}

Tables MakeGrowing(Graph& g, const std::vector<Output>& keys, bool cluster) {
  const auto device = g.Device(cluster ? kServer : "");
  Tables tables;
  for (size_t t = 0; t < keys.size(); ++t) {
    const std::string name = StrCat("growing", t);
    const Output var = NodeBuilder(g, "KvVarHandleOp")
                           .Attr("shared_name", name)
                           .Attr("dtype", kFloat32)
                           .Attr("shape", Shape({kDim}))
                           .Attr("_whole", name)
                           .Attr("_initializer", "uniform")
                           .Attr("_initializer_args", std::vector<float>{-0.25f, 0.25f})
                           .Output();
    const Output accum = NodeBuilder(g, "KvVarHandleOp")
                             .Attr("shared_name", name + "/Adagrad")
                             .Attr("dtype", kFloat32)
                             .Attr("shape", Shape({kDim}))
                             .Attr("_table", name)
                             .Attr("_initial", 0.1f)
                             .Output();
    for (const Output& handle : {var, accum}) {
      tables.initializers.push_back(NodeBuilder(g, "_InitializeTable").Input(handle).Finish());
    }
    const Output rows = NodeBuilder(g, "KvResourceGather")
                            .Input(var)
                            .Input(keys[t])
                            .Input(Const(g, Tensor(kFloat32, {0})))
                            .Attr("dtype", kFloat32)
                            .Output();
    tables.updates.push_back(NodeBuilder(g, "KvResourceSparseApplyAdagrad")
                                 .Input(var)
                                 .Input(accum)
                                 .Input(Const(g, Tensor::Scalar(0.01f)))
                                 .Input(GradientsOf(g, rows, cluster))
                                 .Input(keys[t])
                                 .Input(Const(g, Tensor::Scalar(int64_t{1})))
                                 .Finish());
  }
  return tables;
}

// The time of all processors that the processes have used which own these clocks.
double CpuMs(const std::vector<clockid_t>& clocks) {
  double ms = 0;
  for (const clockid_t clock : clocks) {
    timespec now;
    clock_gettime(clock, &now);
    ms += static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
  }
  return ms;
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// `target` is the address of the worker; "" measures in this process alone. `clocks` are those of the processes.
Status Measure(int blocks, int64_t rows, const std::string& target, const std::vector<clockid_t>& clocks) {
  const bool cluster = !target.empty();
  Graph g;
  std::vector<Output> keys;
  for (int t = 0; t < kTables; ++t) {
    keys.push_back(NodeBuilder(g, "Placeholder").Attr("dtype", kInt64).Attr("shape", Shape({kBatch})).Output());
  }
  const Tables kinds[] = {MakeStatic(g, keys, rows, cluster), MakeGrowing(g, keys, cluster)};
  TF_RETURN_IF_ERROR(g.status());
  TF_ASSIGN_OR_RETURN(const auto session, Session::Create(g, {.target = target}));
  for (const Tables& kind : kinds) {
    for (const Operation& op : kind.initializers) TF_RETURN_IF_ERROR(session->Run({op}).status());
  }
  std::mt19937_64 random(1);
  std::vector<std::vector<Feed>> batches;
  for (int step = 0; step < blocks * kStepsPerBlock; ++step) {
    std::vector<Feed> feeds;
    for (const Output& placeholder : keys) {
      std::vector<int64_t> batch(kBatch);
      for (int64_t& key : batch) key = ZipfRank(random);
      feeds.push_back({placeholder, Tensor::Vector(batch)});
    }
    batches.push_back(std::move(feeds));
  }
  std::printf("lookup and Adagrad update of %d tables, batch %lld, dim %lld, static variables of %lld rows; medians:\n",
              kTables, static_cast<long long>(kBatch), static_cast<long long>(kDim), static_cast<long long>(rows));
  for (const char* pass : {"steps that make rows", "steps whose keys are known"}) {
    std::vector<double> ms[2], cpu_ms[2];
    for (int block = 0; block < blocks; ++block) {
      for (int kind = 0; kind < 2; ++kind) {
        std::vector<Fetch> fetches(kinds[kind].updates.begin(), kinds[kind].updates.end());
        for (int step = block * kStepsPerBlock; step < (block + 1) * kStepsPerBlock; ++step) {
          const auto begin = MonotonicClock::now();
          const double cpu_begin = CpuMs(clocks);
          TF_RETURN_IF_ERROR(session->Run(fetches, batches[static_cast<size_t>(step)]).status());
          const std::chrono::duration<double, std::milli> took = MonotonicClock::now() - begin;
          if (block < 2 && blocks > 2) continue;
          ms[kind].push_back(took.count());
          cpu_ms[kind].push_back(CpuMs(clocks) - cpu_begin);
        }
      }
    }
    std::printf("%s (%zu):\n", pass, ms[0].size());
    std::printf("  static variables          %7.2f ms, of processors %.2f ms\n", Median(ms[0]), Median(cpu_ms[0]));
    std::printf("  growing tables            %7.2f ms, of processors %.2f ms, longest %.2f ms\n", Median(ms[1]),
                Median(cpu_ms[1]), *std::ranges::max_element(ms[1]));
    std::printf("  speed of growing tables   %7.2f of static variables; by the time of processors %.2f\n",
                Median(ms[0]) / Median(ms[1]), Median(cpu_ms[0]) / Median(cpu_ms[1]));
  }
  return OkStatus();
}

// Measures with a parameter server in another process. `protocol` is explained at ServerOptions.
Status MeasureCluster(int blocks, int64_t rows, const std::string& protocol) {
  TF_ASSIGN_OR_RETURN(const HeldPort ps, HeldPort::Take());
  TF_ASSIGN_OR_RETURN(const HeldPort worker, HeldPort::Take());
  const ClusterSpec spec(
      {{"ps", {StrCat("localhost:", ps.port())}}, {"worker", {StrCat("localhost:", worker.port())}}});
  const pid_t pid = fork();
  if (pid == 0) {  // before this process has threads
    const auto server = Server::Create(spec, {.job_name = "ps", .protocol = protocol});
    _exit(server.ok() && (*server)->Join().ok() ? 0 : 1);
  }
  TF_ASSIGN_OR_RETURN(const auto server, Server::Create(spec, {.job_name = "worker", .protocol = protocol}));
  std::vector<clockid_t> clocks = {CLOCK_PROCESS_CPUTIME_ID, {}};
  if (clock_getcpuclockid(pid, &clocks[1]) != 0) return Internal("the parameter server has no clock");
  return Measure(blocks, rows, server->target(), clocks);
}

}  // namespace
}  // namespace tensorbraid

int main(int argc, char** argv) {
  const int blocks = argc > 1 ? std::atoi(argv[1]) : 12;
  const int64_t rows = argc > 2 ? std::atoll(argv[2]) : int64_t{1} << 20;
  const std::string where = argc > 3 ? argv[3] : "";
  const tensorbraid::Status status =
      where.empty()
          ? tensorbraid::Measure(std::max(blocks, 1), std::max(rows, int64_t{1}), "", {CLOCK_PROCESS_CPUTIME_ID})
          : tensorbraid::MeasureCluster(std::max(blocks, 1), std::max(rows, int64_t{1}), where == "grpc" ? "grpc" : "");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
