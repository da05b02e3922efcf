// What tasks say to each other. Plain structs; each transport encodes them in its own way (or not at all).
#ifndef TENSORBRAID_TRANSPORT_MESSAGES_H_
#define TENSORBRAID_TRANSPORT_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "tensorbraid/buffer.h"
#include "tensorbraid/dtype.h"
#include "tensorbraid/shape.h"
#include "tensorbraid/status.h"

namespace tensorbraid {

// A step is named by the master that runs it: incarnation of the master's task, then a counter.
struct StepId {
  uint64_t master = 0;
  uint64_t counter = 0;
  friend bool operator==(const StepId&, const StepId&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const StepId& s) {
    return H::combine(std::move(h), s.master, s.counter);
  }
};

struct SessionId {
  uint64_t master = 0;
  uint64_t counter = 0;
  friend bool operator==(const SessionId&, const SessionId&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const SessionId& s) {
    return H::combine(std::move(h), s.master, s.counter);
  }
};

// One tensor of one step: an edge between partitions, in a loop frame and iteration (both 0 outside of loops).
// Edge numbers are given by the master when it registers the partitions, and unique among those of one signature.
struct TensorKey {
  StepId step;
  uint32_t edge = 0;
  uint64_t frame = 0;
  uint64_t iteration = 0;
  friend bool operator==(const TensorKey&, const TensorKey&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const TensorKey& k) {
    return H::combine(std::move(h), k.step, k.edge, k.frame, k.iteration);
  }
};

// Bytes on their way. Sending: one piece, kept alive by `owner` until the transport has let go of it.
// Receiving: pieces in order, valid only during LinkHandler::OnMessage (owner is null unless they may be kept).
struct Payload {
  RefPtr<Buffer> owner;
  absl::InlinedVector<std::span<const std::byte>, 1> pieces;

  size_t size() const {
    size_t n = 0;
    for (const auto& p : pieces) n += p.size();
    return n;
  }
  // REQUIRES: room for size() bytes.
  void CopyTo(void* out) const;
  // Bytes [offset, offset + count), sharing the owner. REQUIRES: they lie within.
  Payload Part(size_t offset, size_t count) const;
};

// A device, as its task describes it.
struct DeviceInfo {
  std::string type;  // "CPU"
  int id = 0;        // among the task's devices of this type
  int64_t memory_limit = 0;
  uint64_t incarnation = 0;  // random, never 0, new with every start of the task
  friend bool operator==(const DeviceInfo&, const DeviceInfo&) = default;
};

// First on every link. The answer has the same form; `expected_task` is then what the asker called itself.
struct Hello {
  static constexpr uint32_t kProtocolVersion = 1;
  uint32_t protocol_version = kProtocolVersion;
  std::string task;           // "/job:worker/replica:0/task:1"
  std::string expected_task;  // whom the sender believes to be talking to; empty: anybody
  uint64_t incarnation = 0;   // random, never 0, new with every start of the task
  std::string address;        // where the sender listens, as its cluster names it
  std::vector<DeviceInfo> devices;
  // The cluster in which all these names are meant: 0 is the one that the tasks were started in, others were brought by
  // sessions (cluster/session_clusters.h). Then the caller says what it is: a ClusterDef, and which of its tasks holds
  // the session.
  uint64_t cluster = 0;
  std::string cluster_def;
  std::string cluster_master;
};

// Requests carry a number that the Reply repeats.
struct RegisterGraph {
  uint64_t request = 0;
  SessionId session;
  uint64_t handle = 0;          // chosen by the master
  std::string partition;        // a GraphDef
  bool isolated_state = false;  // the session's variables and queues are its own, not the task's
};
struct DeregisterGraph {
  SessionId session;
  uint64_t handle = 0;
};
struct CloseSession {
  SessionId session;
};
// Forgets the variables, queues and tables of these containers; of none named, those of the default one.
struct ResetContainers {
  uint64_t request = 0;
  std::vector<std::string> containers;
};
struct Reply {
  uint64_t request = 0;
  Status status;
  std::string body;
};

// Runs a registered partition. Answered by StepDone.
struct RunGraph {
  StepId step;
  SessionId session;
  uint64_t handle = 0;
  bool trace = false;  // StepDone tells when each node ran
};
struct StepDone {
  StepId step;
  Status status;
  std::string stats = {};  // of a step that is traced: a StepStats
};
// The step has failed or is no longer wanted; its partition stops and answers StepDone.
struct AbortStep {
  StepId step;
  Status reason;
};
// All partitions have stopped: forget what is kept for the step, drop what still comes.
struct EndStep {
  StepId step;
};

// What a tensor is; `bytes` is the size of its encoding on the wire.
struct TensorMeta {
  DType dtype = DType::kInvalid;
  Shape shape;
  uint64_t bytes = 0;
  bool dead = false;  // the untaken side of a Switch; no bytes
};
// A small tensor, pushed as soon as it exists.
struct EagerTensor {
  TensorKey key;
  TensorMeta meta;
  Payload payload;
};
// A tensor that waits at its producer until it is granted.
struct AnnounceTensor {
  TensorKey key;
  TensorMeta meta;
};
// The receiver is ready for this tensor: send it when it exists.
struct GrantTensor {
  TensorKey key;
};
// Granted bytes. The sender gives the whole tensor at offset 0; the transport may cut it into parts, which arrive in
// order of offset. A tensor without bytes is one part of size 0.
struct BulkTensor {
  TensorKey key;
  TensorMeta meta;
  uint64_t offset = 0;
  Payload payload;
};
// Eager bytes of this link that the sender of this message has consumed or dropped, in all.
struct EagerCredit {
  uint64_t consumed_bytes = 0;
};

struct Heartbeat {};
// The task stops on purpose, well (OK) or not; sent before its links close.
struct Leave {
  Status status;
};

using Message =
    std::variant<Heartbeat, Leave, RegisterGraph, DeregisterGraph, CloseSession, ResetContainers, Reply, RunGraph,
                 StepDone, AbortStep, EndStep, EagerTensor, AnnounceTensor, GrantTensor, BulkTensor, EagerCredit>;

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_MESSAGES_H_
