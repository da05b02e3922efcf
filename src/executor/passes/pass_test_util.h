// Runs single passes in tests.
#ifndef TENSORBRAID_EXECUTOR_PASSES_PASS_TEST_UTIL_H_
#define TENSORBRAID_EXECUTOR_PASSES_PASS_TEST_UTIL_H_

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "executor/passes/pass.h"
#include "graph/model/graph_impl.h"
#include "graph/model/subgraph.h"

namespace tensorbraid {

// The part of `g` that the fetches and targets need.
inline std::unique_ptr<Graph> Part(const Graph& g, const std::vector<Output>& feeds, const std::vector<Output>& fetches,
                                   const std::vector<Operation>& targets = {}) {
  TB_CHECK_OK(g.status());
  auto part = ExtractSubgraph(g, feeds, fetches, targets);
  TB_CHECK_OK(part.status());
  return *std::move(part);
}

// The part of `g` that the fetches and targets need, after this pass alone.
inline std::unique_ptr<Graph> After(Status (*pass)(Graph*, PassContext&), const Graph& g,
                                    const std::vector<Output>& feeds, const std::vector<Output>& fetches,
                                    const std::vector<Operation>& targets = {}) {
  auto part = Part(g, feeds, fetches, targets);
  PassContext context(*part);
  TB_CHECK_OK(pass(part.get(), context));
  return part;
}

inline int Count(const Graph& g, const std::string& type) {
  const auto& nodes = ImplOf(g).nodes();
  return static_cast<int>(std::count_if(nodes.begin(), nodes.end(), [&](const auto& n) { return n->type() == type; }));
}

// The node that fetch i gets its value from.
inline const Node& FetchedFrom(const Graph& g, int i) {
  return *NodeOf(ImplOf(g).Find(StrCat("_retval_", i))->inputs()[0]);
}

// The constant that fetch i gets; an invalid tensor if its value is not a constant.
inline Tensor FetchedConstant(const Graph& g, int i) {
  const Node& from = FetchedFrom(g, i);
  return from.type() == "Const" ? from.attr<Tensor>("value") : Tensor();
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_PASSES_PASS_TEST_UTIL_H_
