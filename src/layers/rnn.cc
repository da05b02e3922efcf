// The recurrent layers, which run cells over sequences, layer by layer.
#include "tensorbraid/layers/rnn.h"

#include "core/text/strings.h"
#include "graph/model/mistakes.h"
#include "layers/layer_scope.h"
#include "layers/rnn_cell.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid::layers {
namespace {

// The size of one dimension, an int32 scalar.
Output SizeOf(const Output& x, int64_t dim) {
  return StridedSlice(ShapeOf(x), {dim}, {dim + 1}, {1}, {.shrink_axis_mask = 1});
}

// Sequences on their way through the layers.
struct Sequences {
  Output x;                   // [time, batch, features]; invalid if there are steps
  std::vector<Output> steps;  // [batch, features] for each step
  Output lengths;             // int32 [batch], between 0 and the number of steps; invalid if all are as long as x
  int64_t features = -1;      // of x or the steps
  bool unrolled() const { return !x.valid(); }
  const Output& any() const { return unrolled() ? steps[0] : x; }
};

// Whether step t of each sequence is before its end: bool [batch, 1].
Output IsActive(const Sequences& s, size_t t) { return ExpandDims(Greater(s.lengths, static_cast<int32_t>(t)), 1); }

// Runs a cell step by step. Replaces s->steps by the outputs and *state by the last state.
void RunSteps(const BoundCell& cell, Sequences* s, std::vector<Output>* state) {
  for (size_t t = 0; t < s->steps.size(); ++t) {
    BoundCell::StepResult next = cell.Step(s->steps[t], *state);
    if (s->lengths.valid()) {
      const Output active = IsActive(*s, t);
      next.output = Select(active, next.output, 0.0);
      for (size_t i = 0; i < state->size(); ++i) next.state[i] = Select(active, next.state[i], (*state)[i]);
    }
    s->steps[t] = next.output;
    *state = std::move(next.state);
  }
}

// Runs a cell over a whole sequence. Replaces s->x by the outputs and *state by the last state.
void RunSequence(const BoundCell& cell, Sequences* s, std::vector<Output>* state) {
  const Output time = SizeOf(s->x, 0);
  // If the batch is empty, ReduceMax returns the smallest int32.
  const Output steps = s->lengths.valid() ? Maximum(ReduceMax(s->lengths), 0) : time;
  const BoundCell::SequenceResult done = cell.Sequence(s->x, *state, Cast(steps, kInt64));
  if (!done.outputs.valid()) return;
  std::vector<Output> states = done.all_states;
  if (s->lengths.valid() || s->x.shape().dim(0) < 1) {
    // A sequence may be empty. Its last state is then the initial state. So the initial state is put in front of the
    // others, and index t becomes the state before step t.
    for (size_t i = 0; i < state->size(); ++i) states[i] = Concat({ExpandDims((*state)[i], 0), states[i]}, 0);
  }
  if (s->lengths.valid()) {
    Graph& g = *s->x.graph();
    const Output row = Range(g, 0, SizeOf(s->x, 1));
    const Output last = Stack({s->lengths, row}, 1);
    for (size_t i = 0; i < state->size(); ++i) (*state)[i] = GatherNd(states[i], last);
    const Output active = Less(ExpandDims(Range(g, 0, time), 1), ExpandDims(s->lengths, 0));
    s->x = Select(ExpandDims(active, 2), done.outputs, 0.0);
  } else {
    for (size_t i = 0; i < state->size(); ++i) {
      (*state)[i] = StridedSlice(states[i], {-1}, {0}, {1}, {.end_mask = 1, .shrink_axis_mask = 1});
    }
    s->x = done.outputs;
  }
}

// Runs a cell, or the cells of a MultiRNNCell one after the other: the whole output of one is the input of the next.
// `state` has the states of all cells. Appends the variables of each cell. Returns false after a mistake.
bool RunCell(const LayerScope& layer, const RnnCell& description, Sequences* s, std::vector<Output>* state,
             CellVariables* variables) {
  const RnnCellImpl& cell = RnnCellImpl::Of(description);
  Graph& g = layer.graph();
  if (const std::vector<RnnCell> layers = cell.layers(); !layers.empty()) {
    auto scope = g.VariableScope(cell.scope_name());
    std::vector<Output> last;
    size_t at = 0;
    for (size_t i = 0; i < layers.size(); ++i) {
      auto inner = g.VariableScope(StrCat("cell_", i));
      const size_t count = RnnCellImpl::Of(layers[i]).num_states();
      std::vector<Output> own(state->begin() + at, state->begin() + at + count);
      at += count;
      if (!RunCell(layer, layers[i], s, &own, variables)) return false;
      last.insert(last.end(), own.begin(), own.end());
    }
    *state = std::move(last);
    return true;
  }
  if (s->features < 0) {
    layer.Mistake("the number of features must be known; the shape of the input is ", s->any().shape());
    return false;
  }
  const auto bound = cell.Bind(g, s->features, s->any().dtype());
  if (!g.status().ok()) return false;
  variables->push_back(bound->variables());
  if (s->unrolled()) {
    RunSteps(*bound, s, state);
  } else {
    RunSequence(*bound, s, state);
  }
  s->features = cell.units();
  return g.status().ok();
}

// Appends zeros [batch, units] for each state of the cell. `batch` is the size of the batch if it is known, otherwise
// -1; `dynamic_batch` is then the size as a tensor.
void AppendZeroStates(const RnnCellImpl& cell, Graph& g, int64_t batch, const Output& dynamic_batch, DType dtype,
                      std::vector<Output>* states) {
  if (const auto layers = cell.layers(); !layers.empty()) {
    for (const RnnCell& one : layers) AppendZeroStates(RnnCellImpl::Of(one), g, batch, dynamic_batch, dtype, states);
    return;
  }
  const Output zeros = batch >= 0 ? Zeros(g, {batch, cell.units()}, dtype, "zero_state")
                                  : Fill(g, Stack({dynamic_batch, static_cast<int32_t>(cell.units())}),
                                         Cast(Const(g, Tensor::Scalar(0.0f)), dtype), "zero_state");
  states->insert(states->end(), cell.num_states(), zeros);
}

// Returns the lengths as int32 between 0 and the number of steps, `time`. If the tensor cannot be lengths, records a
// mistake and returns an invalid Output.
Output CheckedLengths(const LayerScope& layer, const Operand& lengths, int64_t batch, const Operand& time) {
  Output tensor = lengths.ToOutput(layer.graph());
  if (!tensor.valid()) return {};
  const bool fits = tensor.shape().IsCompatibleWith({batch});
  if (!fits || (tensor.dtype() != kInt32 && tensor.dtype() != kInt64)) {
    return layer.Mistake("lengths must be int32 or int64 with one element for each sequence of the batch (",
                         Shape({batch}), "), got ", tensor.dtype(), " ", tensor.shape());
  }
  if (tensor.dtype() == kInt64) tensor = Cast(tensor, kInt32);
  return Maximum(Minimum(tensor, time), 0);
}

// Checks the cell, the initial state and the dtype of the input. Returns false after a mistake.
bool CheckCell(const LayerScope& layer, const RnnCell& cell, const std::vector<Output>& initial_state) {
  if (std::string mistake = RnnCellImpl::Of(cell).Mistake(); !mistake.empty()) {
    layer.Mistake(mistake);
    return false;
  }
  const int wanted = RnnCellImpl::Of(cell).num_states();
  if (!initial_state.empty() && static_cast<int>(initial_state.size()) != wanted) {
    layer.Mistake("initial_state must have the ", wanted, " tensors of the cell's state, got ", initial_state.size());
    return false;
  }
  if (!IsFloating(layer.x().dtype())) {
    layer.Mistake("the input must be floating-point, got ", layer.x().dtype());
    return false;
  }
  return true;
}

// Sets *s to the layer's input, transposed to [time, batch, features] if necessary, and the lengths. Returns false
// after a mistake.
bool Enter(const LayerScope& layer, const std::optional<Operand>& lengths, bool time_major, Sequences* s) {
  const Output& x = layer.x();
  if (x.shape().has_rank() && x.shape().rank() != 3) {
    layer.Mistake("the input must have shape ", time_major ? "[time, batch, features]" : "[batch, time, features]",
                  ", got ", x.shape());
    return false;
  }
  if (!x.shape().has_rank()) {
    layer.Mistake("the rank of the input must be known");
    return false;
  }
  s->x = time_major ? x : Transpose(x, {1, 0, 2});
  s->features = x.shape().dim(2);
  if (lengths.has_value()) {
    s->lengths = CheckedLengths(layer, *lengths, s->x.shape().dim(1), SizeOf(s->x, 0));
    if (!s->lengths.valid()) return false;
  }
  return true;
}

// The reverse of the transposition in Enter.
Output Leave(const Output& x, bool time_major) { return time_major ? x : Transpose(x, {1, 0, 2}); }

std::vector<Output> InitialState(const LayerScope& layer, const RnnCell& cell, const Sequences& s,
                                 const std::vector<Output>& given) {
  if (!given.empty()) return given;
  std::vector<Output> zeros;
  const int batch_dim = s.unrolled() ? 0 : 1;
  const int64_t batch = s.any().shape().dim(batch_dim);
  AppendZeroStates(RnnCellImpl::Of(cell), layer.graph(), batch, batch < 0 ? SizeOf(s.any(), batch_dim) : Output(),
                   s.any().dtype(), &zeros);
  return zeros;
}

// Returns x [time, batch, features] with the steps of each sequence in reverse order.
Output Reversed(const Sequences& s, const Output& x) {
  if (!s.lengths.valid()) return Reverse(x, {0});
  return NodeBuilder(*x.graph(), "ReverseSequence")
      .Input(x)
      .Input(s.lengths)
      .Attr("seq_dim", 0)
      .Attr("batch_dim", 1)
      .Output();
}

}  // namespace

