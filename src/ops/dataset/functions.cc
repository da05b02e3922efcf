// The public class Dataset: nodes of dataset ops, and what is known of their elements.
#include <algorithm>
#include <cstring>

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/mistakes.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "ops/builder.h"
#include "ops/dataset/element_spec.h"
#include "tensorbraid/data/dataset.h"

namespace tensorbraid::data {
namespace {

// Builds a node of a dataset op.
class DatasetNode {
 public:
  DatasetNode(Graph& graph, const char* op, std::source_location loc)
      : graph_(graph), at_(graph, loc), builder_(graph, op, loc) {}

  DatasetNode& Input(const Output& input) {
    builder_.Input(input);
    return *this;
  }
  DatasetNode& Input(const Operand& number, DType dtype) {
    builder_.Input(number.ToOutput(graph_, dtype));
    return *this;
  }
  DatasetNode& Number(int64_t number) { return Input(number, kInt64); }
  DatasetNode& Text(const std::string& text) {
    builder_.Input(Operand(Tensor::Scalar(text)).ToOutput(graph_));
    return *this;
  }
  DatasetNode& InputList(std::vector<Output> inputs) {
    builder_.InputList(std::move(inputs));
    return *this;
  }
  DatasetNode& Attr(const char* name, AttrValue value) {
    builder_.Attr(name, std::move(value));
    return *this;
  }
  // For ops that have attributes with the dtypes and shapes of the elements.
  Dataset Finish(Specs element, const char* types = "output_types") {
    builder_.Attr(types, DTypesOf(element)).Attr("output_shapes", ShapesOf(element));
    return Dataset(builder_.Output(), std::move(element));
  }
  Dataset FinishUntyped(Specs element) { return Dataset(builder_.Output(), std::move(element)); }

