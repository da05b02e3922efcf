// Measures what a step of a session adds to a small program on an accelerator, compared with the same program run by
// src/pjrt alone: execute it, wait for it, copy its result to the host.
//
//     TENSORBRAID_ACCELERATOR_PLUGIN=PLUGIN.so accelerator_benchmark [RUNS [TYPE]]
//
// TYPE is the type of the devices: XLA_CPU, if it is not given, or GPU.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
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

// The times of the runs in microseconds, sorted.
std::vector<double> Times(int runs, const std::function<Status()>& run) {
  std::vector<double> times;
  for (int i = -100; i < runs; ++i) {
    const auto began = Clock::now();
    const Status status = run();
    const std::chrono::duration<double, std::micro> took = Clock::now() - began;
    if (!status.ok()) {
      std::fprintf(stderr, "%s\n", status.ToString().c_str());
      std::exit(1);
    }
    if (i >= 0) times.push_back(took.count());
  }
  std::sort(times.begin(), times.end());
  return times;
}

// y = -(x w + b), by elements. The initial values are fed.
struct Layer {
  explicit Layer(const std::string& device) {
    const auto scope = graph.Device(device);
    initial = Placeholder(graph, kFloat32, kShape);
    for (const char* name : {"x", "w", "b"}) {
      variables.emplace_back(graph, kShape, Zeros(), VariableOptions{.name = name});
      assign.push_back(variables.back().Assign(initial));
    }
    y = Neg(variables[0] * variables[1] + variables[2]);
  }
  Graph graph;
  Output initial, y;
  std::vector<Variable> variables;
  std::vector<Fetch> assign;
};

StatusOr<std::vector<double>> TimesOfSession(int runs, const std::string& device) {
  Layer layer(device);
  TF_RETURN_IF_ERROR(layer.graph.status());
  TF_ASSIGN_OR_RETURN(const auto session, Session::Create(layer.graph, {.device_count = {{"XLA_CPU", 1}}}));
  TF_RETURN_IF_ERROR(session->Run(layer.assign, {{layer.initial, Numbers()}}).status());
  TF_ASSIGN_OR_RETURN(const auto step, session->Prepare({layer.y}));
  return Times(runs, [&]() -> Status { return step.Run().status(); });
}

StatusOr<std::vector<double>> TimesOfProgram(int runs, const std::string& type) {
  Graph g;
  std::vector<Output> in;
  std::vector<pjrt::ProgramArgument> arguments;
  pjrt::CompileOptions options{.name = "the benchmark's program", .arguments = {}, .donated = {}};
  for (int i = 0; i < 3; ++i) {
    in.push_back(Placeholder(g, kFloat32));
    arguments.push_back({.tensors = {in[i]}, .dtype = kFloat32, .shape = kShape});
    options.arguments.push_back({kFloat32, kShape});
  }
  const Output product = in[0] * in[1], sum = product + in[2], y = Neg(sum);
  TF_ASSIGN_OR_RETURN(const auto text, pjrt::EmitProgram({NodeOf(product), NodeOf(sum), NodeOf(y)}, arguments, {y}));
  TF_ASSIGN_OR_RETURN(pjrt::Client* const client, pjrt::Accelerator::OfType(type).GetClient());
  TF_ASSIGN_OR_RETURN(const auto program, client->Compile(text.text, std::move(options)));

  std::vector<Tensor> inputs;
  for (int i = 0; i < 3; ++i) {
    pjrt::Event copied;
    const Tensor values = Numbers();
    TF_ASSIGN_OR_RETURN(auto array, client->ToDevice(values, 0, &copied));
    TF_RETURN_IF_ERROR(copied.Await());
    auto buffer = MakeRef<pjrt::DeviceBuffer>(values.num_bytes(), nullptr, std::make_shared<pjrt::MemoryCount>());
    buffer->Set(std::move(array));
    TF_ASSIGN_OR_RETURN(inputs.emplace_back(), Tensor::FromBuffer(std::move(buffer), 0, kFloat32, kShape));
  }
  const std::vector<const Tensor*> pointers = {&inputs[0], &inputs[1], &inputs[2]};
  Tensor result(kFloat32, kShape);
  return Times(runs, [&]() -> Status {
    TF_ASSIGN_OR_RETURN(auto results, program->Run(pointers, {}, 0));
    TF_RETURN_IF_ERROR(results.done.Await());
    TF_ASSIGN_OR_RETURN(pjrt::Event copied,
                        results.outputs[0]->ToHost(result.mutable_data<float>().data(), result.num_bytes()));
    return copied.Await();
  });
}

Status Measure(int runs, const std::string& type) {
  TF_ASSIGN_OR_RETURN(const auto program, TimesOfProgram(runs, type));
  TF_ASSIGN_OR_RETURN(const auto session, TimesOfSession(runs, "/device:" + type + ":0"));
  TF_ASSIGN_OR_RETURN(const auto cpu, TimesOfSession(runs, "/device:CPU:0"));
  const auto median = [](const std::vector<double>& times) { return times[times.size() / 2]; };
  std::printf(
      "A step of three nodes, median of %d, in us: the program alone %.1f, in a session %.1f (+ %.1f); "
      "on the CPU without a plugin %.1f\n",
      runs, median(program), median(session), median(session) - median(program), median(cpu));
  return OkStatus();
}

}  // namespace
}  // namespace tensorbraid

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 10'000;
  const tensorbraid::Status status = tensorbraid::Measure(runs, argc > 2 ? argv[2] : "XLA_CPU");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
