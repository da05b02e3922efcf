// Prints the speed-ups that the planner predicts for the scenarios of scaling.json, as tables in Markdown for
// docs/scaling.md. A speed-up that reaches the claim is bold.
//
//   plan_scaling SCALING.json
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/text/strings.h"
#include "io/file.h"
#include "planner/planner.h"
#include "planner/simulation/simulation.h"

namespace tensorbraid::planner {
namespace {

using nlohmann::json;

StepProgram ProgramFor(const json& scenario, const json& wire, int servers) {
  ModelSummary model;
  if (scenario.contains("variable_mb")) {
    for (const double mb : scenario["variable_mb"]) model.variable_bytes.push_back(mb * 1e6);
  } else {
    const int count = scenario["equal_variables"];
    model.variable_bytes.assign(count, scenario["total_mb"].get<double>() * 1e6 / count);
  }
  model.step_ns = scenario["step_s"].get<double>() * 1e9;
  model.update_byte_ns = model.accumulate_byte_ns = 0.15;
  StepProgram program =
      ProgramOf(model, PlaceVariables(model.variable_bytes, Placement::kLeastBytes, servers), servers);
  program.has_device = true;
  for (TensorTransfer& t : program.transfers) {
    t.bytes *= (t.from == 0 ? wire["gradients"] : wire["parameters"]).get<double>();
  }
  return program;
}

Status Main(const std::string& path) {
  TF_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const json doc = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!doc.is_object()) return InvalidArgument("'", path, "' is not JSON");
  TF_ASSIGN_OR_RETURN(const Stragglers stragglers, Stragglers::Parse(doc["stragglers"].get<std::string>()));
  for (const json& scenario : doc["scenarios"]) {
    const int workers = scenario["workers"];
    const double claim = scenario["speed_up"], step_s = scenario["step_s"];
    const int spares = std::max(1, static_cast<int>(workers * doc["spare_share"].get<double>()));
    std::printf("\n%s: %s\n\n| link, wire |", scenario["claim"].get<std::string>().c_str(),
                scenario["model"].get<std::string>().c_str());
    for (const int servers : scenario["servers"])
      std::printf(" %d PS: async | sync | sync, %d spare |", servers, spares);
    std::printf("\n|---|");
    for (size_t i = 0; i < scenario["servers"].size(); ++i) std::printf("---|---|---|");
    std::printf("\n");
    for (const double gbit : doc["links_gbit"]) {
      for (const json& wire : doc["wires"]) {
        std::printf("| %g Gbit/s, %s |", gbit, wire["name"].get<std::string>().c_str());
        for (const int servers : scenario["servers"]) {
          const StepProgram program = ProgramFor(scenario, wire, servers);
          const LinkSpeed link = {.out_bytes_per_s = gbit * 1e9 / 8, .in_bytes_per_s = gbit * 1e9 / 8};
          const ClusterModel cluster = SeparateMachines(servers, workers, 16, link, GrpcCosts());
          for (const int column : {0, 1, 2}) {
            TrainingModel training;
            training.mode = column == 0 ? Mode::kAsync : Mode::kSync;
            training.spares = column == 2 ? spares : 0;
            training.stragglers = stragglers;
            // Asynchronous workers need some steps until they no longer read, and write, at the same times.
            training.warm_up_steps = column > 0 ? 1 : workers > 100 ? 2 : 6;
            training.steps = workers > 100 ? 3 : 10;
            TF_ASSIGN_OR_RETURN(const Prediction p, Simulate(program, cluster, training));
            const double speed_up = p.steps_per_s * step_s;
            std::printf(speed_up >= claim ? " **%.3g** |" : " %.3g |", speed_up);
            std::fflush(stdout);
          }
        }
        std::printf("\n");
      }
    }
  }
  return OkStatus();
}

}  // namespace
}  // namespace tensorbraid::planner

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: plan_scaling SCALING.json\n");
    return 2;
  }
  return tensorbraid::ExitCode(tensorbraid::planner::Main(argv[1]));
}
