// The messages between tasks, as plain structs. Each transport encodes them in its own way, or not at all. The messages
// that links exchange among themselves are in link_messages.h. How tensors are announced, granted and sent is described
// in cluster/exchange/exchange.h.
#ifndef TENSORBRAID_TRANSPORT_MESSAGES_H_
#define TENSORBRAID_TRANSPORT_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "tensorbraid/core/buffer.h"
#include "tensorbraid/core/dtype.h"
#include "tensorbraid/core/shape.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Identifies a step: the incarnation of the task whose master runs it, and a counter of that master.
struct StepId {
  uint64_t master = 0;
  uint64_t counter = 0;
  friend bool operator==(const StepId&, const StepId&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const StepId& s) {
    return H::combine(std::move(h), s.master, s.counter);
  }
};

// Identifies a session, in the same way as a StepId a step.
struct SessionId {
  uint64_t master = 0;
  uint64_t counter = 0;
  friend bool operator==(const SessionId&, const SessionId&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const SessionId& s) {
    return H::combine(std::move(h), s.master, s.counter);
  }
};

// Identifies one tensor of one step: an edge between partitions, with the loop frame and iteration (both 0 outside of
// loops). The master assigns edge numbers when it registers the partitions; they are unique within one signature.
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

// The bytes that a message carries. When sending: pieces, which `owner` keeps alive until the transport releases it.
// Several pieces that neighbours may map belong to the members of a BufferGroup. When receiving: consecutive pieces.
// They are valid only during LinkHandler::OnMessage, unless `owner` is set: then they are valid as long as it is held.
struct Payload {
  RefPtr<Buffer> owner;
  absl::InlinedVector<std::span<const std::byte>, 1> pieces;

  size_t size() const {
    size_t n = 0;
    for (const auto& p : pieces) n += p.size();
    return n;
  }
  // REQUIRES: `out` has room for size() bytes.
  void CopyTo(void* out) const;
  // Bytes [offset, offset + count), sharing the owner. REQUIRES: offset + count <= size().
  Payload Part(size_t offset, size_t count) const;
};

// A device, as described by its task.
struct DeviceInfo {
  std::string type;          // "CPU"
  int id = 0;                // among the task's devices of this type
  int64_t memory_limit = 0;  // bytes
  uint64_t incarnation = 0;  // random, never 0, new with every start of the task
  friend bool operator==(const DeviceInfo&, const DeviceInfo&) = default;
};

// What a Hello says about one kind of side lane (side_lane/lane_kind.h). The connecting side offers its kinds; the
// accepting side answers one of them, or none.
struct LaneOffer {
  std::string kind;
  std::string word;  // the meaning is up to the kind
  bool is_answer = false;
};

// The first message on every link. The answer has the same form; its `expected_task` is the connecting task's name.
struct Hello {
  static constexpr uint32_t kProtocolVersion = 7;
  uint32_t protocol_version = kProtocolVersion;
  std::string task;           // "/job:worker/replica:0/task:1"
  std::string expected_task;  // the task that the sender expects at the other end; empty: any task
  uint64_t incarnation = 0;   // random, never 0, new with every start of the task
  std::string address;        // where the sender listens, as its cluster writes it
  std::vector<DeviceInfo> devices;
  // The cluster that the task names belong to: 0 is the cluster that the tasks were started in; any other was brought
  // by a session (cluster/server/session_clusters.h). In that case the connecting side also describes the cluster:
  // `cluster_def` is its ClusterDef and `cluster_master` the task that holds the session.
  uint64_t cluster = 0;
  std::string cluster_def;
  std::string cluster_master;
  std::vector<LaneOffer> lanes;
};

