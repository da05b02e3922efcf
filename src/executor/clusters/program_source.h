// What the compiler needs for a program, and what the compiled program is.
#ifndef TENSORBRAID_EXECUTOR_CLUSTERS_PROGRAM_SOURCE_H_
#define TENSORBRAID_EXECUTOR_CLUSTERS_PROGRAM_SOURCE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pjrt/emitter.h"
#include "pjrt/program.h"

namespace tensorbraid {

// A program for one signature of a cluster.
struct Executable {
  pjrt::ProgramText text;
  std::shared_ptr<pjrt::Program> program;
  std::optional<pjrt::ProgramMemory> memory = std::nullopt;  // if the plugin knows what it needs
};

struct ProgramSource {
  std::string text;
  pjrt::CompileOptions options;
  pjrt::ProgramText program;  // without its text
};

// The source of a program of these nodes, which messages call `name`. The arguments of this function, and its errors,
// are those of pjrt::EmitProgram.
StatusOr<ProgramSource> SourceOf(const std::string& name, const std::vector<const Node*>& nodes,
                                 const std::vector<pjrt::ProgramArgument>& arguments,
                                 const std::vector<Output>& wanted);

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_CLUSTERS_PROGRAM_SOURCE_H_
