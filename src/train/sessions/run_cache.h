// Joins the requests of the user and of the hooks of a monitored session into one run, which is prepared once.
#ifndef TENSORBRAID_TRAIN_SESSIONS_RUN_CACHE_H_
#define TENSORBRAID_TRAIN_SESSIONS_RUN_CACHE_H_

#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "graph/model/handles.h"
#include "tensorbraid/session/session.h"
#include "tensorbraid/train/hooks.h"

namespace tensorbraid {

// Prepares each combination of fetches and feeds once. Used by one thread.
class RunCache {
 public:
  RunCache(const Graph& graph, Session& session) : graph_(graph), session_(session) {}

  struct Results {
    std::vector<Tensor> fetches;
    std::vector<SessionRunValues> hooks;
    std::shared_ptr<const RunMetadata> metadata = nullptr;  // see SessionRunValues
  };
  // What a run executes for the user's fetches and feeds, without what hooks add.
  struct Extent {
    std::vector<bool> executed;  // one for each node, in order of node id
    bool trains = false;         // see SessionRunContext::trains
  };
  // The result is valid until the next call. Returns the same errors as Run if a fetch or feed is not of the graph.
  StatusOr<const Extent*> ExtentOf(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds);

  // Runs everything that is requested in one run; a tensor that is requested twice is fetched once. `options` are those
  // of the user.
  StatusOr<Results> Run(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds,
                        const std::vector<SessionRunArgs>& hooks, const RunOptions& options = {});

 private:
  // A node and the number of one of its outputs, or -1 for the operation itself. {null, 0} stands for the global step.
  using Key = std::pair<const Node*, int>;
  struct Entry {
    std::vector<Key> fetch_keys;
    std::vector<Key> feed_keys;
    // For each fetch key, its positions among the results of `run`. The global step may have any number of positions
    // (see StepsAfter in train_op.h); each other key has one.
    std::vector<std::vector<int>> places;
    std::vector<Fetch> fetches;  // each once
    std::vector<Output> feeds;
    std::optional<Session::Prepared> prepared;  // in the first run that records nothing
  };
  struct KnownExtent {
    std::vector<Key> fetch_keys;
    std::vector<Key> feed_keys;
    Extent extent;
  };
  // Hooks that fetch only in some runs lead to a few combinations, not to many.
  static constexpr size_t kMaxEntries = 16;

  // FailedPrecondition if the graph has been destroyed, InvalidArgument if the tensor is of another graph.
  StatusOr<Key> KeyOf(const Output& tensor, int output) const;
  StatusOr<Key> KeyOf(const Fetch& fetch) const;
  StatusOr<Key> KeyOf(const Feed& feed) const;
  // Replaces the keys of the current run.
  Status SetKeys(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds);
  Entry& Find();
  Entry MakeEntry() const;
  // Runs the entry with the values of the current run. Stores what `options` record in *metadata.
  StatusOr<std::vector<Tensor>> RunEntry(Entry& entry, const RunOptions& options,
                                         std::shared_ptr<const RunMetadata>* metadata);

  const GraphRef graph_;
  Session& session_;
  std::list<Entry> entries_;        // most recently used first
  std::list<KnownExtent> extents_;  // most recently used first
  // Keys and values of the current run. They are members only so that their memory is reused.
  std::vector<Key> fetch_keys_;
  std::vector<Key> feed_keys_;
  std::vector<Tensor> feed_values_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_SESSIONS_RUN_CACHE_H_
