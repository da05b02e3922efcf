#include "train/sessions/run_cache.h"

#include <algorithm>

#include "core/text/strings.h"
#include "graph/model/fed_variables.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "train/sessions/train_op.h"

namespace tensorbraid {
namespace {

// The value of a global step; -1 if the tensor cannot be one.
int64_t StepNumber(const Tensor& t) {
  if (t.num_elements() != 1) return -1;
  if (t.dtype() == kInt64) return t.scalar<int64_t>();
  if (t.dtype() == kInt32) return t.scalar<int32_t>();
  return -1;
}

// Adds the options of a hook to those of a run.
void Join(const RunOptions& added, RunOptions* options) {
  options->timeout = std::max(options->timeout, added.timeout);
  options->trace_level = std::max(options->trace_level, added.trace_level);
  options->output_partition_graphs = options->output_partition_graphs || added.output_partition_graphs;
}

bool Records(const RunOptions& options) {
  return options.trace_level != TraceLevel::kNone || options.output_partition_graphs;
}

}  // namespace

StatusOr<RunCache::Key> RunCache::KeyOf(const Output& tensor, int output) const {
  const Node* const node = NodeOf(tensor);
  TF_RETURN_IF_ERROR(node->CheckGraphExists());
  if (node->graph() == &*graph_) return Key(node, output);
  return InvalidArgument("'", node->name(), "', which is fetched or fed, belongs to another graph");
}

StatusOr<RunCache::Key> RunCache::KeyOf(const Fetch& fetch) const {
  if (fetch.name().empty()) {
    if (!fetch.output().valid()) return InvalidArgument("one of the fetches is not valid (see the graph's status)");
    return KeyOf(fetch.output(), fetch.is_tensor() ? fetch.output().index() : -1);
  }
  if (fetch.name().find(':') == std::string::npos) {
    TF_ASSIGN_OR_RETURN(const Operation op, graph_->FindOperation(fetch.name()));
    return Key(NodeOf(op), -1);
  }
  TF_ASSIGN_OR_RETURN(const Output output, graph_->FindOutput(fetch.name()));
  return Key(NodeOf(output), output.index());
}

StatusOr<RunCache::Key> RunCache::KeyOf(const Feed& feed) const {
  Output output = feed.output;
  if (!output.valid()) {
    if (feed.name.empty()) return InvalidArgument("one of the feeds is not valid (see the graph's status)");
    TF_ASSIGN_OR_RETURN(output, graph_->FindOutput(feed.name));
  }
  const Output fed = FedTensorOf(output);
  return KeyOf(fed, fed.index());
}

Status RunCache::SetKeys(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds) {
  TF_RETURN_IF_ERROR(graph_.CheckExists("MonitoredSession::Run"));
  fetch_keys_.clear();
  feed_keys_.clear();
  for (const Feed& feed : feeds) {
    TF_ASSIGN_OR_RETURN(const Key key, KeyOf(feed));
    feed_keys_.push_back(key);
  }
  for (const Fetch& fetch : fetches) {
    TF_ASSIGN_OR_RETURN(const Key key, KeyOf(fetch));
    fetch_keys_.push_back(key);
  }
  return OkStatus();
}

StatusOr<const RunCache::Extent*> RunCache::ExtentOf(const std::vector<Fetch>& fetches,
                                                     const std::vector<Feed>& feeds) {
  TF_RETURN_IF_ERROR(SetKeys(fetches, feeds));
  for (auto it = extents_.begin(); it != extents_.end(); ++it) {
    if (it->fetch_keys != fetch_keys_ || it->feed_keys != feed_keys_) continue;
    extents_.splice(extents_.begin(), extents_, it);
    return &extents_.front().extent;
  }
  const GraphUse use = graph_.Use();
  TF_RETURN_IF_ERROR(use.CheckExists("a step"));
  KnownExtent known{.fetch_keys = fetch_keys_, .feed_keys = feed_keys_, .extent = {}};
  known.extent.executed = NodesBehind(*graph_, fetch_keys_, feed_keys_);
  const std::vector<const Node*> train_ops = TrainOps(*graph_);
  known.extent.trains = train_ops.empty() || std::ranges::any_of(train_ops, [&](const Node* train) {
                          return known.extent.executed[train->id()];
                        });
  extents_.push_front(std::move(known));
  if (extents_.size() > kMaxEntries) extents_.pop_back();
  return &extents_.front().extent;
}

RunCache::Entry RunCache::MakeEntry() const {
  Entry entry{
      .fetch_keys = fetch_keys_, .feed_keys = feed_keys_, .places = {}, .fetches = {}, .feeds = {}, .prepared = {}};
  const GraphUse use = graph_.Use();  // until the nodes have been found by their ids
  std::vector<Key> unique;
  const auto place_of = [&](const Key& key) {
    const auto known = std::find(unique.begin(), unique.end(), key);
    const int place = static_cast<int>(known - unique.begin());
    if (known != unique.end()) return place;
    unique.push_back(key);
    Node* node = ImplOf(*graph_).nodes()[key.first->id()].get();
    entry.fetches.push_back(key.second < 0 ? Fetch(OperationOf(node)) : Fetch(OutputOf(node, key.second)));
    return place;
  };
  for (const Key& key : fetch_keys_) {
    std::vector<int>& places = entry.places.emplace_back();
    if (key.first != nullptr) {
      places.push_back(place_of(key));
      continue;
    }
    for (const Output& step : StepsAfter(*graph_, NodesBehind(*graph_, fetch_keys_, feed_keys_))) {
      places.push_back(place_of(Key(NodeOf(step), step.index())));
    }
  }
  for (const Key& key : feed_keys_)
    entry.feeds.push_back(OutputOf(ImplOf(*graph_).nodes()[key.first->id()].get(), key.second));
  return entry;
}

RunCache::Entry& RunCache::Find() {
  for (auto it = entries_.begin(); it != entries_.end(); ++it) {
    if (it->fetch_keys == fetch_keys_ && it->feed_keys == feed_keys_) {
      entries_.splice(entries_.begin(), entries_, it);
      return entries_.front();
    }
  }
  entries_.push_front(MakeEntry());
  if (entries_.size() > kMaxEntries) entries_.pop_back();
  return entries_.front();
}

StatusOr<std::vector<Tensor>> RunCache::RunEntry(Entry& entry, const RunOptions& options,
                                                 std::shared_ptr<const RunMetadata>* metadata) {
  if (Records(options)) {  // a prepared run records nothing
    std::vector<Feed> feeds;
    for (size_t i = 0; i < entry.feeds.size(); ++i) feeds.emplace_back(entry.feeds[i], feed_values_[i]);
    auto record = std::make_shared<RunMetadata>();
    TF_ASSIGN_OR_RETURN(auto values, session_.Run(entry.fetches, feeds, options, record.get()));
    *metadata = std::move(record);
    return values;
  }
  if (!entry.prepared.has_value()) {
    TF_ASSIGN_OR_RETURN(entry.prepared, session_.Prepare(entry.fetches, entry.feeds));
  }
  return entry.prepared->Run(feed_values_, options);
}

StatusOr<RunCache::Results> RunCache::Run(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds,
                                          const std::vector<SessionRunArgs>& hooks, const RunOptions& options) {
  TF_RETURN_IF_ERROR(SetKeys(fetches, feeds));
  feed_values_.clear();
  for (const Feed& feed : feeds) feed_values_.push_back(feed.value);
  bool wants_step = false;
  RunOptions joined = options;
  for (const SessionRunArgs& args : hooks) {
    for (const Fetch& fetch : args.fetches) {
      auto key = KeyOf(fetch);
      if (!key.ok()) return Annotate(key.status(), "what a hook fetches");
      fetch_keys_.push_back(*key);
    }
    for (const Feed& feed : args.feeds) {
      TF_ASSIGN_OR_RETURN(const Key key, KeyOf(feed));
      feed_keys_.push_back(key);
      feed_values_.push_back(feed.value);
    }
    wants_step = wants_step || args.global_step;
    Join(args.options, &joined);
  }
  if (wants_step) fetch_keys_.emplace_back(nullptr, 0);

  Entry& entry = Find();
  Results results;
  TF_ASSIGN_OR_RETURN(const std::vector<Tensor> values, RunEntry(entry, joined, &results.metadata));
  feed_values_.clear();

  size_t next = 0;
  const auto take = [&]() -> Tensor { return values[entry.places[next++].front()]; };
  results.fetches.reserve(fetches.size());
  for (size_t i = 0; i < fetches.size(); ++i) results.fetches.push_back(take());
  results.hooks.resize(hooks.size());
  for (size_t h = 0; h < hooks.size(); ++h) {
    for (size_t i = 0; i < hooks[h].fetches.size(); ++i) results.hooks[h].results.push_back(take());
    results.hooks[h].options = joined;
    results.hooks[h].metadata = results.metadata;
  }
  if (wants_step) {
    // The hooks get the largest step, because a run may execute several training operations, or -1 if the graph has no
    // global step.
    int64_t step = -1;
    for (const int place : entry.places[next]) step = std::max(step, StepNumber(values[place]));
    for (size_t h = 0; h < hooks.size(); ++h) {
      if (hooks[h].global_step) results.hooks[h].global_step = step;
    }
  }
  return results;
}

}  // namespace tensorbraid
