// Emitters: how a node becomes a part of a program that a PJRT plugin compiles (docs/design/0005 says what a device
// is).
//
// An emitter is for programs what a kernel is for the CPU: it writes the ops of one node. The emitters are in
// src/kernels/pjrt, and a table that is known without a plugin, so that a master can place nodes for tasks that have
// one. EmitProgram writes the program of a list of nodes.
//
// A program has static shapes: the shape of every tensor in it is known when the program is made. Some inputs must be
// known by value, too, such as the axes of a sum (EmitterDef::static_inputs).
#ifndef TENSORBRAID_PJRT_EMITTER_H_
#define TENSORBRAID_PJRT_EMITTER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/model/node.h"
#include "pjrt/error_word.h"
#include "pjrt/stablehlo.h"
#include "runtime/kernel/type_constraints.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid::pjrt {

class ProgramEmitter;

// A tensor, or a variable, on an edge of a program that is being made.
struct ProgramValue {
  // Valid if the program has the tensor. A known tensor becomes a constant of the program, or a parameter if it is
  // large, when it is first used.
  stablehlo::Value value = {};
  // The tensor, if it is known when the program is made.
  std::shared_ptr<const Tensor> constant = nullptr;
  // If at least 0, the edge carries a variable, by handle or by reference: its number among the program's variables.
  int variable = -1;
  // If at least 0, the tensor is this argument of the program, and in host memory before each run.
  int on_host = -1;
};

// An emitter's view of its node. Lives until the emitter returns. Not thread-safe.
//
// Numbers of inputs and outputs are those of the node. An input that is declared as a value may be a reference to a
// variable: `input` then gives the variable's value at this place of the program.
class EmitContext {
 public:
  EmitContext(ProgramEmitter& program, const Node& node, std::span<ProgramValue* const> inputs,
              std::span<ProgramValue> outputs)
      : program_(program), node_(node), inputs_(inputs), outputs_(outputs) {}

  const Node& node() const { return node_; }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  template <typename T>
  const T& attr(std::string_view name) const {
    return node_.attr<T>(name);
  }
  stablehlo::Builder& builder() const;

  // The tensor of input i, in the program. FailedPrecondition if it is a variable without a value, Aborted if the value
  // is lost.
  StatusOr<stablehlo::Value> input(int i) const;
  // The dtype and shape of the tensor, without making it a part of the program. Errors as for input().
  StatusOr<DType> input_dtype(int i) const;
  StatusOr<Shape> input_shape(int i) const;
  // The value of input i. InvalidArgument, naming the input, if it is not known when the program is made.
  StatusOr<Tensor> static_input(int i) const;
  bool is_static(int i) const { return inputs_[i]->constant != nullptr; }
  // As static_input, for a tensor of int32 or int64.
  StatusOr<std::vector<int64_t>> static_integers(int i) const;

  // Input i is a variable, by handle or by reference.
  bool is_variable(int i) const { return inputs_[i]->variable >= 0; }
  // Inputs i and j are the same variable.
  bool are_same_variable(int i, int j) const { return is_variable(i) && inputs_[i]->variable == inputs_[j]->variable; }
  // The present value of the variable of input i: what earlier nodes of the program have given it, else what it has
  // when the program starts. InvalidArgument if the input is no variable, FailedPrecondition if it has no value.
  StatusOr<stablehlo::Value> variable(int i) const;
  // False if the input is no variable, too.
  bool variable_has_value(int i) const;
  // Makes the new value of a variable from its value before, or the same value if `failed`, a scalar of bool, is true.
  using GuardedUpdate = std::function<stablehlo::Value(const stablehlo::Value& before, const stablehlo::Value& failed)>;
  // Gives the variable of input i a new value. InvalidArgument if the input is no variable. If the program has checks,
  // the variable is to keep its value when one of them fails. `guarded`, which is called when all checks are known,
  // makes the same update so; null: the whole old value is selected, for which the plugin must keep it.
  Status update_variable(int i, const stablehlo::Value& value, GuardedUpdate guarded = nullptr);

