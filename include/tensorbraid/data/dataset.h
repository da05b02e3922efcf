// Input pipelines: datasets are sequences of elements that nodes of the graph describe, and iterators go through them.
//
//   using namespace tensorbraid;
//   auto files = data::Dataset::FilesOfClasses(g, "flowers", {"daisy", "rose"});     // (file name, label)
//   auto batches = files.Shuffle(1000).Repeat().ParallelMap([](const data::Tensors& e) -> data::Tensors {
//     Output pixels = image::DecodeImage(ReadFile(e[0]), {.channels = 3, .expand_animations = false});
//     return {image::ResizeBilinear(ExpandDims(pixels, 0), {64, 64}), e[1]};
//   }, 4).Batch(32).Prefetch(1);
//   auto iterator = data::Iterator::Initializable(batches);
//   data::Tensors next = iterator.GetNext();                 // images, labels
//   session->Run({iterator.initializer()});
//
// An element is a list of tensors. A function that is given to a dataset gets these tensors and adds nodes to a graph
// of its own; tensors of the outer graph are captured (graph/library_function.h). Numbers such as batch sizes may be
// tensors, which are read when the iterator is made.
//
// Mistakes are recorded in the graph, and the result is then not valid. A step that makes an iterator fails with
// InvalidArgument for a number that is out of range, and a step that takes an element fails with the error of the file
// or of the function, and with OutOfRange after the last element. Such a step blocks until the element is there.
// Threads: as for a Graph; at run time, steps on several threads may take elements of one iterator.
//
// FromCallback takes elements from the program. Other functions may call the program, too, by CallHostFunction
// (graph/host_function.h). Such datasets must run in the program's process.
#ifndef TENSORBRAID_DATA_DATASET_H_
#define TENSORBRAID_DATA_DATASET_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/library_function.h"

namespace tensorbraid::data {

class Dataset;

using Tensors = std::vector<Output>;
using Specs = std::vector<TensorSpec>;
using ElementFunction = std::function<Tensors(const Tensors& element)>;
using PredicateFunction = std::function<Output(const Tensors& element)>;
// Returns the next element of a sequence, with the dtypes and shapes that were promised; nullopt at its end.
using ElementSource = std::function<StatusOr<std::optional<std::vector<Tensor>>>()>;
using DatasetFunction = std::function<Dataset(const Tensors& element)>;

struct FileOptions {
  std::string compression = {};  // "", "ZLIB" or "GZIP"
  int64_t buffer_size = 256 << 10;
};

struct FixedLengthOptions {
  int64_t header_bytes = 0;  // at the beginning and at the end of each file, left out
  int64_t footer_bytes = 0;
  std::string compression = {};
  int64_t buffer_size = 256 << 10;
};

struct CsvOptions {
  std::string compression = {};
  int64_t buffer_size = 4 << 20;
  bool header = false;  // whether the first line of each file is left out
  std::string field_delimiter = ",";
  bool use_quote_delimiter = true;    // whether " encloses fields
  std::string missing_value = {};     // a text that stands for a missing value, besides an empty field
  std::vector<int64_t> columns = {};  // to read, in rising order; empty: all
};

struct ShuffleOptions {
  int64_t seed = 0;  // 0: the graph's seed; if that is 0 too, each iterator has another order
  bool reshuffle_each_iteration = true;
};

struct ListFilesOptions {
  bool shuffle = true;
  int64_t seed = 0;
};

struct ParallelOptions {
  // Whether elements come in the order of the input. If not, an element that is ready need not wait for those before
  // it.
  bool deterministic = true;
};

struct InterleaveOptions {
  Operand cycle_length = 1;                                  // inputs that are open at a time
  Operand block_length = 1;                                  // consecutive elements of one input
  std::optional<Operand> num_parallel_calls = std::nullopt;  // none: on the thread of the iterator
  bool deterministic = true;
};

struct PaddedBatchOptions {
  bool drop_remainder = false;
  std::vector<Operand> padding_values = {};  // a scalar for each tensor; empty: 0, "" or false
};

struct BucketOptions {
  std::vector<Shape> padded_shapes = {};  // empty: the shapes of the elements
  bool drop_remainder = false;
};

// A sequence of elements. A handle: copies refer to the same tensor of the graph. The comments name the op; names of
// functions are those of tf.data.Dataset.
class Dataset {
 public:
  Dataset() = default;
  // A dataset that the op of another function, or of a node of any type, computes.
  Dataset(Output variant, Specs element) : variant_(std::move(variant)), element_(std::move(element)) {}

