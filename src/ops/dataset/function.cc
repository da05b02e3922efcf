// Datasets that call functions, UniqueDataset and DirectedInterleaveDataset: schemas.
#include "graph/model/op_registry.h"
#include "ops/dataset/schema.h"

namespace tensorbraid {

void RegisterDatasetFunctionOps(OpRegistry& r) {
  AddDataset(r, "MapDataset", {kInputDataset, kOtherArguments},
             {"f: func", kOtherArgumentTypes, kOutputTypes, kOutputShapes, "use_inter_op_parallelism: bool = true",
              "preserve_cardinality: bool = false", "force_synchronous: bool = false", kMetadata});
  AddDataset(r, "FlatMapDataset", {kInputDataset, kOtherArguments},
             {"f: func", kOtherArgumentTypes, kOutputTypes, kOutputShapes, kMetadata});
  AddDataset(r, "InterleaveDataset", {kInputDataset, kOtherArguments, "cycle_length: int64", "block_length: int64"},
             {"f: func", kOtherArgumentTypes, kOutputTypes, kOutputShapes, kMetadata});
  AddDataset(r, "ParallelInterleaveDataset",
             {kInputDataset, kOtherArguments, "cycle_length: int64", "block_length: int64", "sloppy: bool",
              "buffer_output_elements: int64", "prefetch_input_elements: int64"},
             {"f: func", kOtherArgumentTypes, kOutputTypes, kOutputShapes, kMetadata});
  AddDataset(
      r, "ParallelInterleaveDatasetV2",
      {kInputDataset, kOtherArguments, "cycle_length: int64", "block_length: int64", "num_parallel_calls: int64"},
      {"f: func", kOtherArgumentTypes, kOutputTypes, kOutputShapes, "sloppy: bool = false", kMetadata});
  AddDataset(
      r, "ParallelInterleaveDatasetV3",
      {kInputDataset, kOtherArguments, "cycle_length: int64", "block_length: int64", "num_parallel_calls: int64"},
      {"f: func", "deterministic: string = 'default'", kOtherArgumentTypes, kOutputTypes, kOutputShapes, kMetadata});
  AddDataset(
      r, "ParallelInterleaveDatasetV4",
      {kInputDataset, kOtherArguments, "cycle_length: int64", "block_length: int64", "buffer_output_elements: int64",
       "prefetch_input_elements: int64", "num_parallel_calls: int64"},
      {"f: func", "deterministic: string = 'default'", kOtherArgumentTypes, kOutputTypes, kOutputShapes, kMetadata});
  AddDataset(
      r, "LegacyParallelInterleaveDatasetV2",
      {kInputDataset, kOtherArguments, "cycle_length: int64", "block_length: int64", "buffer_output_elements: int64",
       "prefetch_input_elements: int64"},
      {"f: func", "deterministic: string = 'default'", kOtherArgumentTypes, kOutputTypes, kOutputShapes, kMetadata});
  AddDataset(r, "FilterDataset", {kInputDataset, kOtherArguments},
             {"predicate: func", kOtherArgumentTypes, kOutputTypes, kOutputShapes, kMetadata});
  AddDataset(r, "TakeWhileDataset", {kInputDataset, kOtherArguments},
             {"predicate: func", kOtherArgumentTypes, kOutputTypes, kOutputShapes, kMetadata});
  AddDataset(r, "ScanDataset", {kInputDataset, "initial_state: Tstate", kOtherArguments},
             {"f: func", "Tstate: list(type) >= 1", kOtherArgumentTypes, kOutputTypes, kOutputShapes,
              "preserve_cardinality: bool = false", "use_default_device: bool = true", kMetadata});
  AddDataset(r, "GroupByWindowDataset",
             {kInputDataset, "key_func_other_arguments: Tkey_func_other_arguments",
              "reduce_func_other_arguments: Treduce_func_other_arguments",
              "window_size_func_other_arguments: Twindow_size_func_other_arguments"},
             {"key_func: func", "reduce_func: func", "window_size_func: func",
              "Tkey_func_other_arguments: list(type) >= 0", "Treduce_func_other_arguments: list(type) >= 0",
              "Twindow_size_func_other_arguments: list(type) >= 0", kOutputTypes, kOutputShapes, kMetadata});
  for (const char* op : {"GroupByReducerDataset", "ExperimentalGroupByReducerDataset"}) {
    AddDataset(r, op,
               {kInputDataset, "key_func_other_arguments: Tkey_func_other_arguments",
                "init_func_other_arguments: Tinit_func_other_arguments",
                "reduce_func_other_arguments: Treduce_func_other_arguments",
                "finalize_func_other_arguments: Tfinalize_func_other_arguments"},
               {"key_func: func", "init_func: func", "reduce_func: func", "finalize_func: func",
                "Tkey_func_other_arguments: list(type) >= 0", "Tinit_func_other_arguments: list(type) >= 0",
                "Treduce_func_other_arguments: list(type) >= 0", "Tfinalize_func_other_arguments: list(type) >= 0",
                kOutputTypes, kOutputShapes},
               /*stateful=*/true);
  }
  AddDataset(r, "UniqueDataset", {kInputDataset}, {kOutputTypes, kOutputShapes, kMetadata});
  AddDataset(r, "DirectedInterleaveDataset", {"selector_input_dataset: variant", "data_input_datasets: N * variant"},
             {kOutputTypes, kOutputShapes, "N: int >= 1", "stop_on_empty_dataset: bool = false"});
}

}  // namespace tensorbraid
