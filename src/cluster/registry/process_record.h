// What each process of a job tells the others before they form a cluster.
#ifndef TENSORBRAID_CLUSTER_REGISTRY_PROCESS_RECORD_H_
#define TENSORBRAID_CLUSTER_REGISTRY_PROCESS_RECORD_H_

#include <string>
#include <string_view>
#include <vector>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

namespace proto {
class ProcessRecord;
}

struct ProcessRecord {
  // The name or address under which other machines reach the process, without a port.
  std::string host = "";
  // Equal for processes that reach each other over loopback. It has no other meaning.
  std::string node = "";
  int port = 0;
  // Of the library: "0.1.0".
  std::string version = "";
  // The SHA-256 of the program, in hexadecimal.
  std::string program = "";
  // The process may come back on another machine, so those that stay must have addresses that machines reach. Only a
  // process whose server may listen for other machines says so.
  bool may_move = false;

  friend bool operator==(const ProcessRecord&, const ProcessRecord&) = default;
};

proto::ProcessRecord ToProto(const ProcessRecord& record);
ProcessRecord FromProto(const proto::ProcessRecord& message);

// A text of letters, digits, '-' and '_' for exchanges that carry texts, and its inverse. InvalidArgument for another
// text.
std::string EncodeRecord(const ProcessRecord& record);
StatusOr<ProcessRecord> DecodeRecord(std::string_view text);

// InvalidArgument for a record without a host or with a port that does not exist.
Status CheckRecord(const ProcessRecord& record);

// A process with its name in the job.
struct NamedRecord {
  std::string name;  // "worker/1" or "rank 3"
  ProcessRecord record;
};

// FailedPrecondition if the two have different versions of the library or different programs. Names both hosts.
Status CheckSameProgram(const NamedRecord& a, const NamedRecord& b);

// The address of each process, "host:port", in the same order: on loopback if all run on one node, unless all of them
// may move.
std::vector<std::string> AddressesOf(const std::vector<ProcessRecord>& records);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_REGISTRY_PROCESS_RECORD_H_
