// The `tensorbraid` program: parses the command line and runs a command.
#ifndef TENSORBRAID_CLI_PROGRAM_H_
#define TENSORBRAID_CLI_PROGRAM_H_

#include <string>

namespace tensorbraid {

// Returns the program's exit code.
int RunProgram(int argc, char** argv, const std::string& version);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_PROGRAM_H_
