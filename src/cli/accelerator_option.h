// The options --accelerator_plugin and --compile_cache of commands that use accelerators.
#ifndef TENSORBRAID_CLI_ACCELERATOR_OPTION_H_
#define TENSORBRAID_CLI_ACCELERATOR_OPTION_H_

#include <string>

#include "CLI/CLI.hpp"
#include "pjrt/find_plugins.h"
#include "pjrt/program_files.h"

namespace tensorbraid {

// Both options set an environment variable, so that the rest of the program and the programs that it starts see one way
// only.
inline void AddAcceleratorPluginOption(CLI::App* command) {
  command
      ->add_option_function<std::string>(
          "--accelerator_plugin,--accelerator-plugin", [](const std::string& text) { pjrt::NamePlugins(text); },
          "the PJRT plugin for accelerators, or several, separated by commas; default: those that "
          "$TENSORBRAID_ACCELERATOR_PLUGIN names, and those that are installed")
      ->type_name("[TYPE=]PATH");
}
inline void AddCompileCacheOption(CLI::App* command) {
  command
      ->add_option_function<std::string>(
          "--compile_cache,--compile-cache", [](const std::string& text) { KeepPrograms(text); },
          "a directory in which the programs of accelerators are kept for later processes; default: "
          "$TENSORBRAID_COMPILE_CACHE")
      ->type_name("DIR");
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_ACCELERATOR_OPTION_H_
