// The methods of MasterService that prepare and run steps.
#include <algorithm>
#include <utility>
#include <vector>

#include "cluster/client_service/client_errors.h"
#include "cluster/client_service/client_session.h"
#include "cluster/client_service/tensor_message.h"
#include "cluster/master/master_step.h"
#include "cluster/protobuf/master_service.pb.h"
#include "cluster/protobuf/proto_io.h"
#include "cluster/trace/step_stats.h"
#include "core/system/clock.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

using Clock = MonotonicClock;
using Deadline = MasterSession::Deadline;

// The deadline of a step with a timeout of `ms`, or of `default_timeout` if `ms` is not positive. The client's own call
// has the same timeout and started a little earlier. So the step ends a twentieth (2 to 50 ms) before the timeout, and
// the answer, which says what happened, still reaches the client.
Deadline DeadlineAfter(int64_t ms, std::chrono::milliseconds default_timeout) {
  if (ms <= 0) ms = default_timeout.count();
  if (ms <= 0 || ms > int64_t{1} << 40) return Deadline::max();
  const int64_t before = std::min(ms / 2, std::clamp<int64_t>(ms / 20, 2, 50));
  return Clock::now() + std::chrono::milliseconds(ms - before);
}

// Like TensorFlow, reads "x" as "x:0" and reports a malformed tensor name as NotFound.
StatusOr<Output> FindTensor(const Graph& graph, const std::string& name) {
  const size_t colon = name.find_last_not_of("0123456789");
  const bool has_index = colon != std::string::npos && name[colon] == ':' && colon + 1 < name.size();
  if (!has_index && name.find(':') != std::string::npos) return NotFound("tensor '", name, "' does not exist");
  return graph.FindOutput(has_index ? name : name + ":0");
}

template <typename Names>
Status FindTensors(const Graph& graph, const Names& names, std::vector<Output>* out) {
  for (const auto& name : names) {
    TF_ASSIGN_OR_RETURN(const Output output, FindTensor(graph, name));
    out->push_back(output);
  }
  return OkStatus();
}

// In a call of a partial run, a tensor that does not exist is reported like a tensor that was not set up.
Status NotSetUpIf(bool is_part, const char* what, const Status& found) {
  if (found.ok() || !is_part) return found;
  return InvalidArgument(found.message(), ": the ", what, " was not specified in partial_run_setup.");
}

template <typename Names>
Status FindTargets(const Graph& graph, const Names& names, std::vector<Operation>* out) {
  for (const std::string& name : names) {
    // Accepts "x:0" and "^x" too.
    std::string_view op = name;
    if (op.starts_with('^')) op.remove_prefix(1);
    TF_ASSIGN_OR_RETURN(const Operation target, graph.FindOperation(op.substr(0, op.find(':'))));
    out->push_back(target);
  }
  return OkStatus();
}

template <typename Connections>
Status FindConnections(const Graph& graph, const Connections& connections, RunSignature* signature) {
  for (const auto& connection : connections) {
    const auto from = FindTensor(graph, connection.from_tensor());
    if (!from.ok()) return InvalidArgument("bad tensor_connection: ", from.status().message());
    TF_ASSIGN_OR_RETURN(const Output to, FindTensor(graph, connection.to_tensor()));
    signature->connections.emplace_back(*from, to);
  }
  return OkStatus();
}

Status CheckNotEmpty(const RunSignature& signature) {
  if (!signature.fetches.empty() || !signature.targets.empty()) return OkStatus();
  return InvalidArgument("the step has nothing to do: specify at least one target to fetch or execute.");
}

StatusOr<ClientRunOptions> ClientRunOptionsFrom(const proto::RunOptions& options) {
  if (const auto& watches = options.debug_options().debug_tensor_watch_opts(); !watches.empty()) {
    return Unimplemented("RunOptions.debug_options watches '", watches[0].node_name(), ":", watches[0].output_slot(),
                         "' and ", watches.size() - 1,
                         " more tensors, but this server does not support the TensorFlow debugger (tfdbg): run without "
                         "its wrapper or hook, and fetch the tensors instead");
  }
  return ClientRunOptions{.timeout_ms = options.timeout_in_ms(),
                          .trace = options.trace_level() != proto::RunOptions::NO_TRACE,
                          .partition_graphs = options.output_partition_graphs()};
}

}  // namespace