RnnResult DynamicRnn(const RnnCell& cell, const Operand& input, const RnnOptions& options) {
  const LayerScope layer("DynamicRnn", "rnn", input, options.name);
  Sequences s;
  if (!layer.ok() || !CheckCell(layer, cell, options.initial_state)) return {};
  if (!Enter(layer, options.lengths, options.time_major, &s)) return {};
  std::vector<Output> state = InitialState(layer, cell, s, options.initial_state);
  CellVariables variables;
  if (!RunCell(layer, cell, &s, &state, &variables)) return {};
  return {Leave(s.x, options.time_major), std::move(state), std::move(variables)};
}

StaticRnnResult StaticRnn(const RnnCell& cell, const std::vector<Output>& x, const RnnOptions& options,
                          std::source_location loc) {
  if (x.empty()) {
    LogMistake("StaticRnn", loc, kEmptyList);
    return {};
  }
  const LayerScope layer("StaticRnn", "rnn", Operand(x[0], loc), options.name);
  if (!layer.ok() || !CheckCell(layer, cell, options.initial_state)) return {};
  for (const Output& step : x) {
    if (!step.valid()) return {};
    if (!step.shape().has_rank() || step.shape().rank() != 2) {
      layer.Mistake("the input of each step must have shape [batch, features], got ", step.shape());
      return {};
    }
  }
  Sequences s;
  s.steps = x;
  s.features = x[0].shape().dim(1);
  if (options.lengths.has_value()) {
    s.lengths = CheckedLengths(layer, *options.lengths, x[0].shape().dim(0), static_cast<int32_t>(x.size()));
    if (!s.lengths.valid()) return {};
  }
  std::vector<Output> state = InitialState(layer, cell, s, options.initial_state);
  CellVariables variables;
  if (!RunCell(layer, cell, &s, &state, &variables)) return {};
  return {std::move(s.steps), std::move(state), std::move(variables)};
}

