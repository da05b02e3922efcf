// A function for each op of src/ops/control_flow; raw_ops.h says what they have in common.
// Written by scripts/update_op_files; do not edit.
// clang-format off
#ifndef TENSORBRAID_RAW_OPS_CONTROL_FLOW_H_
#define TENSORBRAID_RAW_OPS_CONTROL_FLOW_H_

#include "tensorbraid/raw_ops/call.h"

namespace tensorbraid::raw_ops {

struct AbortOptions {
  std::string error_msg = "";
  bool exit_without_error = false;
  std::string name = {};
};
// Adds a node of the op Abort.
// Attributes: error_msg (string; default ""), exit_without_error (bool; default false).
inline Operation Abort(Graph& graph, const AbortOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "Abort", options.name, {}, loc).Attr("error_msg", options.error_msg)
      .Attr("exit_without_error", options.exit_without_error).Finish();
}

struct CaseOptions {
  std::vector<tensorbraid::Shape> output_shapes = {};
  std::string name = {};
};
struct CaseOutputs {
  std::vector<Output> output;
  Operation operation;
};
// Adds a node of the op Case. It has a gradient.
// Inputs: branch_index (int32), input (a list of tensors of the types Tin).
// Attributes: tout (attribute Tout, list of dtypes: any, at least 0), branches (list of functions, at least 1),
//   output_shapes (list of shapes; default []).
// Output: output (a list of tensors of the types Tout).
// Tin: any.
inline CaseOutputs Case(const Operand& branch_index, const std::vector<Output>& input, const std::vector<DType>& tout,
    const std::vector<AttrValue::Function>& branches, const CaseOptions& options = {}) {
  auto results = internal::Call("Case", options.name, {branch_index, input}).Attr("Tout", tout)
      .Attr("branches", branches).Attr("output_shapes", options.output_shapes).All();
  return {results.NextList(), results.operation()};
}

// Adds a node of the op ControlTrigger.
inline Operation ControlTrigger(Graph& graph, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "ControlTrigger", name, {}, loc).Finish();
}

struct EnterOptions {
  bool is_constant = false;
  int64_t parallel_iterations = 10;
  std::string name = {};
};
// Adds a node of the op Enter.
// Inputs: data (T).
// Attributes: frame_name (string), is_constant (bool; default false), parallel_iterations (int; default 10).
// Output: output (T).
// T: any.
inline Output Enter(const Operand& data, const std::string& frame_name, const EnterOptions& options = {}) {
  return internal::Call("Enter", options.name, {data}).Attr("frame_name", frame_name)
      .Attr("is_constant", options.is_constant).Attr("parallel_iterations", options.parallel_iterations).One();
}

// Adds a node of the op Exit.
// Inputs: data (T).
// Output: output (T).
// T: any.
inline Output Exit(const Operand& data, const std::string& name = "") {
  return internal::Call("Exit", name, {data}).One();
}

// Adds a node of the op FakeParam.
// Attributes: dtype (dtype: any), shape (shape).
// Output: output (dtype).
inline Output FakeParam(Graph& graph, DType dtype, const tensorbraid::Shape& shape, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "FakeParam", name, {}, loc).Attr("dtype", dtype).Attr("shape", shape).One();
}

struct ForOutputs {
  std::vector<Output> output;
  Operation operation;
};
// Adds a node of the op For.
// Inputs: start (int32), limit (int32), delta (int32), input (a list of tensors of the types T).
// Attributes: body (function).
// Output: output (a list of tensors of the types T).
// T: any.
inline ForOutputs For(const Operand& start, const Operand& limit, const Operand& delta,
    const std::vector<Output>& input, const AttrValue::Function& body, const std::string& name = "") {
  auto results = internal::Call("For", name, {start, limit, delta, input}).Attr("body", body).All();
  return {results.NextList(), results.operation()};
}

struct IfOptions {
  std::vector<tensorbraid::Shape> output_shapes = {};
  std::string name = {};
};
struct IfOutputs {
  std::vector<Output> output;
  Operation operation;
};
// Adds a node of the op If. It has a gradient.
// Inputs: cond (Tcond), input (a list of tensors of the types Tin).
// Attributes: tout (attribute Tout, list of dtypes: any, at least 0), then_branch (function), else_branch (function),
//   output_shapes (list of shapes; default []).
// Output: output (a list of tensors of the types Tout).
// Tcond: any; Tin: any.
inline IfOutputs If(const Operand& cond, const std::vector<Output>& input, const std::vector<DType>& tout,
    const AttrValue::Function& then_branch, const AttrValue::Function& else_branch, const IfOptions& options = {}) {
  auto results = internal::Call("If", options.name, {cond, input}).Attr("Tout", tout).Attr("then_branch", then_branch)
      .Attr("else_branch", else_branch).Attr("output_shapes", options.output_shapes).All();
  return {results.NextList(), results.operation()};
}

