// Writes the programs that a process compiles to files, in which a fault can be looked for.
#ifndef TENSORBRAID_PJRT_PROGRAM_DUMP_H_
#define TENSORBRAID_PJRT_PROGRAM_DUMP_H_

#include <string>

namespace tensorbraid {

// The environment variable that names the directory for programs. Without it, none are written.
inline constexpr const char* kDumpProgramsVariable = "TENSORBRAID_DUMP_PROGRAMS";

// Writes StableHLO text to a file of its own in that directory: program_PROCESS_NUMBER.mlir. Its first line is a
// comment with `name`, as messages call the program. Makes the directory if it does not exist. The log tells an error,
// which changes nothing else. Blocks for the write. Thread-safe.
void DumpProgram(const std::string& name, const std::string& text);

}  // namespace tensorbraid

#endif  // TENSORBRAID_PJRT_PROGRAM_DUMP_H_