  // The node fails if `condition`, a scalar of bool, is true when the program runs. `error` then makes the error of
  // `numbers`, which are scalars of int64. See pjrt/error_word.h. Outputs of a node that fails may be anything.
  void fail_if(const stablehlo::Value& condition, std::vector<stablehlo::Value> numbers, CheckError error);
  // The node fails if an element of `bad` is true. The numbers of the error are the number of the first such element
  // and the elements of `values` at its place. `values` are integers of the shape of `bad`.
  void fail_where(const stablehlo::Value& bad, const std::vector<stablehlo::Value>& values, CheckError error);

  // The node fails if `check`, which gets the value of input i before each run, returns an error. `check` must not keep
  // references to what the emitter has on its stack. InvalidArgument if the host does not have the input before a run:
  // it is none of EmitterDef::inputs_on_host.
  Status check_on_host(int i, std::function<Status(const Tensor&)> check);

  void set_output(int i, const stablehlo::Value& value) { outputs_[i] = {.value = value}; }
  // The output is known when the program is made.
  void set_constant(int i, Tensor value) {
    outputs_[i] = {.constant = std::make_shared<const Tensor>(std::move(value))};
  }
  // The place in its random stream at which the node draws: key, and counter (low, high), as tensor<3xui64>. The node
  // must be declared so (EmitterDef::draws). `elements` is the number of its output's elements, whose random numbers
  // are reserved in each run.
  stablehlo::Value stream(int64_t elements);

  // Makes input `from`, a tensor or a variable, output `to`.
  void forward_input(int from, int to) { outputs_[to] = *inputs_[from]; }

 private:
  ProgramEmitter& program_;
  const Node& node_;
  const std::span<ProgramValue* const> inputs_;
  const std::span<ProgramValue> outputs_;
};

using EmitFn = std::function<Status(EmitContext&)>;

struct EmitterDef {
  std::string op;
  TypeConstraints types;
  // The names of the inputs of the op whose values must be known when the program is made, such as "axis".
  std::vector<std::string> static_inputs = {};
  // Sets all outputs, or returns an error: InvalidArgument for shapes that do not match, as the kernel of the CPU does.
  // Null: the host computes the node, whose inputs are all static.
  EmitFn emit;
  // Null, or returns why a node of this op cannot be in a program (an attribute that no emitter supports); "" if it
  // can. Only the node's attributes and types count.
  std::function<std::string(const Node&)> refuse = nullptr;
  // Null, or returns those of the static inputs of a node that need not be known, if the host has them before each run:
  // the program then takes their values as arguments. Only the graph counts.
  std::function<std::vector<int>(const Node&)> inputs_on_host = nullptr;
  // The node has a stream of random numbers, as its kernel has on the CPU (runtime/kernel/random_stream.h).
  bool draws = false;
  std::string_view file = {};  // where it is added, relative to src: "kernels/pjrt/math/binary.cc"
};

// Immutable once built. Thread-safe then.
class EmitterRegistry {
 public:
  // r.Add("MatMul", {{"T", {kFloat32}}}, EmitMatMul); returns the entry, whose other members may be set.
  EmitterDef& Add(std::string_view op, const TypeConstraints& types, EmitFn emit,
                  std::source_location location = std::source_location::current());

  // The op has no emitter, although TensorFlow compiles it for accelerators. `reason` says why, as in "Where has no
  // emitter: the shape of its output depends on the elements of its inputs".
  void LeaveToHost(std::string_view op, std::string_view reason);
  // The reasons, by op.
  const std::map<std::string, std::string, std::less<>>& host_ops() const { return host_ops_; }

  // The emitter for a node. NotFound, with the reason, if no emitter fits. Whether the node's static inputs are known
  // is not checked: see StaticInputs. The result stays valid.
  StatusOr<const EmitterDef*> Find(const Node& node) const;
  const std::multimap<std::string, EmitterDef, std::less<>>& emitters() const { return emitters_; }

  // All emitters of src/kernels/pjrt; see kernels/pjrt/register.cc.
  static const EmitterRegistry& Global();

 private:
  std::multimap<std::string, EmitterDef, std::less<>> emitters_;
  std::map<std::string, std::string, std::less<>> host_ops_;
};

// The numbers of the inputs of the node that must be known when the program is made: the static inputs, and strings,
// which cannot be in programs.
std::vector<int> StaticInputs(const EmitterDef& def, const Node& node);

