// The programs that a step will need, before it runs.
#ifndef TENSORBRAID_EXECUTOR_CLUSTERS_STEP_PROGRAMS_H_
#define TENSORBRAID_EXECUTOR_CLUSTERS_STEP_PROGRAMS_H_

#include <memory>
#include <string>
#include <vector>

#include "pjrt/emitter.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

struct StepProgram {
  std::string name;       // "a program of 41 nodes that ends with 'train'"
  std::string last_node;  // "train"
  std::string device;
  int num_nodes = 0;
  // The text; the error if it cannot be made before the step runs, because the shape of an input or the value of a
  // static operand is not known, or if shapes do not match.
  StatusOr<pjrt::ProgramText> text;
};

struct StepPrograms {
  std::vector<StepProgram> programs;
  // The nodes on an accelerator that are in no program and run on the host, each with the reason: "RandomUniform
  // 'dropout/random' (train.py:10): RandomUniform has no emitter".
  std::vector<std::string> on_host;
  // How often the step goes from a program to nodes of the host and from there to another program: the most on any path
  // through the graph, where an iteration of a loop counts once. Such a trip keeps the device waiting.
  int host_trips = 0;
};

// The programs of one task's part of a graph, which is placed and optimized. Makes the texts that the first run of the
// step would compile, if variables have values of the shapes that the graph says. Errors as MakeClusters.
StatusOr<StepPrograms> ProgramsOf(std::shared_ptr<const Graph> graph);

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_CLUSTERS_STEP_PROGRAMS_H_
