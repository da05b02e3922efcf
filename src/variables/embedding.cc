// Lookups of embeddings. Each consists of ops that distribute the ids over the parts of the table, a gather beside each
// part, and ops that join the rows.
#include "tensorbraid/variables/embedding.h"

#include <algorithm>

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid::nn {
namespace {

// A growing table consists of so many small tables; see DistributeKeys.
constexpr int64_t kSmallTables = 1000;

// Whether the table, which is valid, is an EmbeddingVariable.
bool IsGrowing(const EmbeddingTable& table) { return table.parts()[0].table() != nullptr; }

// How the ids are distributed over the parts of `table`; see EmbeddingLookupOptions.
PartitionStrategy StrategyOf(const EmbeddingTable& table, std::optional<PartitionStrategy> chosen) {
  return chosen.value_or(table.is_partitioned() ? PartitionStrategy::kDiv : PartitionStrategy::kMod);
}

// Records a mistake and returns false unless the parts can form one table.
bool CheckTable(Graph& g, const std::string& function, const EmbeddingTable& table,
                std::optional<PartitionStrategy> chosen) {
  const PartitionStrategy strategy = StrategyOf(table, chosen);
  const auto& parts = table.parts();
  const std::string self =
      StrCat(function, " (", LocationText(ImplOf(g).UserLine(std::source_location::current())), ")");
  const auto mistake = [&](const auto&... text) {
    g.AddError(InvalidArgument(self, ": ", text...));
    return false;
  };
  if (parts.empty()) return mistake("the table has no parts");
  int64_t total = 0;
  bool grows = false;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].valid() || NodeOf(parts[i].handle())->graph() != &g) {
      return mistake("part ", i, " of the table is not valid or does not belong to the graph of the ids");
    }
    const Shape& shape = parts[i].shape();
    const TableDescription* const part = parts[i].table();
    grows = grows || part != nullptr;
    if (grows &&
        (part == nullptr || part->part != static_cast<int>(i) || part->parts != static_cast<int>(parts.size()))) {
      return mistake("variable '", parts[i].name(), "' is not part ", i, " of the ", parts.size(),
                     " parts of a growing table: pass the EmbeddingVariable, or all its parts in their order");
    }
    if (shape.rank() < 1) return mistake("variable '", parts[i].name(), "' is a scalar and has no rows");
    if (parts[i].dtype() != parts[0].dtype() ||
        !std::ranges::equal(shape.dims().subspan(1), parts[0].shape().dims().subspan(1))) {
      return mistake("the rows of '", parts[i].name(), "', ", parts[i].dtype(), shape, ", differ from those of '",
                     parts[0].name(), "', ", parts[0].dtype(), parts[0].shape());
    }
    total += shape.dim(0);
  }
  if (grows) return true;
  const auto count = static_cast<int64_t>(parts.size());
  if (table.is_partitioned() && count > 1 && strategy == PartitionStrategy::kMod) {
    return mistake("the partitioned variable of '", parts[0].name(),
                   "' is saved as slices of one tensor, so with kMod ",
                   "a checkpoint that is restored into another number of parts would give ids the embeddings of ",
                   "other ids: use kDiv, the default, or pass the variable's parts() and never change their number");
  }
  for (int64_t i = 0; strategy == PartitionStrategy::kDiv && i < count; ++i) {
    const int64_t rows = total / count + (i < total % count ? 1 : 0);
    if (parts[i].shape().dim(0) != rows) {
      return mistake("with kDiv, part ", i, " of ", count, " parts with ", total, " rows in all must have ", rows,
                     " rows, but '", parts[i].name(), "' has shape ", parts[i].shape());
    }
  }
  return true;
}

// Records a mistake and returns false if a growing table cannot have these ids as keys.
bool CheckKeys(Graph& g, const std::string& function, const EmbeddingTable& table, const Output& ids) {
  if (!IsGrowing(table) || ids.dtype() == kInt64 || ids.dtype() == kInt32) return true;
  const char* const cure =
      ids.dtype() == kString
          ? "hash them (raw_ops::StringToHashBucketFast with 2^63 - 1 buckets makes the keys that Python makes)"
          : "cast them to int64 (Cast, in Python tf.cast)";
  const Variable& part = table.parts()[0];
  const std::string& name = part.table()->whole.empty() ? part.name() : part.table()->whole;
  g.AddError(InvalidArgument(function, " (", LocationText(ImplOf(g).UserLine(std::source_location::current())),
                             "): the keys of growing table '", name, "' are ", ids.dtype(),
                             ", but must be int64 or int32: ", cure));
  return false;
}

