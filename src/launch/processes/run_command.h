// Runs a program of the system that ends by itself, such as ssh or rsync.
#ifndef TENSORBRAID_LAUNCH_PROCESSES_RUN_COMMAND_H_
#define TENSORBRAID_LAUNCH_PROCESSES_RUN_COMMAND_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Runs a command, and returns its standard output when it has ended. Its standard input is `input`; bytes that it does
// not read are dropped. `on_line` also gets each line as it is written, without its end; a carriage return ends a line,
// too. NotFound if there is no such program; Unavailable, with what the program wrote to standard error, if it fails.
// Blocks until the command has ended. Thread-safe.
StatusOr<std::string> RunCommand(const std::vector<std::string>& command,
                                 const std::function<void(const std::string&)>& on_line = nullptr,
                                 std::string_view input = "");

// The text as a word for a shell: in quotes, unless it needs none.
std::string ShellWord(const std::string& text);
// A command as a line for a shell.
std::string ShellWords(const std::vector<std::string>& command);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_PROCESSES_RUN_COMMAND_H_
