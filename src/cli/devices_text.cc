#include "cli/devices_text.h"

#include "core/text/strings.h"
#include "core/threads/thread.h"
#include "pjrt/accelerator.h"
#include "pjrt/client.h"
#include "pjrt/plugin.h"

namespace tensorbraid {
namespace {

std::string Counted(int number, const std::string& name) { return StrCat(number, " ", name, number == 1 ? "" : "s"); }

// A line for each device of an accelerator.
StatusOr<std::string> OpenedDevices(const pjrt::FoundPlugin& found) {
  const std::string& type = found.device_type;
  pjrt::Accelerator accelerator(type, [&found] { return StatusOr<std::string>(found.path); });
  accelerator.Expect(found.devices);
  TF_ASSIGN_OR_RETURN(const pjrt::Client* client, accelerator.GetClient());
  std::string text;
  for (int i = 0; i < client->num_devices(); ++i) {
    text += StrCat("  ", type, ":", i, ": ", client->device_kind(i));
    if (const auto memory = client->MemoryOf(i); memory.ok() && memory->bytes_limit > 0) {
      text += StrCat(", ", memory->bytes_limit >> 20, " MiB");
    }
    text += "\n";
  }
  return text;
}

// What there is to say about a plugin that was found, with its devices.
StatusOr<std::string> FoundDevices(const pjrt::Machine& machine, const pjrt::FoundPlugin& found, bool open) {
  if (!found.problem.empty()) return NotFound(found.problem);
  TF_ASSIGN_OR_RETURN(const pjrt::Plugin* plugin, pjrt::Plugin::Load(found.path));
  std::string text =
      StrCat(found.is_open ? "as many devices as a program asks for" : Counted(found.devices, "device"),
             ", by the plugin '", found.path, "' (PJRT ", plugin->major_version(), ".", plugin->minor_version());
  if (const auto version = plugin->attributes().find("stablehlo_current_version");
      version != plugin->attributes().end()) {
    text += StrCat(", StableHLO ", version->second);
  }
  text += StrCat("), from ", found.source, "\n");
  if (const std::string old = pjrt::OldDriver(machine, found.path); !old.empty())
    text += StrCat("  It may not work: ", old, "\n");
  if (!open) return text;
  TF_ASSIGN_OR_RETURN(const std::string devices, OpenedDevices(found));
  return text + devices;
}

}  // namespace

std::string DevicesText(const pjrt::Machine& machine, bool open) {
  std::string text = StrCat("CPU: this machine, ", Counted(NumCores(), "core"), "\n");
  for (const char* type : pjrt::kAcceleratorTypes) {
    const auto devices = FoundDevices(machine, pjrt::FindPlugin(machine, type), open);
    text += StrCat(type, ": ", devices.ok() ? *devices : StrCat("none: ", devices.status().message(), "\n"));
  }
  return text;
}

}  // namespace tensorbraid
