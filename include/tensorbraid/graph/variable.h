// Variables: tensors that keep their value from step to step, each on one device.
#ifndef TENSORBRAID_GRAPH_VARIABLE_H_
#define TENSORBRAID_GRAPH_VARIABLE_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <source_location>
#include <string>

#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// Adds the tensor with a variable's initial value to the graph, and returns it.
using Initializer = std::function<Output(Graph& graph, const Shape& shape, DType dtype)>;

Initializer Zeros();
Initializer Ones();
Initializer Constant(double value);
Initializer Constant(Tensor value);  // must have the shape and dtype of the variable, not of a part of it
// A `seed` of 0 stands for the graph's seed (Graph::SetRandomSeed), and kSeedZero for the number 0 as a seed, with the
// values of TensorFlow's `seed=0`.
inline constexpr int64_t kSeedZero = std::numeric_limits<int64_t>::min();
Initializer RandomUniform(double low = -0.05, double high = 0.05, int64_t seed = 0);
Initializer RandomNormal(double mean = 0.0, double stddev = 1.0, int64_t seed = 0);
Initializer TruncatedNormal(double mean = 0.0, double stddev = 1.0, int64_t seed = 0);
// Uniform in ±sqrt(6 / (fan_in + fan_out)). Source: Glorot and Bengio, 2010.
Initializer GlorotUniform(int64_t seed = 0);

// Returns the penalty for the size of a variable's values, a scalar; invalid: no penalty. Called once for a variable,
// when it is made, and once for each part of a partitioned variable. Called for each lookup of a growing table, with
// the rows of the lookup's distinct keys. (layers::RegularizationLosses has the penalties of a graph.)
using Regularizer = std::function<Output(const Output& value)>;

// The rows of a larger variable that a variable holds; see variables/partitioned_variable.h.
struct VariablePart {
  std::string whole;  // the name of the larger variable
  Shape shape;        // of the larger variable
  int64_t first_row = 0;
};

// The initial numbers of a row of a growing table, which are a function of the seed, the name of the table and the
// row's key alone, or rows of a matrix; see variables/embedding_variable.h.
struct InitialRows {
  enum class Kind {
    kConstant,         // `a`
    kUniform,          // in [a, b)
    kNormal,           // mean `a`, standard deviation `b`
    kTruncatedNormal,  // as kNormal, but within two standard deviations of the mean
  };
  Kind kind = Kind::kConstant;
  double a = 0;
  double b = 0;
  int64_t seed = 0;
  // If above 0: there are so many different initial rows. A key has the initial row of floor-mod(key, matrix_rows).
  int64_t matrix_rows = 0;
  // If it is valid: the initial rows themselves, float32 [matrix_rows, dim]. Then `kind`, `a`, `b` and `seed` have no
  // effect.
  Tensor matrix = {};
};

// When a growing table evicts rows: at each full save before it writes the rows, and in the background, where steps do
// not wait. A later gradient of an evicted key makes a new row, from its initial row. An increment of a checkpoint has
// the keys that were evicted. Steps are those that optimizers get as `global_step`; the current one is the newest that
// has updated a row of the same part.
struct TableEviction {
  // Rows that were not updated in the last so many steps; 0: none. Source: tf.GlobalStepEvict of DeepRec.
  int64_t steps_to_live = 0;
  // Rows of which half of the sum of the squares is lower, except those that were updated in the last 100 steps, so
  // that new rows can become longer; negative: none. Source: tf.L2WeightEvict of DeepRec, which makes no exception.
  double l2_threshold = -1;
  // Those rows that were not updated for longest, until the table has no more rows, or bytes, than this; 0: no limit.
  // A row has 24 bytes besides the float32 numbers of itself and of its slots. Each part has its share.
  int64_t max_rows = 0;
  int64_t max_bytes = 0;
};

// What makes a variable a growing table, or a part of one, or a slot of one. EmbeddingVariable and the optimizers make
// such variables.
struct TableDescription {
  std::string whole;  // the name of the whole table; "": the variable's own name
  int part = 0;       // of the table, in [0, parts)
  int parts = 1;
  // Of a slot: initial_rows.a is its initial number in all rows.
  InitialRows initial_rows = {};
  // The name of the variable whose slot this is; "" if it is no slot. A slot is a further column of the same rows.
  std::string slot_of = "";
  // A key gets a row when it has occurred so often in updates; 0: at its first update. Until then lookups give
  // no_permission.
  int64_t filter_freq = 0;
  float no_permission = 0;
  // With a filter: how many keys a counting Bloom filter is made for, and how often it may count an occurrence too many
  // then. 0 keys: occurrences are counted exactly.
  int64_t filter_keys = 0;
  double filter_error = 0;
  TableEviction evict = {};
  // Whether an update leaves out the rows whose gradient has a number that is not finite. Otherwise it fails, and
  // changes nothing.
  bool skip_not_finite = false;
  // Null: the rows have no penalty.
  Regularizer regularizer = nullptr;
};

