#include "cli/op_files.h"

#include <vector>

#include "cli/ops_document.h"
#include "cli/raw_ops/calls.h"
#include "cli/raw_ops/function.h"
#include "cli/raw_ops/header.h"
#include "core/text/strings.h"

namespace tensorbraid {

std::map<std::string, std::string> OpFiles() {
  const std::vector<RawFunction> functions = RawFunctions();
  std::map<std::string, std::vector<RawFunction>> families;
  for (const RawFunction& f : functions) families[f.family].push_back(f);
  std::map<std::string, std::string> files = {{"docs/ops.md", OpsDocument()},
                                              {"tests/ops/raw_ops_calls.inc", RawOpsCalls(functions)}};
  std::vector<std::string> names;
  for (const auto& [family, members] : families) {
    names.push_back(family);
    files.emplace(StrCat("include/tensorbraid/raw_ops/", family, ".h"), RawOpsHeader(family, members));
  }
  files.emplace("include/tensorbraid/raw_ops.h", RawOpsUmbrella(names));
  return files;
}

}  // namespace tensorbraid
