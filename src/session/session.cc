#include "tensorbraid/session/session.h"

#include <algorithm>

#include "cluster/server/task.h"
#include "cluster/trace/chrome_trace.h"
#include "core/system/clock.h"
#include "core/text/host_port.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "graph/model/fed_variables.h"
#include "graph/model/mistakes.h"
#include "graph/model/node.h"
#include "session/backend.h"
#include "session/step_profiler.h"

namespace tensorbraid {
namespace {

using Clock = MonotonicClock;

// The feeds, fetches and targets of a step, and the position of each of the caller's fetches among the tensors that the
// step returns.
struct Resolved {
  RunSignature signature;
  std::vector<int> value_of;  // for each of the caller's fetches: its position among these tensors; -1 for an operation
};

Status NotValid(const char* what, size_t i) {
  return InvalidArgument(what, " ", i, " is not valid: it was never made in a graph", TakeLoggedMistake());
}

Status CheckBelongs(const Output& tensor, const Graph& graph, const char* what) {
  if (const Status exists = NodeOf(tensor)->CheckGraphExists(); !exists.ok()) return Annotate(exists, what);
  if (tensor.graph() == &graph) return OkStatus();
  return InvalidArgument(what, " '", tensor.name(), "' belongs to another graph");
}

StatusOr<std::vector<Output>> ResolveFeeds(const Graph& graph, const std::vector<Feed>& feeds) {
  std::vector<Output> tensors;
  for (const Feed& feed : feeds) {
    Output tensor = feed.output;
    if (!feed.name.empty()) {
      TF_ASSIGN_OR_RETURN(tensor, graph.FindOutput(feed.name));
    }
    if (!tensor.valid()) return NotValid("feed", tensors.size());
    TF_RETURN_IF_ERROR(CheckBelongs(tensor, graph, "feed"));
    tensors.push_back(FedTensorOf(tensor));
  }
  return tensors;
}

StatusOr<Resolved> ResolveSignature(const Graph& graph, const std::vector<Fetch>& fetches,
                                    const std::vector<Feed>& feeds) {
  Resolved r;
  TF_ASSIGN_OR_RETURN(r.signature.feeds, ResolveFeeds(graph, feeds));
  for (const Fetch& fetch : fetches) {
    Output output = fetch.output();
    bool is_tensor = fetch.is_tensor();
    if (!fetch.name().empty()) {
      is_tensor = fetch.name().find(':') != std::string::npos;
      if (is_tensor) {
        TF_ASSIGN_OR_RETURN(output, graph.FindOutput(fetch.name()));
      } else {
        TF_ASSIGN_OR_RETURN(const Operation op, graph.FindOperation(fetch.name()));
        output = OutputOf(NodeOf(op), 0);
      }
    }
    if (!output.valid()) return NotValid("fetch", r.value_of.size());
    TF_RETURN_IF_ERROR(CheckBelongs(output, graph, "fetch"));
    if (is_tensor) {
      r.value_of.push_back(static_cast<int>(r.signature.fetches.size()));
      r.signature.fetches.push_back(output);
    } else {
      r.value_of.push_back(-1);
      r.signature.targets.push_back(output.op());
    }
  }
  return r;
}

// The address "host:port" of a target in another process; "" for a local session, and for a server in this process,
// which is called directly.
StatusOr<std::string> RemoteAddress(const std::string& target) {
  constexpr std::string_view kScheme = "grpc://";
  if (target.empty() || FindTask(target).ok()) return std::string();
  if (!target.starts_with(kScheme)) {
    return InvalidArgument("target '", target, "' must begin with 'grpc://'",
                           ParseHostPort(target).ok() ? StrCat("; did you mean 'grpc://", target, "'?")
                                                      : ", as in 'grpc://localhost:2222'");
  }
  if (target.find(':', kScheme.size()) == std::string::npos) {
    return InvalidArgument("target '", target, "': the port is missing, as in 'grpc://localhost:2222'");
  }
  return target.substr(kScheme.size());
}

// The values in the order of the caller's fetches; invalid tensors for operations.
std::vector<Tensor> InOrder(const std::vector<int>& value_of, std::vector<Tensor> values) {
  std::vector<Tensor> result(value_of.size());
  for (size_t i = 0; i < value_of.size(); ++i) {
    if (value_of[i] >= 0) result[i] = std::move(values[value_of[i]]);
  }
  return result;
}

}  // namespace

Fetch::Fetch(Operation operation) : output_(OutputOf(NodeOf(operation), 0)) {}

struct Session::Impl {
  Impl(const Graph& graph, SessionOptions options)
      : options(std::move(options)), graph(graph), operation_timeout(this->options.operation_timeout) {}

