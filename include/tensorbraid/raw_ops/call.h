// How the functions of raw_ops add their node. Programs call those functions and need nothing of this header.
#ifndef TENSORBRAID_RAW_OPS_CALL_H_
#define TENSORBRAID_RAW_OPS_CALL_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <source_location>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"

namespace tensorbraid::raw_ops::internal {

// An input of a call: one tensor or a list of tensors. Refers to the caller's argument.
class Argument {
 public:
  Argument(const Operand& operand) : operand_(&operand) {}              // NOLINT: converts
  Argument(const Output& tensor) : tensor_(&tensor) {}                  // NOLINT: converts
  Argument(const std::vector<Output>& tensors) : tensors_(&tensors) {}  // NOLINT: converts

 private:
  friend class Call;
  const Operand* operand_ = nullptr;
  const Output* tensor_ = nullptr;
  const std::vector<Output>* tensors_ = nullptr;
};

// The outputs of a node, argument by argument of the op's definition.
class Outputs {
 public:
  const Operation& operation() const { return operation_; }
  Output Next();                   // of an argument that is one tensor
  std::vector<Output> NextList();  // of an argument that is a list

 private:
  friend class Call;
  Operation operation_;
  std::vector<int64_t> lengths_;  // of each argument
  size_t argument_ = 0;
  int output_ = 0;
};

// Adds a node of one op. A number takes the dtype that the op's definition fixes, or else the dtype of the other inputs
// with the same type attribute, or else the default of this attribute. An object lives no longer than the expression
// that makes it.
class Call {
 public:
  // The node goes to the graph of its first input that has one. Without such an input the mistake is logged, and the
  // results are not valid. `loc` is the place of the call if no argument is an Operand, which has its own.
  Call(const char* op, const std::string& name, std::initializer_list<Argument> arguments,
       std::source_location loc = {});
  Call(Graph& graph, const char* op, const std::string& name, std::initializer_list<Argument> arguments,
       std::source_location loc);

  Call& Attr(const char* name, AttrValue value);
  Call& Attr(const char* name, const std::vector<AttrValue::Function>& functions);

  Operation Finish();
  Output One();   // the first output
  Outputs All();  // a list has its length even if the node could not be added

 private:
  Graph* FindGraph() const;
  DType NumberType(const std::string& attr) const;
  DType TypeFromArguments(const std::string& attr) const;
  int64_t LengthOf(const std::string& attr) const;

  Graph* graph_ = nullptr;
  const char* op_;
  std::string name_;
  std::vector<Argument> arguments_;
  std::source_location loc_;
  std::map<std::string, AttrValue> attrs_;
  std::map<std::string, DType> number_types_;  // of the numbers that were converted, by type attribute
};

}  // namespace tensorbraid::raw_ops::internal

#endif  // TENSORBRAID_RAW_OPS_CALL_H_