// Scales rows whose L2 norm is above max_norm to this norm. `x` has the shape [..., row...].
Output ClipRows(const Output& x, const Shape& row, std::optional<double> max_norm) {
  if (!max_norm || !x.valid()) return x;
  const double limit = std::max(*max_norm, 0.0);
  const int rank = x.shape().rank();
  std::vector<int64_t> axes;
  for (int i = rank - row.rank(); i < rank; ++i) axes.push_back(i);
  // Without axes, ReduceSum would sum over all of them, but a row without axes is a single element.
  const Output square = x * x;
  const Output squares = axes.empty() ? square : ReduceSum(square, axes, {.keep_dims = true});
  // The gradient of the square root is infinite at 0, so the root of 1 is computed in place of it.
  const Output positive = Greater(squares, 0);
  const Output norm = Select(positive, Sqrt(Select(positive, squares, OnesLike(squares))), squares);
  return x * limit / Maximum(norm, limit);
}

// Reshapes `rows` to the shape of the ids followed by the shape of a row. The new shape is a constant if at most one of
// its sizes is unknown.
Output Unflatten(const Output& rows, const Output& ids, const Shape& row) {
  Shape shape;
  int unknown = 0;
  bool empty = false;
  if (ids.shape().has_rank()) {
    for (const int64_t dim : ids.shape().dims()) shape.AddDim(dim);
    for (const int64_t dim : row.dims()) shape.AddDim(dim);
    for (const int64_t dim : shape.dims()) {
      unknown += dim < 0 ? 1 : 0;
      empty = empty || dim == 0;
    }
    if (unknown == 0 || (unknown == 1 && !empty)) {
      return Reshape(rows, std::vector<int64_t>(shape.dims().begin(), shape.dims().end()));
    }
  }
  Graph& g = *ids.graph();
  const std::vector<int32_t> dims(row.dims().begin(), row.dims().end());
  return Reshape(rows, Concat({ShapeOf(ids), Const(g, Tensor::Vector(dims))}, 0));
}

// Returns, for ids of a table of `total` rows, the part of each id and its id within this part. If an id is not in the
// table, its part or its id within the part is out of range.
std::pair<Output, Output> Distribute(const Output& ids, PartitionStrategy strategy, int64_t parts, int64_t total) {
  if (strategy == PartitionStrategy::kMod) return {FloorMod(ids, parts), FloorDiv(ids, parts)};
  // The first `extras` parts have one row more.
  const int64_t rows = total / parts, extras = total % parts;
  if (rows == 0) return {ids, ids - ids};  // part i has at most one row, the row of id i
  const Output rest = ids - extras;
  const Output part = Maximum(FloorDiv(ids, rows + 1), FloorDiv(rest, rows));
  return {part, Select(Less(part, extras), FloorMod(ids, rows + 1), FloorMod(rest, rows))};
}

int64_t NumRowsOf(const std::vector<Variable>& parts) {
  int64_t rows = 0;
  for (const Variable& part : parts) rows += part.shape().dim(0);
  return rows;
}

// As Distribute, for the keys of a growing table: each part has the keys of some of the small tables that the table
// consists of. A key stays as it is in its part.
std::pair<Output, Output> DistributeKeys(const Output& ids, int64_t parts) {
  const Output keys = ids.valid() && ids.dtype() == kInt32 ? Cast(ids, kInt64) : ids;
  return {FloorMod(FloorMod(keys, kSmallTables), parts), keys};
}

// Whether lookups tell the table how often each key occurs in the batch, because it has a filter.
bool CountsKeys(const EmbeddingTable& table) { return IsGrowing(table) && table.parts()[0].table()->filter_freq > 0; }

// The rows of one part. `counts` is not valid unless the table counts keys.
Output LookupInPart(Graph& g, const Variable& part, const Output& ids, const Output& counts) {
  if (!counts.valid() || ids.dtype() == kString) return part.SparseRead(ids);
  const Output keys = ids.dtype() == kInt64 ? ids : Cast(ids, kInt64);
  auto place = g.ColocateWith(part.handle().op());
  return NodeBuilder(g, "KvResourceGatherV1")
      .Input(part.handle())
      .Input(keys)
      .Input(Const(g, Tensor(kFloat32, {0})))
      .Input(counts)
      .Output();
}

