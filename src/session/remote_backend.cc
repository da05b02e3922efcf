#include <atomic>
#include <map>
#include <utility>

#include "cluster/client_service/client_errors.h"
#include "cluster/client_service/tensor_message.h"
#include "cluster/protobuf/master_service.pb.h"
#include "cluster/protobuf/proto_io.h"
#include "core/system/clock.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "graph/format/graph.pb.h"
#include "graph/format/tensor_proto.h"
#include "graph/model/graph_impl.h"
#include "session/backend.h"
#include "transport/grpc/call_client.h"

namespace tensorbraid {
namespace {

// A call is retried for this long while the server cannot be reached, then fails with Unavailable.
constexpr std::chrono::seconds kConnectTimeout{10};
// Short, so that Close() does not wait long for a server that has stopped.
constexpr std::chrono::seconds kCloseTimeout{5};

// Copies feeds in memory of the caller: a message may be sent until after the call, if the call is cancelled.
void CopyBorrowed(std::vector<Tensor>* feeds) {
  for (Tensor& feed : *feeds) {
    if (feed.IsBorrowed()) feed = feed.DeepCopy();
  }
}

// Calls the MasterService of a server over gRPC.
class RemoteBackend final : public SessionBackend {
 public:
  RemoteBackend(const Graph& graph, const std::string& address, const SessionOptions& options,
                std::unique_ptr<CallClient> client)
      : graph_(graph), address_(address), client_(std::move(client)) {
    config_.set_allow_soft_placement(options.allow_soft_placement);
    config_.set_log_device_placement(options.log_device_placement);
    config_.set_operation_timeout_in_ms(options.operation_timeout.count());
    config_.set_isolate_session_state(options.isolate_session_state);
    for (const std::string& filter : options.device_filters) config_.add_device_filters(filter);
    if (!options.cluster.empty()) config_.mutable_cluster_def()->ParseFromString(options.cluster.ToClusterDef());
  }

  Status Create() {
    const int64_t timeout_ms = config_.operation_timeout_in_ms();
    return SyncGraph(timeout_ms > 0 ? MonotonicClock::now() + std::chrono::milliseconds(timeout_ms) : Deadline::max());
  }

  StatusOr<std::shared_ptr<const Prepared>> Prepare(const RunSignature& signature, Deadline deadline) override {
    TF_RETURN_IF_ERROR(SyncGraph(deadline));
    proto::MakeCallableRequest request;
    request.set_session_handle(handle_);
    for (const Output& o : signature.feeds) request.mutable_options()->add_feed(o.name());
    for (const Output& o : signature.fetches) request.mutable_options()->add_fetch(o.name());
    for (const Operation& o : signature.targets) request.mutable_options()->add_target(o.name());
    for (const auto& [from, to] : signature.connections) {
      auto& connection = *request.mutable_options()->add_tensor_connection();
      connection.set_from_tensor(from.name());
      connection.set_to_tensor(to.name());
    }
    proto::MakeCallableResponse response;
    TF_RETURN_IF_ERROR(Ask("MakeCallable", request, &response, deadline));
    return std::make_shared<Callable>(*this, response.handle(), signature.fetches.size());
  }

  StatusOr<std::vector<Tensor>> Run(const RunSignature& signature, std::vector<Tensor> feeds, Deadline deadline,
                                    Recording* recording) override {
    TF_RETURN_IF_ERROR(SyncGraph(deadline));
    proto::RunStepRequest request;
    request.set_session_handle(handle_);
    request.set_store_errors_in_response_body(true);
    if (recording != nullptr) {
      if (recording->step_stats) request.mutable_options()->set_trace_level(proto::RunOptions::FULL_TRACE);
      request.mutable_options()->set_output_partition_graphs(recording->partition_graphs);
    }
    for (const Output& o : signature.fetches) request.add_fetch(o.name());
    for (const Operation& o : signature.targets) request.add_target(o.name());
    MessageParts parts = SerializeMessage(request);
    CopyBorrowed(&feeds);
    for (size_t i = 0; i < feeds.size(); ++i) {
      AppendNamedTensor(proto::RunStepRequest::kFeedFieldNumber, signature.feeds[i].name(), feeds[i], &parts);
    }
    TF_ASSIGN_OR_RETURN(const Payload answer, AskForBytes("RunStep", parts, deadline));
    std::string rest;
    TF_ASSIGN_OR_RETURN(const auto fetches, TakeFields(answer, proto::RunStepResponse::kTensorFieldNumber, &rest));
    proto::RunStepResponse response;
    if (!response.ParseFromString(rest)) return Internal("the server's answer to RunStep cannot be parsed");
    if (response.status_code() != 0) {
      return CancelledIfClosed(
          ServerError(Status(static_cast<absl::StatusCode>(response.status_code()), response.status_error_message())));
    }
    std::map<std::string, Tensor> by_name;
    for (const Payload& fetch : fetches) {
      std::string name;
      TF_ASSIGN_OR_RETURN(Tensor value, ReadNamedTensor(fetch, &name));
      by_name[name] = std::move(value);
    }
    std::vector<Tensor> values;
    for (const Output& o : signature.fetches) {
      const auto it = by_name.find(o.name());
      if (it == by_name.end()) return Internal("the server did not return fetch '", o.name(), "'");
      values.push_back(it->second);
    }
    if (recording != nullptr) recording->metadata = response.metadata().SerializeAsString();
    return values;
  }

