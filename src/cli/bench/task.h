// The work of the tasks of a benchmark. Each task gets messages {"do": …} from the process that started it.
#ifndef TENSORBRAID_CLI_BENCH_TASK_H_
#define TENSORBRAID_CLI_BENCH_TASK_H_

#include "cli/bench/cluster.h"
#include "nlohmann/json.hpp"
#include "tensorbraid/cluster/server.h"

namespace tensorbraid {

// Trains a model until told to stop. Sends {} after its warm-up steps. On "measure" it measures the next "steps" steps,
// sends {"times_ms": […], "seconds": …} and continues to train. At the end (after "stop", or when the chief has ended a
// synchronous training) it sends the values to verify: {"runs": …, "first_loss": …}, and from the chief also
// "global_step" and "last_loss".
Status RunTrainingWorker(JsonChannel& parent, const nlohmann::json& config, const Server& server);

// Pushes or pulls. Sends {"bytes": …}, the size of the variables, when it is ready. On "measure" it runs "steps" steps
// and sends {"times_ms": […], "local_times_ms": […]}. On "use" it sends UseOfThisProcess(). On "verify" it checks every
// element on the parameter servers and sends {"background_steps": …}. Ends on "stop".
Status RunTransferWorker(JsonChannel& parent, const nlohmann::json& config, const Server& server);

// Saves (worker 0) or trains (worker 1) the same variables. When it is ready, worker 0 sends {"bytes": …}, the size of
// the variables, and worker 1 sends {}. Worker 0: on "save" saves "times" times and sends {"seconds": […]}; on "verify"
// checks every element of the last checkpoint. Worker 1: on "start" makes its session; on "measure" runs "steps" steps
// and sends {"times_ms": […]}; on "begin" begins to train on another thread; on "end" stops that and sends
// {"times_ms": […]} of its steps. Both end on "stop".
Status RunSaveWorker(JsonChannel& parent, const nlohmann::json& config, const Server& server);

// Trains a model for "steps" steps without a cluster, on one thread, and sends {"median_ms": …}.
Status RunLocalTraining(JsonChannel& parent, const nlohmann::json& config);

// Repeats the step of steps.h. Worker 0 makes its session and then sends {}. The other workers send {} at once, and
// make their sessions on "start". On "measure" runs "steps" steps and sends {"times_ms": […]}. On "use" it sends
// UseOfThisProcess(). On "verify" it checks the values after "steps" steps. Ends on "stop".
Status RunStepWorker(JsonChannel& parent, const nlohmann::json& config, const Server& server);

// {"rss_mb": …, "peak_mb": …, "cpu_ms": …} of this process: memory in 1e6 bytes, and the CPU time so far.
StatusOr<nlohmann::json> UseOfThisProcess();
// Resets the peak to the memory that the process has now.
Status ForgetPeakOfMemory();

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_BENCH_TASK_H_
