// The functions of raw_ops, as they follow from the definitions of the ops.
#ifndef TENSORBRAID_TOOLS_OPS_RAW_OPS_FUNCTION_H_
#define TENSORBRAID_TOOLS_OPS_RAW_OPS_FUNCTION_H_

#include <string>
#include <vector>

#include "graph/model/op_registry.h"

namespace tensorbraid {

// An input of the op, which is a parameter of the function.
struct RawInput {
  enum class Kind { kOperand, kTensor, kList };

  const ArgDef* arg = nullptr;
  Kind kind = Kind::kOperand;
  std::string name;  // in C++
};

// An attribute that the caller chooses: a parameter, or a member of the options if it has a default.
struct RawAttr {
  const AttrDef* attr = nullptr;
  std::string name;           // in C++
  std::string type;           // in C++: "int64_t"
  std::string default_value;  // in C++; empty if the attribute has none
};

struct RawOutput {
  const ArgDef* arg = nullptr;
  bool is_list = false;
  std::string name;  // in C++
};

// The function of one op.
struct RawFunction {
  explicit RawFunction(const OpDef& op);

  bool has_options_struct() const { return !options.empty(); }
  bool has_result_struct() const { return outputs.size() > 1 || (outputs.size() == 1 && outputs[0].is_list); }
  std::string result_type() const;  // "Output", "Operation", "TopKV2Outputs"

  const OpDef* op;
  std::string family;          // the folder of src/ops
  bool takes_graph = true;     // because it may be called without any input
  bool takes_location = true;  // because no input is an Operand, which knows its location
  std::vector<RawInput> inputs;
  std::vector<RawAttr> required;
  std::vector<RawAttr> options;
  std::vector<RawOutput> outputs;
};

// The functions of all documented ops, in order of family and name.
std::vector<RawFunction> RawFunctions();

}  // namespace tensorbraid

#endif  // TENSORBRAID_TOOLS_OPS_RAW_OPS_FUNCTION_H_