  void CancelRuns() override { client_->CancelRunning(); }
  Status Close() override {
    if (closed_.exchange(true)) return OkStatus();
    proto::CloseSessionRequest request;
    request.set_session_handle(handle_);
    proto::CloseSessionResponse response;
    const Status status =
        AskServer("CloseSession", SerializeMessage(request), &response, MonotonicClock::now() + kCloseTimeout);
    client_->Cancel();
    // If the server has stopped or no longer knows the session, it holds no state of the session.
    return absl::IsUnavailable(status) || absl::IsAborted(status) ? OkStatus() : status;
  }

  std::vector<std::string> ListDevices() override {
    std::vector<std::string> names;
    for (DeviceDescription& device : DescribeDevices()) names.push_back(std::move(device.name));
    return names;
  }
  std::vector<DeviceDescription> DescribeDevices() override {
    proto::ListDevicesRequest request;
    request.set_session_handle(handle_);
    proto::ListDevicesResponse response;
    const Status status = Ask("ListDevices", request, &response, MonotonicClock::now() + kConnectTimeout);
    if (!status.ok()) {
      TB_LOG(Warning, "session") << "cannot list the devices: " << ToString(status);
    }
    std::vector<DeviceDescription> devices;
    for (const auto* list : {&response.local_device(), &response.remote_device()}) {
      for (const auto& d : *list) {
        devices.push_back({.name = d.name(),
                           .type = d.device_type(),
                           .memory_limit = d.memory_limit(),
                           .incarnation = d.incarnation(),
                           .physical = d.physical_device_desc()});
      }
    }
    return devices;
  }

 private:
  // TensorFlow's name for a prepared step.
  class Callable final : public Prepared {
   public:
    Callable(const RemoteBackend& backend, int64_t handle, size_t num_fetches)
        : backend_(backend), handle_(handle), num_fetches_(num_fetches) {}
    StatusOr<std::vector<Tensor>> Run(std::vector<Tensor> feeds, Deadline deadline) const override {
      proto::RunCallableRequest request;
      request.set_session_handle(backend_.handle_);
      request.set_handle(handle_);
      MessageParts parts = SerializeMessage(request);
      CopyBorrowed(&feeds);
      for (const Tensor& feed : feeds) AppendTensor(proto::RunCallableRequest::kFeedFieldNumber, feed, &parts);
      TF_ASSIGN_OR_RETURN(const Payload answer, backend_.AskForBytes("RunCallable", parts, deadline));
      std::string rest;
      TF_ASSIGN_OR_RETURN(const auto fetches, TakeFields(answer, proto::RunCallableResponse::kFetchFieldNumber, &rest));
      if (fetches.size() != num_fetches_) {
        return Internal("the server returned ", fetches.size(), " fetches, expected ", num_fetches_);
      }
      std::vector<Tensor> values;
      for (const Payload& fetch : fetches) {
        TF_ASSIGN_OR_RETURN(Tensor value, ReadTensor(fetch));
        values.push_back(std::move(value));
      }
      return values;
    }

   private:
    const RemoteBackend& backend_;
    const int64_t handle_;
    const size_t num_fetches_;
  };

  Status Ask(const std::string& method, const google::protobuf::MessageLite& request,
             google::protobuf::MessageLite* response, Deadline deadline) {
    return Ask(method, SerializeMessage(request), response, deadline);
  }
  Status Ask(const std::string& method, const MessageParts& request, google::protobuf::MessageLite* response,
             Deadline deadline) {
    return CancelledIfClosed(AskServer(method, request, response, deadline));
  }
  // For answers with tensors: returns the bytes, so that tensors are read without a copy of the message.
  StatusOr<Payload> AskForBytes(const std::string& method, const MessageParts& request, Deadline deadline) const {
    CallClient::Result result = client_->Ask("/tensorflow.MasterService/" + method, request, deadline);
    if (!result.status.ok()) return CancelledIfClosed(ErrorOf(result));
    return std::move(result.answer);
  }
  // If the session has been closed, returns Cancelled instead of Aborted: the server may delete a closed session before
  // it receives a call that was made earlier, and then answers Aborted.
  Status CancelledIfClosed(Status status) const {
    return absl::IsAborted(status) && closed_ ? Cancelled("the session is closed") : status;
  }
  Status AskServer(const std::string& method, const MessageParts& request, google::protobuf::MessageLite* response,
                   Deadline deadline) {
    const CallClient::Result result = client_->Ask("/tensorflow.MasterService/" + method, request, deadline);
    TF_RETURN_IF_ERROR(ErrorOf(result));
    if (!ParseMessage(result.answer, response)) return Internal("the server's answer to ", method, " cannot be parsed");
    return OkStatus();
  }

