#include <cstdio>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "cli/commands.h"
#include "cli/devices_text.h"
#include "pjrt/find_plugins.h"

namespace tensorbraid {

void AddDevicesCommand(CLI::App& app, Invocation* invocation) {
  struct Flags {
    std::string plugin;
    bool open = false;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* devices =
      app.add_subcommand("devices", "List the devices of this machine, and why accelerators are missing");
  devices
      ->add_option("--accelerator_plugin", flags->plugin,
                   "look for this PJRT plugin, instead of those that $TENSORBRAID_ACCELERATOR_PLUGIN names and those "
                   "that are installed")
      ->type_name("[TYPE=]PATH");
  devices->add_flag("--open", flags->open, "start the devices, and print model and memory of each; may take seconds");
  devices->footer(
      "\nA plugin is a library that compiles and runs programs on accelerators, see docs/accelerators.md. This "
      "command\n"
      "loads the plugins that it finds, so it also tells which do not fit.\n\n"
      "Example:\n"
      "  tensorbraid devices --accelerator_plugin=/opt/pjrt/my_plugin.so");
  devices->callback([flags, invocation] {
    invocation->run = [flags] {
      pjrt::Machine machine = pjrt::ThisMachine();
      if (!flags->plugin.empty()) {
        machine.variable = [plugin = flags->plugin, variable = machine.variable](const char* name) {
          return std::string(name) == pjrt::kPluginVariable ? plugin : variable(name);
        };
      }
      std::fputs(DevicesText(machine, flags->open).c_str(), stdout);
      return 0;
    };
  });
}

}  // namespace tensorbraid
