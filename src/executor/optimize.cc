#include "executor/optimize.h"

#include <algorithm>
#include <cstdlib>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "executor/passes/pass.h"

namespace tensorbraid {
namespace {

void WarnIfUnknown(const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const Pass& pass : Passes()) known.emplace_back(pass.name);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    TB_LOG(Warning, "executor") << "cannot skip pass '" << name << "', which does not exist; the passes are "
                                << StrJoin(known, ", ");
  }
}

}  // namespace

Status Optimize(Graph* graph, const OptimizeOptions& options, const StillWanted& still_wanted) {
  std::vector<std::string> skipped = options.skipped_passes;
  if (const char* more = std::getenv("TENSORBRAID_SKIP_PASSES"); more != nullptr && *more != '\0') {
    for (const std::string& name : StrSplit(more, ',')) skipped.push_back(name);
  }
  WarnIfUnknown(skipped);
  PassContext context(*graph, still_wanted);
  for (const Pass& pass : Passes()) {
    if (std::find(skipped.begin(), skipped.end(), pass.name) != skipped.end()) continue;
    TF_RETURN_IF_ERROR(CheckStillWanted(still_wanted));
    const Status status = pass.run(graph, context);
    if (!status.ok()) return Annotate(status, StrCat("pass '", pass.name, "'"));
  }
  return OkStatus();
}

}  // namespace tensorbraid
