#include "cli/op_files.h"

#include <vector>

#include "cli/ops_document.h"
#include "cli/raw_ops/calls.h"
#include "cli/raw_ops/function.h"
#include "cli/raw_ops/header.h"
#include "core/text/strings.h"
#include "io/file.h"

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

StatusOr<std::vector<std::string>> UpdateOpFiles(const std::string& tree) {
  // Written by hand, so every source tree has it.
  constexpr char kMark[] = "include/tensorbraid/raw_ops/call.h";
  if (!FileExists(JoinPath(tree, kMark))) {
    return InvalidArgument("'", tree, "' is no source tree of Tensorbraid: it has no ", kMark);
  }
  std::vector<std::string> written;
  for (const auto& [name, text] : OpFiles()) {
    const std::string path = JoinPath(tree, name);
    // A file that is up to date stays as it is, so that nothing is compiled again without need.
    if (const auto kept = ReadFile(path); kept.ok() && *kept == text) continue;
    TF_RETURN_IF_ERROR(WriteFile(path, text));
    written.push_back(name);
  }
  return written;
}

}  // namespace tensorbraid