  bool valid() const { return variant_.valid(); }
  const Output& variant() const { return variant_; }
  // The device on which iterators over this dataset are; empty: none is requested (CopyToDevice).
  const std::string& device() const { return device_; }
  // Dtypes and shapes of the tensors of an element.
  const Specs& element() const { return element_; }
  Graph* graph(std::source_location loc = std::source_location::current()) const { return variant_.graph(loc); }

  // --- Sources ---

  // One element (TensorDataset).
  static Dataset FromTensors(Graph& graph, const std::vector<Operand>& tensors,
                             std::source_location loc = std::source_location::current());
  // The slices along dimension 0, which must have the same size in all tensors (TensorSliceDataset).
  static Dataset FromTensorSlices(Graph& graph, const std::vector<Operand>& tensors,
                                  std::source_location loc = std::source_location::current());
  // int64 numbers from `start` to below `stop` (RangeDataset).
  static Dataset Range(Graph& graph, const Operand& start, const Operand& stop, const Operand& step = 1,
                       std::source_location loc = std::source_location::current());
  // The elements of a source of the program. `begin` is called when an iterator takes its first element, with the
  // values of `args`, and returns a source of the iterator's own. The sources of several iterators may be called at
  // once. The position of such an iterator cannot be saved (GeneratorDataset; Source: from_generator).
  static Dataset FromCallback(Graph& graph, const Specs& element,
                              std::function<StatusOr<ElementSource>(const std::vector<Tensor>& args)> begin,
                              const std::vector<Operand>& args = {},
                              std::source_location loc = std::source_location::current());
  // Lines without their ends. `files` is a string scalar or vector here and below (TextLineDataset).
  static Dataset TextLines(Graph& graph, const Operand& files, const FileOptions& options = {},
                           std::source_location loc = std::source_location::current());
  // Records of TFRecord files: string scalars (TFRecordDataset).
  static Dataset TfRecords(Graph& graph, const Operand& files, const FileOptions& options = {},
                           std::source_location loc = std::source_location::current());
  // Records of `record_bytes` bytes: string scalars (FixedLengthRecordDatasetV2).
  static Dataset FixedLengthRecords(Graph& graph, const Operand& files, const Operand& record_bytes,
                                    const FixedLengthOptions& options = {},
                                    std::source_location loc = std::source_location::current());
  // The uint8 tensors of idx files, such as those of MNIST: `shape` is {28, 28} for images and {} for labels. Files
  // with names that end with ".gz" need the compression "GZIP".
  static Dataset IdxFiles(Graph& graph, const Operand& files, const Shape& shape, const FileOptions& options = {},
                          std::source_location loc = std::source_location::current());
  // Rows of CSV files, one scalar for each column. The tensors of `defaults` have the value for a missing field; an
  // empty vector makes a column required. Dtypes: float32, float64, int32, int64, string (CSVDataset).
  static Dataset Csv(Graph& graph, const Operand& files, const std::vector<Operand>& defaults,
                     const CsvOptions& options = {}, std::source_location loc = std::source_location::current());
  // The names of the files that match a glob pattern, or one of a vector of patterns, in sorted or random order. The
  // files are listed when the iterator is made; the step fails with InvalidArgument if there are none.
  static Dataset ListFiles(Graph& graph, const Operand& patterns, const ListFilesOptions& options = {},
                           std::source_location loc = std::source_location::current());
  // The files in the folders `directory`/CLASS: pairs of a name and the position of CLASS in `classes`, int64. Sorted
  // by name. Files in other folders have the label 0 only if they lie in a folder of that name, so give all classes.
  static Dataset FilesOfClasses(Graph& graph, const std::string& directory, const std::vector<std::string>& classes,
                                std::source_location loc = std::source_location::current());

  // --- Functions of elements ---

