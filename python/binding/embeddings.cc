// Lookups in embedding tables.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "binding/graph.h"
#include "tensorbraid/layers/layers.h"
#include "tensorbraid/variables/embedding.h"

namespace tensorbraid::python {
namespace {

// The graph of a table's first part.
Graph& GraphOf(const std::vector<Variable>& table) {
  if (table.empty()) throw nb::value_error("an embedding table needs at least one variable");
  return *table[0].graph();
}

TensorObject EmbeddingLookup(nb::list params, nb::handle ids, nn::PartitionStrategy strategy,
                             std::optional<double> max_norm, nb::handle counts, const std::string& name) {
  const std::vector<Variable> table = VariablesOf(params);
  Graph& graph = GraphOf(table);
  const ScopeGuard at = AtUserLine(graph);
  nn::EmbeddingLookupOptions options = {.partition_strategy = strategy, .max_norm = max_norm, .name = name};
  if (!counts.is_none()) options.counts = OutputFor(graph, counts, DType::kInvalid, "counts");
  const Output rows = nn::EmbeddingLookup(table, OutputFor(graph, ids, DType::kInvalid, "ids"), options);
  CheckBuilt(graph);
  return Wrap(rows);
}

SparseTensor SparseOf(Graph& graph, nb::handle parts) {
  return {OutputFor(graph, parts[0], kInt64, "indices"), OutputFor(graph, parts[1], DType::kInvalid, "values"),
          OutputFor(graph, parts[2], kInt64, "dense_shape")};
}

// A sparse lookup with the options, with or without weights, of `lookup`: nn::EmbeddingLookupSparse or
// nn::SafeEmbeddingLookupSparse.
template <typename Options, typename Lookup>
TensorObject SparseLookup(nb::list params, nb::handle ids, nb::handle weights, const Options& options,
                          const Lookup& lookup) {
  const std::vector<Variable> table = VariablesOf(params);
  Graph& graph = GraphOf(table);
  const ScopeGuard at = AtUserLine(graph);
  const SparseTensor sparse = SparseOf(graph, ids);
  const Output combined = weights.is_none() ? lookup(table, sparse, nullptr, options) : [&] {
    const SparseTensor factors = SparseOf(graph, weights);
    return lookup(table, sparse, &factors, options);
  }();
  CheckBuilt(graph);
  return Wrap(combined);
}

TensorObject EmbeddingLookupSparse(nb::list params, nb::handle ids, nb::handle weights, nn::PartitionStrategy strategy,
                                   nn::Combiner combiner, std::optional<double> max_norm, const std::string& name) {
  const nn::EmbeddingLookupSparseOptions options = {
      .partition_strategy = strategy, .combiner = combiner, .max_norm = max_norm, .name = name};
  return SparseLookup(params, ids, weights, options,
                      [](const auto& table, const SparseTensor& i, const SparseTensor* w, const auto& o) {
                        return w ? nn::EmbeddingLookupSparse(table, i, *w, o) : nn::EmbeddingLookupSparse(table, i, o);
                      });
}

TensorObject SafeEmbeddingLookupSparse(nb::list params, nb::handle ids, nb::handle weights,
                                       nn::PartitionStrategy strategy, nn::Combiner combiner,
                                       std::optional<double> max_norm, std::optional<int64_t> default_id,
                                       const std::string& name) {
  const nn::SafeEmbeddingLookupSparseOptions options = {.partition_strategy = strategy,
                                                        .combiner = combiner,
                                                        .max_norm = max_norm,
                                                        .default_id = default_id,
                                                        .name = name};
  return SparseLookup(params, ids, weights, options,
                      [](const auto& table, const SparseTensor& i, const SparseTensor* w, const auto& o) {
                        return w ? nn::SafeEmbeddingLookupSparse(table, i, *w, o)
                                 : nn::SafeEmbeddingLookupSparse(table, i, o);
                      });
}

}  // namespace

void BindEmbeddings(Module& m) {
  Enum<nn::PartitionStrategy>(m, "PartitionStrategy")
      .value("MOD", nn::PartitionStrategy::kMod)
      .value("DIV", nn::PartitionStrategy::kDiv);
  Enum<nn::Combiner>(m, "Combiner")
      .value("SUM", nn::Combiner::kSum)
      .value("MEAN", nn::Combiner::kMean)
      .value("SQRTN", nn::Combiner::kSqrtN);
  m.def("embedding_lookup", &EmbeddingLookup, nb::arg("params"), nb::arg("ids"), nb::arg("strategy"),
        nb::arg("max_norm").none(), nb::arg("counts").none(), nb::arg("name"));
  m.def("embedding_lookup_sparse", &EmbeddingLookupSparse, nb::arg("params"), nb::arg("ids"), nb::arg("weights").none(),
        nb::arg("strategy"), nb::arg("combiner"), nb::arg("max_norm").none(), nb::arg("name"));
  m.def("safe_embedding_lookup_sparse", &SafeEmbeddingLookupSparse, nb::arg("params"), nb::arg("ids"),
        nb::arg("weights").none(), nb::arg("strategy"), nb::arg("combiner"), nb::arg("max_norm").none(),
        nb::arg("default_id").none(), nb::arg("name"));
}

}  // namespace tensorbraid::python
