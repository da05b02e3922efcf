// Large variables in parts. Each part is a variable that holds some rows of the whole, and the parts may be on
// different devices. With ReplicaDeviceSetter the parts are spread over the parameter servers.
//
//   // The variables table/part_0, table/part_1 and table/part_2.
//   tensorbraid::PartitionedVariable table(g, {1'000'000, 64}, RandomUniform(), FixedSizePartitioner(3),
//                                          {.name = "table"});
//   auto rows = nn::EmbeddingLookup(table, ids);
#ifndef TENSORBRAID_VARIABLES_PARTITIONED_VARIABLE_H_
#define TENSORBRAID_VARIABLES_PARTITIONED_VARIABLE_H_

#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <vector>

#include "tensorbraid/core/shape.h"
#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"

namespace tensorbraid {

// Returns the number of parts of a variable. `shape` is fully known, has at least one dimension and at least one row.
using Partitioner = std::function<int64_t(const Shape& shape, DType dtype)>;

// `num_parts` parts, or one per row if there are fewer rows. Source: tf.fixed_size_partitioner.
Partitioner FixedSizePartitioner(int64_t num_parts);

struct VariableAxisSizePartitionerOptions {
  // The expected number of bytes of each string of a string variable.
  int64_t bytes_per_string_element = 16;
  // The largest number of parts; 0: no limit. With a limit, parts may be larger than max_part_bytes.
  int64_t max_parts = 0;
};
// As few parts as possible that have at most `max_part_bytes` each, or one per row if a row is larger. Source:
// tf.variable_axis_size_partitioner.
Partitioner VariableAxisSizePartitioner(int64_t max_part_bytes, VariableAxisSizePartitionerOptions options = {});

struct MinMaxVariablePartitionerOptions {
  int64_t max_parts = 1;
  int64_t min_part_bytes = 256 << 10;
  int64_t bytes_per_string_element = 16;
};
// As many parts of at least `min_part_bytes` as possible, but at most `max_parts`. The last part may be smaller.
// Source: tf.min_max_variable_partitioner.
Partitioner MinMaxVariablePartitioner(MinMaxVariablePartitionerOptions options);

// Splits a variable of at least `min_bytes` into one part for each of `ps_tasks` parameter servers (or one per row, if
// there are fewer rows), and leaves smaller variables in one piece. As the partitioner of a variable scope, together
// with LeastBytesStrategy, it gives all parameter servers equal shares of the bytes, even if one variable has most of
// them.
Partitioner PartitionLargest(int ps_tasks, int64_t min_bytes = 1 << 20);

// A variable whose rows are distributed over several variables, "name/part_0", "name/part_1" and so on. If the number
// of rows is not a multiple of the number of parts, each of the first parts has one row more. Savers save the parts as
// one tensor under the name of the whole, as TensorFlow does. A checkpoint can therefore be restored into another
// number of parts, or into a variable that is not partitioned. As an operand of an op, a PartitionedVariable stands for
// its whole value. A handle: copies refer to the same variables.
class PartitionedVariable {
 public:
  PartitionedVariable() = default;
  // Makes a PartitionedVariable with one part, the variable `whole`.
  explicit PartitionedVariable(const Variable& whole);
  // Calls `initializer` for each part, with the shape of the part (see initializers.h). Mistakes (a shape without rows
  // or not fully known, a partitioner that returns a number outside [1, rows]) are recorded in the graph, and the
  // result is not valid.
  PartitionedVariable(Graph& graph, const Shape& shape, const Initializer& initializer, const Partitioner& partitioner,
                      VariableOptions options = {}, std::source_location loc = std::source_location::current());
  // With the shape and dtype of `initial_value`.
  PartitionedVariable(Graph& graph, const Tensor& initial_value, const Partitioner& partitioner,
                      VariableOptions options = {}, std::source_location loc = std::source_location::current());

  bool valid() const { return !parts_.empty(); }
  const std::string& name() const { return name_; }
  const Shape& shape() const { return shape_; }  // of the whole
  DType dtype() const { return valid() ? parts_[0].dtype() : DType::kInvalid; }
  // In the order of their rows.
  const std::vector<Variable>& parts() const { return parts_; }
  // The whole value: the parts, concatenated. Reads all parts, wherever they are.
  Output AsTensor(std::source_location loc = std::source_location::current()) const;

 private:
  std::string name_;
  Shape shape_;
  std::vector<Variable> parts_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_VARIABLES_PARTITIONED_VARIABLE_H_
