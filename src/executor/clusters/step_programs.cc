#include "executor/clusters/step_programs.h"

#include <utility>

#include "core/text/strings.h"
#include "executor/clusters/compute_on_host.h"
#include "executor/clusters/known_arguments.h"
#include "executor/clusters/make.h"
#include "executor/clusters/program_nodes.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {
namespace {

StatusOr<pjrt::ProgramText> TextOf(const ClusterBody& body) {
  TF_ASSIGN_OR_RETURN(const auto arguments, KnownArgumentsOf(body));
  return pjrt::EmitProgram(body.nodes, arguments, body.results, ComputeOnHost);
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
  return step;
}

}  // namespace tensorbraid