// Adds a node of the op LoopCond.
// Inputs: input (bool).
// Output: output (bool).
inline Output LoopCond(const Operand& input, const std::string& name = "") {
  return internal::Call("LoopCond", name, {input}).One();
}

struct MergeOutputs {
  Output output;
  Output value_index;
  Operation operation;
};
// Adds a node of the op Merge. The usual function is summary::Merge (ops/summary.h). It has a gradient.
// Inputs: inputs (a list of N tensors of type T).
// Outputs: output (T), value_index (int32).
// T: any.
inline MergeOutputs Merge(const std::vector<Output>& inputs, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  auto results = internal::Call("Merge", name, {inputs}, loc).All();
  return {results.Next(), results.Next(), results.operation()};
}

// Adds a node of the op NextIteration.
// Inputs: data (T).
// Output: output (T).
// T: any.
inline Output NextIteration(const Operand& data, const std::string& name = "") {
  return internal::Call("NextIteration", name, {data}).One();
}

struct PartitionedCallOptions {
  std::string config = "";
  std::string config_proto = "";
  std::string executor_type = "";
  std::string name = {};
};
struct PartitionedCallOutputs {
  std::vector<Output> output;
  Operation operation;
};
// Adds a node of the op PartitionedCall. It has a gradient.
// Inputs: args (a list of tensors of the types Tin).
// Attributes: tout (attribute Tout, list of dtypes: any, at least 0), f (function), config (string; default ""),
//   config_proto (string; default ""), executor_type (string; default "").
// Output: output (a list of tensors of the types Tout).
// Tin: any.
inline PartitionedCallOutputs PartitionedCall(Graph& graph, const std::vector<Output>& args,
    const std::vector<DType>& tout, const AttrValue::Function& f, const PartitionedCallOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  auto results = internal::Call(graph, "PartitionedCall", options.name, {args}, loc).Attr("Tout", tout).Attr("f", f)
      .Attr("config", options.config).Attr("config_proto", options.config_proto)
      .Attr("executor_type", options.executor_type).All();
  return {results.NextList(), results.operation()};
}

struct PyFuncOutputs {
  std::vector<Output> output;
  Operation operation;
};
// Adds a node of the op PyFunc.
// Inputs: input (a list of tensors of the types Tin).
// Attributes: token (string), tout (attribute Tout, list of dtypes: any, at least 0).
// Output: output (a list of tensors of the types Tout).
// Tin: any.
inline PyFuncOutputs PyFunc(Graph& graph, const std::vector<Output>& input, const std::string& token,
    const std::vector<DType>& tout, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  auto results = internal::Call(graph, "PyFunc", name, {input}, loc).Attr("token", token).Attr("Tout", tout).All();
  return {results.NextList(), results.operation()};
}

struct PyFuncStatelessOutputs {
  std::vector<Output> output;
  Operation operation;
};
// Adds a node of the op PyFuncStateless.
// Inputs: input (a list of tensors of the types Tin).
// Attributes: token (string), tout (attribute Tout, list of dtypes: any, at least 0).
// Output: output (a list of tensors of the types Tout).
// Tin: any.
inline PyFuncStatelessOutputs PyFuncStateless(Graph& graph, const std::vector<Output>& input, const std::string& token,
    const std::vector<DType>& tout, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  auto results = internal::Call(graph, "PyFuncStateless", name, {input}, loc).Attr("token", token).Attr("Tout", tout)
      .All();
  return {results.NextList(), results.operation()};
}

struct RefEnterOptions {
  bool is_constant = false;
  int64_t parallel_iterations = 10;
  std::string name = {};
};
// Adds a node of the op RefEnter.
// Inputs: data (a reference to T).
// Attributes: frame_name (string), is_constant (bool; default false), parallel_iterations (int; default 10).
// Output: output (a reference to T).
// T: any.
inline Output RefEnter(const Output& data, const std::string& frame_name, const RefEnterOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("RefEnter", options.name, {data}, loc).Attr("frame_name", frame_name)
      .Attr("is_constant", options.is_constant).Attr("parallel_iterations", options.parallel_iterations).One();
}

// Adds a node of the op RefExit.
// Inputs: data (a reference to T).
// Output: output (a reference to T).
// T: any.
inline Output RefExit(const Output& data, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("RefExit", name, {data}, loc).One();
}