// Computes a node on the host, from the values of its inputs. For nodes that are known when the program is made.
using HostCompute = std::function<StatusOr<std::vector<Tensor>>(const Node& node, const std::vector<Tensor>& inputs)>;

// What comes into a program from outside.
struct ProgramArgument {
  // The tensors that nodes of the program have as inputs and that are this argument: one, or, for a variable, all
  // handles of it and references to it that come from outside of the program.
  std::vector<Output> tensors;
  DType dtype = DType::kInvalid;  // of the tensor, or of the variable's value; not a reference type
  Shape shape;                    // fully defined; nothing for a variable without a value
  // The value, if it is known when the program is made. The program then has it as a constant, and no parameter.
  std::shared_ptr<const Tensor> constant = nullptr;
  bool is_variable = false;
  bool is_on_host = false;   // in host memory before each run, and a parameter of the program
  bool has_value = true;     // false: a variable that is not initialized when the program starts, or is lost
  Status loss = OkStatus();  // the error of reading a variable that is lost (pjrt/loss.h)
};

// The text of a program, and what its parameters and results are.
struct ProgramText {
  std::string text;
  // Parameter k of the program is argument parameters[k]. Arguments of which no node uses the elements have none.
  std::vector<int> parameters;
  // Known tensors that are not in the text, because they are large and their elements differ: the parameters behind
  // those of `parameters`, in this order. The tensors are in host memory.
  std::vector<std::shared_ptr<const Tensor>> constants;
  // The streams of random numbers that a run takes. If there are any, the program's last parameter is StreamsType():
  // row i has the key and the counter (low, high) of the first of streams[i].elements elements.
  struct Stream {
    const Node* node;
    int64_t elements;
  };
  std::vector<Stream> streams;
  stablehlo::TensorType StreamsType() const { return {kUint64, {static_cast<int64_t>(streams.size()), 3}}; }
  // Result k of the program, for k < updates.size(), is the new value of the variable argument updates[k].argument. The
  // result takes over the memory of parameter updates[k].aliased, unless the run forbids it; -1: of none, because the
  // variable had no value or its shape changes. If a check fails, a result that is aliased is the old value, and the
  // others must not be used.
  struct Update {
    int argument;
    DType dtype;
    Shape shape;
    int aliased;
  };
  std::vector<Update> updates;
  // The wanted outputs, in their order.
  struct Result {
    int result = -1;                                   // the number of the program's result, or
    std::shared_ptr<const Tensor> constant = nullptr;  // the tensor, known already, or
    int variable = -1;  // the argument: the output is the handle of this variable or a reference to it
    DType dtype = DType::kInvalid;
    Shape shape;
  };
  std::vector<Result> results;
  // The checks of elements. If there are any, result `error_word` of the program tells which of them has failed.
  ProgramChecks checks;
  int error_word = -1;
  // What the host checks before each run.
  struct HostCheck {
    const Node* node;
    int argument;
    std::function<Status(const Tensor&)> check;
  };
  std::vector<HostCheck> host_checks;
  int num_results = 0;  // of the program: updates, the results that have numbers, the error word
};

// The size in bytes up to which a known tensor is written into the text of a program. A larger one is a parameter,
// unless all of its elements are equal: texts stay short, and programs that differ in such values only are compiled
// once.
inline constexpr size_t kMostBytesInText = 1024;

// Writes the program of `nodes`, which are in an order in which they may run: after their inputs and control inputs. A
// reference or handle is read and updated at the place of the node that reads or updates it. Each input of a node is an
// output of an earlier node or one of the arguments' tensors. `wanted` are outputs of the nodes.
//
// A node whose inputs are all known is computed by `host` instead, if nothing emits it or its outputs are small; null:
// never. The text does not depend on names, so equal lists give equal programs. Errors name the node: NotFound if it
// has no emitter and cannot be computed by the host, InvalidArgument if an input that must be known is not or shapes do
// not match, FailedPrecondition for a read of a variable without a value, Aborted if that value is lost.
StatusOr<ProgramText> EmitProgram(const std::vector<const Node*>& nodes, const std::vector<ProgramArgument>& arguments,
                                  const std::vector<Output>& wanted, const HostCompute& host = nullptr,
                                  const EmitterRegistry& registry = EmitterRegistry::Global());

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_EMITTER_H_
