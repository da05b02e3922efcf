// Which nodes of a graph run in programs: code that the compiler of an accelerator makes of many nodes.
#ifndef TENSORBRAID_EXECUTOR_CLUSTERS_PROGRAM_NODES_H_
#define TENSORBRAID_EXECUTOR_CLUSTERS_PROGRAM_NODES_H_

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "executor/clusters/changing_values.h"
#include "graph/model/node.h"
#include "runtime/kernel/device.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// Whether devices of this type run programs.
bool RunsPrograms(std::string_view device_type);
// Whether one of the devices runs programs.
bool RunPrograms(const DeviceSet& devices);

// A node on a device that runs programs is in a program if it has an emitter (pjrt/emitter.h) for its dtypes, if its
// static operands (axes, shapes, paddings) are known when the program is compiled, and if it is not one of the small
// integers of control flow that the host computes (host_values.h). All other nodes of the graph run one by one. A
// static operand is known if it is computed from constants and shapes, or from integers in host memory, for whose
// values the program is then compiled. Integers that are others in each iteration of a loop, or that have changed too
// often from step to step, may only be places, such as the begin of a slice, which the program takes as arguments.
// Immutable.
class ProgramNodes {
 public:
  // `graph` must outlive the object. Every node has a device. `changing` are the tensors that have changed too often.
  explicit ProgramNodes(const Graph& graph, const ChangingValues::Set& changing = {});

  bool Contains(const Node& node) const { return places_[node.id()].in_program; }
  // Why a node on a device that runs programs is in none, as a part of a sentence: "its input 'axis' is computed on the
  // device". Empty if it is in a program or on another device.
  const std::string& WhyNot(const Node& node) const { return places_[node.id()].why_not; }
  // Whether the node, which is on a device that runs programs, runs on that device without a program
  // (pjrt/whole_buffers.h).
  bool MovesWholeBuffers(const Node& node) const { return places_[node.id()].moves_whole_buffers; }
  // Whether the node is control flow or behind control flow: it may not run, or run several times.
  bool IsConditional(const Node& node) const { return places_[node.id()].is_conditional; }
  // Whether a program takes operand `input` of the node, which is in host memory, as an argument, although it is a
  // static operand: its value may often be another one. REQUIRES: the node is in a program.
  bool TakesFromHost(const Node& node, int input) const {
    const auto& inputs = places_[node.id()].from_host;
    return std::find(inputs.begin(), inputs.end(), input) != inputs.end();
  }
  // Whether the node's value follows from the shapes of its inputs alone.
  static bool ReadsShapesOnly(const Node& node);

 private:
  struct Place {
    bool on_accelerator = false;
    bool in_program = false;
    bool is_conditional = false;
    bool moves_whole_buffers = false;
    bool is_static = false;      // the outputs are known when a program is compiled
    std::vector<int> from_host;  // see TakesFromHost
    std::string why_not;
  };
  std::vector<Place> places_;  // indexed by node id
};

// Whether operand `input` of the node must be known when a program is compiled. REQUIRES: the node has an emitter.
bool IsStaticOperand(const Node& node, int input);

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_CLUSTERS_PROGRAM_NODES_H_
