#include "cluster/master/partial_run.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "cluster/master/master_step.h"
#include "core/text/strings.h"
#include "graph/model/node.h"

namespace tensorbraid {

PartialRun::PartialRun(std::shared_ptr<MasterSession> session, RunSignature signature,
                       StatusOr<std::shared_ptr<CompiledGraph>> compiled)
    : session_(std::move(session)),
      signature_(std::move(signature)),
      compiled_(std::move(compiled)),
      edges_(std::make_shared<ClientEdges>(signature_.feeds.size(), signature_.fetches.size())),
      fed_(signature_.feeds.size(), false),
      fetched_(signature_.fetches.size(), false) {}

int PartialRun::Find(const std::vector<Output>& in, const Output& output) {
  const auto it = std::find(in.begin(), in.end(), output);
  return it == in.end() ? -1 : static_cast<int>(it - in.begin());
}

// These messages end as TensorFlow's do, because programs search for those words.
Status PartialRun::Accept(const Part& part) {
  MutexLock graph_lock(session_->graph_mutex());
  MutexLock lock(mu_);
  std::vector<bool> fed = fed_, fetched = fetched_;
  for (size_t i = 0; i < part.feeds.size(); ++i) {
    const int at = Find(signature_.feeds, part.feeds[i]);
    if (at < 0) {
      return InvalidArgument("'", part.feeds[i].name(),
                             "' is not a feed of the partial run: it was not specified in partial_run_setup.");
    }
    if (fed[at]) {
      return InvalidArgument("a partial run takes only one value for '", part.feeds[i].name(),
                             "', which has already been fed.");
    }
    TF_RETURN_IF_ERROR(CheckFeed(part.feeds[i], part.values[i]));
    fed[at] = true;
  }
  for (const Output& fetch : part.fetches) {
    const int at = Find(signature_.fetches, fetch);
    if (at < 0) {
      return InvalidArgument("'", fetch.name(),
                             "' is not a fetch of the partial run: it was not specified in partial_run_setup.");
    }
    if (fetched[at]) {
      return InvalidArgument("a partial run returns '", fetch.name(), "' only once, and it has already been fetched.");
    }
    fetched[at] = true;
  }
  std::swap(fed, fed_);
  if (const Status computable = CheckComputable(part); !computable.ok()) {
    std::swap(fed, fed_);
    return computable;
  }
  fetched_ = std::move(fetched);
  const auto all = [](const std::vector<bool>& v) { return std::all_of(v.begin(), v.end(), [](bool b) { return b; }); };
  complete_ = all(fed_) && all(fetched_);
  return OkStatus();
}

Status PartialRun::CheckComputable(const Part& part) {
  absl::flat_hash_set<const Node*> seen;
  for (const Output& fetch : part.fetches) {
    std::vector<Output> stack = {fetch};
    std::vector<const Node*> nodes;
    while (!stack.empty() || !nodes.empty()) {
      if (!nodes.empty()) {
        const Node* node = nodes.back();
        nodes.pop_back();
        if (!seen.insert(node).second) continue;
        stack.insert(stack.end(), node->inputs().begin(), node->inputs().end());
        nodes.insert(nodes.end(), node->control_inputs().begin(), node->control_inputs().end());
        continue;
      }
      const Output output = stack.back();
      stack.pop_back();
      if (const int feed = Find(signature_.feeds, output); feed < 0) {
        nodes.push_back(NodeOf(output));
      } else if (!fed_[feed]) {
        return InvalidArgument("'", fetch.name(), "' cannot be computed yet: it needs '", output.name(),
                               "' to be fed first");
      }
    }
  }
  return OkStatus();
}

bool PartialRun::CanBegin() {
  if (!compiled_.ok()) return true;
  MutexLock lock(mu_);
  return step_ != nullptr || session_->CanStart(**compiled_);
}

StatusOr<std::shared_ptr<MasterStep>> PartialRun::Begin(Deadline deadline) {
  MutexLock beginning(begin_mu_);
  {
    MutexLock lock(mu_);
    if (step_ != nullptr) return step_;
  }
  TF_RETURN_IF_ERROR(compiled_.status());
  TF_ASSIGN_OR_RETURN(auto step, session_->Start(*compiled_, {}, deadline, {.client = edges_}));
  {
    MutexLock lock(mu_);
    step_ = step;
  }
  step->WhenEnded([self = shared_from_this(), step] { self->OnEnded(step->TakeResult().status()); });
  return step;
}

void PartialRun::Continue(Part part, Done done) {
  std::vector<size_t> which;
  for (const Output& fetch : part.fetches) which.push_back(static_cast<size_t>(Find(signature_.fetches, fetch)));
  bool last;
  {
    MutexLock lock(mu_);
    last = complete_;
  }
  for (size_t i = 0; i < part.feeds.size(); ++i) {
    edges_->Feed(static_cast<size_t>(Find(signature_.feeds, part.feeds[i])), std::move(part.values[i]));
  }
  if (!last) return edges_->Fetch(std::move(which), std::move(done));
  edges_->Fetch(std::move(which),
                [self = shared_from_this(), done = std::move(done)](StatusOr<std::vector<Tensor>> values) {
                  if (!values.ok()) return done(std::move(values));
                  self->WhenEnded([done, values = *std::move(values)](const Status& status) {
                    if (!status.ok()) return done(status);
                    done(values);
                  });
                });
}

void PartialRun::WhenEnded(std::function<void(const Status&)> callback) {
  Status status;
  {
    MutexLock lock(mu_);
    if (!ended_) {
      when_ended_.push_back(std::move(callback));
      return;
    }
    status = status_;
  }
  callback(status);
}

void PartialRun::OnEnded(const Status& status) {
  std::vector<std::function<void(const Status&)>> callbacks;
  {
    MutexLock lock(mu_);
    ended_ = true;
    status_ = status;
    callbacks.swap(when_ended_);
  }
  if (!status.ok()) edges_->Fail(status);
  for (const auto& callback : callbacks) callback(status);
}

void PartialRun::Abort(const Status& why) {
  std::shared_ptr<MasterStep> step;
  {
    MutexLock lock(mu_);
    step = step_;
  }
  if (step != nullptr) step->Abort(why);
}

bool PartialRun::is_over() {
  MutexLock lock(mu_);
  return complete_ || (ended_ && !status_.ok());
}

}  // namespace tensorbraid
