#include "tensorbraid/variables/embedding_variable.h"

#include <cmath>
#include <utility>

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/user_lines.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "variables/described_initializer.h"
#include "variables/restore_attrs.h"

namespace tensorbraid {
namespace {

// The number of rows that partitioners see, since a table has no number of its own.
constexpr int64_t kPartitionedRows = int64_t{1} << 31;
// A table consists of this many small tables, so more parts would have none.
constexpr int64_t kMaxParts = 1000;

// The seed of the initializer, or the graph's.
int64_t SeedOf(const Graph& graph, int64_t seed) {
  if (seed == kSeedZero) return 0;
  return seed != 0 ? seed : graph.random_seed();
}

}  // namespace

EmbeddingVariable::EmbeddingVariable(Graph& graph, int64_t dim, const EmbeddingVariableOptions& options,
                                     std::source_location loc) {
  const ScopedLocation at(graph, loc);
  const std::string self =
      StrCat("EmbeddingVariable '", options.name, "' (", LocationText(ImplOf(graph).UserLine(loc)), ")");
  const auto mistake = [&](const auto&... text) { graph.AddError(InvalidArgument(self, ": ", text...)); };
  if (dim < 1) {
    mistake("a row must have one number or more, got dim ", dim);
    return;
  }
  if (options.matrix_rows < 0) {
    mistake("matrix_rows must not be negative, got ", options.matrix_rows, "; 0 gives each key a row of its own");
    return;
  }
  if (options.matrix.is_valid() && (options.initializer || options.matrix_rows != 0)) {
    mistake("it has a matrix of initial rows, so leave out its initializer and matrix_rows");
    return;
  }
  if (options.matrix.is_valid() && (options.matrix.dtype() != kFloat32 || options.matrix.shape().rank() != 2 ||
                                    options.matrix.shape().dim(0) < 1 || options.matrix.shape().dim(1) != dim)) {
    mistake("the matrix of initial rows must be float32 with shape [n, ", dim, "] and one row or more, got ",
            options.matrix.dtype(), " ", options.matrix.shape());
    return;
  }
  const int64_t count = options.matrix_rows > 0 ? options.matrix_rows : kInitialRows;
  const auto rows = DescriptionOf(options.initializer ? options.initializer : TruncatedNormal(), Shape({count, dim}));
  if (!rows) {
    mistake("its initializer cannot be computed row by row: use Zeros, Ones, Constant of a number, ",
            "RandomUniform, RandomNormal, TruncatedNormal or VarianceScaling, or give it a matrix of initial rows");
    return;
  }
  int64_t parts = 1;
  if (options.partitioner) parts = options.partitioner(Shape({kPartitionedRows, dim}), kFloat32);
  if (parts < 1 || parts > kMaxParts) {
    mistake("the partitioner must return a number of parts from 1 to ", kMaxParts, ", got ", parts,
            ": give it the number of parameter servers, or leave it out");
    return;
  }
  if (options.filter_freq < 0) {
    mistake("filter_freq must not be negative, got ", options.filter_freq, "; 0 admits every key");
    return;
  }
  const TableEviction& evict = options.evict;
  for (const auto& [what, limit] : {std::pair("steps_to_live", evict.steps_to_live),
                                    {"max_rows", evict.max_rows},
                                    {"max_bytes", evict.max_bytes}}) {
    if (limit >= 0) continue;
    mistake("the ", what, " of its eviction must not be negative, got ", limit, "; 0 sets no limit");
    return;
  }
  if (std::isnan(evict.l2_threshold)) {
    mistake("the l2_threshold of its eviction is not a number; a negative number sets no limit");
    return;
  }
  const bool bloom = options.filter_keys != 0;
  if (bloom && (options.filter_freq == 0 || options.filter_keys < 0 ||
                !(options.filter_error > 0 && options.filter_error < 1))) {
    mistake("a Bloom filter needs a filter_freq, at least one of filter_keys, and a filter_error between 0 and 1, got ",
            options.filter_freq, ", ", options.filter_keys, " and ", options.filter_error);
    return;
  }
  if (options.restore_from.empty() && !options.restored_name.empty()) {
    mistake("restored_name is '", options.restored_name,
            "', but restore_from, the checkpoint with this table, is empty");
    return;
  }
  TableDescription table;
  table.evict = evict;
  table.skip_not_finite = options.skip_not_finite;
  table.regularizer = options.regularizer;
  table.filter_freq = options.filter_freq;
  table.filter_keys = options.filter_keys;
  table.filter_error = options.filter_error;
  table.no_permission = options.no_permission;
  table.parts = static_cast<int>(parts);
  table.initial_rows = *rows;
  table.initial_rows.seed = SeedOf(graph, rows->seed);
  table.initial_rows.matrix_rows = options.matrix.is_valid() ? options.matrix.shape().dim(0) : options.matrix_rows;
  table.initial_rows.matrix = options.matrix;
  VariableOptions made;
  made.name = options.name;
  made.trainable = options.trainable;
  const auto make = [&] {
    made.table = table;
    return Variable(graph, Shape({Shape::kUnknownDim, dim}), Initializer(), made, loc);
  };
  std::vector<Variable> made_parts;
  if (!options.partitioner) {
    made_parts = {make()};
  } else {
    table.whole = ImplOf(graph).UniqueName(options.name);
    auto scope = graph.NameScope(table.whole + "/");
    for (table.part = 0; table.part < table.parts; ++table.part) {
      made.name = StrCat("part_", table.part);
      made_parts.push_back(make());
    }
  }
  for (const Variable& part : made_parts) {
    if (!part.valid()) return;
  }
  name_ = made_parts[0].table()->whole;
  dim_ = dim;
  parts_ = std::move(made_parts);
  GraphImpl& impl = ImplOf(graph);
  const GraphLock lock(impl);
  for (const Variable& part : parts_) {
    // Programs of a cluster may have graphs with different seeds (runtime/tables/rows_description.h).
    if (rows->seed == 0) impl.SetAttr(NodeOf(part.handle()), "_seed_of_graph", AttrValue(true));
    if (options.restore_from.empty()) continue;
    impl.SetAttr(NodeOf(part.handle()), kRestoreFromAttr, AttrValue(options.restore_from));
    impl.SetAttr(NodeOf(part.handle()), kRestoredNameAttr,
                 AttrValue(options.restored_name.empty() ? name_ : options.restored_name));
  }
}

Output NumRowsOf(const Variable& part, std::source_location loc) {
  if (!part.valid()) return {};
  Graph& graph = *part.graph(loc);
  const ScopedLocation at(graph, loc);
  auto place = graph.ColocateWith(part.handle().op());
  const Output shape = NodeBuilder(graph, "KvVariableShape").Input(part.handle()).Attr("out_type", kInt64).Output();
  return Gather(shape, 0);
}

Output EmbeddingVariable::NumRows(std::source_location loc) const {
  if (!valid()) return {};
  std::vector<Output> rows;
  for (const Variable& part : parts_) rows.push_back(NumRowsOf(part, loc));
  if (rows.size() == 1) return rows[0];
  Graph& graph = *parts_[0].graph(loc);
  const ScopedLocation at(graph, loc);
  return NodeBuilder(graph, "AddN").InputList(rows).Output();
}

}  // namespace tensorbraid
