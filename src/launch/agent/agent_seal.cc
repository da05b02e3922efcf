#include "launch/agent/agent_seal.h"

#include <utility>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

std::string TextToProve(AgentSide sender, const std::string& launch, std::string_view message) {
  return StrCat(sender == AgentSide::kLauncher ? "launcher" : "agent", " of ", launch, "\n", message);
}

}  // namespace

SealedLine SplitLine(std::string_view line) {
  const size_t tab = line.rfind('\t');  // JSON has none: it is written as "\t" there
  if (tab == std::string_view::npos) return {line, ""};
  return {line.substr(0, tab), line.substr(tab + 1)};
}

AgentSeal::AgentSeal(std::unique_ptr<Seal> seal, std::string launch)
    : seal_(std::move(seal)), launch_(std::move(launch)) {}

StatusOr<std::string> AgentSeal::Close(AgentSide sender, std::string_view line) {
  line.remove_suffix(1);
  TF_ASSIGN_OR_RETURN(const std::string proof, seal_->Prove(TextToProve(sender, launch_, line)));
  return StrCat(line, "\t", proof, "\n");
}

Status AgentSeal::Check(AgentSide sender, const SealedLine& line) {
  const std::string what = sender == AgentSide::kLauncher ? "a request" : "an answer";
  if (line.proof.empty()) return absl::UnauthenticatedError(what + " has no proof of its sender");
  return Annotate(seal_->Check(TextToProve(sender, launch_, line.message), line.proof), what);
}

}  // namespace tensorbraid