void MasterService::Running::Apply(const ClientRunOptions& options) {
  deadline = DeadlineAfter(options.timeout_ms, session->session->options().operation_timeout);
  // The client may have set a deadline for this call alone.
  if (call->deadline() != Deadline::max()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(call->deadline() - Clock::now());
    deadline = std::min(deadline, DeadlineAfter(std::max<int64_t>(left.count(), 1), {}));
  }
  trace = options.trace;
  partition_graphs = options.partition_graphs;
}

void MasterService::Running::Finish(const StatusOr<std::vector<Tensor>>& result) {
  if (answered.exchange(true)) return;
  if (result.ok()) {
    MessageParts answer = write(*result);
    // RunCallableResponse has the same field number.
    if (!metadata.empty()) {
      AppendMessage(proto::RunStepResponse::kMetadataFieldNumber, std::move(metadata), &answer);
    }
    return call->Answer(std::move(answer));
  }
  const Status error = ToClientError(result.status());
  if (!errors_in_body) return call->Fail(error);
  proto::RunStepResponse response;
  response.set_status_code(static_cast<int32_t>(error.code()));
  response.set_status_error_message(std::string(error.message()));
  AnswerCall(call, response);
}

void MasterService::RunStep(const std::shared_ptr<Call>& call) {
  proto::RunStepRequest request;
  std::vector<Payload> tensors;
  if (!ReadRequestWithTensors(call, proto::RunStepRequest::kFeedFieldNumber, &request, &tensors)) return;
  auto run = std::make_shared<Running>();
  run->call = call;
  run->errors_in_body = request.store_errors_in_response_body();
  const Status prepared = [&]() -> Status {
    TF_ASSIGN_OR_RETURN(run->session, FindSession(request.session_handle()));
    std::vector<std::string> feeds(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      TF_ASSIGN_OR_RETURN(Tensor value, ReadNamedTensor(tensors[i], &feeds[i]));
      run->feeds.push_back(std::move(value));
    }
    {
      MutexLock lock(run->session->session->graph_mutex());
      const Graph& graph = run->session->graph;
      const bool is_part = !request.partial_run_handle().empty();
      TF_RETURN_IF_ERROR(NotSetUpIf(is_part, "feed", FindTensors(graph, feeds, &run->signature.feeds)));
      TF_RETURN_IF_ERROR(NotSetUpIf(is_part, "fetch", FindTensors(graph, request.fetch(), &run->signature.fetches)));
      TF_RETURN_IF_ERROR(FindTargets(graph, request.target(), &run->signature.targets));
    }
    return OkStatus();
  }();
  if (!prepared.ok()) return run->Finish(prepared);
  const auto options = ClientRunOptionsFrom(request.options());
  if (!options.ok()) return run->Finish(options.status());
  run->Apply(*options);
  run->write = [names = std::vector<std::string>(request.fetch().begin(), request.fetch().end())](
                   const std::vector<Tensor>& values) {
    MessageParts answer;
    for (size_t i = 0; i < names.size(); ++i) AppendNamedTensor(/*field=*/1, names[i], values[i], &answer);
    return answer;
  };
  if (!request.partial_run_handle().empty()) return RunPart(run, request.partial_run_handle());
  Run(run);
}

void MasterService::PartialRunSetup(const std::shared_ptr<Call>& call) {
  preparing_.Run([this, call] {
    proto::PartialRunSetupRequest request;
    if (!ReadRequest(call, &request)) return;
    RunSignature signature{.feeds = {}, .fetches = {}, .targets = {}, .by_client_edges = true};
    std::shared_ptr<ClientSession> session;
    const Status found = [&]() -> Status {
      TF_ASSIGN_OR_RETURN(session, FindSession(request.session_handle()));
      MutexLock lock(session->session->graph_mutex());
      TF_RETURN_IF_ERROR(FindTensors(session->graph, request.feed(), &signature.feeds));
      TF_RETURN_IF_ERROR(FindTensors(session->graph, request.fetch(), &signature.fetches));
      TF_RETURN_IF_ERROR(FindTargets(session->graph, request.target(), &signature.targets));
      TF_RETURN_IF_ERROR(CheckNotEmpty(signature));
      return CheckFeeds(signature, {});
    }();
    if (!found.ok()) return call->Fail(found);
    auto compiled =
        session->session->Prepare(signature, DeadlineAfter(0, session->session->options().operation_timeout));
    auto partial = std::make_shared<PartialRun>(session->session, std::move(signature), std::move(compiled));
    proto::PartialRunSetupResponse response;
    {
      MutexLock lock(session->mu);
      if (session->open_edges + partial->num_edges() > ClientSession::kMaxOpenEdges) {
        return call->Fail(ResourceExhausted("the unfinished partial runs of the session have ", session->open_edges,
                                            " feeds and fetches; the limit is ", ClientSession::kMaxOpenEdges));
      }
      session->open_edges += partial->num_edges();
      response.set_partial_run_handle(StrCat("partial_run_", session->next_partial_run++));
      session->partial_runs[response.partial_run_handle()] = std::move(partial);
    }
    AnswerCall(call, response);
  });
}

