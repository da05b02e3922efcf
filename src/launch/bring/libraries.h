// Brings the shared libraries of a program to machines that lack them.
#ifndef TENSORBRAID_LAUNCH_BRING_LIBRARIES_H_
#define TENSORBRAID_LAUNCH_BRING_LIBRARIES_H_

#include <map>
#include <string>
#include <vector>

#include "launch/agent/agent_engine.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// The folder beside a program with the libraries that were brought for it.
inline constexpr char kLibrariesFolder[] = ".tensorbraid-lib";

// What ldd prints about a program: the files by the names of the libraries; "" for a library that is not found.
std::map<std::string, std::string> ParseLdd(const std::string& output);
// Whether a library belongs to glibc, and so must fit the machine's own loader.
bool IsOfGlibc(const std::string& library);

// Looks on each machine whether the loader finds all libraries of `program`, an absolute path that is the same there.
// If one is missing, copies it from here to kLibrariesFolder beside the program, in which no file is overwritten.
// Returns that folder, which the tasks need in LD_LIBRARY_PATH, or "" if no machine needs it. Nothing is done for a
// program that is not linked dynamically, such as a script.
//
// Blocks until all is done. Writes what it has brought to `err_fd`. FailedPrecondition if a library is missing there
// that is not here either, or that belongs to glibc, or if the folder is a link there; Unavailable for a machine that
// cannot be reached.
StatusOr<std::string> BringLibraries(const std::vector<AgentNode>& nodes, const std::vector<std::string>& ssh,
                                     const std::string& program, int err_fd = 2);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_BRING_LIBRARIES_H_
