// Measures what a step of a session adds to a small program on an accelerator, compared with the same program run by
// src/pjrt alone: execute it, wait for it, copy its result to the host. The two run in turns.
//
//     TENSORBRAID_ACCELERATOR_PLUGIN=PLUGIN.so accelerator_benchmark [RUNS [TYPE [PAUSE_US]]]
//
// TYPE is the type of the devices: XLA_CPU, if it is not given, or GPU. Between two runs, the program computes for
// PAUSE_US microseconds, which do not count. Threads of a plugin may have gone to sleep after that.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "graph/model/handles.h"
#include "graph/model/node.h"
#include "pjrt/accelerator.h"
#include "pjrt/client.h"
#include "pjrt/device_buffer.h"
#include "pjrt/emitter.h"
#include "pjrt/program.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using Clock = std::chrono::steady_clock;

const Shape kShape = {16, 16};

Tensor Numbers() {
  Tensor t(kFloat32, kShape);
  auto values = t.mutable_data<float>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = 0.05f * static_cast<float>(i % 19) - 0.4f;
  return t;
}

std::chrono::microseconds pause{0};  // before each run

using Run = std::function<Status()>;

// The medians of the times of each of `runs`, in microseconds. They run in turns, so that each finds the threads of the
// plugin, awake or asleep, as the others do.
StatusOr<std::vector<double>> Medians(int times, const std::vector<Run>& runs) {
  std::vector<std::vector<double>> took(runs.size());
  for (int i = -100; i < times; ++i) {
    for (size_t run = 0; run < runs.size(); ++run) {
      const auto paused = Clock::now();
      while (Clock::now() - paused < pause) continue;
      const auto began = Clock::now();
      TF_RETURN_IF_ERROR(runs[run]());
      const std::chrono::duration<double, std::micro> time = Clock::now() - began;
      if (i >= 0) took[run].push_back(time.count());
    }
  }
  std::vector<double> medians;
  for (auto& of_run : took) {
    std::ranges::nth_element(of_run, of_run.begin() + std::ssize(of_run) / 2);
    medians.push_back(of_run[of_run.size() / 2]);
  }
  return medians;
}

// -(x[0] + x[1] + ...) by elements, and the nodes before it.
std::vector<Output> Sum(const std::vector<Output>& x) {
  std::vector<Output> nodes = {x[0] + x[1]};
  for (size_t i = 2; i < x.size(); ++i) nodes.push_back(nodes.back() + x[i]);
  nodes.push_back(Neg(nodes.back()));
  return nodes;
}

// A step that uses `n` variables. The initial values are fed.
struct Step {
  Step(int n, const std::string& device) {
    const auto scope = graph.Device(device);
    initial = Placeholder(graph, kFloat32, kShape);
    std::vector<Output> values;
    for (int i = 0; i < n; ++i) {
      variables.emplace_back(graph, kShape, Zeros(), VariableOptions{.name = "v" + std::to_string(i)});
      assign.push_back(variables.back().Assign(initial));
      values.push_back(variables.back().Read());
    }
    y = Sum(values).back();
  }
  Graph graph;
  Output initial, y;
  std::vector<Variable> variables;
  std::vector<Fetch> assign;
};

StatusOr<Run> RunOfSession(int n, const std::string& device) {
  const auto graph = std::make_shared<Step>(n, device);
  TF_RETURN_IF_ERROR(graph->graph.status());
  TF_ASSIGN_OR_RETURN(auto created, Session::Create(graph->graph, {.device_count = {{"XLA_CPU", 1}}}));
  const std::shared_ptr<Session> session = std::move(created);
  TF_RETURN_IF_ERROR(session->Run(graph->assign, {{graph->initial, Numbers()}}).status());
  TF_ASSIGN_OR_RETURN(const auto step, session->Prepare({graph->y}));
  return Run([graph, session, step] { return step.Run().status(); });
}

StatusOr<Run> RunOfProgram(int n, const std::string& type) {
  Graph g;
  std::vector<Output> in;
  std::vector<pjrt::ProgramArgument> arguments;
  pjrt::CompileOptions options{.name = "the benchmark's program", .arguments = {}, .donated = {}};
  for (int i = 0; i < n; ++i) {
    in.push_back(Placeholder(g, kFloat32));
    arguments.push_back({.tensors = {in[i]}, .dtype = kFloat32, .shape = kShape});
    options.arguments.push_back({kFloat32, kShape});
  }
  std::vector<const Node*> nodes;
  const std::vector<Output> sums = Sum(in);
  for (const Output& sum : sums) nodes.push_back(NodeOf(sum));
  TF_ASSIGN_OR_RETURN(const auto text, pjrt::EmitProgram(nodes, arguments, {sums.back()}));
  TF_ASSIGN_OR_RETURN(pjrt::Client* const client, pjrt::Accelerator::OfType(type).GetClient());
  TF_ASSIGN_OR_RETURN(auto compiled, client->Compile(text.text, std::move(options)));
  const std::shared_ptr<pjrt::Program> program = std::move(compiled);

  std::vector<Tensor> inputs;
  for (int i = 0; i < n; ++i) {
    pjrt::Event copied;
    const Tensor values = Numbers();
    TF_ASSIGN_OR_RETURN(auto array, client->ToDevice(values, 0, &copied));
    TF_RETURN_IF_ERROR(copied.Await());
    auto buffer = MakeRef<pjrt::DeviceBuffer>(values.num_bytes(), nullptr, std::make_shared<pjrt::MemoryCount>());
    buffer->Set(std::move(array));
    TF_ASSIGN_OR_RETURN(inputs.emplace_back(), Tensor::FromBuffer(std::move(buffer), 0, kFloat32, kShape));
  }
  return Run([program, inputs, result = Tensor(kFloat32, kShape)]() mutable -> Status {
    std::vector<const Tensor*> pointers;
    for (const Tensor& input : inputs) pointers.push_back(&input);
    TF_ASSIGN_OR_RETURN(auto results, program->Run(pointers, {}, 0));
    TF_RETURN_IF_ERROR(results.done.Await());
    TF_ASSIGN_OR_RETURN(pjrt::Event copied,
                        results.outputs[0]->ToHost(result.mutable_data<float>().data(), result.num_bytes()));
    return copied.Await();
  });
}

Status Measure(int runs, int variables, const std::string& type) {
  TF_ASSIGN_OR_RETURN(const Run program, RunOfProgram(variables, type));
  TF_ASSIGN_OR_RETURN(const Run session, RunOfSession(variables, "/device:" + type + ":0"));
  TF_ASSIGN_OR_RETURN(const Run cpu, RunOfSession(variables, "/device:CPU:0"));
  TF_ASSIGN_OR_RETURN(const auto times, Medians(runs, {program, session}));
  TF_ASSIGN_OR_RETURN(const auto on_cpu, Medians(runs, {cpu}));
  std::printf(
      "A step with %d variables, median of %d, in us: the program alone %.1f, in a session %.1f (+ %.1f); "
      "on the CPU without a plugin %.1f\n",
      variables, runs, times[0], times[1], times[1] - times[0], on_cpu[0]);
  return OkStatus();
}

}  // namespace
}  // namespace tensorbraid

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 10'000;
  const std::string type = argc > 2 ? argv[2] : "XLA_CPU";
  if (argc > 3) tensorbraid::pause = std::chrono::microseconds(std::atoi(argv[3]));
  for (const int variables : {3, 130}) {
    const tensorbraid::Status status = tensorbraid::Measure(runs, variables, type);
    if (status.ok()) continue;
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  return 0;
}
