#include "executor/clusters/program_source.h"

#include <algorithm>
#include <utility>

#include "executor/clusters/compute_on_host.h"

namespace tensorbraid {

StatusOr<ProgramSource> SourceOf(const std::string& name, const std::vector<const Node*>& nodes,
                                 const std::vector<pjrt::ProgramArgument>& arguments,
                                 const std::vector<Output>& wanted) {
  ProgramSource source{.text = "", .options = {.name = name, .arguments = {}, .donated = {}}, .program = {}};
  TF_ASSIGN_OR_RETURN(source.program, pjrt::EmitProgram(nodes, arguments, wanted, ComputeOnHost));
  const pjrt::ProgramText& program = source.program;
  for (const int argument : program.parameters) {
    source.options.arguments.push_back({arguments[argument].dtype, arguments[argument].shape});
  }
  for (const auto& constant : program.constants) {
    source.options.arguments.push_back({constant->dtype(), constant->shape()});
  }
  if (!program.streams.empty()) {
    source.options.arguments.push_back({program.StreamsType().dtype, program.StreamsType().shape});
  }
  for (const auto& update : program.updates) {
    if (update.aliased >= 0) source.options.donated.push_back(update.aliased);
  }
  std::sort(source.options.donated.begin(), source.options.donated.end());
  source.text = std::exchange(source.program.text, "");
  return source;
}

}  // namespace tensorbraid
