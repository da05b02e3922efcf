// How the processes of a job tell each other where they listen.
#ifndef TENSORBRAID_CLUSTER_DISCOVERY_RECORD_EXCHANGE_H_
#define TENSORBRAID_CLUSTER_DISCOVERY_RECORD_EXCHANGE_H_

#include <vector>

#include "cluster/registry/process_record.h"
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
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_DISCOVERY_RECORD_EXCHANGE_H_
