#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "cli/accelerator_option.h"
#include "cli/at_least.h"
#include "cli/commands.h"
#include "core/system/fd.h"
#include "core/text/strings.h"
#include "executor/clusters/host_comparison.h"

namespace tensorbraid {
namespace {

// Runs the program with the standard streams of this one. Returns its exit code as a shell would.
StatusOr<int> RunAndWait(const std::vector<std::string>& program) {
  std::vector<char*> words;
  for (const std::string& word : program) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  // Ctrl-C is for the program; what it has reported until then is printed.
  std::signal(SIGINT, SIG_IGN);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGINT);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, words[0], nullptr, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) return NotFound("'", program[0], "' cannot be started: ", std::strerror(failed));
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return Internal("waitpid: ", std::strerror(errno));
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

struct Reports {
  int compared = 0;  // programs
  std::vector<std::string> differences, roundings, skipped;
};
Reports ReadReports(const std::string& file) {
  Reports reports;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.find(' ');
    const std::string kind = line.substr(0, space), text = space == std::string::npos ? "" : line.substr(space + 1);
    if (kind == "compared") ++reports.compared;
    if (kind == "differs") reports.differences.push_back(text);
    if (kind == "rounding") reports.roundings.push_back(text);
    if (kind == "skipped") reports.skipped.push_back(text);
  }
  return reports;
}

// Returns the exit code: 1 for a difference, 2 if nothing was compared, otherwise the exit code of the program.
StatusOr<int> RunCompare(const std::vector<std::string>& program, double tolerance) {
  if (program.empty()) {
    return InvalidArgument("there is no program; put it and its arguments after '--': tensorbraid debug compare -- ",
                           "python train.py");
  }
  const char* const directory = std::getenv("TMPDIR");
  std::string path = StrCat(directory == nullptr ? "/tmp" : directory, "/tensorbraid_compare.XXXXXX");
  const Fd file(::mkstemp(path.data()));
  if (!file.is_open()) return Unavailable("'", path, "' cannot be made: ", std::strerror(errno));
  setenv(kCompareVariable, path.c_str(), 1);
  setenv(kToleranceVariable, StrCat(tolerance).c_str(), 1);
  const StatusOr<int> code = RunAndWait(program);
  const Reports reports = ReadReports(path);
  ::unlink(path.c_str());
  if (!code.ok()) return code.status();

  std::printf("\ntensorbraid debug compare: %d programs of accelerators were compared with the CPU\n",
              reports.compared);
  for (const std::string& text : reports.skipped) std::printf("not compared: %s\n", text.c_str());
  for (size_t i = 0; i < reports.differences.size(); ++i) {
    std::printf("%s: %s\n", i == 0 ? "the first difference" : "a further one", reports.differences[i].c_str());
  }
  for (const std::string& text : reports.roundings) std::printf("perhaps rounding: %s\n", text.c_str());
  if (*code != 0) std::printf("the program has ended with exit code %d\n", *code);
  if (!reports.differences.empty()) return 1;
  if (*code != 0) return *code;
  if (reports.compared == 0) {
    std::printf("nothing ran on an accelerator in a program: see 'tensorbraid devices' and docs/accelerators.md\n");
    return 2;
  }
  std::printf(reports.roundings.empty() ? "no value differs\n" : "no node differs by itself\n");
  return 0;
}

}  // namespace

void AddDebugCommand(CLI::App& app, Invocation* invocation) {
  CLI::App* debug = app.add_subcommand("debug", "Find out why a program computes something wrong");
  debug->require_subcommand(1);
  CLI::App* compare = debug->add_subcommand(
      "compare", "Run a program, and name the first node whose value on an accelerator differs from the CPU's");
  auto tolerance = std::make_shared<double>(1e-3);
  AddAcceleratorPluginOption(compare);
  compare
      ->add_option("--tolerance", *tolerance,
                   "what is no difference for float32: this part of the largest element of a tensor")
      ->check(AtLeast(0))
      ->capture_default_str();
  compare->footer(
      "\nEach run of a compiled program is computed a second time, by the kernels of the CPU and from the same "
      "values;\n"
      "so the program is slower, and otherwise does what it always does. Exits with 1 if a value differs, and with 2 "
      "if\n"
      "nothing ran on an accelerator. See docs/accelerators.md.\n\n"
      "Example:\n"
      "  tensorbraid debug compare -- python train.py --train_steps=10");
  compare->callback([tolerance, invocation] {
    invocation->run = [tolerance, invocation] {
      const StatusOr<int> code = RunCompare(invocation->program, *tolerance);
      return code.ok() ? *code : ExitCode(Annotate(code.status(), "tensorbraid debug compare"));
    };
  });
}

}  // namespace tensorbraid
