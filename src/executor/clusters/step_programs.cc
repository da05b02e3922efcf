#include "executor/clusters/step_programs.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/text/device_name.h"
#include "core/text/strings.h"
#include "executor/clusters/compute_on_host.h"
#include "executor/clusters/known_arguments.h"
#include "executor/clusters/make.h"
#include "executor/clusters/on_host_kernel.h"
#include "executor/clusters/program_nodes.h"
#include "graph/control_flow/control_flow.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {
namespace {

StatusOr<pjrt::ProgramText> TextOf(const ClusterBody& body) {
  TF_ASSIGN_OR_RETURN(const auto arguments, KnownArgumentsOf(body));
  return pjrt::EmitProgram(body.nodes, arguments, body.results, ComputeOnHost);
}

bool IsOnHost(const Node& node) {
  if (node.FindAttr(kOnHost) != nullptr) return true;
  const auto device = DeviceName::Parse(node.device());
  return !device.ok() || !RunsPrograms(device->type.value_or(""));
}

// `graph`: what MakeClusters has made.
int HostTrips(const Graph& graph) {
  constexpr int kNone = std::numeric_limits<int>::min() / 2;
  // The most trips on a path that leads to a node. Along a path, edges lead to later nodes.
  struct Trips {
    int from_program = kNone;  // of the paths on which a program was the last to compute
    int from_host = kNone;     // of those on which the host was, after a program
  };
  const auto& nodes = ImplOf(graph).nodes();
  std::vector<Trips> trips(nodes.size());
  int most = 0;
  for (const auto& node : nodes) {
    Trips& own = trips[node->id()];
    const auto add = [&](const Node& before) {
      const Trips& other = trips[before.id()];
      own.from_program = std::max(own.from_program, other.from_program);
      own.from_host = std::max(own.from_host, other.from_host);
    };
    for (int i = 0; i < static_cast<int>(node->inputs().size()); ++i) {
      if (!IsBackEdge(*node, i)) add(*NodeOf(node->inputs()[i]));
    }
    for (const Node* before : node->control_inputs()) add(*before);
    if (node->type() == "_Cluster") {
      own = {.from_program = std::max({0, own.from_program, own.from_host + 1}), .from_host = kNone};
      most = std::max(most, own.from_program);
    } else if (IsOnHost(*node)) {
      own = {.from_program = kNone, .from_host = std::max(own.from_host, own.from_program)};
    }
  }
  return most;
}

}  // namespace

StatusOr<StepPrograms> ProgramsOf(std::shared_ptr<const Graph> graph) {
  StepPrograms step;
  const ProgramNodes programs(*graph);
  for (const auto& node : ImplOf(*graph).nodes()) {
    const std::string& why_not = programs.WhyNot(*node);
    if (why_not.empty() || programs.MovesWholeBuffers(*node) || node->type().starts_with("_")) continue;
    step.on_host.push_back(StrCat(node->Describe(), ": ", why_not));
  }
  TF_ASSIGN_OR_RETURN(const auto made, MakeClusters(std::move(graph)));
  for (const auto& node : ImplOf(*made).nodes()) {
    if (node->type() != "_Cluster") continue;
    const ClusterBody& body = *ImplOf(*made).extension<ClusterBodies>().at(node->attr<int64_t>("body"));
    step.programs.push_back({.name = NameOf(body),
                             .last_node = body.nodes.back()->name(),
                             .device = node->device(),
                             .num_nodes = static_cast<int>(body.nodes.size()),
                             .text = TextOf(body)});
  }
  step.host_trips = HostTrips(*made);
  return step;
}

}  // namespace tensorbraid