  Status ServerError(const Status& answer) const {
    const Status error = FromClientError(answer);
    // A server that was restarted does not know the session.
    return absl::IsAborted(error) ? Annotate(error, "grpc://" + address_) : error;
  }
  // The error of a call that failed: the server's answer, or why there is none. OK if the call succeeded.
  Status ErrorOf(const CallClient::Result& result) const {
    if (result.status.ok() || result.from_server) return ServerError(result.status);
    // The handle of a session begins with the task of its master: "worker/0#...".
    const size_t end = handle_.find('#');
    const std::string master = StrCat(end == std::string::npos ? "the master" : "the master " + handle_.substr(0, end),
                                      " at grpc://", address_);
    if (absl::IsDeadlineExceeded(result.status)) {
      return DeadlineExceeded(master, " has not answered by the deadline");
    }
    if (absl::IsUnavailable(result.status) && !handle_.empty()) {
      return Unavailable(master, " is lost (", result.status.message(), "): make a new session when it is back");
    }
    return result.status;
  }

  // Sends the nodes that were added to the graph since the last call. The first call creates the session on the server.
  Status SyncGraph(Deadline deadline) {
    MutexLock lock(mu_);
    if (closed_) return Cancelled("the session is closed");
    size_t count = 0;
    std::string graph;
    {
      const GraphUse use = graph_.Use();
      TF_RETURN_IF_ERROR(use.CheckExists("a step"));
      count = ImplOf(*use).nodes().size();
      if (count == known_nodes_ && !handle_.empty()) return OkStatus();
      TF_ASSIGN_OR_RETURN(graph, use->ToGraphDef());
    }
    TF_RETURN_IF_ERROR(Extend(std::move(graph), deadline));
    known_nodes_ = count;
    return OkStatus();
  }

  // Sends the nodes of `graph`, a GraphDef, from index known_nodes_ on.
  Status Extend(std::string graph, Deadline deadline) TB_REQUIRES(mu_) {
    if (handle_.empty()) {
      proto::CreateSessionRequest request;
      request.set_graph_def(std::move(graph));
      *request.mutable_config() = config_;
      request.set_target("grpc://" + address_);
      proto::CreateSessionResponse response;
      TF_RETURN_IF_ERROR(Ask("CreateSession", request, &response, deadline));
      handle_ = response.session_handle();
      version_ = response.graph_version();
    } else {
      proto::GraphDef def;
      if (!def.ParseFromString(graph)) return Internal("the serialized graph cannot be parsed");
      def.mutable_node()->DeleteSubrange(0, static_cast<int>(known_nodes_));
      proto::ExtendSessionRequest request;
      request.set_session_handle(handle_);
      request.set_graph_def(def.SerializeAsString());
      request.set_current_graph_version(version_);
      proto::ExtendSessionResponse response;
      TF_RETURN_IF_ERROR(Ask("ExtendSession", request, &response, deadline));
      version_ = response.new_graph_version();
    }
    return OkStatus();
  }

  const GraphRef graph_;
  const std::string address_;
  const std::unique_ptr<CallClient> client_;
  proto::ConfigProto config_;
  Mutex mu_;
  std::string handle_;  // constant after Create()
  int64_t version_ TB_GUARDED_BY(mu_) = 0;
  size_t known_nodes_ TB_GUARDED_BY(mu_) = 0;
  std::atomic<bool> closed_{false};
};

}  // namespace

StatusOr<std::unique_ptr<SessionBackend>> NewRemoteBackend(const Graph& graph, const std::string& address,
                                                           const SessionOptions& options) {
  TF_ASSIGN_OR_RETURN(auto client,
                      NewGrpcCallClient(address, kConnectTimeout, options.tls, options.token_file, options.insecure));
  auto backend = std::make_unique<RemoteBackend>(graph, address, options, std::move(client));
  TF_RETURN_IF_ERROR(backend->Create());
  return backend;
}

Status ResetRemote(const std::string& address, const SessionOptions& options,
                   const std::vector<std::string>& containers) {
  TF_ASSIGN_OR_RETURN(const auto client,
                      NewGrpcCallClient(address, kConnectTimeout, options.tls, options.token_file, options.insecure));
  proto::ResetRequest request;
  for (const std::string& container : containers) request.add_container(container);
  for (const std::string& filter : options.device_filters) request.add_device_filters(filter);
  const auto timeout = options.operation_timeout;
  const auto deadline = timeout.count() > 0 ? MonotonicClock::now() + timeout : MonotonicClock::time_point::max();
  const auto result = client->Ask("/tensorflow.MasterService/Reset", SerializeMessage(request), deadline);
  return result.from_server ? FromClientError(result.status) : result.status;
}

}  // namespace tensorbraid