// Gives a task the graph of a partition that it will run. RegisterGraph, ResetContainers and GetReport carry a request
// number, which the Reply to them repeats.
struct RegisterGraph {
  uint64_t request = 0;
  SessionId session;
  uint64_t handle = 0;          // chosen by the master
  std::string partition;        // a GraphDef, or the end of one that began in GraphParts
  bool isolated_state = false;  // the session's variables and queues are its own, not the task's
  bool limited_files = false;   // the session's client is on another machine: its graphs may use certain files only
};
// The beginning of the graph of a RegisterGraph that has more than kMaxGraphPartBytes. Any number of parts may come
// before the RegisterGraph, which carries the end; all of them have its request number. Heartbeats pass between them,
// however large the graph is.
inline constexpr size_t kMaxGraphPartBytes = size_t{1} << 20;
struct GraphPart {
  uint64_t request = 0;
  std::string bytes;
};
struct DeregisterGraph {
  SessionId session;
  uint64_t handle = 0;
};
struct CloseSession {
  SessionId session;
};
// Deletes the variables, queues and tables of these containers, or of the default container when none is named.
struct ResetContainers {
  uint64_t request = 0;
  std::vector<std::string> containers;
};
// Asks the task what it does. The body of the Reply is a TaskAnswer (cluster/protobuf/report.proto).
struct GetReport {
  uint64_t request = 0;
  // If not 0, the answer also has the reports of clusters that sessions brought, and is sent within about this time. In
  // the cluster that the task was started in, these are the clusters whose master the task is. In the cluster of a
  // session, it is this cluster, if the task is its master.
  uint32_t session_clusters_within_ms = 0;
  // If not 0, the answer is the report of all tasks of the cluster in which the task was started, and is sent within
  // about this time. A worker asks a parameter server this, which is connected with all tasks already.
  uint32_t whole_cluster_within_ms = 0;
};
// Answers a RegisterGraph, ResetContainers or GetReport. `body` is empty except for a GetReport.
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
  bool trace = false;  // StepDone reports when each node ran
};
struct StepDone {
  StepId step;
  Status status;
  std::string stats = {};  // a StepStats if the step is traced, else empty
};
// The step has failed or is no longer needed. The partition stops and still answers with StepDone.
struct AbortStep {
  StepId step;
  Status reason;
};
// All partitions have stopped. The receiver deletes the state of the step and drops messages of it that still arrive.
struct EndStep {
  StepId step;
};

// Describes a tensor; `bytes` is the size of its encoding on the wire.
struct TensorMeta {
  DType dtype = DType::kInvalid;
  Shape shape;
  uint64_t bytes = 0;
  bool dead = false;  // from the branch of a Switch that was not taken; has no bytes
};
// A small tensor, pushed as soon as it exists.
struct EagerTensor {
  TensorKey key;
  TensorMeta meta;
  Payload payload;
};
// A tensor that stays with its producer until the receiver grants it.
struct AnnounceTensor {
  TensorKey key;
  TensorMeta meta;
};
// The receiver is ready for this tensor. The producer sends it as soon as it exists.
struct GrantTensor {
  TensorKey key;
};
// The bytes of a granted tensor. The sender passes the whole tensor at offset 0; the transport may split it into parts.
// The parts of a tensor arrive in order of offset; parts of other tensors may arrive between them. A tensor without
// bytes is one part of size 0.
struct BulkTensor {
  TensorKey key;
  TensorMeta meta;
  uint64_t offset = 0;
  Payload payload;
};
// The total number of bytes of EagerTensors, received on this link, that the sender of this message has consumed or
// dropped.
struct EagerCredit {
  uint64_t consumed_bytes = 0;
};

struct Heartbeat {
  bool only_serves = false;  // the sender has no work of its own: it waits in Server::Join
};
// The task stops on purpose, after success (OK) or because of an error. Sent before the task closes its links.
struct Leave {
  Status status;
};
// A parameter server tells a worker that only serves, once: the work of the cluster is over (Server::Join). The worker
// has no connection to the tasks that worked.
struct WorkOver {
  Status how;  // what Server::Join of the worker returns
};

using MessageVariant = std::variant<Heartbeat, Leave, GraphPart, RegisterGraph, DeregisterGraph, CloseSession,
                                    ResetContainers, Reply, RunGraph, StepDone, AbortStep, EndStep, EagerTensor,
                                    AnnounceTensor, GrantTensor, BulkTensor, EagerCredit, GetReport, WorkOver>;

template <typename T, typename Variant>
inline constexpr bool kIsKindOf = false;
template <typename T, typename... Kinds>
inline constexpr bool kIsKindOf<T, std::variant<Kinds...>> = (std::is_same_v<T, Kinds> || ...);
template <typename T>
concept MessageKind = kIsKindOf<T, MessageVariant>;

// A message of any kind, which is what a LinkHandler gets. std::get_if, std::holds_alternative and std::visit take it
// like a std::variant. Its members are not inline: each file that copies, moves or destroys a variant would compile
// functions for all of these kinds.
class Message : public MessageVariant {
 public:
  template <MessageKind Kind>
  Message(Kind message);
  Message(const Message&);
  Message(Message&&) noexcept;
  Message& operator=(const Message&);
  Message& operator=(Message&&) noexcept;
  ~Message();
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_MESSAGES_H_
