// A function for each op of src/ops/logging; raw_ops.h says what they have in common.
// Written by scripts/update_op_files; do not edit.
// clang-format off
#ifndef TENSORBRAID_RAW_OPS_LOGGING_H_
#define TENSORBRAID_RAW_OPS_LOGGING_H_

#include "tensorbraid/raw_ops/call.h"

namespace tensorbraid::raw_ops {

struct AssertOptions {
  int64_t summarize = 3;
  std::string name = {};
};
// Adds a node of the op Assert. The usual function is Assert (ops/logging.h).
// Inputs: condition (bool), data (a list of tensors of the types T).
// Attributes: summarize (int; default 3).
// T: any.
inline Operation Assert(const Operand& condition, const std::vector<Output>& data, const AssertOptions& options = {}) {
  return internal::Call("Assert", options.name, {condition, data}).Attr("summarize", options.summarize).Finish();
}

// Adds a node of the op CheckNumerics. It has a gradient.
// Inputs: tensor (T).
// Attributes: message (string).
// Output: output (T).
// T: floats.
inline Output CheckNumerics(const Operand& tensor, const std::string& message, const std::string& name = "") {
  return internal::Call("CheckNumerics", name, {tensor}).Attr("message", message).One();
}

// Adds a node of the op CheckNumericsV2. It has a gradient.
// Inputs: tensor (T).
// Attributes: message (string).
// Output: output (T).
// T: floats.
inline Output CheckNumericsV2(const Operand& tensor, const std::string& message, const std::string& name = "") {
  return internal::Call("CheckNumericsV2", name, {tensor}).Attr("message", message).One();
}

struct PrintOptions {
  std::string message = "";
  int64_t first_n = -1;
  int64_t summarize = 3;
  std::string name = {};
};
// Adds a node of the op Print. The usual function is Print (ops/logging.h). It has a gradient.
// Inputs: input (T), data (a list of tensors of the types U).
// Attributes: message (string; default ""), first_n (int; default -1), summarize (int; default 3).
// Output: output (T).
// T: any; U: any.
inline Output Print(const Operand& input, const std::vector<Output>& data, const PrintOptions& options = {}) {
  return internal::Call("Print", options.name, {input, data}).Attr("message", options.message)
      .Attr("first_n", options.first_n).Attr("summarize", options.summarize).One();
}

struct PrintV2Options {
  std::string output_stream = "stderr";
  std::string end = "\n";
  std::string name = {};
};
// Adds a node of the op PrintV2.
// Inputs: input (string).
// Attributes: output_stream (string; default "stderr"), end (string; default "\n").
inline Operation PrintV2(const Operand& input, const PrintV2Options& options = {}) {
  return internal::Call("PrintV2", options.name, {input}).Attr("output_stream", options.output_stream)
      .Attr("end", options.end).Finish();
}

// Adds a node of the op Timestamp.
// Output: ts (float64).
inline Output Timestamp(Graph& graph, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "Timestamp", name, {}, loc).One();
}

}  // namespace tensorbraid::raw_ops

#endif  // TENSORBRAID_RAW_OPS_LOGGING_H_
