// Datasets: values in variant tensors that say how to make iterators. Their definitions differ in inputs and attributes
// alone.
#include <initializer_list>

#include "core/strings.h"
#include "graph/node.h"
#include "ops/register.h"

namespace tensorbraid {
namespace {

constexpr const char* kInput = "input_dataset: variant";
constexpr const char* kArguments = "other_arguments: Targuments";
constexpr const char* kArgumentTypes = "Targuments: list(type) >= 0";
constexpr const char* kTypes = "output_types: list(type) >= 1";
constexpr const char* kShapes = "output_shapes: list(shape) >= 1";
constexpr const char* kMetadata = "metadata: string = ''";

void Add(OpRegistry& r, const char* name, std::initializer_list<const char*> inputs,
         std::initializer_list<const char*> attrs, bool stateful = false) {
  Op op(name);
  for (const char* input : inputs) op.Input(input);
  op.Output("handle: variant");
  for (const char* attr : attrs) op.Attr(attr);
  // As in TensorFlow, what begins a pipeline counts as stateful, so that it is made anew for each iterator.
  if (stateful) op.Stateful();
  r.Add(op.Shape(ScalarShape).NotDifferentiable());
}

void RegisterSources(OpRegistry& r) {
  Add(r, "TensorSliceDataset", {"components: Toutput_types"},
      {"Toutput_types: list(type) >= 1", kShapes, "is_files: bool = false", kMetadata,
       "replicate_on_split: bool = false"},
      true);
  Add(r, "TensorDataset", {"components: Toutput_types"}, {"Toutput_types: list(type) >= 1", kShapes, kMetadata}, true);
  Add(r, "RangeDataset", {"start: int64", "stop: int64", "step: int64"},
      {kTypes, kShapes, kMetadata, "replicate_on_split: bool = false"}, true);
  Add(r, "TextLineDataset", {"filenames: string", "compression_type: string", "buffer_size: int64"}, {kMetadata}, true);
  Add(r, "TFRecordDataset", {"filenames: string", "compression_type: string", "buffer_size: int64"}, {kMetadata}, true);
  Add(r, "TFRecordDatasetV2",
      {"filenames: string", "compression_type: string", "buffer_size: int64", "byte_offsets: int64"}, {kMetadata},
      true);
  Add(r, "FixedLengthRecordDataset",
      {"filenames: string", "header_bytes: int64", "record_bytes: int64", "footer_bytes: int64", "buffer_size: int64"},
      {kMetadata}, true);
  Add(r, "FixedLengthRecordDatasetV2",
      {"filenames: string", "header_bytes: int64", "record_bytes: int64", "footer_bytes: int64", "buffer_size: int64",
       "compression_type: string"},
      {kMetadata}, true);
  Add(r, "RandomDataset", {"seed: int64", "seed2: int64"}, {kTypes, kShapes, kMetadata}, true);
}

void RegisterFunctions(OpRegistry& r) {
  Add(r, "MapDataset", {kInput, kArguments},
      {"f: func", kArgumentTypes, kTypes, kShapes, "use_inter_op_parallelism: bool = true",
       "preserve_cardinality: bool = false", "force_synchronous: bool = false", kMetadata});
  Add(r, "ParallelMapDataset", {kInput, kArguments, "num_parallel_calls: int32"},
      {"f: func", kArgumentTypes, kTypes, kShapes, "use_inter_op_parallelism: bool = true", "sloppy: bool = false",
       "preserve_cardinality: bool = false", kMetadata});
  Add(r, "ParallelMapDatasetV2", {kInput, kArguments, "num_parallel_calls: int64"},
      {"f: func", kArgumentTypes, kTypes, kShapes, "use_inter_op_parallelism: bool = true",
       "deterministic: string = 'default'", "preserve_cardinality: bool = false",
       "use_unbounded_threadpool: bool = false", kMetadata});
  Add(r, "FlatMapDataset", {kInput, kArguments}, {"f: func", kArgumentTypes, kTypes, kShapes, kMetadata});
  Add(r, "InterleaveDataset", {kInput, kArguments, "cycle_length: int64", "block_length: int64"},
      {"f: func", kArgumentTypes, kTypes, kShapes, kMetadata});
  Add(r, "ParallelInterleaveDataset",
      {kInput, kArguments, "cycle_length: int64", "block_length: int64", "sloppy: bool",
       "buffer_output_elements: int64", "prefetch_input_elements: int64"},
      {"f: func", kArgumentTypes, kTypes, kShapes, kMetadata});
  Add(r, "ParallelInterleaveDatasetV2",
      {kInput, kArguments, "cycle_length: int64", "block_length: int64", "num_parallel_calls: int64"},
      {"f: func", kArgumentTypes, kTypes, kShapes, "sloppy: bool = false", kMetadata});
  Add(r, "ParallelInterleaveDatasetV3",
      {kInput, kArguments, "cycle_length: int64", "block_length: int64", "num_parallel_calls: int64"},
      {"f: func", "deterministic: string = 'default'", kArgumentTypes, kTypes, kShapes, kMetadata});
  Add(r, "ParallelInterleaveDatasetV4",
      {kInput, kArguments, "cycle_length: int64", "block_length: int64", "buffer_output_elements: int64",
       "prefetch_input_elements: int64", "num_parallel_calls: int64"},
      {"f: func", "deterministic: string = 'default'", kArgumentTypes, kTypes, kShapes, kMetadata});
  Add(r, "LegacyParallelInterleaveDatasetV2",
      {kInput, kArguments, "cycle_length: int64", "block_length: int64", "buffer_output_elements: int64",
       "prefetch_input_elements: int64"},
      {"f: func", "deterministic: string = 'default'", kArgumentTypes, kTypes, kShapes, kMetadata});
  Add(r, "FilterDataset", {kInput, kArguments}, {"predicate: func", kArgumentTypes, kTypes, kShapes, kMetadata});
  Add(r, "TakeWhileDataset", {kInput, kArguments}, {"predicate: func", kArgumentTypes, kTypes, kShapes, kMetadata});
  Add(r, "ScanDataset", {kInput, "initial_state: Tstate", kArguments},
      {"f: func", "Tstate: list(type) >= 1", kArgumentTypes, kTypes, kShapes, "preserve_cardinality: bool = false",
       "use_default_device: bool = true", kMetadata});
  Add(r, "MapAndBatchDataset",
      {kInput, kArguments, "batch_size: int64", "num_parallel_calls: int64", "drop_remainder: bool"},
      {"f: func", kArgumentTypes, kTypes, kShapes, "preserve_cardinality: bool = false", kMetadata});
  Add(r, "GroupByWindowDataset",
      {kInput, "key_func_other_arguments: Tkey_func_other_arguments",
       "reduce_func_other_arguments: Treduce_func_other_arguments",
       "window_size_func_other_arguments: Twindow_size_func_other_arguments"},
      {"key_func: func", "reduce_func: func", "window_size_func: func", "Tkey_func_other_arguments: list(type) >= 0",
       "Treduce_func_other_arguments: list(type) >= 0", "Twindow_size_func_other_arguments: list(type) >= 0", kTypes,
       kShapes, kMetadata});
}

void RegisterShaping(OpRegistry& r) {
  // Within functions shuffling and caching name a resource for what is shared between iterators; it is a dummy there.
  for (const char* op : {"DummySeedGenerator", "DummyMemoryCache"}) {
    r.Add(Op(op).Output("handle: resource").Stateful().Shape(ScalarShape).NotDifferentiable());
  }
  Add(r, "ShuffleDatasetV3", {kInput, "buffer_size: int64", "seed: int64", "seed2: int64", "seed_generator: resource"},
      {"reshuffle_each_iteration: bool = true", kTypes, kShapes, kMetadata}, true);
  Add(r, "CacheDatasetV2", {kInput, "filename: string", "cache: resource"}, {kTypes, kShapes, kMetadata}, true);
  Add(r, "ShuffleDataset", {kInput, "buffer_size: int64", "seed: int64", "seed2: int64"},
      {"reshuffle_each_iteration: bool = true", kTypes, kShapes, kMetadata});
  Add(r, "ShuffleAndRepeatDataset", {kInput, "buffer_size: int64", "seed: int64", "seed2: int64", "count: int64"},
      {kTypes, kShapes, "reshuffle_each_iteration: bool = true", kMetadata});
  Add(r, "RepeatDataset", {kInput, "count: int64"}, {kTypes, kShapes, kMetadata});
  Add(r, "SkipDataset", {kInput, "count: int64"}, {kTypes, kShapes, kMetadata});
  Add(r, "TakeDataset", {kInput, "count: int64"}, {kTypes, kShapes, kMetadata});
  Add(r, "BatchDataset", {kInput, "batch_size: int64"}, {kTypes, kShapes, kMetadata});
  Add(r, "BatchDatasetV2", {kInput, "batch_size: int64", "drop_remainder: bool"},
      {"parallel_copy: bool = false", kTypes, kShapes, kMetadata});
  Add(r, "ParallelBatchDataset", {kInput, "batch_size: int64", "num_parallel_calls: int64", "drop_remainder: bool"},
      {"parallel_copy: bool = false", kTypes, kShapes, "deterministic: string = 'default'", kMetadata});
  Add(r, "PaddedBatchDataset",
      {kInput, "batch_size: int64", "padded_shapes: N * int64", "padding_values: Toutput_types"},
      {"Toutput_types: list(type) >= 1", kShapes, "N: int >= 1", kMetadata});
  Add(r, "PaddedBatchDatasetV2",
      {kInput, "batch_size: int64", "padded_shapes: N * int64", "padding_values: Toutput_types",
       "drop_remainder: bool"},
      {"parallel_copy: bool = false", "Toutput_types: list(type) >= 1", kShapes, "N: int >= 1", kMetadata});
  Add(r, "PrefetchDataset", {kInput, "buffer_size: int64"},
      {kTypes, kShapes, "slack_period: int = 0", "legacy_autotune: bool = true", "buffer_size_min: int = 0",
       kMetadata});
  Add(r, "ZipDataset", {"input_datasets: N * variant"}, {kTypes, kShapes, "N: int >= 1", kMetadata});
  Add(r, "ConcatenateDataset", {kInput, "another_dataset: variant"}, {kTypes, kShapes, kMetadata});
  Add(r, "CacheDataset", {kInput, "filename: string"}, {kTypes, kShapes, kMetadata});
  Add(r, "ShardDataset", {kInput, "num_shards: int64", "index: int64"},
      {"require_non_empty: bool = false", kTypes, kShapes, kMetadata});
  Add(r, "OptionsDataset", {kInput}, {"serialized_options: string", kTypes, kShapes, kMetadata});
  Add(r, "ModelDataset", {kInput},
      {"algorithm: int = 0", "cpu_budget: int = 0", "ram_budget: int = 0", kTypes, kShapes});
  Add(r, "OptimizeDataset", {kInput, "optimizations: string"},
      {kTypes, kShapes, "optimization_configs: list(string) = []"});
  Add(r, "RewriteDataset", {kInput, "rewrite_name: string"}, {kTypes, kShapes});
  Add(r, "FinalizeDataset", {kInput}, {"has_captured_ref: bool = false", kTypes, kShapes});
  Add(r, "MaxIntraOpParallelismDataset", {kInput, "max_intra_op_parallelism: int64"}, {kTypes, kShapes});
  Add(r, "PrivateThreadPoolDataset", {kInput, "num_threads: int64"}, {kTypes, kShapes});
  Add(r, "AssertCardinalityDataset", {kInput, "cardinality: int64"}, {kTypes, kShapes});
  Add(r, "IgnoreErrorsDataset", {kInput}, {kTypes, kShapes, "log_warning: bool = false"});
  Add(r, "UnbatchDataset", {kInput}, {kTypes, kShapes, kMetadata});
  Add(r, "WindowDataset", {kInput, "size: int64", "shift: int64", "stride: int64", "drop_remainder: bool"},
      {kTypes, kShapes, kMetadata});
  Add(r, "UniqueDataset", {kInput}, {kTypes, kShapes, kMetadata});
  Add(r, "DirectedInterleaveDataset", {"selector_input_dataset: variant", "data_input_datasets: N * variant"},
      {kTypes, kShapes, "N: int >= 1", "stop_on_empty_dataset: bool = false"});
}

}  // namespace

void RegisterDatasetOps(OpRegistry& r) {
  RegisterSources(r);
  RegisterFunctions(r);
  RegisterShaping(r);
}

}  // namespace tensorbraid