  const SessionOptions options;
  std::unique_ptr<SessionBackend> backend;
  const GraphRef graph;
  const std::chrono::milliseconds operation_timeout;
  const std::unique_ptr<StepProfiler> profiler =
      StepProfiler::FromEnvironment(options.target.empty());  // null: steps are not profiled

  Clock::time_point DeadlineOf(const RunOptions& options) const {
    const auto timeout = options.timeout.count() > 0 ? options.timeout : operation_timeout;
    return timeout.count() > 0 ? Clock::now() + timeout : Clock::time_point::max();
  }

  // Runs a step whose feeds are valid. `prepared` and `recording` may be null, and one of them is.
  StatusOr<std::vector<Tensor>> RunStep(const RunSignature& signature, const SessionBackend::Prepared* prepared,
                                        std::vector<Tensor> feeds, Clock::time_point deadline,
                                        SessionBackend::Recording* recording) {
    if (profiler != nullptr && recording == nullptr) {
      const auto run = [&](SessionBackend::Recording* profile) {
        return prepared == nullptr || profile != nullptr ? backend->Run(signature, feeds, deadline, profile)
                                                         : prepared->Run(feeds, deadline);
      };
      return profiler->Step(*graph, signature, feeds, run, [this] { return backend->TaskCpuTimes(); });
    }
    return prepared == nullptr ? backend->Run(signature, std::move(feeds), deadline, recording)
                               : prepared->Run(std::move(feeds), deadline);
  }

  // Finds the tensors and operations of a step. Does not use the values of the feeds. `user` is the name of the public
  // function that the program called, for error messages.
  StatusOr<Resolved> Resolve(std::string_view user, const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds) {
    const GraphUse use = graph.Use();
    TF_RETURN_IF_ERROR(use.CheckExists(user));
    TF_RETURN_IF_ERROR(use->status());
    return ResolveSignature(*use, fetches, feeds);
  }

