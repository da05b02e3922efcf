#include <cstdio>
#include <memory>

#include "CLI/CLI.hpp"
#include "cli/accelerator_option.h"
#include "cli/commands.h"
#include "cli/devices_text.h"
#include "pjrt/find_plugins.h"

namespace tensorbraid {

void AddDevicesCommand(CLI::App& app, Invocation* invocation) {
  auto open = std::make_shared<bool>(false);
  CLI::App* devices =
      app.add_subcommand("devices", "List the devices of this machine, and why accelerators are missing");
  AddAcceleratorPluginOption(devices);
  devices->add_flag("--open", *open, "start the devices, and print model and memory of each; may take seconds");
  devices->footer(
      "\nA plugin is a library that compiles and runs programs on accelerators, see docs/accelerators.md. This "
      "command\n"
      "loads the plugins that it finds, so it also tells which do not fit.\n\n"
      "Example:\n"
      "  tensorbraid devices --accelerator_plugin=/opt/pjrt/my_plugin.so");
  devices->callback([open, invocation] {
    invocation->run = [open] {
      std::fputs(DevicesText(pjrt::ThisMachine(), *open).c_str(), stdout);
      return 0;
    };
  });
}

}  // namespace tensorbraid
