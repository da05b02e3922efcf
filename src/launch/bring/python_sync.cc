#include "launch/bring/python_sync.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/text/strings.h"
#include "launch/bring/remote_shell.h"
#include "launch/processes/run_command.h"

namespace tensorbraid {
namespace {

namespace fs = std::filesystem;

// An interpreter of a machine.
struct Interpreter {
  std::string path;
  std::string version;  // "3.11.2"
};

// The directories of packages on this machine, without what each machine makes for itself.
StatusOr<std::vector<SyncSource>> ReadPackages(const PythonEnvironment& environment) {
  std::vector<SyncSource> sources;
  std::set<std::string> seen;
  for (const std::string& directory : environment.packages) {
    auto source = ReadSyncSource(directory, [](const std::string& path, bool is_directory) {
      return is_directory && fs::path(path).filename() == "__pycache__";
    });
    if (!source.ok()) return Annotate(source.status(), "--sync");
    // Like an import, takes the file of the first directory.
    std::erase_if(source->files, [&seen](const std::string& file) { return !seen.insert(file).second; });
    sources.push_back(*std::move(source));
  }
  return sources;
}

// Finds an interpreter with the same ABI.
StatusOr<Interpreter> FindInterpreter(const RemoteShell& shell, const PythonEnvironment& environment) {
  const std::string name = "python" + environment.version;
  std::string candidates;
  for (const std::string& candidate :
       {environment.interpreter, name, StrCat("/usr/local/bin/", name), StrCat("/usr/bin/", name)}) {
    candidates += ShellWord(candidate) + " ";
  }
  // Each answers with a line: ABI, version, path.
  const std::string question =
      "import os,sys,sysconfig;b=getattr(sys,'_base_executable','');"
      "print(sysconfig.get_config_var('SOABI'),'%d.%d.%d'%sys.version_info[:3],"
      "os.path.realpath(b if os.path.exists(b) else sys.executable))";
  TF_ASSIGN_OR_RETURN(
      const std::string answers,
      shell.Run(StrCat("for p in ", candidates, "python3 python \"$HOME/.local/bin/", name, "\"; do ",
                       "a=$(\"$p\" -I -c ", ShellWord(question), " 2>/dev/null) || continue; ",
                       "echo \"$a\"; case $a in ", ShellWord(environment.abi + " "), "*) break;; esac; done")));
  std::set<std::string> others;
  for (const std::string& line : StrSplit(answers, '\n')) {
    const size_t first = line.find(' '), second = line.find(' ', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string abi = line.substr(0, first);
    const std::string version = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (abi == environment.abi) return Interpreter{path, version};
    others.insert(StrCat(path, " (", version, ", ", abi, ")"));
  }
  const std::string found =
      others.empty() ? "no Python in its PATH" : StrJoin(std::vector<std::string>(others.begin(), others.end()), ", ");
  return FailedPrecondition("the packages of '", environment.program, "' need Python ", environment.version, " (",
                            environment.abi, "), and it has ", found, ": install ", name,
                            " there, or use a version here that all machines have");
}

// FailedPrecondition if something that is not of this program is in the place of the environment. No folder of it may
// be a link, through which files of another one would be written.
Status CheckPlace(const RemoteShell& shell, const PythonPlace& place) {
  const auto words = [](const std::vector<std::string>& paths) { return ShellWords(paths); };
  const std::string lib = place.folder + "/lib";
  TF_ASSIGN_OR_RETURN(
      const std::string wrong,
      shell.Run(StrCat("for f in ",
                       words({place.folder, place.folder + "/bin", lib, fs::path(place.packages).parent_path(),
                              place.folder + "/packages"}),
                       "; do if [ -L \"$f\" ] || { [ -e \"$f\" ] && [ ! -d \"$f\" ]; }; then echo \"$f\"; fi; done; ",
                       "for f in ", words({place.interpreter, place.packages}),
                       "; do if [ -e \"$f\" ] && [ ! -L \"$f\" ]; then echo \"$f\"; fi; done; ",
                       "f=", ShellWord(place.folder + "/pyvenv.cfg"), "; if [ -L \"$f\" ]; then echo \"$f\"; fi")));
  if (wrong.empty()) return OkStatus();
  return FailedPrecondition("'", wrong.substr(0, wrong.find('\n')), "' there is not what --sync makes in ",
                            place.folder, ": move it away");
}

// The script that makes the virtual environment. A file that is right is not touched, since another job may use it.
std::string MakeScript(const PythonEnvironment& environment, const PythonPlace& place, const Interpreter& interpreter) {
  const std::string configuration =
      StrCat("home = ", fs::path(interpreter.path).parent_path().string(), "\n",
             "include-system-site-packages = ", environment.sees_system_packages ? "true" : "false", "\n",
             "version = ", interpreter.version, "\n");
  std::string lines;
  for (const std::string& line : StrSplit(configuration, '\n')) {
    if (!line.empty()) lines += ShellWord(line) + " ";
  }
  return StrCat(
      "set -e; d=", ShellWord(place.folder), "; s=", ShellWord(place.packages), "; ",
      "mkdir -p \"$d/bin\" \"${s%/*}\"; ", "link() { [ \"$(readlink \"$2\")\" = \"$1\" ] || ln -sfn \"$1\" \"$2\"; }; ",
      "link ", ShellWord(interpreter.path), " ", ShellWord(place.interpreter), "; ", "link ", ShellWord(place.origin),
      " \"$s\"; ", "c=$(printf '%s\\n' ", lines, "); [ \"$(cat \"$d/pyvenv.cfg\" 2>/dev/null)\" = \"$c\" ] || ",
      "{ printf '%s\\n' \"$c\" > \"$d/pyvenv.cfg.$$\"; mv -f \"$d/pyvenv.cfg.$$\" \"$d/pyvenv.cfg\"; }");
}

// Whether the machine can load our package: its shared libraries and its processor may be too old.
Status CheckImport(const RemoteShell& shell, const PythonPlace& place) {
  TF_ASSIGN_OR_RETURN(std::string error,
                      shell.Run(StrCat("o=$(", ShellWord(place.interpreter), " -P -c 'import tensorbraid' 2>&1) || ",
                                       "printf '%s\\n' \"$o\" | tail -n 1")));
  while (!error.empty() && error.back() == '\n') error.pop_back();
  if (error.empty()) return OkStatus();
  return FailedPrecondition("'import tensorbraid' fails there: ", error,
                            "; a wheel of tensorbraid brings its shared libraries with it, what else is missing must ",
                            "be installed there");
}

bool HasFile(const PythonEnvironment& environment, const std::string& name) {
  return std::any_of(environment.packages.begin(), environment.packages.end(), [&name](const std::string& directory) {
    std::error_code error;
    return fs::exists(fs::path(directory) / name, error);
  });
}

bool IsIn(const std::string& directory, const fs::path& path) {
  const fs::path parent = directory;
  return std::mismatch(parent.begin(), parent.end(), path.begin(), path.end()).first == parent.end();
}

}  // namespace

PythonPlace PlacePython(const PythonEnvironment& environment, const std::vector<std::string>& synced,
                        const std::string& directory) {
  const auto of_tasks =
      std::find_if(synced.begin(), synced.end(), [&](const std::string& parent) { return IsIn(parent, directory); });
  PythonPlace place;
  place.folder = StrCat(of_tasks == synced.end() ? synced.front() : *of_tasks, "/", kPythonFolder);
  place.interpreter = place.folder + "/bin/python";
  place.packages = StrCat(place.folder, "/lib/python", environment.version, "/site-packages");
  const bool is_brought =
      environment.packages.size() == 1 && std::any_of(synced.begin(), synced.end(), [&](const std::string& parent) {
        return IsIn(parent, environment.packages.front());
      });
  place.is_copied = !is_brought;
  place.origin = is_brought ? environment.packages.front() : place.folder + "/packages";
  constexpr char kProgram[] = "tensorbraid/bin/tensorbraid";  // python/tensorbraid/internal/program.py
  if (HasFile(environment, kProgram)) place.agent = StrCat(place.packages, "/", kProgram);
  return place;
}

Status BringPython(const SyncOptions& options, const PythonEnvironment& environment, const PythonPlace& place) {
  std::vector<Interpreter> interpreters(options.nodes.size());
  // Asked first, before much is copied in vain.
  TF_RETURN_IF_ERROR(ForEachMachine(options.nodes.size(), [&](size_t i) -> Status {
    const RemoteShell shell(options.nodes[i], options.ssh);
    auto found = FindInterpreter(shell, environment);
    TF_RETURN_IF_ERROR(Annotate(found.status(), StrCat("--sync: ", options.nodes[i].name)));
    TF_RETURN_IF_ERROR(Annotate(CheckPlace(shell, place), StrCat("--sync: ", options.nodes[i].name)));
    interpreters[i] = *std::move(found);
    return OkStatus();
  }));
  if (place.is_copied) {
    TF_ASSIGN_OR_RETURN(const std::vector<SyncSource> sources, ReadPackages(environment));
    TF_RETURN_IF_ERROR(BringFiles(options, sources, place.origin));
  }
  const bool has_tensorbraid = HasFile(environment, "tensorbraid/__init__.py");
  return ForEachMachine(options.nodes.size(), [&](size_t i) -> Status {
    const RemoteShell shell(options.nodes[i], options.ssh);
    Status status = shell.Run(MakeScript(environment, place, interpreters[i])).status();
    if (status.ok() && has_tensorbraid) status = CheckImport(shell, place);
    return Annotate(status, StrCat("--sync: ", options.nodes[i].name));
  });
}

}  // namespace tensorbraid
