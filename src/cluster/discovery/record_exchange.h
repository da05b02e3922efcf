// How the processes of a job tell each other where they listen.
#ifndef TENSORBRAID_CLUSTER_DISCOVERY_RECORD_EXCHANGE_H_
#define TENSORBRAID_CLUSTER_DISCOVERY_RECORD_EXCHANGE_H_

#include <functional>
#include <memory>
#include <vector>

#include "cluster/registry/process_record.h"
#include "cluster/registry/running_watch.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

class RecordExchange {
 public:
  // An exchange that serves others keeps serving until it is destroyed.
  virtual ~RecordExchange() = default;
  // Gives `own` to the other processes and blocks until all have given theirs. Returns the records of all, by rank.
  // Call once. DeadlineExceeded if processes are missing after the timeout of the exchange; the message names them if
  // the exchange knows them.
  virtual StatusOr<std::vector<NamedRecord>> Gather(const NamedRecord& own) = 0;

  using Changed = std::function<void(const std::vector<NamedRecord>& all)>;
  // Calls `changed` with the records of all whenever one of them has changed since Gather. Null if this exchange ends
  // with Gather. REQUIRES: Gather has succeeded.
  virtual std::unique_ptr<RunningWatch> StartWatch(Changed changed) {
    static_cast<void>(changed);
    return nullptr;
  }
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_DISCOVERY_RECORD_EXCHANGE_H_