void MasterService::RunPart(const std::shared_ptr<Running>& run, const std::string& handle) {
  std::shared_ptr<PartialRun> partial;
  {
    MutexLock lock(run->session->mu);
    const auto it = run->session->partial_runs.find(handle);
    if (it != run->session->partial_runs.end()) partial = it->second;
  }
  if (partial == nullptr) {
    return run->Finish(InvalidArgument("partial run '", handle, "' does not exist or has ended; set up a new one"));
  }
  PartialRun::Part part{
      .feeds = run->signature.feeds, .values = std::move(run->feeds), .fetches = run->signature.fetches};
  if (const Status accepted = partial->Accept(part); !accepted.ok()) return run->Finish(accepted);
  const auto finish = [this, run, partial, handle](const StatusOr<std::vector<Tensor>>& result) {
    if (run->timer != 0) timer_->Cancel(run->timer);
    if (!result.ok()) partial->Abort(result.status());
    if (!result.ok() || partial->is_over()) {
      MutexLock lock(run->session->mu);
      if (run->session->partial_runs.erase(handle) > 0) run->session->open_edges -= partial->num_edges();
    }
    run->Finish(result);
  };
  auto go = [this, run, partial, finish, part = std::move(part)]() mutable {
    const auto step = partial->Begin(run->deadline);
    if (!step.ok()) return finish(step.status());
    Watch(run, *step);
    partial->Continue(std::move(part), finish);
  };
  if (!partial->CanBegin()) return preparing_.Run(go);
  const ScopedTransportThread transport_thread;
  go();
}

void MasterService::MakeCallable(const std::shared_ptr<Call>& call) {
  proto::MakeCallableRequest request;
  if (!ReadRequest(call, &request)) return;
  auto session = FindSession(request.session_handle());
  if (!session.ok()) return call->Fail(session.status());
  ClientSession::Callable callable;
  auto options = ClientRunOptionsFrom(request.options().run_options());
  if (!options.ok()) return call->Fail(options.status());
  callable.options = *options;
  {
    MutexLock lock((*session)->session->graph_mutex());
    const Graph& graph = (*session)->graph;
    Status found = FindTensors(graph, request.options().feed(), &callable.signature.feeds);
    if (found.ok()) found = FindTensors(graph, request.options().fetch(), &callable.signature.fetches);
    if (found.ok()) found = FindTargets(graph, request.options().target(), &callable.signature.targets);
    if (found.ok()) {
      found = FindConnections(graph, request.options().tensor_connection(), &callable.signature);
    }
    if (found.ok()) found = CheckNotEmpty(callable.signature);
    if (found.ok()) found = CheckFeeds(callable.signature, {});
    if (!found.ok()) return call->Fail(found);
  }
  proto::MakeCallableResponse response;
  {
    MutexLock lock((*session)->mu);
    // A client that reaches this limit has forgotten to release its callables.
    constexpr size_t kMaxCallables = 1 << 16;
    if ((*session)->callables.size() >= kMaxCallables) {
      return call->Fail(ResourceExhausted("the session has ", kMaxCallables, " callables; release some"));
    }
    response.set_handle((*session)->next_callable++);
    (*session)->callables[response.handle()] = std::move(callable);
  }
  AnswerCall(call, response);
}