struct VariableOptions {
  std::string name = "Variable";
  DType dtype = kFloat32;
  bool trainable = true;
  // Whether the variable belongs to this worker alone. The worker initialises it, and it is in the collection
  // "local_variables" instead of "global_variables".
  bool local = false;
  // False: the shape may be unknown, and later values may have other shapes that are compatible with it. Source:
  // validate_shape of tf.Variable.
  bool fixed_shape = true;
  // Makes a reference variable, as TensorFlow 1 does: its `handle` is the value itself, and its ops are Assign instead
  // of AssignVariableOp, and ApplyAdam instead of ResourceApplyAdam. The slots of an imported reference variable are of
  // this kind.
  bool reference = false;
  // Set for a part of a partitioned variable, which is saved as a part of the whole.
  std::optional<VariablePart> part_of = std::nullopt;
  // Makes a growing table, whose shape is [-1, dim]. The initializer is not called. REQUIRES: dtype is float32.
  std::optional<TableDescription> table = std::nullopt;
};

// A variable: its handle, its initialiser and its reads, all on the variable's device. Usually it is a resource
// variable, whose handle is a VarHandleOp. A variable of an imported graph may be a reference variable. An object of
// this class is a handle: copies refer to the same variable.
class Variable {
 public:
  Variable() = default;
  // `shape` must be fully known, unless the options say that it is not fixed.
  Variable(Graph& graph, const Shape& shape, const Initializer& initializer, VariableOptions options = {},
           std::source_location loc = std::source_location::current());

  // Makes a variable from the nodes of a graph that was imported: its handle, the operation that initialises it, its
  // initial value and a read of its value. The options give what the nodes do not say; their name and dtype are not
  // used. InvalidArgument if the nodes are not those of one variable. For the handle of a growing table,
  // `initial_value` and `read` are not used.
  static StatusOr<Variable> FromNodes(Graph& graph, const Output& handle, const Operation& initializer,
                                      const Output& initial_value, const Output& read, VariableOptions options = {});

  bool valid() const { return state_ != nullptr; }
  const std::string& name() const;  // of the handle: "weights"
  DType dtype() const;
  const Shape& shape() const;
  bool trainable() const;
  bool local() const;
  // The rows of a larger variable that this variable holds; null if it is not a part of another variable.
  const VariablePart* part_of() const;
  // What the variable is of a growing table; null for all other variables. A growing table has no value as a whole:
  // value(), Read() and the Assign functions record a mistake that says what to use in their place, and
  // initial_value() and shared_read() are not valid. Its handle is a KvVarHandleOp.
  const TableDescription* table() const;
  // Whether this is a reference variable (VariableOptions::reference).
  bool is_reference() const;
  Output handle() const;          // the resource, or the reference to the value
  Operation initializer() const;  // assigns the initial value
  Output initial_value() const;
  Output is_initialized() const;  // a bool scalar
  // The value. Within a control dependency scope, a branch or a loop each call makes a new read that obeys it;
  // elsewhere all calls return the same read.
  Output value(std::source_location loc = std::source_location::current()) const;
  // The read that all calls of value() elsewhere return. Makes no operation.
  Output shared_read() const;
  // A new read, which obeys the open control dependency scopes.
  Output Read(std::source_location loc = std::source_location::current()) const;
  // The rows of the value with these indices (int32 or int64, any shape). They are read on the variable's device, so
  // only these rows are sent to other devices. The gradient for the variable is slices. A step fails with
  // InvalidArgument for an index out of range. For a growing table the indices are keys (int64, or int32, which are
  // widened), and an absent key gives its initial row.
  Output SparseRead(const Operand& indices, const std::string& name = "") const;
  // Null if not valid. REQUIRES: the graph has not been destroyed (checked).
  Graph* graph(std::source_location loc = std::source_location::current()) const;

  // Each returns an operation that updates the variable. The operation runs if it is fetched or if a fetched node
  // depends on it.
  Operation Assign(const Operand& value) const;
  Operation AssignAdd(const Operand& delta) const;
  Operation AssignSub(const Operand& delta) const;

  friend bool operator==(const Variable& a, const Variable& b) { return a.state_ == b.state_; }

 private:
  struct State;
  // Makes this the handle of a variable that is complete, and adds it to the graph's lists.
  void Register(Graph& graph, std::shared_ptr<State> state);
  std::shared_ptr<State> state_;  // shared by the copies of this handle
};

// Returns an operation that initialises all global variables of the graph.
Operation GlobalVariablesInitializer(Graph& graph, std::source_location loc = std::source_location::current());
// Returns an operation that initialises all local variables of the graph.
Operation LocalVariablesInitializer(Graph& graph, std::source_location loc = std::source_location::current());
// Returns an operation that initialises the variables in the list.
Operation VariablesInitializer(Graph& graph, const std::vector<Variable>& variables, const std::string& name = "init",
                               std::source_location loc = std::source_location::current());
// A string vector with the names of the variables in the list that are not initialised.
// Source: tf.report_uninitialized_variables.
Output ReportUninitializedVariables(Graph& graph, const std::vector<Variable>& variables,
                                    std::source_location loc = std::source_location::current());

// The int64 scalar "global_step" of the graph, created if it does not exist.
Variable GetOrCreateGlobalStep(Graph& graph, std::source_location loc = std::source_location::current());
// The global step of the graph; invalid if the graph has none.
Variable GetGlobalStep(const Graph& graph);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_VARIABLE_H_
