// The trace of a step in the format of Chrome's trace viewer.
#ifndef TENSORBRAID_CLUSTER_TRACE_CHROME_TRACE_H_
#define TENSORBRAID_CLUSTER_TRACE_CHROME_TRACE_H_

#include <string>
#include <string_view>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// What a trace shows in addition to the nodes.
struct TraceContents {
  bool dataflow = true;  // arrows from nodes to the nodes that use their tensors
  bool memory = false;   // counters of the bytes of the tensors on each device
};

// Converts a serialized RunMetadata to JSON for chrome://tracing and ui.perfetto.dev. Each device is a process. Nodes
// that run at the same time are in different rows of the process. InvalidArgument if the bytes are not a RunMetadata
// message.
StatusOr<std::string> ChromeTrace(std::string_view run_metadata, const TraceContents& contents = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_TRACE_CHROME_TRACE_H_
