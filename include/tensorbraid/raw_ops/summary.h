// A function for each op of src/ops/summary; raw_ops.h says what they have in common.
// Written by scripts/update_op_files; do not edit.
// clang-format off
#ifndef TENSORBRAID_RAW_OPS_SUMMARY_H_
#define TENSORBRAID_RAW_OPS_SUMMARY_H_

#include "tensorbraid/raw_ops/call.h"

namespace tensorbraid::raw_ops {

struct AudioSummaryV2Options {
  int64_t max_outputs = 3;
  std::string name = {};
};
// Adds a node of the op AudioSummaryV2. The usual function is summary::Audio (ops/summary.h).
// Inputs: tag (string), tensor (float32), sample_rate (float32).
// Attributes: max_outputs (int, at least 1; default 3).
// Output: summary (string).
inline Output AudioSummaryV2(const Operand& tag, const Operand& tensor, const Operand& sample_rate,
    const AudioSummaryV2Options& options = {}) {
  return internal::Call("AudioSummaryV2", options.name, {tag, tensor, sample_rate})
      .Attr("max_outputs", options.max_outputs).One();
}

// Adds a node of the op CloseSummaryWriter.
// Inputs: writer (resource).
inline Operation CloseSummaryWriter(const Output& writer, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("CloseSummaryWriter", name, {writer}, loc).Finish();
}

// Adds a node of the op CreateSummaryFileWriter.
// Inputs: writer (resource), logdir (string), max_queue (int32), flush_millis (int32), filename_suffix (string).
inline Operation CreateSummaryFileWriter(const Output& writer, const Operand& logdir, const Operand& max_queue,
    const Operand& flush_millis, const Operand& filename_suffix, const std::string& name = "") {
  return internal::Call("CreateSummaryFileWriter", name, {writer, logdir, max_queue, flush_millis, filename_suffix})
      .Finish();
}

// Adds a node of the op FlushSummaryWriter.
// Inputs: writer (resource).
inline Operation FlushSummaryWriter(const Output& writer, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("FlushSummaryWriter", name, {writer}, loc).Finish();
}

// Adds a node of the op HistogramSummary. The usual function is summary::Histogram (ops/summary.h).
// Inputs: tag (string), values (T).
// Output: summary (string).
// T: reals.
inline Output HistogramSummary(const Operand& tag, const Operand& values, const std::string& name = "") {
  return internal::Call("HistogramSummary", name, {tag, values}).One();
}

struct ImageSummaryOptions {
  int64_t max_images = 3;
  Tensor bad_color = Tensor::Vector(std::vector<uint8_t>{255, 0, 0, 255});
  std::string name = {};
};
// Adds a node of the op ImageSummary. The usual function is summary::Image (ops/summary.h).
// Inputs: tag (string), tensor (T).
// Attributes: max_images (int, at least 1; default 3), bad_color (tensor; default uint8[4] [255 0 0 255]).
// Output: summary (string).
// T: float32 float64 uint8 float16.
inline Output ImageSummary(const Operand& tag, const Operand& tensor, const ImageSummaryOptions& options = {}) {
  return internal::Call("ImageSummary", options.name, {tag, tensor}).Attr("max_images", options.max_images)
      .Attr("bad_color", options.bad_color).One();
}

// Adds a node of the op ImportEvent.
// Inputs: writer (resource), event (string).
inline Operation ImportEvent(const Output& writer, const Operand& event, const std::string& name = "") {
  return internal::Call("ImportEvent", name, {writer, event}).Finish();
}

// Adds a node of the op MergeSummary. The usual function is summary::Merge (ops/summary.h).
// Inputs: inputs (a list of N tensors of type string).
// Output: summary (string).
inline Output MergeSummary(const std::vector<Output>& inputs, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("MergeSummary", name, {inputs}, loc).One();
}

// Adds a node of the op ScalarSummary. The usual function is summary::Scalar (ops/summary.h).
// Inputs: tags (string), values (T).
// Output: summary (string).
// T: reals.
inline Output ScalarSummary(const Operand& tags, const Operand& values, const std::string& name = "") {
  return internal::Call("ScalarSummary", name, {tags, values}).One();
}

struct SummaryWriterOptions {
  std::string shared_name = "";
  std::string container = "";
  std::string name = {};
};
// Adds a node of the op SummaryWriter.
// Attributes: shared_name (string; default ""), container (string; default "").
// Output: writer (resource).
inline Output SummaryWriter(Graph& graph, const SummaryWriterOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "SummaryWriter", options.name, {}, loc).Attr("shared_name", options.shared_name)
      .Attr("container", options.container).One();
}

struct TensorSummaryOptions {
  std::string description = "";
  std::vector<std::string> labels = {};
  std::string display_name = "";
  std::string name = {};
};
// Adds a node of the op TensorSummary.
// Inputs: tensor (T).
// Attributes: description (string; default ""), labels (list of strings; default []), display_name (string; default
//   "").
// Output: summary (string).
// T: any.
inline Output TensorSummary(const Operand& tensor, const TensorSummaryOptions& options = {}) {
  return internal::Call("TensorSummary", options.name, {tensor}).Attr("description", options.description)
      .Attr("labels", options.labels).Attr("display_name", options.display_name).One();
}

// Adds a node of the op TensorSummaryV2.
// Inputs: tag (string), tensor (T), serialized_summary_metadata (string).
// Output: summary (string).
// T: any.
inline Output TensorSummaryV2(const Operand& tag, const Operand& tensor, const Operand& serialized_summary_metadata,
    const std::string& name = "") {
  return internal::Call("TensorSummaryV2", name, {tag, tensor, serialized_summary_metadata}).One();
}

// Adds a node of the op WriteGraphSummary.
// Inputs: writer (resource), step (int64), tensor (string).
inline Operation WriteGraphSummary(const Output& writer, const Operand& step, const Operand& tensor,
    const std::string& name = "") {
  return internal::Call("WriteGraphSummary", name, {writer, step, tensor}).Finish();
}

// Adds a node of the op WriteRawProtoSummary.
// Inputs: writer (resource), step (int64), tensor (string).
inline Operation WriteRawProtoSummary(const Output& writer, const Operand& step, const Operand& tensor,
    const std::string& name = "") {
  return internal::Call("WriteRawProtoSummary", name, {writer, step, tensor}).Finish();
}

// Adds a node of the op WriteSummary.
// Inputs: writer (resource), step (int64), tensor (T), tag (string), summary_metadata (string).
// T: any.
inline Operation WriteSummary(const Output& writer, const Operand& step, const Operand& tensor, const Operand& tag,
    const Operand& summary_metadata, const std::string& name = "") {
  return internal::Call("WriteSummary", name, {writer, step, tensor, tag, summary_metadata}).Finish();
}

}  // namespace tensorbraid::raw_ops

#endif  // TENSORBRAID_RAW_OPS_SUMMARY_H_
