// Embeddings: rows of large tables, looked up by id.
//
//   Variable table(g, {10'000, 64}, RandomUniform(), {.name = "table"});
//   auto words = nn::EmbeddingLookup(table, ids);      // ids [batch, time]; words [batch, time, 64]
//
// Rows are read and updated where their table is. Only the rows that are looked up are sent to the worker, and only
// their gradients are sent back.
#ifndef TENSORBRAID_VARIABLES_EMBEDDING_H_
#define TENSORBRAID_VARIABLES_EMBEDDING_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/ops/sparse.h"
#include "tensorbraid/variables/partitioned_variable.h"

namespace tensorbraid::nn {

// How the ids of a table are distributed over its parts. In both cases each of the first parts has one row more if the
// number of ids is not a multiple of the number of parts. 13 ids in 5 parts:
enum class PartitionStrategy {
  kMod,  // id % parts:        [0 5 10] [1 6 11] [2 7 12] [3 8] [4 9]
  kDiv,  // contiguous ranges: [0 1 2] [3 4 5] [6 7 8] [9 10] [11 12]
};

// A table in one or several parts: a variable, a partitioned variable, a list of variables, or an EmbeddingVariable
// (embedding_variable.h), which grows. For the last one the strategy of partition has no effect. The rows of all parts
// have the same shape and dtype.
class EmbeddingTable {
 public:
  EmbeddingTable(const Variable& whole) : parts_({whole}) {}  // NOLINT (all): converts
  EmbeddingTable(const PartitionedVariable& variable)         // NOLINT
      : parts_(variable.parts()), is_partitioned_(true) {}
  EmbeddingTable(std::vector<Variable> parts) : parts_(std::move(parts)) {}  // NOLINT
  EmbeddingTable(std::initializer_list<Variable> parts) : parts_(parts) {}   // NOLINT
  const std::vector<Variable>& parts() const { return parts_; }
  // Whether it was made from a PartitionedVariable, which is saved as one tensor.
  bool is_partitioned() const { return is_partitioned_; }

 private:
  std::vector<Variable> parts_;
  bool is_partitioned_ = false;
};

struct EmbeddingLookupOptions {
  // By default kDiv for a PartitionedVariable and, as in TensorFlow, kMod for a list of variables. With kDiv, row i of
  // a PartitionedVariable is the embedding of id i, whatever the number of its parts, so a checkpoint can be restored
  // into another number of parts. With kMod, the ids would then get the embeddings of other ids, so kMod is refused for
  // a PartitionedVariable. Pass its parts() instead to use a model that TensorFlow has trained with "mod"; the number
  // of parts must then stay as it is.
  std::optional<PartitionStrategy> partition_strategy = std::nullopt;
  // Embeddings with a larger L2 norm are scaled down to this norm.
  std::optional<double> max_norm = std::nullopt;
  // Looks up each distinct id once, and sums the gradients of its row on the device of the lookup. So each row crosses
  // the network once in each direction. This pays if ids repeat, like the words of a text.
  bool distinct_ids = false;
  // How often each id occurs, int32 or int64 of the shape of the ids, if a program has made the ids distinct itself. An
  // id that is there several times has the sum of its counts. This is what the filter of a growing table counts; it has
  // no other effect. By default each id occurs once. Source: counts of DeepRec's tf.nn.embedding_lookup.
  Output counts = {};
  std::string name = "embedding_lookup";
};

// The rows of `table` for `ids` (int32 or int64, any shape): [shape of ids..., shape of a row...]. A step fails with
// InvalidArgument for an id that is not in the table, unless the table grows. Gradient: slices for each part of the
// table. Source: tf.nn.embedding_lookup.
Output EmbeddingLookup(const EmbeddingTable& table, const Operand& ids, const EmbeddingLookupOptions& options = {});

// How the embeddings e of the ids in one row are combined, with the weights w of these ids (1 without weights).
enum class Combiner {
  kSum,    // sum(w e)
  kMean,   // sum(w e) / sum(w)
  kSqrtN,  // sum(w e) / sqrt(sum(w²))
};

struct EmbeddingLookupSparseOptions {
  std::optional<PartitionStrategy> partition_strategy = std::nullopt;  // as in EmbeddingLookupOptions
  Combiner combiner = Combiner::kMean;
  std::optional<double> max_norm = std::nullopt;
  std::string name = "embedding_lookup_sparse";
};

// Combines the embeddings of the ids in each row of `ids`, a sparse matrix of int32 or int64 in row-major order. The
// result has one row for each row of `ids` up to the last one that has an id; rows without ids are 0. Each distinct id
// is looked up once. Gradients: slices for each part of the table, and a dense gradient for the weights. Source:
// tf.nn.embedding_lookup_sparse.
Output EmbeddingLookupSparse(const EmbeddingTable& table, const SparseTensor& ids,
                             const EmbeddingLookupSparseOptions& options = {},
                             std::source_location loc = std::source_location::current());
// As above, with a weight for each id: `weights` has the indices and the shape of `ids`, and real values. Only its
// values are used.
Output EmbeddingLookupSparse(const EmbeddingTable& table, const SparseTensor& ids, const SparseTensor& weights,
                             const EmbeddingLookupSparseOptions& options = {},
                             std::source_location loc = std::source_location::current());

struct SafeEmbeddingLookupSparseOptions {
  std::optional<PartitionStrategy> partition_strategy = std::nullopt;  // as in EmbeddingLookupOptions
  Combiner combiner = Combiner::kMean;
  std::optional<double> max_norm = std::nullopt;
  // The id whose embedding becomes the result for rows without valid ids; if not given, these rows are 0.
  std::optional<int64_t> default_id = std::nullopt;
  std::string name = "safe_embedding_lookup_sparse";
};

// EmbeddingLookupSparse for ids that may be invalid: negative ids (for a table that grows only -1) and, unless the
// combiner is kSum, ids with weights that are not positive are ignored, and any row may be without ids. `ids` may have
// any rank of 2 or more; the ids of the last dimension are combined. The result has shape [dense_shape of ids without
// the last..., shape of a row...]. The gradients are those of EmbeddingLookupSparse. Source:
// tf.nn.safe_embedding_lookup_sparse.
Output SafeEmbeddingLookupSparse(const EmbeddingTable& table, const SparseTensor& ids,
                                 const SafeEmbeddingLookupSparseOptions& options = {},
                                 std::source_location loc = std::source_location::current());
Output SafeEmbeddingLookupSparse(const EmbeddingTable& table, const SparseTensor& ids, const SparseTensor& weights,
                                 const SafeEmbeddingLookupSparseOptions& options = {},
                                 std::source_location loc = std::source_location::current());

}  // namespace tensorbraid::nn

#endif  // TENSORBRAID_VARIABLES_EMBEDDING_H_
