// Writes the files that follow from the ops of this build.
#include <cstdio>
#include <string>
#include <string_view>

#include "core/text/strings.h"
#include "io/file.h"
#include "ops/op_files.h"
#include "ops/raw_ops/calls.h"
#include "ops/raw_ops/function.h"

namespace tensorbraid {
namespace {

constexpr char kUsage[] =
    "usage: op_files --update=DIR    writes docs/ops.md and include/tensorbraid/raw_ops of a source tree\n"
    "       op_files --calls=FILE    writes calls of all functions of raw_ops, for a test\n";

// The value of an argument "--NAME=VALUE"; "" if it is another argument.
std::string ValueOf(std::string_view argument, std::string_view name) {
  const std::string begin = StrCat("--", name, "=");
  return argument.starts_with(begin) ? std::string(argument.substr(begin.size())) : "";
}

int Main(std::string_view argument) {
  if (const std::string tree = ValueOf(argument, "update"); !tree.empty()) {
    const auto written = UpdateOpFiles(tree);
    if (!written.ok()) return ExitCode(Annotate(written.status(), "op_files: --update"));
    for (const std::string& name : *written) std::printf("wrote %s\n", name.c_str());
    return 0;
  }
  if (const std::string file = ValueOf(argument, "calls"); !file.empty()) {
    return ExitCode(WriteIfChanged(file, RawOpsCalls(RawFunctions())).status());
  }
  std::fputs(kUsage, stderr);
  return 2;
}

}  // namespace
}  // namespace tensorbraid

int main(int argc, char** argv) { return tensorbraid::Main(argc == 2 ? argv[1] : ""); }