// The rows of a valid table, without clipping: [ids..., row...]. If the table counts keys, the ids are distinct, and
// `counts` is how often each occurs in the batch.
Output Lookup(Graph& g, const EmbeddingTable& table, const Output& ids, std::optional<PartitionStrategy> chosen,
              const Output& counts = {}) {
  const auto& parts = table.parts();
  if (parts.size() == 1) return LookupInPart(g, parts[0], ids, counts);
  const auto count = static_cast<int64_t>(parts.size());
  const Output flat = ids.shape().has_rank() && ids.shape().rank() == 1 ? ids : Reshape(ids, {-1});
  const auto [part, id] = IsGrowing(table) ? DistributeKeys(flat, count)
                                           : Distribute(flat, StrategyOf(table, chosen), count, NumRowsOf(parts));
  // The limits keep the conversion from turning the part of an id that is far out of range into an existing part.
  const Output parts_of_ids = Cast(Minimum(Maximum(part, -1), count), kInt32);
  const Output positions = Range(g, 0, Size(flat));
  const auto partition = [&](const Output& x) {
    return NodeBuilder(g, "DynamicPartition").Input(x).Input(parts_of_ids).Attr("num_partitions", count).Finish();
  };
  const Operation ids_of_parts = partition(id);
  const Operation positions_of_parts = partition(positions);
  const Operation counts_of_parts = counts.valid() ? partition(counts) : Operation();
  if (!ids_of_parts.valid() || !positions_of_parts.valid() || !g.status().ok()) return {};
  std::vector<Output> indices, rows;
  for (int i = 0; i < static_cast<int>(count); ++i) {
    indices.push_back(positions_of_parts.output(i));
    rows.push_back(
        LookupInPart(g, parts[i], ids_of_parts.output(i), counts.valid() ? counts_of_parts.output(i) : Output()));
  }
  const Output stitched = NodeBuilder(g, "ParallelDynamicStitch").InputList(indices).InputList(rows).Output();
  if (!stitched.valid()) return {};
  Shape row;
  for (const int64_t dim : parts[0].shape().dims().subspan(1)) row.AddDim(dim);
  return Unflatten(stitched, ids, row);
}

Shape RowOf(const EmbeddingTable& table) {
  Shape row;
  for (const int64_t dim : table.parts()[0].shape().dims().subspan(1)) row.AddDim(dim);
  return row;
}

// The distinct elements of a vector, the position of each element among them and, if the table counts keys, how often
// each occurs.
struct DistinctIds {
  Output ids, positions, counts;
};

// With `given`, this is how often each element of `ids` occurs, and otherwise each occurs once.
DistinctIds DistinctIdsOf(Graph& g, const EmbeddingTable& table, const Output& ids, const Output& given = {}) {
  if (given.valid() && CountsKeys(table)) {
    const Operation unique = NodeBuilder(g, "Unique").Input(ids).Finish();
    if (!unique.valid()) return {};
    const Output counts = NodeBuilder(g, "UnsortedSegmentSum")
                              .Input(Reshape(given, {-1}))
                              .Input(unique.output(1))
                              .Input(Size(unique.output(0)))
                              .Output();
    return {.ids = unique.output(0), .positions = unique.output(1), .counts = counts};
  }
  const bool counts = CountsKeys(table);
  const Operation unique = NodeBuilder(g, counts ? "UniqueWithCounts" : "Unique").Input(ids).Finish();
  if (!unique.valid()) return {};
  return {.ids = unique.output(0), .positions = unique.output(1), .counts = counts ? unique.output(2) : Output()};
}

bool IsRegularized(const EmbeddingTable& table) { return IsGrowing(table) && table.parts()[0].table()->regularizer; }

