// The trace of a step in the format of Chrome's trace viewer.
#ifndef TENSORBRAID_CLUSTER_TRACE_CHROME_TRACE_H_
#define TENSORBRAID_CLUSTER_TRACE_CHROME_TRACE_H_

#include <string>
#include <string_view>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Converts a serialized RunMetadata to JSON for chrome://tracing and ui.perfetto.dev. Each device is a process. Nodes
// that run at the same time are in different rows of the process. Arrows go from a node to the nodes that use its
// tensors. InvalidArgument if the bytes are not a RunMetadata message.
StatusOr<std::string> ChromeTrace(std::string_view run_metadata);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_TRACE_CHROME_TRACE_H_
