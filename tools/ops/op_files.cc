#include "ops/op_files.h"

#include <vector>

#include "cli/ops_document.h"
#include "core/text/strings.h"
#include "io/file.h"
#include "ops/raw_ops/function.h"
#include "ops/raw_ops/header.h"

namespace tensorbraid {

std::map<std::string, std::string> OpFiles() {
  const std::vector<RawFunction> functions = RawFunctions();
  std::map<std::string, std::vector<RawFunction>> families;
  for (const RawFunction& f : functions) families[f.family].push_back(f);
  std::map<std::string, std::string> files = {{"docs/ops.md", OpsDocument()}};
  std::vector<std::string> names;
  for (const auto& [family, members] : families) {
    names.push_back(family);
    files.emplace(StrCat("include/tensorbraid/raw_ops/", family, ".h"), RawOpsHeader(family, members));
  }
  files.emplace("include/tensorbraid/raw_ops.h", RawOpsUmbrella(names));
  return files;
}

StatusOr<bool> WriteIfChanged(const std::string& path, const std::string& text) {
  if (const auto kept = ReadFile(path); kept.ok() && *kept == text) return false;
  TF_RETURN_IF_ERROR(WriteFile(path, text));
  return true;
}

StatusOr<std::vector<std::string>> UpdateOpFiles(const std::string& tree) {
  // Written by hand, so every source tree has it.
  constexpr char kMark[] = "include/tensorbraid/raw_ops/call.h";
  if (!FileExists(JoinPath(tree, kMark))) {
    return InvalidArgument("'", tree, "' is no source tree of Tensorbraid: it has no ", kMark);
  }
  std::vector<std::string> written;
  for (const auto& [name, text] : OpFiles()) {
    TF_ASSIGN_OR_RETURN(const bool changed, WriteIfChanged(JoinPath(tree, name), text));
    if (changed) written.push_back(name);
  }
  return written;
}

}  // namespace tensorbraid