  // f(element) for each element (MapDataset).
  Dataset Map(const ElementFunction& f, std::source_location loc = std::source_location::current()) const;
  // As Map, with up to `num_parallel_calls` calls at a time; -1: as many as there are cores (ParallelMapDatasetV2).
  Dataset ParallelMap(const ElementFunction& f, const Operand& num_parallel_calls, const ParallelOptions& options = {},
                      std::source_location loc = std::source_location::current()) const;
  // The elements for which f, a bool scalar, is true (FilterDataset).
  Dataset Filter(const PredicateFunction& f, std::source_location loc = std::source_location::current()) const;
  // The elements of f(element) for each element (FlatMapDataset).
  Dataset FlatMap(const DatasetFunction& f, std::source_location loc = std::source_location::current()) const;
  // As FlatMap, but takes blocks of elements from several datasets in turn (InterleaveDataset,
  // ParallelInterleaveDatasetV4).
  Dataset Interleave(const DatasetFunction& f, const InterleaveOptions& options = {},
                     std::source_location loc = std::source_location::current()) const;

  // The same with functions that are defined already; their arguments are the tensors of an element. The results of a
  // function that makes a dataset are its variant, and `element` describes the elements of that dataset.
  Dataset Map(const LibraryFunction& f, std::source_location loc = std::source_location::current()) const;
  Dataset ParallelMap(const LibraryFunction& f, const Operand& num_parallel_calls, const ParallelOptions& options = {},
                      std::source_location loc = std::source_location::current()) const;
  Dataset Filter(const LibraryFunction& f, std::source_location loc = std::source_location::current()) const;
  Dataset FlatMap(const LibraryFunction& f, const Specs& element,
                  std::source_location loc = std::source_location::current()) const;
  Dataset Interleave(const LibraryFunction& f, const Specs& element, const InterleaveOptions& options = {},
                     std::source_location loc = std::source_location::current()) const;

  // --- Order and number of elements ---

  // A random order: draws from a buffer of `buffer_size` elements. With equal seeds, the order is TensorFlow's
  // (ShuffleDataset).
  Dataset Shuffle(const Operand& buffer_size, const ShuffleOptions& options = {},
                  std::source_location loc = std::source_location::current()) const;
  // The same with both int64 seeds of the op. If both are 0, the order differs from run to run.
  Dataset ShuffleWithSeeds(const Operand& buffer_size, const Operand& seed, const Operand& seed2,
                           bool reshuffle_each_iteration = true,
                           std::source_location loc = std::source_location::current()) const;
  // -1: without end (RepeatDataset).
  Dataset Repeat(const Operand& count = -1, std::source_location loc = std::source_location::current()) const;
  Dataset Take(const Operand& count, std::source_location loc = std::source_location::current()) const;
  Dataset Skip(const Operand& count, std::source_location loc = std::source_location::current()) const;
  // Every num_shards-th element, beginning with element `index` (ShardDataset).
  Dataset Shard(const Operand& num_shards, const Operand& index,
                std::source_location loc = std::source_location::current()) const;
  // The elements of this dataset, then those of `other`. InvalidArgument if the dtypes differ (ConcatenateDataset).
  Dataset Concatenate(const Dataset& other, std::source_location loc = std::source_location::current()) const;
  // Elements with the tensors of one element of each dataset. Ends with the shortest (ZipDataset).
  static Dataset Zip(const std::vector<Dataset>& datasets, std::source_location loc = std::source_location::current());

  // --- Batches ---

  // Stacks `batch_size` consecutive elements, which must have equal shapes. The last batch may be smaller, unless
  // `drop_remainder` is set (BatchDatasetV2).
  Dataset Batch(const Operand& batch_size, const Operand& drop_remainder = false,
                std::source_location loc = std::source_location::current()) const;
  // As Batch, after padding the tensors to `padded_shapes`, one for each tensor. An unknown size stands for the largest
  // of the batch (PaddedBatchDatasetV2).
  Dataset PaddedBatch(const Operand& batch_size, const std::vector<Shape>& padded_shapes,
                      const PaddedBatchOptions& options = {},
                      std::source_location loc = std::source_location::current()) const;
  // Padded batches of elements of similar length. `length` gives the length of an element, an integer scalar. Elements
  // with boundaries[i-1] <= length < boundaries[i] make batches of batch_sizes[i]; there is one more size than
  // boundaries (GroupByWindowDataset).
  Dataset BucketByLength(const PredicateFunction& length, const std::vector<int64_t>& boundaries,
                         const std::vector<int64_t>& batch_sizes, const BucketOptions& options = {},
                         std::source_location loc = std::source_location::current()) const;
  // The slices along dimension 0 of each element (UnbatchDataset).
  Dataset Unbatch(std::source_location loc = std::source_location::current()) const;

