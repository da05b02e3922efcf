#include "launch/bring/python_environment.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "core/text/strings.h"
#include "launch/processes/run_command.h"

namespace tensorbraid {
namespace {

// Prints the fields of PythonEnvironment, a line each. The directory of the launcher is no place of its modules.
constexpr char kQuestions[] = R"(
import sys
sys.path = [path for path in sys.path if path]
import os, site, sysconfig
print("%d.%d" % sys.version_info[:2])
print(sysconfig.get_config_var("SOABI"))
base = getattr(sys, "_base_executable", "")
print(os.path.realpath(base if os.path.exists(base) else sys.executable))
print(sys.base_prefix in site.PREFIXES)
known = {os.path.realpath(path) for path in site.getsitepackages() + [site.getusersitepackages()]}
for path in sys.path:
    path = os.path.realpath(path)
    if path in known and os.path.isdir(path):
        known.remove(path)
        print(path)
)";
constexpr size_t kFirstPackage = 4;  // line

// The directories of a distribution's own packages.
bool IsOfDistribution(std::string_view directory) {
  return directory.starts_with("/usr/lib/") || directory.starts_with("/usr/lib64/");
}

}  // namespace

bool IsPython(const std::string& program) {
  const std::string name = std::filesystem::path(program).filename();
  std::string_view rest = name;
  if (!rest.starts_with("python")) return false;
  rest.remove_prefix(6);
  // A version, then the letter of a build without the global lock (3.13t) or for debugging (3.11d).
  if (rest.ends_with('t') || rest.ends_with('d')) rest.remove_suffix(1);
  return std::all_of(rest.begin(), rest.end(),
                     [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '.'; });
}

StatusOr<PythonEnvironment> ReadPythonEnvironment(const std::string& program) {
  TF_ASSIGN_OR_RETURN(const std::string answer, RunCommand({program, "-c", kQuestions}));
  std::vector<std::string> lines = StrSplit(answer, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  if (lines.size() < kFirstPackage || lines[1] == "None") {
    return FailedPrecondition("'", program, "' does not say which packages it has; CPython 3 does");
  }
  PythonEnvironment environment{.program = program,
                                .version = lines[0],
                                .abi = lines[1],
                                .interpreter = lines[2],
                                .packages = {},
                                .sees_system_packages = lines[3] == "True"};
  for (size_t i = kFirstPackage; i < lines.size(); ++i) {
    if (!IsOfDistribution(lines[i])) environment.packages.push_back(std::move(lines[i]));
  }
  return environment;
}

}  // namespace tensorbraid
