// Embedding tables that grow: rows for the ids of users, items and words that nobody can list beforehand.
//
//   EmbeddingVariable users(g, 16, {.name = "users", .initializer = TruncatedNormal(0, 0.25)});
//   auto rows = nn::EmbeddingLookup(users, ids);       // ids [batch], any int64; rows [batch, 16]
//   auto train = AdagradOptimizer(0.1).Minimize(loss, {.global_step = step});
//
// A lookup only reads. The row of a key that the table does not have is its initial row: numbers that are a function of
// the seed, the name of the table and the key alone, whatever the order of keys, the number of workers and the number
// of parts. The first update of a key makes its row, from the same initial row. The slots of optimizers are further
// columns of the same rows. docs/recommenders.md lists the optimizers that update tables; others refuse them.
#ifndef TENSORBRAID_VARIABLES_EMBEDDING_VARIABLE_H_
#define TENSORBRAID_VARIABLES_EMBEDDING_VARIABLE_H_

#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/variables/embedding.h"
#include "tensorbraid/variables/partitioned_variable.h"

namespace tensorbraid {

struct EmbeddingVariableOptions {
  std::string name = "EmbeddingVariable";
  // One of graph/variable.h and variables/initializers.h whose numbers can be computed row by row: Zeros, Ones,
  // Constant of a number, RandomUniform, RandomNormal, TruncatedNormal, VarianceScaling and the initializers after it.
  // Those that scale by the number of rows take matrix_rows for it, or kInitialRows if that is 0. A seed of 0 stands
  // for the graph's seed. Null: TruncatedNormal().
  Initializer initializer = nullptr;
  // If above 0: the table has so many different initial rows. A key has the initial row of floor-mod(key, matrix_rows).
  // Keys that are not trained then read one of these rows, also in a SavedModel. Source: default_value_dim of DeepRec's
  // tf.InitializerOption.
  int64_t matrix_rows = 0;
  // If it is valid: the initial rows, finite float32 [n, dim]. That of a key is row floor-mod(key, n). Then neither
  // `initializer` nor `matrix_rows` may be set. The matrix is in the graph once for each part.
  Tensor matrix = {};
  // Divides the table into parts, "name/part_0", "name/part_1" and so on, also if it returns 1. It is called with the
  // shape [2^31, dim]. Null: one part, "name".
  Partitioner partitioner = nullptr;
  bool trainable = true;
  // A filter: a key gets a row in the update with which it has occurred `filter_freq` times in updates, and that update
  // is applied. Earlier updates of the key only count its occurrences. A lookup of a key without a row gives its
  // initial row if an update of this batch would make the row, and numbers equal to `no_permission` otherwise. 0: the
  // first update of a key makes its row. Source: tf.CounterFilter and default_value_no_permission of DeepRec.
  int64_t filter_freq = 0;
  float no_permission = 0;
  // With a filter: occurrences are counted by a counting Bloom filter made for `filter_keys` keys, which then counts an
  // occurrence too many for a part `filter_error` of them at most. It takes less memory than counts by key. 0 keys:
  // counts are exact. Source: tf.CBFFilter of DeepRec.
  int64_t filter_keys = 0;
  double filter_error = 0;
  // Which rows are evicted, and when (graph/variable.h).
  TableEviction evict = {};
  // Whether an update leaves out the rows whose gradient has a number that is not finite, and logs the first one.
  // Otherwise it fails, and changes nothing.
  bool skip_not_finite = false;
  // The penalty for the rows of a batch: each lookup adds one for the rows of its distinct keys, before it clips them,
  // to layers::RegularizationLosses. L2Regularizer(0.01), for example. Null: none.
  Regularizer regularizer = nullptr;
  // If it is not empty: the path of a checkpoint, as Saver::Restore takes it, or of an increment. Each restore gives
  // the table the rows that this checkpoint has under the name `restored_name` ("": the name of the table), with the
  // increments that follow it then, in place of the rows in the checkpoint that is restored. This must have the table,
  // too. The slots of the rows begin anew. Source: always_load_from_specific_ckpt of DeepRec's tf.CheckpointOption.
  std::string restore_from = "";
  std::string restored_name = "";
};

// The number of rows that initializers see which scale by it, such as GlorotUniform. Source: default_value_dim of
// DeepRec's tf.InitializerOption.
inline constexpr int64_t kInitialRows = 4096;

// A growing table of float32 rows with int64 keys, all of which are valid. Each part is a Variable whose table() is not
// null. With ReplicaDeviceSetter, the parts are spread over the parameter servers: a part of n parts has the keys with
// floor-mod(key, 1000) mod n equal to its number. Savers save the rows and the slots of all parts; a checkpoint can be
// restored into another number of parts. A handle: copies refer to the same table.
// Source: tf.get_embedding_variable of DeepRec.
class EmbeddingVariable {
 public:
  EmbeddingVariable() = default;
  // Mistakes (a dim below 1, an initializer that cannot be computed row by row, a matrix of another dtype or shape, a
  // partitioner that returns less than 1 or more than 1000, negative numbers for the filter or the eviction, a
  // restored_name without restore_from) are recorded in the graph, and the result is not valid.
  EmbeddingVariable(Graph& graph, int64_t dim, const EmbeddingVariableOptions& options = {},
                    std::source_location loc = std::source_location::current());

  bool valid() const { return !parts_.empty(); }
  const std::string& name() const { return name_; }
  int64_t dim() const { return dim_; }
  const std::vector<Variable>& parts() const { return parts_; }
  operator nn::EmbeddingTable() const { return parts_; }  // NOLINT: converts
  // The number of rows in all parts, an int64 scalar.
  Output NumRows(std::source_location loc = std::source_location::current()) const;

 private:
  std::string name_;
  int64_t dim_ = 0;
  std::vector<Variable> parts_;
};

// The number of rows of one part, an int64 scalar. REQUIRES: part.table() is not null.
Output NumRowsOf(const Variable& part, std::source_location loc = std::source_location::current());

}  // namespace tensorbraid

#endif  // TENSORBRAID_VARIABLES_EMBEDDING_VARIABLE_H_
