// What to do if a plugin cannot start its devices.
#ifndef TENSORBRAID_PJRT_START_ERROR_H_
#define TENSORBRAID_PJRT_START_ERROR_H_

#include <string_view>

#include "pjrt/find_plugins.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid::pjrt {

// The error of Client::Create in one line, followed by what to do, as far as the words of the plugin and the version of
// the driver tell: a driver that is too old, a card that is full or that another process has for itself. Plugins for
// CUDA often keep the reason of the driver to themselves and only write it to standard error; the line then names the
// usual reasons. Errors of plugins that compute on the CPU stay as they are. `plugin` is the path of the plugin.
Status StartError(const Status& error, std::string_view plugin, const Machine& machine);

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_START_ERROR_H_
