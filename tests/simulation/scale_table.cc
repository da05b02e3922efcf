// Prints what a task pays in jobs of several sizes, as a table in Markdown: scale_table [--sync] [SIZE...]
// A size is a number of tasks, one in 25 of them a parameter server, or PS+WORKERS, such as 20+10.
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "simulation/scale.h"

namespace tensorbraid {
namespace {

void PrintRow(const char* what, const std::vector<ScaleCosts>& all, double (*value)(const ScaleCosts&)) {
  std::printf("| %s |", what);
  for (const ScaleCosts& costs : all) std::printf(" %.*f |", value(costs) < 10 ? 2 : 0, value(costs));
  std::printf("\n");
}

#define ROW(what, expression) PrintRow(what, all, [](const ScaleCosts& c) -> double { return expression; })

void PrintTable(const std::vector<JobSize>& sizes, const std::vector<ScaleCosts>& all) {
  std::printf("| parameter servers + workers |");
  for (const JobSize& size : sizes) std::printf(" %d + %d |", size.num_ps, size.num_workers);
  std::printf("\n|---|");
  for (size_t i = 0; i < sizes.size(); ++i) std::printf("---|");
  std::printf("\n");
  ROW("connections of a parameter server", c.ps.links);
  ROW("connections of a worker", c.worker.links);
  ROW("connections of the chief", c.chief.links);
  ROW("heartbeats/s of a parameter server", c.ps.heartbeats_per_second);
  ROW("heartbeats/s of a worker", c.worker.heartbeats_per_second);
  ROW("messages per step, parameter server", c.ps.messages_per_step);
  ROW("messages per step, worker", c.worker.messages_per_step);
  ROW("messages per step, chief", c.chief.messages_per_step);
  ROW("control bytes per step, parameter server", c.ps.control_bytes_per_step);
  ROW("control bytes per step, worker", c.worker.control_bytes_per_step);
  ROW("processor time per step, parameter server, us", c.ps.cpu_us_per_step);
  ROW("processor time per step, worker, us", c.worker.cpu_us_per_step);
  ROW("processor time per step, chief, us", c.chief.cpu_us_per_step);
  ROW("most threads of a task", std::max({c.ps.threads, c.worker.threads, c.chief.threads}));
  ROW("memory of all tasks, MB", c.peak_mb);
  ROW("time to start, virtual s", c.seconds_to_start);
  ROW("processor time to start, per task, ms", c.start_cpu_ms_per_task);
  ROW("time to notice a dead worker's machine, virtual s", c.worker_loss_seconds);
  ROW("time to notice a dead parameter server's machine, virtual s", c.ps_loss_seconds);
  ROW("simulation, virtual s", c.seconds);
  ROW("simulation, processor s", c.cpu_seconds);
}

std::optional<JobSize> ParseSize(const std::string& text) {
  int first = 0, second = 0, used = 0;
  const int found = std::sscanf(text.c_str(), "%d%n+%d%n", &first, &used, &second, &used);
  if (used != static_cast<int>(text.size())) return std::nullopt;
  if (found == 1 && first >= 3) return UsualJob(first);
  if (found == 2 && first >= 1 && second >= 2) return JobSize{.num_ps = first, .num_workers = second};
  return std::nullopt;
}

int Main(int argc, char** argv) {
  bool sync = false;
  std::vector<JobSize> sizes;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--sync") {
      sync = true;
    } else if (const auto size = ParseSize(arg)) {
      sizes.push_back(*size);
    } else {
      std::fprintf(stderr, "usage: scale_table [--sync] [SIZE...], of 3 or more tasks, or such as 20+10\n");
      return 2;
    }
  }
  if (sizes.empty()) sizes = {UsualJob(50), UsualJob(100), UsualJob(500)};
  std::vector<ScaleCosts> all;
  for (const JobSize& size : sizes) {
    const auto costs = MeasureScale(/*seed=*/0, size, sync, /*rounds=*/3);
    if (!costs.ok()) {
      std::fprintf(stderr, "%d tasks: %s\n", size.num_tasks(), ToString(costs.status()).c_str());
      return 1;
    }
    all.push_back(*costs);
  }
  PrintTable(sizes, all);
  return 0;
}

}  // namespace
}  // namespace tensorbraid

int main(int argc, char** argv) { return tensorbraid::Main(argc, argv); }