BidirectionalRnnResult BidirectionalRnn(const RnnCell& forward, const RnnCell& backward, const Operand& input,
                                        const BidirectionalRnnOptions& options) {
  const LayerScope layer("BidirectionalRnn", "bidirectional_rnn", input, options.name);
  Sequences s;
  if (!layer.ok() || !CheckCell(layer, forward, {}) || !CheckCell(layer, backward, {})) return {};
  if (!Enter(layer, options.lengths, options.time_major, &s)) return {};
  BidirectionalRnnResult result;
  Sequences fw = s, bw = s;
  bw.x = Reversed(s, s.x);
  result.forward_state = InitialState(layer, forward, s, {});
  result.backward_state = InitialState(layer, backward, s, {});
  {
    auto scope = layer.graph().VariableScope("fw");
    if (!RunCell(layer, forward, &fw, &result.forward_state, &result.forward_variables)) return {};
  }
  auto scope = layer.graph().VariableScope("bw");
  if (!RunCell(layer, backward, &bw, &result.backward_state, &result.backward_variables)) return {};
  const Output back = Reversed(s, bw.x);
  result.forward = Leave(fw.x, options.time_major);
  result.backward = Leave(back, options.time_major);
  result.outputs = Leave(Concat({fw.x, back}, 2), options.time_major);
  return result;
}

}  // namespace tensorbraid::layers
