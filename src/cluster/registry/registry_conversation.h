// What a process says to its registry, and what it has learned there.
#ifndef TENSORBRAID_CLUSTER_REGISTRY_REGISTRY_CONVERSATION_H_
#define TENSORBRAID_CLUSTER_REGISTRY_REGISTRY_CONVERSATION_H_

#include <memory>
#include <string>
#include <vector>

#include "cluster/protobuf/registry.pb.h"
#include "cluster/registry/process_record.h"
#include "cluster/registry/seal.h"
#include "core/system/clock.h"
#include "transport/calls.h"

namespace tensorbraid {

// Copies continue from the same knowledge, as the same process. Not thread-safe.
class RegistryConversation {
 public:
  RegistryConversation(const std::string& job, const NamedRecord& own, std::shared_ptr<Seal> seal);

  enum class News {
    kNone,           // nothing has changed, or processes are missing: see missing()
    kOtherRegistry,  // the registry was not known yet, or has been started again: nothing is registered there yet
    kRecords,        // records() have changed
  };
  // Registers the process, and learns what has changed. Blocks until the registry answers: with `wait`, once something
  // has changed and no process is missing; otherwise at once. The errors of the call and of the registry otherwise;
  // Internal for an answer that no registry gives.
  StatusOr<News> Ask(CallClient* client, bool wait, MonotonicClock::time_point deadline);

  // Of all processes, in the order of the registry. Empty before the first kRecords.
  const std::vector<NamedRecord>& records() const { return records_; }
  // The processes that were missing at the last answer.
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  StatusOr<proto::RegisterAnswer> Call(CallClient* client, MonotonicClock::time_point deadline);
  // Returns whether a record is another one now.
  bool Learn(const proto::RegisterAnswer& answer);

  const std::shared_ptr<Seal> seal_;
  proto::RegisterRequest request_;
  std::vector<NamedRecord> records_;
  std::vector<std::string> missing_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_REGISTRY_REGISTRY_CONVERSATION_H_
