// Calls a remote worker and waits for the answer.
#ifndef TENSORBRAID_CLUSTER_MASTER_AWAIT_CALL_H_
#define TENSORBRAID_CLUSTER_MASTER_AWAIT_CALL_H_

#include <chrono>
#include <functional>

#include "cluster/peer/remote_worker.h"
#include "core/threads/still_wanted.h"

namespace tensorbraid {

// Calls `worker` and blocks until the call is answered, the connection breaks, the deadline passes (DeadlineExceeded),
// or `still_wanted` returns an error. Logs the wait every `slow_wait`; `what` completes "waiting for <task> ..." in
// logs and errors.
Status AwaitCall(const RemoteWorker& worker, const char* what, std::chrono::steady_clock::time_point deadline,
                 std::chrono::milliseconds slow_wait, const StillWanted& still_wanted,
                 const std::function<void(RemoteWorker::Done)>& call);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MASTER_AWAIT_CALL_H_
