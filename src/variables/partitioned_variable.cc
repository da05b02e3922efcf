#include "tensorbraid/variables/partitioned_variable.h"

#include <algorithm>

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/user_lines.h"
#include "tensorbraid/ops/array.h"

namespace tensorbraid {
namespace {

// The bytes of one row, as a double, since the number of elements of a shape may be larger than an int64.
double RowBytes(const Shape& shape, DType dtype, int64_t bytes_per_string) {
  double bytes = static_cast<double>(dtype == kString ? bytes_per_string : static_cast<int64_t>(DTypeSize(dtype)));
  for (const int64_t dim : shape.dims().subspan(1)) bytes *= static_cast<double>(dim);
  return bytes;
}

int64_t CeilOfQuotient(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

}  // namespace

Partitioner FixedSizePartitioner(int64_t num_parts) {
  return [=](const Shape& shape, DType) { return std::min(num_parts, shape.dim(0)); };
}

Partitioner PartitionLargest(int ps_tasks, int64_t min_bytes) {
  return [=](const Shape& shape, DType dtype) -> int64_t {
    const auto rows = static_cast<double>(shape.dim(0));
    if (RowBytes(shape, dtype, /*bytes_per_string=*/1) * rows < static_cast<double>(min_bytes)) return 1;
    return std::min<int64_t>(ps_tasks, shape.dim(0));
  };
}

Partitioner VariableAxisSizePartitioner(int64_t max_part_bytes, VariableAxisSizePartitionerOptions options) {
  return [=](const Shape& shape, DType dtype) -> int64_t {
    if (max_part_bytes < 1 || options.bytes_per_string_element < 1 || options.max_parts < 0) return 0;
    const double row = RowBytes(shape, dtype, options.bytes_per_string_element);
    const int64_t rows = shape.dim(0);
    int64_t rows_per_part = rows;
    if (row * static_cast<double>(rows) > static_cast<double>(max_part_bytes)) {
      rows_per_part = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(max_part_bytes) / row));
    }
    const int64_t parts = CeilOfQuotient(rows, rows_per_part);
    return options.max_parts > 0 ? std::min(options.max_parts, parts) : parts;
  };
}

Partitioner MinMaxVariablePartitioner(MinMaxVariablePartitionerOptions options) {
  return [=](const Shape& shape, DType dtype) -> int64_t {
    if (options.max_parts < 1 || options.min_part_bytes < 1 || options.bytes_per_string_element < 1) return 0;
    const double bytes = RowBytes(shape, dtype, options.bytes_per_string_element) * static_cast<double>(shape.dim(0));
    const int64_t most = std::min(options.max_parts, shape.dim(0));
    const double parts = bytes / static_cast<double>(options.min_part_bytes);
    if (parts >= static_cast<double>(most)) return most;
    const auto whole = static_cast<int64_t>(parts);
    return std::max<int64_t>(1, static_cast<double>(whole) < parts ? whole + 1 : whole);
  };
}

PartitionedVariable::PartitionedVariable(const Variable& whole) : name_(whole.name()), shape_(whole.shape()) {
  if (whole.valid()) parts_ = {whole};
}

PartitionedVariable::PartitionedVariable(Graph& graph, const Tensor& initial_value, const Partitioner& partitioner,
                                         VariableOptions options, std::source_location loc) {
  options.dtype = initial_value.dtype();
  *this = PartitionedVariable(graph, initial_value.shape(), Constant(initial_value), partitioner, options, loc);
}

PartitionedVariable::PartitionedVariable(Graph& graph, const Shape& shape, const Initializer& initializer,
                                         const Partitioner& partitioner, VariableOptions options,
                                         std::source_location loc) {
  const ScopedLocation at(graph, loc);
  const std::string self =
      StrCat("PartitionedVariable '", options.name, "' (", LocationText(ImplOf(graph).UserLine(loc)), ")");
  if (!shape.is_fully_defined() || shape.rank() < 1 || shape.dim(0) < 1) {
    graph.AddError(InvalidArgument(self, ": the shape must be fully known and have at least one row, got ", shape));
    return;
  }
  const int64_t rows = shape.dim(0);
  const int64_t count = partitioner(shape, options.dtype);
  if (count < 1 || count > rows) {
    graph.AddError(InvalidArgument(self, ": the partitioner must return a number of parts from 1 to ", rows,
                                   " for shape ", shape, ", got ", count));
    return;
  }
  const std::string name = ImplOf(graph).UniqueName(options.name);
  auto scope = graph.NameScope(name + "/");
  std::vector<Variable> parts;
  int64_t begin = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t end = begin + rows / count + (i < rows % count ? 1 : 0);
    Shape part = shape;
    part.set_dim(0, end - begin);
    options.name = StrCat("part_", i);
    options.part_of = VariablePart{.whole = name, .shape = shape, .first_row = begin};
    parts.emplace_back(graph, part, initializer, options);
    if (!parts.back().valid()) return;
    begin = end;
  }
  name_ = name;
  shape_ = shape;
  parts_ = std::move(parts);
}

Operand::Operand(const PartitionedVariable& variable, std::source_location loc)
    : value_(variable.AsTensor(loc)), loc_(loc) {}

Output PartitionedVariable::AsTensor(std::source_location loc) const {
  if (!valid()) return {};
  Graph& graph = *parts_[0].graph(loc);
  const ScopedLocation at(graph, loc);
  if (parts_.size() == 1) return parts_[0].value(loc);
  auto scope = graph.NameScope(name_ + "/ConcatPartitions/");
  return Concat(std::vector<Operand>(parts_.begin(), parts_.end()), 0);
}

}  // namespace tensorbraid