 private:
  Graph& graph_;
  const ScopedLocation at_;
  NodeBuilder builder_;
};

Dataset Refuse(Graph& graph, const std::source_location& loc, const char* function, const std::string& why) {
  graph.AddError(InvalidArgument("Dataset::", function, " (", LocationText(ImplOf(graph).UserLine(loc)), "): ", why));
  return {};
}

// The tensors for a list of operands.
Tensors ToOutputs(Graph& graph, const std::vector<Operand>& operands) {
  Tensors tensors;
  for (const Operand& operand : operands) tensors.push_back(operand.ToOutput(graph));
  return tensors;
}

bool AllValid(const Tensors& tensors) {
  return std::all_of(tensors.begin(), tensors.end(), [](const Output& t) { return t.valid(); });
}

// The value of a constant scalar; none if the tensor is not a constant.
template <typename T>
std::optional<T> ConstantScalar(const Output& tensor) {
  if (!tensor.valid() || tensor.op().type() != "Const") return std::nullopt;
  const Tensor& value = NodeOf(tensor)->attr<Tensor>("value");
  if (value.dtype() != DTypeOf<T>::value || value.num_elements() != 1) return std::nullopt;
  return value.scalar<T>();
}

// `shape` without its first size.
Shape WithoutFirst(const Shape& shape) {
  if (!shape.has_rank()) return Shape::Unknown();
  return Shape(shape.dims().subspan(1));
}

Shape WithFirst(int64_t size, const Shape& shape) {
  if (!shape.has_rank()) return Shape::Unknown();
  Shape result = {size};
  for (const int64_t dim : shape.dims()) result.AddDim(dim);
  return result;
}

Specs SpecsOf(const Tensors& tensors) {
  Specs specs;
  for (const Output& tensor : tensors) specs.push_back({tensor.dtype(), tensor.shape()});
  return specs;
}

// The scalar 0, "" or false.
Tensor ZeroOf(DType dtype) {
  Tensor zero(dtype, {});
  if (IsPlain(dtype)) std::memset(zero.inplace_raw_data(), 0, zero.num_bytes());
  return zero;
}

// The size of all batches, if it is known: -1 otherwise.
int64_t KnownBatch(const Output& batch_size, const Output& drop_remainder) {
  if (ConstantScalar<bool>(drop_remainder) != true) return Shape::kUnknownDim;
  return ConstantScalar<int64_t>(batch_size).value_or(Shape::kUnknownDim);
}

Output Text(Graph& graph, const std::string& text) { return Operand(Tensor::Scalar(text)).ToOutput(graph); }

}  // namespace

std::vector<DType> DTypesOf(const Specs& element) {
  std::vector<DType> types;
  for (const TensorSpec& spec : element) types.push_back(spec.dtype);
  return types;
}

std::vector<Shape> ShapesOf(const Specs& element) {
  std::vector<Shape> shapes;
  for (const TensorSpec& spec : element) shapes.push_back(spec.shape);
  return shapes;
}

std::string ToString(const Specs& element) {
  std::vector<std::string> texts;
  for (const TensorSpec& spec : element) texts.push_back(StrCat(DTypeName(spec.dtype), spec.shape));
  return StrCat("(", StrJoin(texts, ", "), ")");
}

// --- Sources ---

Dataset Dataset::FromTensors(Graph& graph, const std::vector<Operand>& tensors, std::source_location loc) {
  const ScopedLocation at(graph, loc);
  Tensors inputs = ToOutputs(graph, tensors);
  Specs element = SpecsOf(inputs);
  return DatasetNode(graph, "TensorDataset", loc)
      .InputList(std::move(inputs))
      .Finish(std::move(element), "Toutput_types");
}

Dataset Dataset::FromTensorSlices(Graph& graph, const std::vector<Operand>& tensors, std::source_location loc) {
  const ScopedLocation at(graph, loc);
  Tensors inputs = ToOutputs(graph, tensors);
  if (!AllValid(inputs)) return {};
  Specs element = SpecsOf(inputs);
  int64_t size = Shape::kUnknownDim;
  for (TensorSpec& spec : element) {
    if (!spec.shape.has_rank()) continue;
    if (spec.shape.rank() == 0) return Refuse(graph, loc, "FromTensorSlices", "a scalar has no slices");
    const int64_t first = spec.shape.dim(0);
    if (size >= 0 && first >= 0 && first != size) {
      return Refuse(graph, loc, "FromTensorSlices",
                    StrCat("the tensors have ", size, " and ", first, " slices along dimension 0"));
    }
    size = std::max(size, first);
    spec.shape = WithoutFirst(spec.shape);
  }
  return DatasetNode(graph, "TensorSliceDataset", loc)
      .InputList(std::move(inputs))
      .Finish(std::move(element), "Toutput_types");
}

Dataset Dataset::Range(Graph& graph, const Operand& start, const Operand& stop, const Operand& step,
                       std::source_location loc) {
  return DatasetNode(graph, "RangeDataset", loc)
      .Input(start, kInt64)
      .Input(stop, kInt64)
      .Input(step, kInt64)
      .Finish({{kInt64, {}}});
}

Dataset Dataset::TextLines(Graph& graph, const Operand& files, const FileOptions& options, std::source_location loc) {
  return DatasetNode(graph, "TextLineDataset", loc)
      .Input(files, kString)
      .Text(options.compression)
      .Number(options.buffer_size)
      .FinishUntyped({{kString, {}}});
}

Dataset Dataset::TfRecords(Graph& graph, const Operand& files, const FileOptions& options, std::source_location loc) {
  return DatasetNode(graph, "TFRecordDataset", loc)
      .Input(files, kString)
      .Text(options.compression)
      .Number(options.buffer_size)
      .FinishUntyped({{kString, {}}});
}

Dataset Dataset::FixedLengthRecords(Graph& graph, const Operand& files, const Operand& record_bytes,
                                    const FixedLengthOptions& options, std::source_location loc) {
  return DatasetNode(graph, "FixedLengthRecordDatasetV2", loc)
      .Input(files, kString)
      .Number(options.header_bytes)
      .Input(record_bytes, kInt64)
      .Number(options.footer_bytes)
      .Number(options.buffer_size)
      .Text(options.compression)
      .FinishUntyped({{kString, {}}});
}

Dataset Dataset::IdxFiles(Graph& graph, const Operand& files, const Shape& shape, const FileOptions& options,
                          std::source_location loc) {
  if (!shape.is_fully_defined()) return Refuse(graph, loc, "IdxFiles", StrCat("the shape ", shape, " is not known"));
  // The header has a magic number, the number of tensors, and their shape.
  const Dataset records = FixedLengthRecords(
      graph, files, shape.num_elements(),
      {.header_bytes = 8 + 4 * shape.rank(), .compression = options.compression, .buffer_size = options.buffer_size},
      loc);
  return records.Map(
      [&](const Tensors& record) -> Tensors {
        Graph& body = *record[0].graph();
        const Output bytes = NodeBuilder(body, "DecodeRaw", loc).Input(record[0]).Attr("out_type", kUint8).Output();
        const std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
        const Output wanted = Operand(Tensor::Of<int64_t>({shape.rank()}, dims)).ToOutput(body);
        return {NodeBuilder(body, "Reshape", loc).Input(bytes).Input(wanted).Output()};
      },
      loc);
}

Dataset Dataset::Csv(Graph& graph, const Operand& files, const std::vector<Operand>& defaults,
                     const CsvOptions& options, std::source_location loc) {
  const ScopedLocation at(graph, loc);
  Tensors values = ToOutputs(graph, defaults);
  Specs element;
  for (const Output& value : values) element.push_back({value.dtype(), {}});
  return DatasetNode(graph, "CSVDataset", loc)
      .Input(files, kString)
      .Text(options.compression)
      .Number(options.buffer_size)
      .Input(options.header, kBool)
      .Text(options.field_delimiter)
      .Input(options.use_quote_delimiter, kBool)
      .Text(options.missing_value)
      .Input(Tensor::Vector(options.columns), kInt64)
      .InputList(std::move(values))
      .Finish(std::move(element));
}

Dataset Dataset::ListFiles(Graph& graph, const Operand& patterns, const ListFilesOptions& options,
                           std::source_location loc) {
  const ScopedLocation at(graph, loc);
  const Output wanted = patterns.ToOutput(graph, kString);
  Output files = NodeBuilder(graph, "MatchingFiles", loc).Input(wanted).Output();
  if (!files.valid()) return {};
  const Output count = NodeBuilder(graph, "Size", loc).Input(files).Attr("out_type", kInt64).Output();
  const Output zero = Operand(0).ToOutput(graph, kInt64), one = Operand(1).ToOutput(graph, kInt64);
  const Output any = NodeBuilder(graph, "Greater", loc).Input(count).Input(zero).Output();
  const Operation check = NodeBuilder(graph, "Assert", loc)
                              .Input(any)
                              .InputList({Text(graph, "No files matched pattern: "), wanted})
                              .Finish();
  files = NodeBuilder(graph, "Identity", loc).Input(files).Control(check).Output();
  const Dataset listed = FromTensorSlices(graph, {files}, loc);
  if (!options.shuffle) return listed;
  const Output size = NodeBuilder(graph, "Maximum", loc).Input(count).Input(one).Output();
  return listed.Shuffle(size, {.seed = options.seed}, loc);
}

Dataset Dataset::FilesOfClasses(Graph& graph, const std::string& directory, const std::vector<std::string>& classes,
                                std::source_location loc) {
  std::vector<std::string> patterns;
  for (const std::string& name : classes) patterns.push_back(StrCat(directory, "/", name, "/*"));
  const Dataset files = ListFiles(graph, Tensor::Vector(patterns), {.shuffle = false}, loc);
  return files.Map(
      [&](const Tensors& file) -> Tensors {
        Graph& body = *file[0].graph();
        const Output folder = NodeBuilder(body, "StaticRegexReplace", loc)
                                  .Input(file[0])
                                  .Attr("pattern", "^.*/([^/]*)/[^/]*$")
                                  .Attr("rewrite", "\\1")
                                  .Output();
        const Output names = Operand(Tensor::Vector(classes)).ToOutput(body);
        const Output equal = NodeBuilder(body, "Equal", loc).Input(names).Input(folder).Output();
        const Output match = NodeBuilder(body, "Cast", loc).Input(equal).Attr("DstT", kInt32).Output();
        const Output axis = Operand(0).ToOutput(body, kInt32);
        return {file[0], NodeBuilder(body, "ArgMax", loc).Input(match).Input(axis).Output()};
      },
      loc);
}

// --- Order and number of elements ---

Dataset Dataset::Shuffle(const Operand& buffer_size, const ShuffleOptions& options, std::source_location loc) const {
  if (!valid()) return {};
  const SeedPair seeds = SeedsOf(*graph(loc), options.seed);
  return ShuffleWithSeeds(buffer_size, seeds.seed, seeds.seed2, options.reshuffle_each_iteration, loc);
}

Dataset Dataset::ShuffleWithSeeds(const Operand& buffer_size, const Operand& seed, const Operand& seed2,
                                  bool reshuffle_each_iteration, std::source_location loc) const {
  if (!valid()) return {};
  return DatasetNode(*graph(loc), "ShuffleDataset", loc)
      .Input(variant_)
      .Input(buffer_size, kInt64)
      .Input(seed, kInt64)
      .Input(seed2, kInt64)
      .Attr("reshuffle_each_iteration", reshuffle_each_iteration)
      .Finish(element_);
}

Dataset Dataset::Repeat(const Operand& count, std::source_location loc) const {
  if (!valid()) return {};
  return DatasetNode(*graph(loc), "RepeatDataset", loc).Input(variant_).Input(count, kInt64).Finish(element_);
}

Dataset Dataset::Take(const Operand& count, std::source_location loc) const {
  if (!valid()) return {};
  return DatasetNode(*graph(loc), "TakeDataset", loc).Input(variant_).Input(count, kInt64).Finish(element_);
}

Dataset Dataset::Skip(const Operand& count, std::source_location loc) const {
  if (!valid()) return {};
  return DatasetNode(*graph(loc), "SkipDataset", loc).Input(variant_).Input(count, kInt64).Finish(element_);
}

Dataset Dataset::Shard(const Operand& num_shards, const Operand& index, std::source_location loc) const {
  if (!valid()) return {};
  return DatasetNode(*graph(loc), "ShardDataset", loc)
      .Input(variant_)
      .Input(num_shards, kInt64)
      .Input(index, kInt64)
      .Finish(element_);
}

Dataset Dataset::Concatenate(const Dataset& other, std::source_location loc) const {
  if (!valid() || !other.valid()) return {};
  if (DTypesOf(element_) != DTypesOf(other.element_)) {
    return Refuse(*graph(loc), loc, "Concatenate",
                  StrCat("the elements are ", ToString(element_), " and ", ToString(other.element_)));
  }
  Specs element = element_;
  for (size_t i = 0; i < element.size(); ++i) {
    Shape& shape = element[i].shape;
    const Shape& second = other.element_[i].shape;
    if (!shape.has_rank() || !second.has_rank() || shape.rank() != second.rank()) {
      shape = Shape::Unknown();
      continue;
    }
    for (int d = 0; d < shape.rank(); ++d) {
      if (shape.dim(d) != second.dim(d)) shape.set_dim(d, Shape::kUnknownDim);
    }
  }
  return DatasetNode(*graph(loc), "ConcatenateDataset", loc)
      .Input(variant_)
      .Input(other.variant_)
      .Finish(std::move(element));
}

Dataset Dataset::Zip(const std::vector<Dataset>& datasets, std::source_location loc) {
  Tensors variants;
  Specs element;
  for (const Dataset& dataset : datasets) {
    if (!dataset.valid()) return {};
    variants.push_back(dataset.variant_);
    element.insert(element.end(), dataset.element_.begin(), dataset.element_.end());
  }
  if (datasets.empty()) {
    LogMistake("Dataset::Zip", loc, kEmptyList);
    return {};
  }
  return DatasetNode(*datasets[0].graph(loc), "ZipDataset", loc).InputList(std::move(variants)).Finish(element);
}

// --- Batches ---

Dataset Dataset::Batch(const Operand& batch_size, const Operand& drop_remainder, std::source_location loc) const {
  if (!valid()) return {};
  Graph& g = *graph(loc);
  const ScopedLocation at(g, loc);
  const Output size = batch_size.ToOutput(g, kInt64), drop = drop_remainder.ToOutput(g, kBool);
  Specs element = element_;
  for (TensorSpec& spec : element) spec.shape = WithFirst(KnownBatch(size, drop), spec.shape);
  return DatasetNode(g, "BatchDatasetV2", loc).Input(variant_).Input(size).Input(drop).Finish(std::move(element));
}

Dataset Dataset::PaddedBatch(const Operand& batch_size, const std::vector<Shape>& padded_shapes,
                             const PaddedBatchOptions& options, std::source_location loc) const {
  if (!valid()) return {};
  Graph& g = *graph(loc);
  const ScopedLocation at(g, loc);
  if (padded_shapes.size() != element_.size() ||
      (!options.padding_values.empty() && options.padding_values.size() != element_.size())) {
    return Refuse(g, loc, "PaddedBatch",
                  StrCat("there must be a shape and a padding value for each tensor of ", ToString(element_)));
  }
  const Output size = batch_size.ToOutput(g, kInt64), drop = Operand(options.drop_remainder).ToOutput(g, kBool);
  Tensors shapes, values;
  Specs element = element_;
  for (size_t i = 0; i < element.size(); ++i) {
    const Shape& padded = padded_shapes[i];
    if (!padded.has_rank()) return Refuse(g, loc, "PaddedBatch", "the rank of a padded shape is unknown");
    if (element[i].shape.has_rank() && element[i].shape.rank() != padded.rank()) {
      return Refuse(g, loc, "PaddedBatch",
                    StrCat("the padded shape ", padded, " has another rank than ", element[i].shape));
    }
    shapes.push_back(
        Operand(Tensor::Of<int64_t>({padded.rank()}, {padded.dims().begin(), padded.dims().end()})).ToOutput(g));
    const DType dtype = element[i].dtype;
    values.push_back(options.padding_values.empty() ? Operand(ZeroOf(dtype)).ToOutput(g)
                                                    : options.padding_values[i].ToOutput(g, dtype));
    element[i].shape = WithFirst(KnownBatch(size, drop), padded);
  }
  return DatasetNode(g, "PaddedBatchDatasetV2", loc)
      .Input(variant_)
      .Input(size)
      .InputList(std::move(shapes))
      .InputList(std::move(values))
      .Input(drop)
      .Finish(std::move(element), "Toutput_types");
}

Dataset Dataset::Unbatch(std::source_location loc) const {
  if (!valid()) return {};
  Specs element = element_;
  for (TensorSpec& spec : element) {
    if (spec.shape.is_scalar()) return Refuse(*graph(loc), loc, "Unbatch", "a scalar has no slices");
    spec.shape = WithoutFirst(spec.shape);
  }
  return DatasetNode(*graph(loc), "UnbatchDataset", loc).Input(variant_).Finish(std::move(element));
}

// --- Speed ---

Dataset Dataset::Prefetch(const Operand& buffer_size, std::source_location loc) const {
  if (!valid()) return {};
  return DatasetNode(*graph(loc), "PrefetchDataset", loc)
      .Input(variant_)
      .Input(buffer_size, kInt64)
      .Finish(element_)
      .CopyToDevice(device_);
}

Dataset Dataset::CopyToDevice(const std::string& device) const {
  Dataset copied = *this;
  copied.device_ = device;
  return copied;
}

Dataset Dataset::PrefetchToDevice(const std::string& device, const Operand& buffer_size,
                                  std::source_location loc) const {
  return Prefetch(buffer_size, loc).CopyToDevice(device);
}

Dataset Dataset::Cache(const Operand& file, std::source_location loc) const {
  if (!valid()) return {};
  return DatasetNode(*graph(loc), "CacheDataset", loc).Input(variant_).Input(file, kString).Finish(element_);
}

}  // namespace tensorbraid::data
