// What a Python of this machine has that the same Python on another machine needs.
#ifndef TENSORBRAID_LAUNCH_BRING_PYTHON_ENVIRONMENT_H_
#define TENSORBRAID_LAUNCH_BRING_PYTHON_ENVIRONMENT_H_

#include <string>
#include <vector>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

struct PythonEnvironment {
  std::string program;      // as the user calls it: "env/bin/python"
  std::string version;      // "3.11"
  std::string abi;          // that its extension modules have: "cpython-311-x86_64-linux-gnu"
  std::string interpreter;  // the path of the interpreter itself, outside of a virtual environment
  // The directories of installed packages in the order of sys.path, without links. Those of the distribution below
  // /usr/lib, which its package manager owns, are not among them.
  std::vector<std::string> packages;
  // Whether programs also see the packages that are installed beside the interpreter itself. Not so in most virtual
  // environments.
  bool sees_system_packages = false;
};

// Whether a program is a Python, by its name: "python", "python3", "env/bin/python3.12".
bool IsPython(const std::string& program);

// Asks the program, which is searched in PATH unless it is a path. Blocks for the start of a Python. NotFound if it
// does not exist; Unavailable, with its words, if it fails; FailedPrecondition if its version is too old.
StatusOr<PythonEnvironment> ReadPythonEnvironment(const std::string& program);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_BRING_PYTHON_ENVIRONMENT_H_
