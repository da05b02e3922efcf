#include "launch/engines/engine.h"

#include "absl/strings/ascii.h"
#include "core/text/strings.h"
#include "launch/processes/run_command.h"

namespace tensorbraid {

void AddFile(const std::string& flag, const std::string& path, bool knows_flags, ProgramCall* call) {
  if (knows_flags) call->command.push_back(StrCat("--", flag, "=", path));
  call->environment.emplace_back("TENSORBRAID_" + absl::AsciiStrToUpper(flag), path);
}

std::string TaskEnd::ToString() const { return lost.empty() ? process.ToString() : "was lost: " + lost; }

std::string Engine::DescribeStart(const std::string& task, const ProgramCall& call, bool /*knows_flags*/) const {
  std::string text = StrCat(task, " would run\n    ");
  for (const auto& [name, value] : call.environment) {
    if (!value.empty()) text += StrCat(name, "=", ShellWord(value), " ");
  }
  return StrCat(text, ShellWords(call.command), "\n");
}

}  // namespace tensorbraid
