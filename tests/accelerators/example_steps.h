// The training steps of the examples, for tests that look at their programs.
#ifndef TENSORBRAID_TESTS_ACCELERATORS_EXAMPLE_STEPS_H_
#define TENSORBRAID_TESTS_ACCELERATORS_EXAMPLE_STEPS_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "planner/model/training_graph.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

struct ExampleStep {
  std::string name = {};     // of the test: "mnist_cnn"
  std::string command = {};  // the example with flags; DIR stands for a directory with images of digits
  int64_t batch = 0;         // the examples of a step on a card, as many as the example takes by default
  // What the step is.
  int programs = 1;
  int known_later = 0;                    // programs that depend on what is only known when the step runs
  int nodes = 0;                          // the largest program has at least as many
  int host_trips = 0;                     // StepPrograms::host_trips
  std::vector<std::string> on_host = {};  // parts of what StepPrograms::on_host says of nodes other than summaries
  // Compiled for a card only if the environment variable TENSORBRAID_TEST_LARGE is set: that takes long, and another
  // example has most of its ops.
  bool by_command = false;
};
inline void PrintTo(const ExampleStep& example, std::ostream* out) { *out << example.name; }

// The examples that can compute on accelerators, in C++ and, if the package is built, in Python. Those that
// take long to train, too, are among them if TENSORBRAID_TEST_LARGE is set.
std::vector<ExampleStep> ExampleSteps();

// Trains with the example for some steps, and returns the step from its profile (session/step_profiler.h). The example
// believes that this machine has two GPUs. The host computes all programs, since the compiler of the fake plugin does
// not know their ops. Blocks for seconds. NotFound, with the output of the example, if it made too few steps.
StatusOr<planner::TrainingGraph> TrainForProfile(const ExampleStep& example);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TESTS_ACCELERATORS_EXAMPLE_STEPS_H_