// The rows of distinct ids, clipped. If the table has a regularizer, adds the penalty of these rows to the graph.
Output RowsOfDistinct(Graph& g, const EmbeddingTable& table, const DistinctIds& distinct,
                      std::optional<PartitionStrategy> strategy, std::optional<double> max_norm) {
  const Output rows = Lookup(g, table, distinct.ids, strategy, distinct.counts);
  if (rows.valid() && IsRegularized(table)) {
    const TableDescription& of = *table.parts()[0].table();
    auto inside = g.NameScope(of.whole + "/Regularizer/");
    if (const Output loss = of.regularizer(rows); loss.valid()) g.AddToCollection("regularization_losses", loss);
  }
  return ClipRows(rows, RowOf(table), max_norm);
}

// As Lookup with clipping, but each distinct id is looked up once.
Output LookupOfDistinct(Graph& g, const EmbeddingTable& table, const Output& ids,
                        const EmbeddingLookupOptions& options) {
  const DistinctIds distinct = DistinctIdsOf(g, table, Reshape(ids, {-1}), options.counts);
  if (!distinct.ids.valid()) return {};
  const Output rows = RowsOfDistinct(g, table, distinct, options.partition_strategy, options.max_norm);
  if (!rows.valid()) return {};
  return Unflatten(Gather(rows, distinct.positions), ids, RowOf(table));
}

// The rows of a sparse matrix to which the elements belong, in an order that does not decrease.
struct Segments {
  Output ids;
  // The number of rows. Not valid: they end with the last one that has an element.
  Output count;
};

// Sums the rows of `data` that have the same segment id.
Output SumOfSegments(const Output& data, const Segments& segments) {
  NodeBuilder sum(*data.graph(), segments.count.valid() ? "UnsortedSegmentSum" : "SegmentSum");
  sum.Input(data).Input(segments.ids);
  if (segments.count.valid()) sum.Input(segments.count);
  return sum.Output();
}

// Combines embeddings e[position] of each segment, without weights.
Output CombineUnweighted(const Output& e, const Output& position, const Segments& segments, Combiner combiner) {
  const char* op = combiner == Combiner::kSum    ? "SparseSegmentSum"
                   : combiner == Combiner::kMean ? "SparseSegmentMean"
                                                 : "SparseSegmentSqrtN";
  if (!segments.count.valid()) return NodeBuilder(*e.graph(), op).Input(e).Input(position).Input(segments.ids).Output();
  return NodeBuilder(*e.graph(), StrCat(op, "WithNumSegments"))
      .Input(e)
      .Input(position)
      .Input(segments.ids)
      .Input(segments.count)
      .Output();
}

Output CombineWeighted(Output e, const Output& position, const Segments& segments, Output weights, const Shape& row,
                       Combiner combiner) {
  const DType dtype = e.dtype();
  e = Gather(e, position);
  if (dtype == DType::kFloat16 || dtype == DType::kBfloat16) e = Cast(e, kFloat32);
  weights = Cast(weights, e.dtype());
  if (!weights.valid()) return {};
  std::vector<int64_t> column(static_cast<size_t>(row.rank()) + 1, 1);
  column[0] = -1;
  weights = Reshape(weights, column);
  Output sum = SumOfSegments(e * weights, segments);
  if (combiner == Combiner::kMean) sum = DivNoNan(sum, SumOfSegments(weights, segments));
  if (combiner == Combiner::kSqrtN) sum = DivNoNan(sum, Sqrt(SumOfSegments(Square(weights), segments)));
  return Cast(sum, dtype);
}

// `num_rows` is the number of rows of the result; not valid: up to the last one that has an id.
Output SparseLookup(Graph& g, const EmbeddingTable& table, const SparseTensor& ids, const Output* weights,
                    const EmbeddingLookupSparseOptions& options, const Output& num_rows = {}) {
  // indices[:, 0], the rows of the ids.
  const Output first_column = NodeBuilder(g, "StridedSlice")
                                  .Input(ids.indices)
                                  .Input(ConstantVector(g, {0, 0}))
                                  .Input(ConstantVector(g, {0, 1}))
                                  .Input(ConstantVector(g, {1, 1}))
                                  .Attr("begin_mask", 1)
                                  .Attr("end_mask", 1)
                                  .Attr("shrink_axis_mask", 2)
                                  .Output();
  const DistinctIds distinct = DistinctIdsOf(g, table, ids.values);
  if (!first_column.valid() || !distinct.ids.valid()) return {};
  const Output e = RowsOfDistinct(g, table, distinct, options.partition_strategy, options.max_norm);
  if (!e.valid()) return {};
  const Segments segments = {.ids = first_column, .count = num_rows};
  if (weights == nullptr) return CombineUnweighted(e, distinct.positions, segments, options.combiner);
  return CombineWeighted(e, distinct.positions, segments, *weights, RowOf(table), options.combiner);
}