  StatusOr<std::vector<std::pair<Output, Output>>> ResolveConnections(
      const std::vector<TensorConnection>& connections) {
    const GraphUse use = graph.Use();
    TF_RETURN_IF_ERROR(use.CheckExists("Session::Prepare"));
    std::vector<std::pair<Output, Output>> pairs;
    for (const auto& [from, to] : connections) {
      if (!from.valid() || !to.valid()) return NotValid("an end of connection", pairs.size());
      TF_RETURN_IF_ERROR(CheckBelongs(from, *use, "connected tensor"));
      TF_RETURN_IF_ERROR(CheckBelongs(to, *use, "connected tensor"));
      pairs.emplace_back(from, FedTensorOf(to));
    }
    return pairs;
  }
};

struct Session::Prepared::State {
  std::shared_ptr<Impl> session;
  RunSignature signature;
  std::vector<int> value_of;
  std::shared_ptr<const SessionBackend::Prepared> prepared;
};

Session::Session(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() { Close().IgnoreError(); }

StatusOr<std::unique_ptr<Session>> Session::Create(Graph& graph, SessionOptions options) {
  TF_RETURN_IF_ERROR(graph.status());
  auto impl = std::make_shared<Impl>(graph, options);
  TF_ASSIGN_OR_RETURN(const std::string address, RemoteAddress(options.target));
  if (address.empty()) {
    TF_ASSIGN_OR_RETURN(impl->backend, NewLocalBackend(graph, options));
  } else {
    TF_ASSIGN_OR_RETURN(impl->backend, NewRemoteBackend(graph, address, options));
  }
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

StatusOr<std::unique_ptr<Session>> Session::CreateAnother() const {
  TF_RETURN_IF_ERROR(impl_->graph.CheckExists("Session::CreateAnother"));
  return Create(graph(), impl_->options);
}

Status Session::Reset(const SessionOptions& options, const std::vector<std::string>& containers) {
  if (options.target.empty()) {
    return InvalidArgument(
        "Session::Reset needs a target: a local session has containers of its own, which end with it");
  }
  TF_ASSIGN_OR_RETURN(const std::string address, RemoteAddress(options.target));
  if (!address.empty()) return ResetRemote(address, options, containers);
  TF_ASSIGN_OR_RETURN(const auto task, FindTask(options.target));
  return task->master().ResetContainers(containers, options.device_filters);
}

StatusOr<std::vector<Tensor>> Session::Run(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds,
                                           const RunOptions& options, RunMetadata* metadata) {
  TF_ASSIGN_OR_RETURN(const Resolved resolved, impl_->Resolve("Session::Run", fetches, feeds));
  std::vector<Tensor> values;
  values.reserve(feeds.size());
  for (const Feed& feed : feeds) values.push_back(feed.value);
  TF_RETURN_IF_ERROR(CheckFeeds(resolved.signature, values));
  const auto deadline = impl_->DeadlineOf(options);
  SessionBackend::Recording recording{.step_stats = options.trace_level != TraceLevel::kNone,
                                      .partition_graphs = options.output_partition_graphs,
                                      .metadata = ""};
  const bool records = metadata != nullptr && (recording.step_stats || recording.partition_graphs);
  TF_ASSIGN_OR_RETURN(auto results, impl_->RunStep(resolved.signature, /*prepared=*/nullptr, std::move(values),
                                                   deadline, records ? &recording : nullptr));
  if (metadata != nullptr) *metadata = RunMetadata(std::move(recording.metadata));
  return InOrder(resolved.value_of, std::move(results));
}

StatusOr<Session::Prepared> Session::Prepare(const std::vector<Fetch>& fetches, const std::vector<Output>& feeds,
                                             const std::vector<TensorConnection>& connections) {
  std::vector<Feed> without_values;
  for (const Output& feed : feeds) without_values.emplace_back(feed, Tensor());
  TF_ASSIGN_OR_RETURN(Resolved resolved, impl_->Resolve("Session::Prepare", fetches, without_values));
  if (!connections.empty()) {
    TF_ASSIGN_OR_RETURN(resolved.signature.connections, impl_->ResolveConnections(connections));
  }
  TF_RETURN_IF_ERROR(CheckFeeds(resolved.signature, {}));
  Prepared prepared;
  TF_ASSIGN_OR_RETURN(auto ready, impl_->backend->Prepare(resolved.signature, impl_->DeadlineOf({})));
  prepared.state_ = std::make_shared<Prepared::State>(
      Prepared::State{impl_, std::move(resolved.signature), std::move(resolved.value_of), std::move(ready)});
  return prepared;
}

StatusOr<std::vector<Tensor>> Session::Prepared::Run(const std::vector<Tensor>& feeds,
                                                     const RunOptions& options) const {
  if (state_ == nullptr) return FailedPrecondition("this Prepared is empty: get one from Session::Prepare");
  TF_RETURN_IF_ERROR(state_->session->graph.CheckExists("Session::Prepared::Run"));
  if (feeds.size() != state_->signature.feeds.size()) {
    return InvalidArgument("the signature was prepared for ", state_->signature.feeds.size(), " feeds, got ",
                           feeds.size());
  }
  TF_RETURN_IF_ERROR(CheckFeeds(state_->signature, feeds));
  TF_ASSIGN_OR_RETURN(auto results,
                      state_->session->RunStep(state_->signature, state_->prepared.get(), feeds,
                                               state_->session->DeadlineOf(options), /*recording=*/nullptr));
  return InOrder(state_->value_of, std::move(results));
}

StatusOr<std::string> RunMetadata::ToChromeTrace(const ChromeTraceOptions& options) const {
  return ChromeTrace(serialized_, {.dataflow = options.show_dataflow, .memory = options.show_memory});
}

void Session::CancelRuns() { impl_->backend->CancelRuns(); }

Status Session::Close() {
  if (impl_->profiler != nullptr && impl_->graph.CheckExists("Session::Close").ok()) {
    impl_->profiler->Finish(*impl_->graph, [this] { return impl_->backend->TaskCpuTimes(); });
  }
  return impl_->backend->Close();
}

std::vector<std::string> Session::ListDevices() const { return impl_->backend->ListDevices(); }

std::vector<DeviceDescription> Session::DescribeDevices() const { return impl_->backend->DescribeDevices(); }

Graph& Session::graph(std::source_location loc) const {
  const Status exists = impl_->graph.CheckExists("Session::graph");
  if (!exists.ok()) CheckFailed(loc.file_name(), static_cast<int>(loc.line()), "graph", std::string(exists.message()));
  return *impl_->graph;
}

}  // namespace tensorbraid
