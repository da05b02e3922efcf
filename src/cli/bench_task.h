// What the tasks of a benchmark do. Each takes messages {"do": …} from the process that started it.
#ifndef TENSORBRAID_CLI_BENCH_TASK_H_
#define TENSORBRAID_CLI_BENCH_TASK_H_

#include "cli/bench_cluster.h"
#include "nlohmann/json.hpp"
#include "tensorbraid/server.h"

namespace tensorbraid {

// Trains until told to stop. After its first steps it sends {}; on "measure" it measures so many steps and sends
// {"times_ms": […], "seconds": …} while it goes on; after "stop", or when the chief has ended a synchronous training,
// it sends what can be verified: {"runs": …, "global_step": …, "first_loss": …, "last_loss": …}.
Status RunSoftmaxWorker(JsonChannel& parent, const nlohmann::json& config, const Server& server);

// Pushes or pulls. Sends {} when all is in place; on "measure" does so many steps and sends {"times_ms": […]}; on
// "verify" compares every element of what lies on the parameter servers; ends on "stop".
Status RunTransferWorker(JsonChannel& parent, const nlohmann::json& config, const Server& server);

// {"rss_mb": …, "peak_mb": …} of this process, in 1e6 bytes.
StatusOr<nlohmann::json> MemoryOfThisProcess();

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_BENCH_TASK_H_
