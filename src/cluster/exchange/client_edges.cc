#include "cluster/exchange/client_edges.h"

#include <algorithm>
#include <utility>

#include "core/text/strings.h"
#include "graph/control_flow/control_flow.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

// The client's name and number as a peer, which no task has.
constexpr char kClient[] = "";
constexpr uint32_t kClientNumber = UINT32_MAX;

}  // namespace

StatusOr<std::unique_ptr<Graph>> WithClientEdges(const Graph& part) {
  auto out = std::make_unique<Graph>();
  std::vector<Node*> copies(ImplOf(part).nodes().size(), nullptr);
  BackEdges back_edges;
  for (const auto& node : ImplOf(part).nodes()) {
    std::vector<Output> inputs;
    std::vector<int> missing;  // inputs that are back edges of loops; connected at the end
    for (const Output& in : node->inputs()) {
      if (copies[NodeOf(in)->id()] == nullptr) missing.push_back(static_cast<int>(inputs.size()));
      inputs.push_back(OutputOf(copies[NodeOf(in)->id()], in.index()));
    }
    std::vector<Node*> controls;
    for (const Node* c : node->control_inputs()) controls.push_back(copies[c->id()]);
    Node*& copy = copies[node->id()];
    if (node->type() == "_Arg") {
      TF_ASSIGN_OR_RETURN(copy, ImplOf(*out).AddNode({.name = node->name(),
                                                      .op = "_Recv",
                                                      .inputs = {},
                                                      .controls = std::move(controls),
                                                      .attrs = {{"T", node->output_type(0)},
                                                                {"edge", node->attr<int64_t>("index")},
                                                                {"peer", std::string(kClient)},
                                                                {"peer_number", int64_t{kClientNumber}},
                                                                {"shape", node->output_shape(0)}},
                                                      .device = node->device()}));
    } else if (node->type() == "_Retval") {
      TF_ASSIGN_OR_RETURN(copy, ImplOf(*out).AddNode({.name = node->name(),
                                                      .op = "_Send",
                                                      .inputs = std::move(inputs),
                                                      .controls = std::move(controls),
                                                      .attrs = {{"edge", node->attr<int64_t>("index")},
                                                                {"peer", std::string(kClient)},
                                                                {"peer_number", int64_t{kClientNumber}}},
                                                      .device = node->device()}));
    } else {
      TF_ASSIGN_OR_RETURN(copy, ImplOf(*out).CopyNode(*node, std::move(inputs), std::move(controls)));
      for (int i : missing) back_edges.Add(copy, i, node->inputs()[i]);
    }
  }
  TF_RETURN_IF_ERROR(back_edges.Close([&](const Output& o) { return OutputOf(copies[NodeOf(o)->id()], o.index()); }));
  return out;
}

void ClientEdges::Begin(Rendezvous* others, CancellationManager* cancellation) {
  others_ = others;
  CancellationManager::Token token;
  const bool registered =
      cancellation->Register([self = shared_from_this()](const Status& why) { self->Cancel(why); }, &token);
  if (!registered) Cancel(cancellation->status());
}

void ClientEdges::Send(const StepEdge& edge, LoopPosition at, Tensor value) {
  if (edge.peer != kClientNumber) return others_->Send(edge, at, std::move(value));
  std::vector<Waiter> ready;
  {
    MutexLock lock(mu_);
    if (edge.number >= fetches_.size()) return;
    FetchEdge& fetch = fetches_[edge.number];
    if (value.is_valid()) {
      fetch.value = std::move(value);
    } else {
      fetch.value = InvalidArgument("fetch ", edge.number,
                                    " of the partial run has no value: it is on a branch that was not taken");
    }
    fetch.arrived = true;
    ready = TakeReadyWaiters();
  }
  for (const Waiter& w : ready) w.done(ValuesOf(w.which));
}

void ClientEdges::Recv(const StepEdge& edge, LoopPosition at, RecvDone done) {
  if (edge.peer != kClientNumber) return others_->Recv(edge, at, std::move(done));
  StatusOr<Tensor> value(absl::in_place);
  {
    MutexLock lock(mu_);
    if (!cancelled_.ok()) {
      value = cancelled_;
    } else if (edge.number >= feeds_.size()) {
      value = Internal("feed ", edge.number, " does not exist; the partial run has ", feeds_.size());
    } else if (FeedEdge& feed = feeds_[edge.number]; feed.given) {
      value = std::move(feed.value);
    } else {
      feed.waiter = std::move(done);
      return;
    }
  }
  done(std::move(value));
}

void ClientEdges::Feed(size_t i, Tensor value) {
  RecvDone waiter;
  {
    MutexLock lock(mu_);
    FeedEdge& feed = feeds_[i];
    feed.given = true;
    waiter = std::exchange(feed.waiter, nullptr);
    if (!waiter) {
      feed.value = std::move(value);
      return;
    }
  }
  waiter(std::move(value));
}

void ClientEdges::Fetch(std::vector<size_t> which, FetchDone done) {
  Status failed;
  std::vector<Waiter> ready;
  {
    MutexLock lock(mu_);
    failed = failed_;
    if (failed.ok()) {
      waiters_.push_back({std::move(which), std::exchange(done, nullptr)});
      ready = TakeReadyWaiters();
    }
  }
  if (done) return done(failed);
  for (const Waiter& w : ready) w.done(ValuesOf(w.which));
}

void ClientEdges::Fail(const Status& why) {
  std::vector<Waiter> waiters;
  {
    MutexLock lock(mu_);
    failed_ = why;
    waiters.swap(waiters_);
  }
  for (const Waiter& w : waiters) w.done(why);
}

void ClientEdges::Cancel(const Status& why) {
  std::vector<RecvDone> waiters;
  {
    MutexLock lock(mu_);
    if (!cancelled_.ok()) return;
    cancelled_ = why.ok() ? Cancelled("the step has been cancelled") : why;
    for (FeedEdge& feed : feeds_) {
      if (feed.waiter) waiters.push_back(std::exchange(feed.waiter, nullptr));
    }
  }
  for (const RecvDone& w : waiters) w(why);
}

std::vector<ClientEdges::Waiter> ClientEdges::TakeReadyWaiters() {
  const auto waits = [this](const Waiter& w) TB_REQUIRES(mu_) {
    return !std::all_of(w.which.begin(), w.which.end(),
                        [this](size_t i) TB_REQUIRES(mu_) { return fetches_[i].arrived; });
  };
  const auto first = std::partition(waiters_.begin(), waiters_.end(), waits);
  std::vector<Waiter> ready(std::make_move_iterator(first), std::make_move_iterator(waiters_.end()));
  waiters_.erase(first, waiters_.end());
  return ready;
}

StatusOr<std::vector<Tensor>> ClientEdges::ValuesOf(const std::vector<size_t>& which) {
  MutexLock lock(mu_);
  std::vector<Tensor> values;
  for (size_t i : which) {
    TF_ASSIGN_OR_RETURN(Tensor value, std::move(fetches_[i].value));
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace tensorbraid