// Adds a node of the op RefIdentity.
// Inputs: input (a reference to T).
// Output: output (a reference to T).
// T: any.
inline Output RefIdentity(const Output& input, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("RefIdentity", name, {input}, loc).One();
}

struct RefMergeOutputs {
  Output output;
  Output value_index;
  Operation operation;
};
// Adds a node of the op RefMerge.
// Inputs: inputs (a list of N references to T).
// Outputs: output (a reference to T), value_index (int32).
// T: any.
inline RefMergeOutputs RefMerge(const std::vector<Output>& inputs, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  auto results = internal::Call("RefMerge", name, {inputs}, loc).All();
  return {results.Next(), results.Next(), results.operation()};
}

// Adds a node of the op RefNextIteration.
// Inputs: data (a reference to T).
// Output: output (a reference to T).
// T: any.
inline Output RefNextIteration(const Output& data, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("RefNextIteration", name, {data}, loc).One();
}

// Adds a node of the op RefSelect.
// Inputs: index (int32), inputs (a list of N references to T).
// Output: output (a reference to T).
// T: any.
inline Output RefSelect(const Operand& index, const std::vector<Output>& inputs, const std::string& name = "") {
  return internal::Call("RefSelect", name, {index, inputs}).One();
}

struct RefSwitchOutputs {
  Output output_false;
  Output output_true;
  Operation operation;
};
// Adds a node of the op RefSwitch.
// Inputs: data (a reference to T), pred (bool).
// Outputs: output_false (a reference to T), output_true (a reference to T).
// T: any.
inline RefSwitchOutputs RefSwitch(const Output& data, const Operand& pred, const std::string& name = "") {
  auto results = internal::Call("RefSwitch", name, {data, pred}).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct RemoteCallOutputs {
  std::vector<Output> output;
  Operation operation;
};
// Adds a node of the op RemoteCall.
// Inputs: target (string), args (a list of tensors of the types Tin).
// Attributes: tout (attribute Tout, list of dtypes: any, at least 1), f (function).
// Output: output (a list of tensors of the types Tout).
// Tin: any.
inline RemoteCallOutputs RemoteCall(const Operand& target, const std::vector<Output>& args,
    const std::vector<DType>& tout, const AttrValue::Function& f, const std::string& name = "") {
  auto results = internal::Call("RemoteCall", name, {target, args}).Attr("Tout", tout).Attr("f", f).All();
  return {results.NextList(), results.operation()};
}

struct StatefulPartitionedCallOptions {
  std::string config = "";
  std::string config_proto = "";
  std::string executor_type = "";
  std::string name = {};
};
struct StatefulPartitionedCallOutputs {
  std::vector<Output> output;
  Operation operation;
};
// Adds a node of the op StatefulPartitionedCall. It has a gradient.
// Inputs: args (a list of tensors of the types Tin).
// Attributes: tout (attribute Tout, list of dtypes: any, at least 0), f (function), config (string; default ""),
//   config_proto (string; default ""), executor_type (string; default "").
// Output: output (a list of tensors of the types Tout).
// Tin: any.
inline StatefulPartitionedCallOutputs StatefulPartitionedCall(Graph& graph, const std::vector<Output>& args,
    const std::vector<DType>& tout, const AttrValue::Function& f, const StatefulPartitionedCallOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  auto results = internal::Call(graph, "StatefulPartitionedCall", options.name, {args}, loc).Attr("Tout", tout)
      .Attr("f", f).Attr("config", options.config).Attr("config_proto", options.config_proto)
      .Attr("executor_type", options.executor_type).All();
  return {results.NextList(), results.operation()};
}

struct StatelessCaseOptions {
  std::vector<tensorbraid::Shape> output_shapes = {};
  std::string name = {};
};
struct StatelessCaseOutputs {
  std::vector<Output> output;
  Operation operation;
};
// Adds a node of the op StatelessCase. It has a gradient.
// Inputs: branch_index (int32), input (a list of tensors of the types Tin).
// Attributes: tout (attribute Tout, list of dtypes: any, at least 0), branches (list of functions, at least 1),
//   output_shapes (list of shapes; default []).
// Output: output (a list of tensors of the types Tout).
// Tin: any.
inline StatelessCaseOutputs StatelessCase(const Operand& branch_index, const std::vector<Output>& input,
    const std::vector<DType>& tout, const std::vector<AttrValue::Function>& branches,
    const StatelessCaseOptions& options = {}) {
  auto results = internal::Call("StatelessCase", options.name, {branch_index, input}).Attr("Tout", tout)
      .Attr("branches", branches).Attr("output_shapes", options.output_shapes).All();
  return {results.NextList(), results.operation()};
}

struct StatelessIfOptions {
  std::vector<tensorbraid::Shape> output_shapes = {};
  std::string name = {};
};
struct StatelessIfOutputs {
  std::vector<Output> output;
  Operation operation;
};
// Adds a node of the op StatelessIf. It has a gradient.
// Inputs: cond (Tcond), input (a list of tensors of the types Tin).
// Attributes: tout (attribute Tout, list of dtypes: any, at least 0), then_branch (function), else_branch (function),
//   output_shapes (list of shapes; default []).
// Output: output (a list of tensors of the types Tout).
// Tcond: any; Tin: any.
inline StatelessIfOutputs StatelessIf(const Operand& cond, const std::vector<Output>& input,
    const std::vector<DType>& tout, const AttrValue::Function& then_branch, const AttrValue::Function& else_branch,
    const StatelessIfOptions& options = {}) {
  auto results = internal::Call("StatelessIf", options.name, {cond, input}).Attr("Tout", tout)
      .Attr("then_branch", then_branch).Attr("else_branch", else_branch).Attr("output_shapes", options.output_shapes)
      .All();
  return {results.NextList(), results.operation()};
}

struct StatelessWhileOptions {
  std::vector<tensorbraid::Shape> output_shapes = {};
  int64_t parallel_iterations = 10;
  std::string name = {};
};
struct StatelessWhileOutputs {
  std::vector<Output> output;
  Operation operation;
};
// Adds a node of the op StatelessWhile.
// Inputs: input (a list of tensors of the types T).
// Attributes: cond (function), body (function), output_shapes (list of shapes; default []), parallel_iterations (int;
//   default 10).
// Output: output (a list of tensors of the types T).
// T: any.
inline StatelessWhileOutputs StatelessWhile(Graph& graph, const std::vector<Output>& input,
    const AttrValue::Function& cond, const AttrValue::Function& body, const StatelessWhileOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  auto results = internal::Call(graph, "StatelessWhile", options.name, {input}, loc).Attr("cond", cond)
      .Attr("body", body).Attr("output_shapes", options.output_shapes)
      .Attr("parallel_iterations", options.parallel_iterations).All();
  return {results.NextList(), results.operation()};
}

struct SwitchOutputs {
  Output output_false;
  Output output_true;
  Operation operation;
};
// Adds a node of the op Switch. It has a gradient.
// Inputs: data (T), pred (bool).
// Outputs: output_false (T), output_true (T).
// T: any.
inline SwitchOutputs Switch(const Operand& data, const Operand& pred, const std::string& name = "") {
  auto results = internal::Call("Switch", name, {data, pred}).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct SymbolicGradientOutputs {
  std::vector<Output> output;
  Operation operation;
};
// Adds a node of the op SymbolicGradient. It has a gradient.
// Inputs: input (a list of tensors of the types Tin).
// Attributes: tout (attribute Tout, list of dtypes: any, at least 1), f (function).
// Output: output (a list of tensors of the types Tout).
// Tin: any.
inline SymbolicGradientOutputs SymbolicGradient(const std::vector<Output>& input, const std::vector<DType>& tout,
    const AttrValue::Function& f, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  auto results = internal::Call("SymbolicGradient", name, {input}, loc).Attr("Tout", tout).Attr("f", f).All();
  return {results.NextList(), results.operation()};
}

// Adds a node of the op ToBool.
// Inputs: input (T).
// Output: output (bool).
// T: any.
inline Output ToBool(const Operand& input, const std::string& name = "") {
  return internal::Call("ToBool", name, {input}).One();
}

struct WhileOptions {
  std::vector<tensorbraid::Shape> output_shapes = {};
  int64_t parallel_iterations = 10;
  std::string name = {};
};
struct WhileOutputs {
  std::vector<Output> output;
  Operation operation;
};
// Adds a node of the op While. The usual function is While (ops/control_flow.h).
// Inputs: input (a list of tensors of the types T).
// Attributes: cond (function), body (function), output_shapes (list of shapes; default []), parallel_iterations (int;
//   default 10).
// Output: output (a list of tensors of the types T).
// T: any.
inline WhileOutputs While(Graph& graph, const std::vector<Output>& input, const AttrValue::Function& cond,
    const AttrValue::Function& body, const WhileOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  auto results = internal::Call(graph, "While", options.name, {input}, loc).Attr("cond", cond).Attr("body", body)
      .Attr("output_shapes", options.output_shapes).Attr("parallel_iterations", options.parallel_iterations).All();
  return {results.NextList(), results.operation()};
}

}  // namespace tensorbraid::raw_ops

#endif  // TENSORBRAID_RAW_OPS_CONTROL_FLOW_H_
