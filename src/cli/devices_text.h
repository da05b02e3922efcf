// What `tensorbraid devices` prints.
#ifndef TENSORBRAID_CLI_DEVICES_TEXT_H_
#define TENSORBRAID_CLI_DEVICES_TEXT_H_

#include <string>

#include "pjrt/find_plugins.h"

namespace tensorbraid {

// A line for each type of devices: how many this machine has, by which plugin, or why it has none and what to do. Loads
// the plugins, so that a version that does not fit is noticed. `open`: also starts the devices, and adds a line for
// each.
std::string DevicesText(const pjrt::Machine& machine, bool open);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_DEVICES_TEXT_H_
