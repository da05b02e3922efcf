// Compares the planner with published speeds of training over parameter servers, and with the formula "linear until a
// link is full". The inputs are in rows.json beside this file. A machine moves what its link does, but no more than the
// software of that time did.
//
//   plan_published ROWS.json
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/text/strings.h"
#include "io/file.h"
#include "planner/simulation/simulation.h"

namespace tensorbraid::planner {
namespace {

using nlohmann::json;

std::vector<double> VariableBytes(const json& model) {
  if (model.contains("variable_bytes")) return model["variable_bytes"];
  const int count = model["equal_variables"];
  return std::vector<double>(count, model["parameters"].get<double>() * 4 / count);
}

struct Setup {
  StepProgram program;
  ClusterModel cluster;
  TrainingModel training;
  double examples_per_step = 1;  // of one simulated worker
  double linear = 0;             // the rate of one device times the number of devices
};

Setup SetupOf(const json& doc, const json& group, const json& row) {
  const int gpus = row["gpus"], per_host = group["gpus_per_host"], servers = row["servers"];
  const double batch = group["batch"], one_device = group["one_device"];
  const bool sum_per_host = group["sum_per_host"];
  Setup s;
  s.linear = gpus * one_device;
  ModelSummary model;
  model.variable_bytes = VariableBytes(doc["models"][group["model"].get<std::string>()]);
  model.batch = batch;
  model.step_ns = batch / one_device * 1e9;
  // A server reads the gradient and reads and writes the variable, at 20 GB/s.
  model.update_byte_ns = model.accumulate_byte_ns = 0.15;
  const double link = std::min(group["link_gbit"].get<double>() / 8, doc["machine_gbyte_s"].get<double>()) * 1e9;
  if (group.value("fetch_only", false)) {
    double bytes = 0;
    for (const double b : model.variable_bytes) bytes += b;
    model.step_ns = std::max(0.0, model.step_ns - bytes / link * 1e9);
  }
  s.program = ProgramOf(model, PlaceVariables(model.variable_bytes, Placement::kRoundRobin, servers), servers);
  s.program.has_device = true;
  if (group.value("fetch_only", false)) {
    for (TensorTransfer& t : s.program.transfers) {
      if (t.from == 0) t.bytes = 4;
    }
  }
  s.cluster.remote = s.cluster.local = {.latency_ns = 50'000};
  const int workers = sum_per_host ? (gpus + per_host - 1) / per_host : gpus;
  s.examples_per_step = sum_per_host ? batch * gpus / workers : batch;
  const auto add_host = [&] {
    s.cluster.host_cores.push_back(16);
    s.cluster.links.push_back({.out_bytes_per_s = link, .in_bytes_per_s = link});
    return static_cast<int>(s.cluster.links.size()) - 1;
  };
  for (int w = 0; w < workers; ++w) {
    const bool first = sum_per_host || w % per_host == 0;
    const int host = first ? add_host() : static_cast<int>(s.cluster.links.size()) - 1;
    s.cluster.workers.push_back({.host = host, .link = host});
  }
  const int worker_hosts = static_cast<int>(s.cluster.links.size());
  for (int i = 0; i < servers; ++i) {
    const int host = group.value("separate_servers", false) ? add_host() : i % worker_hosts;
    s.cluster.servers.push_back({.host = host, .link = host});
  }
  s.training.mode = group["mode"] == "sync" ? Mode::kSync : Mode::kAsync;
  s.training.warm_up_steps = 2;
  s.training.steps = 8;
  return s;
}

// The rate of all devices, unless the fullest link allows less.
double Baseline(const Setup& s) {
  std::vector<double> out(s.cluster.links.size(), 0), in(s.cluster.links.size(), 0);
  for (const auto& worker : s.cluster.workers) {
    for (const TensorTransfer& t : s.program.transfers) {
      const int from = t.from == 0 ? worker.link : s.cluster.servers[t.from - 1].link;
      const int to = t.to == 0 ? worker.link : s.cluster.servers[t.to - 1].link;
      if (from == to) continue;
      out[from] += t.bytes;
      in[to] += t.bytes;
    }
  }
  double rate = s.linear;
  for (size_t i = 0; i < out.size(); ++i) {
    const double seconds =
        std::max(out[i] / s.cluster.links[i].out_bytes_per_s, in[i] / s.cluster.links[i].in_bytes_per_s);
    const double examples = s.examples_per_step * static_cast<double>(s.cluster.workers.size());
    if (seconds > 0) rate = std::min(rate, examples / seconds);
  }
  return rate;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

Status Main(const std::string& path) {
  TF_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const json doc = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!doc.is_object()) return InvalidArgument("'", path, "' is not JSON");
  std::vector<double> errors, baseline_errors;
  for (const json& group : doc["groups"]) {
    const std::string unit = group["unit"];
    std::printf("%s\n  %s; one device: %g %s; link: %g Gbit/s\n", group["publication"].get<std::string>().c_str(),
                group["source"].get<std::string>().c_str(), group["one_device"].get<double>(), unit.c_str(),
                group["link_gbit"].get<double>());
    for (const json& row : group["rows"]) {
      const Setup setup = SetupOf(doc, group, row);
      TF_ASSIGN_OR_RETURN(const Prediction p, Simulate(setup.program, setup.cluster, setup.training));
      const double simulated = p.steps_per_s * setup.examples_per_step;
      const double baseline = Baseline(setup), published = row["published"];
      const double error = simulated / published - 1, baseline_error = baseline / published - 1;
      errors.push_back(std::abs(error));
      baseline_errors.push_back(std::abs(baseline_error));
      std::printf(
          "  %4d devices, %3d PS: published %8.1f, simulated %8.1f (%+5.0f %%, %s), formula %8.1f (%+5.0f %%)%s\n",
          row["gpus"].get<int>(), row["servers"].get<int>(), published, simulated, 100 * error,
          std::string(BoundName(p.bound)).c_str(), baseline, 100 * baseline_error,
          std::abs(error) > 0.2 ? "  MISS" : "");
    }
  }
  for (const json& left : doc["left_out"]) {
    std::printf("left out: %s: %s\n", left["publication"].get<std::string>().c_str(),
                left["why"].get<std::string>().c_str());
  }
  const auto within = [](const std::vector<double>& e) {
    return std::count_if(e.begin(), e.end(), [](double x) { return x <= 0.2; });
  };
  std::printf(
      "\n%zu rows. Within 20 %%: simulation %ld, formula %ld. Median error: simulation %.1f %%, formula %.1f %%.\n",
      errors.size(), static_cast<long>(within(errors)), static_cast<long>(within(baseline_errors)),
      100 * Median(errors), 100 * Median(baseline_errors));
  return OkStatus();
}

}  // namespace
}  // namespace tensorbraid::planner

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: plan_published ROWS.json\n");
    return 2;
  }
  return tensorbraid::ExitCode(tensorbraid::planner::Main(argv[1]));
}