// The graph of a sparse tensor, or null if one of its tensors is not valid.
Graph* GraphOfSparse(const SparseTensor& x) {
  return x.indices.valid() && x.values.valid() && x.dense_shape.valid() ? x.values.graph() : nullptr;
}

Output CheckedSparseLookup(const EmbeddingTable& table, const SparseTensor& ids, const Output* weights,
                           const EmbeddingLookupSparseOptions& options, const std::source_location& loc) {
  Graph* g = GraphOfSparse(ids);
  if (g == nullptr) return {};
  const ScopedLocation at(*g, loc);
  if (!CheckTable(*g, "EmbeddingLookupSparse", table, options.partition_strategy)) return {};
  if (!CheckKeys(*g, "EmbeddingLookupSparse", table, ids.values)) return {};
  auto scope = g->NameScope(options.name);
  return SparseLookup(*g, table, ids, weights, options);
}

// The elements for which `keep` is true.
SparseTensor Retain(const SparseTensor& x, const Output& keep) {
  const Output positions = Reshape(Where(keep), {-1});
  return {.indices = Gather(x.indices, positions), .values = Gather(x.values, positions), .dense_shape = x.dense_shape};
}

struct Filled {
  SparseTensor tensor;
  Output was_empty;  // for each row
};

// Gives each row without elements one element, `value`.
Filled FillEmptyRows(Graph& g, const SparseTensor& x, const Operand& value) {
  const Operation filled = NodeBuilder(g, "SparseFillEmptyRows")
                               .Input(x.indices)
                               .Input(x.values)
                               .Input(x.dense_shape)
                               .Input(value.ToOutput(g, x.values.dtype()))
                               .Finish();
  if (!filled.valid()) return {};
  return {.tensor = {.indices = filled.output(0), .values = filled.output(1), .dense_shape = x.dense_shape},
          .was_empty = filled.output(2)};
}

Output SafeLookup(const EmbeddingTable& table, const SparseTensor& sparse_ids, const SparseTensor* sparse_weights,
                  const SafeEmbeddingLookupSparseOptions& options, const std::source_location& loc) {
  Graph* graph = GraphOfSparse(sparse_ids);
  if (graph == nullptr) return {};
  Graph& g = *graph;
  const ScopedLocation at(g, loc);
  if (!CheckTable(g, "SafeEmbeddingLookupSparse", table, options.partition_strategy)) return {};
  if (!CheckKeys(g, "SafeEmbeddingLookupSparse", table, sparse_ids.values)) return {};
  auto scope = g.NameScope(options.name);
  // Reshape the ids to a matrix: all dimensions but the last are merged into its rows.
  const Output outer = StridedSlice(sparse_ids.dense_shape, {0}, {-1}, {1});
  const Output last = StridedSlice(sparse_ids.dense_shape, {-1}, {0}, {1}, {.end_mask = 1});
  const Output matrix = Concat({ReduceProd(outer, {0}, {.keep_dims = true}), last}, 0);
  const Operation reshaped =
      NodeBuilder(g, "SparseReshape").Input(sparse_ids.indices).Input(sparse_ids.dense_shape).Input(matrix).Finish();
  if (!reshaped.valid()) return {};
  SparseTensor ids = {.indices = reshaped.output(0), .values = sparse_ids.values, .dense_shape = reshaped.output(1)};
  SparseTensor weights;
  // All other negative numbers are keys of a growing table.
  Output keep = IsGrowing(table) ? NotEqual(ids.values, -1) : GreaterEqual(ids.values, 0);
  if (sparse_weights != nullptr) {
    weights = {.indices = ids.indices, .values = sparse_weights->values, .dense_shape = ids.dense_shape};
    if (options.combiner != Combiner::kSum) keep = LogicalAnd(keep, Greater(weights.values, 0));
    weights = Retain(weights, keep);
  }
  const EmbeddingLookupSparseOptions combined = {
      .partition_strategy = options.partition_strategy, .combiner = options.combiner, .max_norm = options.max_norm};
  const Shape row = RowOf(table);
  const std::vector<int64_t> row_dims(row.dims().begin(), row.dims().end());
  if (IsGrowing(table) && !options.default_id) {
    // A row of ids that is filled with some key would make the row of this key in the table.
    const Output rows = SparseLookup(g, table, Retain(ids, keep), sparse_weights == nullptr ? nullptr : &weights.values,
                                     combined, Gather(matrix, 0));
    if (!rows.valid()) return {};
    return Reshape(rows, Concat({outer, Const(g, Tensor::Vector(row_dims))}, 0));
  }
  const Filled filled = FillEmptyRows(g, Retain(ids, keep), options.default_id.value_or(0));
  if (!filled.was_empty.valid()) return {};
  if (sparse_weights != nullptr) weights = FillEmptyRows(g, weights, 1).tensor;
  Output rows = SparseLookup(g, table, filled.tensor, sparse_weights == nullptr ? nullptr : &weights.values, combined);
  if (!rows.valid()) return {};
  if (!options.default_id) {
    std::vector<int64_t> column(static_cast<size_t>(row.rank()) + 1, 1);
    column[0] = -1;
    rows = Select(Reshape(filled.was_empty, column), ZerosLike(rows), rows);
  }
  return Reshape(rows, Concat({outer, Const(g, Tensor::Vector(row_dims))}, 0));
}

}  // namespace

