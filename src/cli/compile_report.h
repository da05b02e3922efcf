// What `tensorbraid compile` prints.
#ifndef TENSORBRAID_CLI_COMPILE_REPORT_H_
#define TENSORBRAID_CLI_COMPILE_REPORT_H_

#include <cstdint>
#include <memory>
#include <string>

#include "pjrt/topology.h"
#include "planner/model/training_graph.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

struct CompileRequest {
  planner::TrainingGraph graph;
  planner::GraphOptions options;
  std::string dump;  // a directory for the texts of the programs; "": none
};

struct CompileReport {
  std::string text;  // lines for a terminal
  int programs = 0;
  int failed = 0;      // of them; the text has the errors
  int on_host = 0;     // nodes that the host computes
  int host_trips = 0;  // StepPrograms::host_trips
  // What a run needs on the device that needs the most, in bytes, without the code of programs.
  int64_t memory = 0;
};

// The plugin that compiles for GPUs: `path`, or the one that is installed. It needs no card. NotFound if there is none.
StatusOr<std::string> CompilerFor(const std::string& path);

// Compiles the programs of a training step for a card. Blocks for as long as that takes. Errors of the graph and of
// the directory; those of the compiler are in the report.
StatusOr<CompileReport> CompileStep(const pjrt::Topology& card, const CompileRequest& request);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_COMPILE_REPORT_H_
