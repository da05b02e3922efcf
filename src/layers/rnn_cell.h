// The implementation of RnnCell: descriptions of cells (RnnCellImpl), and cells whose variables exist (BoundCell).
#ifndef TENSORBRAID_LAYERS_RNN_CELL_H_
#define TENSORBRAID_LAYERS_RNN_CELL_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorbraid/layers/rnn.h"

namespace tensorbraid::layers {

// A cell with its variables, in one layer.
class BoundCell {
 public:
  struct StepResult {
    Output output;
    std::vector<Output> state;
  };
  struct SequenceResult {
    Output outputs;                  // [time, batch, units]
    std::vector<Output> all_states;  // each [time, batch, units]
  };

  virtual ~BoundCell() = default;
  // Adds the nodes of one step; x is [batch, features].
  virtual StepResult Step(Output x, const std::vector<Output>& state) const = 0;
  // Adds one node that computes the first `steps` (an int64 scalar) steps of x [time, batch, features]. Results of
  // later steps are 0.
  virtual SequenceResult Sequence(Output x, const std::vector<Output>& state, Output steps) const = 0;
  // In the order of their creation; of a partitioned variable the parts.
  const std::vector<Variable>& variables() const { return variables_; }

 protected:
  // The value of a variable in the open variable scope.
  Output MakeVariable(Graph& graph, const std::string& name, const Shape& shape, DType dtype,
                      const Initializer& initializer);

 private:
  std::vector<Variable> variables_;
};

// The description of a cell.
class RnnCellImpl {
 public:
  virtual ~RnnCellImpl() = default;
  // The implementation of a public cell.
  static const RnnCellImpl& Of(const RnnCell& cell) { return *cell.impl_; }
  // A public cell with this implementation.
  static RnnCell ToCell(std::shared_ptr<const RnnCellImpl> impl) { return RnnCell(std::move(impl)); }
  virtual int64_t units() const = 0;  // the size of the output
  virtual int num_states() const = 0;
  // Says what is wrong with the description; "" if nothing is.
  virtual std::string Mistake() const { return units() < 1 ? "the number of units must be positive" : ""; }
  // Makes the variables in a scope inside of the open one. REQUIRES: Mistake() is "" and layers() is empty.
  virtual std::unique_ptr<BoundCell> Bind(Graph& graph, int64_t features, DType dtype) const = 0;
  // The cells of a MultiRNNCell, whose variables are in scope_name()/cell_i; empty for other cells.
  virtual std::vector<RnnCell> layers() const { return {}; }
  virtual std::string scope_name() const = 0;
};

}  // namespace tensorbraid::layers

#endif  // TENSORBRAID_LAYERS_RNN_CELL_H_