void MasterService::RunCallable(const std::shared_ptr<Call>& call) {
  proto::RunCallableRequest request;
  std::vector<Payload> tensors;
  if (!ReadRequestWithTensors(call, proto::RunCallableRequest::kFeedFieldNumber, &request, &tensors)) return;
  auto run = std::make_shared<Running>();
  run->call = call;
  const Status prepared = [&]() -> Status {
    TF_ASSIGN_OR_RETURN(run->session, FindSession(request.session_handle()));
    ClientRunOptions options;
    {
      MutexLock lock(run->session->mu);
      const auto it = run->session->callables.find(request.handle());
      if (it == run->session->callables.end()) {
        return InvalidArgument("callable ", request.handle(), " does not exist or has been released");
      }
      run->signature = it->second.signature;
      options = it->second.options;
    }
    if (tensors.size() != run->signature.feeds.size()) {
      return InvalidArgument("the callable takes ", run->signature.feeds.size(), " feeds, got ", tensors.size());
    }
    for (const Payload& feed : tensors) {
      TF_ASSIGN_OR_RETURN(Tensor value, ReadTensor(feed));
      run->feeds.push_back(std::move(value));
    }
    run->Apply(options);
    return OkStatus();
  }();
  if (!prepared.ok()) return run->Finish(prepared);
  run->write = [](const std::vector<Tensor>& values) {
    MessageParts answer;
    for (const Tensor& value : values) AppendTensor(/*field=*/1, value, &answer);
    return answer;
  };
  Run(run);
}

void MasterService::ReleaseCallable(const std::shared_ptr<Call>& call) {
  proto::ReleaseCallableRequest request;
  if (!ReadRequest(call, &request)) return;
  auto session = FindSession(request.session_handle());
  if (!session.ok()) return call->Fail(session.status());
  {
    MutexLock lock((*session)->mu);
    if ((*session)->callables.erase(request.handle()) == 0) {
      return call->Fail(InvalidArgument("callable ", request.handle(), " does not exist or has already been released"));
    }
  }
  AnswerCall(call, proto::ReleaseCallableResponse());
}

void MasterService::Run(const std::shared_ptr<Running>& run) {
  if (const Status status = CheckFeeds(run->signature, run->feeds); !status.ok()) return run->Finish(status);
  const auto graph = run->session->session->FindPrepared(run->signature);
  if (graph != nullptr && run->session->session->CanStart(*graph)) {
    const ScopedTransportThread transport_thread;
    return Launch(run, graph);
  }
  preparing_.Run([this, run] {
    const auto prepared = run->session->session->Prepare(run->signature, run->deadline);
    if (!prepared.ok()) return run->Finish(prepared.status());
    Launch(run, *prepared);
  });
}

void MasterService::Launch(const std::shared_ptr<Running>& run, const std::shared_ptr<CompiledGraph>& graph) {
  run->cost_graph = run->session->session->options().WantsCostGraph(graph->num_steps.fetch_add(1));
  auto started = run->session->session->Start(graph, std::move(run->feeds), run->deadline,
                                              {.trace = run->trace || run->cost_graph});
  if (!started.ok()) return run->Finish(started.status());
  const auto step = *std::move(started);
  Watch(run, step);
  step->WhenEnded([this, run, step, graph = run->partition_graphs || run->cost_graph ? graph : nullptr] {
    if (run->timer != 0) timer_->Cancel(run->timer);
    if (run->trace || graph != nullptr) {
      StatusOr<std::vector<std::string>> graphs(absl::in_place);
      if (graph != nullptr) graphs = MasterSession::PartitionGraphs(*graph);
      if (!graphs.ok()) return run->Finish(graphs.status());
      run->metadata = EncodeRunMetadata(
          step->TakeTraces(), *graphs,
          {.step_stats = run->trace, .partition_graphs = run->partition_graphs, .cost_graph = run->cost_graph});
    }
    run->Finish(step->TakeResult());
  });
}

void MasterService::Watch(const std::shared_ptr<Running>& run, const std::shared_ptr<MasterStep>& step) {
  // Aborting a step calls its kernels' cancellation callbacks, so this runs on the pool.
  const auto abort = [this, step](const Status& why) { pool_->Schedule([step, why] { step->Abort(why); }); };
  if (run->deadline != Deadline::max()) {
    run->timer = timer_->RunAfter(run->deadline - Clock::now(), [this, run, step, abort] {
      abort(LateStep());
      // Answers the client even if a task has not responded by then.
      timer_->RunAfter(kStepGrace,
                       [this, run, step] { pool_->Schedule([run, step] { run->Finish(step->LateStatus()); }); });
    });
  }
  run->call->OnCancelled([abort] { abort(Cancelled("the client has disconnected or has cancelled the call")); });
}

}  // namespace tensorbraid