  // --- Speed ---

  // Computes up to `buffer_size` elements ahead; -1: a number that adapts (PrefetchDataset).
  Dataset Prefetch(const Operand& buffer_size, std::source_location loc = std::source_location::current()) const;
  // Iterators over this dataset are on `device`, such as "/gpu:0". What Prefetch or CopyToDevice add behind it keeps
  // the device, other functions do not. An iterator whose last dataset is a Prefetch copies the elements of its buffer
  // to the accelerator that uses them, up to 256 MiB and at least one, before a step asks for them. That holds for
  // every iterator: the device matters for steps that use the elements on several devices, or on none that they
  // request.
  Dataset CopyToDevice(const std::string& device) const;
  // Prefetch, and CopyToDevice. Source: tf.data.experimental.prefetch_to_device.
  Dataset PrefetchToDevice(const std::string& device, const Operand& buffer_size = 1,
                           std::source_location loc = std::source_location::current()) const;
  // Keeps the elements of the first iteration in memory or, unless `file` is empty, in files with names that begin with
  // it (CacheDataset).
  Dataset Cache(const Operand& file = Operand(Tensor::Scalar("")),
                std::source_location loc = std::source_location::current()) const;

 private:
  Output variant_;
  Specs element_;
  std::string device_;
};

// Goes through the elements of a dataset. A handle: copies refer to the same resource.
class Iterator {
 public:
  Iterator() = default;
  // Needs no initializer, and cannot begin again. The dataset is copied into a function, so that it may not take
  // placeholders, variables or other state: InvalidArgument (OneShotIterator). Source: make_one_shot_iterator.
  static Iterator OneShot(const Dataset& dataset, std::source_location loc = std::source_location::current());
  // Begins when the session runs its initializer, and again each time. Sessions of a cluster share an iterator with a
  // `shared_name` (IteratorV2). Source: make_initializable_iterator.
  static Iterator Initializable(const Dataset& dataset, const std::string& shared_name = "",
                                std::source_location loc = std::source_location::current());
  // For several datasets with such elements, see MakeInitializer. Source: Iterator.from_structure.
  static Iterator FromStructure(Graph& graph, const Specs& element, const std::string& shared_name = "",
                                std::source_location loc = std::source_location::current());
  // The iterator whose StringHandle has this value, a string scalar that each step may feed
  // (IteratorFromStringHandleV2). Source: Iterator.from_string_handle.
  static Iterator FromStringHandle(const Output& string_handle, const Specs& element,
                                   std::source_location loc = std::source_location::current());

  bool valid() const { return resource_.valid(); }
  const Output& resource() const { return resource_; }
  const Specs& element() const { return element_; }
  // The operation that makes an Initializable iterator begin; not valid for others.
  const Operation& initializer() const { return initializer_; }
  // An operation that makes the iterator begin with `dataset`. InvalidArgument if its elements have other dtypes or
  // incompatible shapes (MakeIterator).
  Operation MakeInitializer(const Dataset& dataset, const std::string& name = "",
                            std::source_location loc = std::source_location::current()) const;
  // The next element. One node takes one element in each step, so call it once and use the result everywhere
  // (IteratorGetNext).
  Tensors GetNext(const std::string& name = "", std::source_location loc = std::source_location::current()) const;
  // A string scalar whose value feeds FromStringHandle (IteratorToStringHandle).
  Output StringHandle(const std::string& name = "", std::source_location loc = std::source_location::current()) const;

 private:
  Iterator(Output resource, Specs element) : resource_(std::move(resource)), element_(std::move(element)) {}
  Output resource_;
  Specs element_;
  Operation initializer_;
};

}  // namespace tensorbraid::data

#endif  // TENSORBRAID_DATA_DATASET_H_
