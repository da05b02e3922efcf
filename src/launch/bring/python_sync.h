// Brings the packages of a Python to machines that have only its interpreter.
#ifndef TENSORBRAID_LAUNCH_BRING_PYTHON_SYNC_H_
#define TENSORBRAID_LAUNCH_BRING_PYTHON_SYNC_H_

#include <string>
#include <vector>

#include "launch/bring/python_environment.h"
#include "launch/bring/sync.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Where the packages of a Python are on the machines. All paths are absolute, and the same on each machine.
struct PythonPlace {
  std::string folder;       // the virtual environment of the machine
  std::string interpreter;  // the Python in it, which runs the program
  std::string packages;     // its directory of packages
  // The directory of packages to which `packages` leads: one that --sync brings, or a folder for copies.
  std::string origin;
  bool is_copied = false;  // the latter
  std::string agent;       // the program `tensorbraid` among the packages; "" if it is not there
};

// Decides where a Python's packages are to be. `synced` are the directories of --sync (SyncedDirectory), and
// `directory` is that of the tasks: the folder is in the first of `synced` that contains it, or else in the first.
// Packages that are in one of `synced` are used there, and others are copied to the folder.
PythonPlace PlacePython(const PythonEnvironment& environment, const std::vector<std::string>& synced,
                        const std::string& directory);

// Makes a virtual environment at this place on each machine: with an interpreter of the machine that has the same ABI,
// and with the packages, of which it copies those that have changed (BringFiles).
//
// Blocks until all is done. FailedPrecondition if a machine has no such interpreter, if a part of the environment is a
// link or a file of another kind there, or if the package tensorbraid is among the packages and cannot be imported
// there; otherwise the errors of BringFiles.
Status BringPython(const SyncOptions& options, const PythonEnvironment& environment, const PythonPlace& place);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_BRING_PYTHON_SYNC_H_