Output EmbeddingLookup(const EmbeddingTable& table, const Operand& ids, const EmbeddingLookupOptions& options) {
  Graph* g = ids.graph();
  if (g == nullptr && !table.parts().empty()) g = table.parts()[0].graph(ids.location());
  if (g == nullptr) return {};
  const ScopedLocation at(*g, ids.location());
  if (!CheckTable(*g, "EmbeddingLookup", table, options.partition_strategy)) return {};
  auto scope = g->NameScope(options.name);
  const Output id = ids.ToOutput(*g);
  if (!id.valid() || !CheckKeys(*g, "EmbeddingLookup", table, id)) return {};
  const Output& counts = options.counts;
  if (counts.valid() &&
      ((counts.dtype() != kInt32 && counts.dtype() != kInt64) || !counts.shape().IsCompatibleWith(id.shape()))) {
    g->AddError(InvalidArgument("EmbeddingLookup (", LocationText(ImplOf(*g).UserLine(ids.location())),
                                "): counts are ", counts.dtype(), counts.shape(),
                                ", but must be int32 or int64 and have the shape of ", "the ids, ", id.shape(),
                                ": how often each of them occurs"));
    return {};
  }
  if (options.distinct_ids || CountsKeys(table) || IsRegularized(table))
    return LookupOfDistinct(*g, table, id, options);
  const Output rows = Lookup(*g, table, id, options.partition_strategy);
  if (!options.max_norm) return rows;
  if (!id.shape().has_rank()) {
    g->AddError(Unimplemented("EmbeddingLookup (", LocationText(ImplOf(*g).UserLine(ids.location())),
                              "): max_norm requires ids of known rank"));
    return {};
  }
  return ClipRows(rows, RowOf(table), options.max_norm);
}

Output EmbeddingLookupSparse(const EmbeddingTable& table, const SparseTensor& ids,
                             const EmbeddingLookupSparseOptions& options, std::source_location loc) {
  return CheckedSparseLookup(table, ids, nullptr, options, loc);
}

Output EmbeddingLookupSparse(const EmbeddingTable& table, const SparseTensor& ids, const SparseTensor& weights,
                             const EmbeddingLookupSparseOptions& options, std::source_location loc) {
  return weights.values.valid() ? CheckedSparseLookup(table, ids, &weights.values, options, loc) : Output();
}

Output SafeEmbeddingLookupSparse(const EmbeddingTable& table, const SparseTensor& ids,
                                 const SafeEmbeddingLookupSparseOptions& options, std::source_location loc) {
  return SafeLookup(table, ids, nullptr, options, loc);
}

Output SafeEmbeddingLookupSparse(const EmbeddingTable& table, const SparseTensor& ids, const SparseTensor& weights,
                                 const SafeEmbeddingLookupSparseOptions& options, std::source_location loc) {
  return weights.values.valid() ? SafeLookup(table, ids, &weights, options, loc) : Output();
}

}  // namespace tensorbraid::nn
