// Helpers for tests that build loops and conditionals as TensorFlow's Python API does.
#ifndef TENSORBRAID_SESSION_TESTING_LOOPS_H_
#define TENSORBRAID_SESSION_TESTING_LOOPS_H_

#include <functional>
#include <string>
#include <vector>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {

// An Enter node for a loop invariant, a tensor with the same value in every iteration.
inline Output EnterConstant(Output value, const std::string& frame, int64_t parallel = 10) {
  return NodeBuilder(*value.graph(), "Enter")
      .Input(value)
      .Attr("frame_name", frame)
      .Attr("is_constant", true)
      .Attr("parallel_iterations", parallel)
      .Output();
}

using LoopVars = std::vector<Output>;

// Builds a loop: while `cond(vars)` is true, `vars = body(vars)`. Returns the final values. `cond` and `body` must pass
// tensors from outside of the loop through EnterConstant(…, frame). At most `parallel` iterations run at the same time.
// The nodes that While itself adds are on `device`.
inline LoopVars While(Graph& g, const std::string& frame, const LoopVars& init,
                      const std::function<Output(const LoopVars&)>& cond,
                      const std::function<LoopVars(const LoopVars&)>& body, int64_t parallel = 10,
                      const std::string& device = "") {
  const auto one = [&](const char* op, Output input) {
    return NodeBuilder(g, op).Input(input).Device(device).Output();
  };
  LoopVars merges, inside, exits;
  for (const Output& value : init) {
    const Output enter = NodeBuilder(g, "Enter")
                             .Input(value)
                             .Attr("frame_name", frame)
                             .Attr("parallel_iterations", parallel)
                             .Device(device)
                             .Output();
    TB_CHECK_OK(g.status());
    Node* const merge = ImplOf(g)
                            .AddNode({.name = ImplOf(g).UniqueName("Merge"),
                                      .op = "Merge",
                                      .inputs = {enter, Output()},
                                      .controls = {},
                                      .attrs = {{"N", int64_t{2}}},
                                      .device = device})
                            .value();
    merges.push_back(OutputOf(merge, 0));
  }
  // Drops the control dependencies around the loop: the Enter nodes have them already, and a node inside the loop with
  // a control input from an outer frame would be in two frames.
  auto inner_scope = g.ControlDependencies(std::vector<Operation>{});
  Output taken;
  {
    auto scope = g.ControlDependencies({merges[0].op()});
    taken = cond(merges);
  }
  taken = one("LoopCond", taken);
  for (const Output& merge : merges) {
    const Operation sides = NodeBuilder(g, "Switch").Input(merge).Input(taken).Device(device).Finish();
    inside.push_back(one("Identity", sides.output(1)));
    exits.push_back(one("Exit", sides.output(0)));
  }
  LoopVars next;
  {
    auto scope = g.ControlDependencies({inside[0].op()});
    next = body(inside);
  }
  TB_CHECK_OK(g.status());
  for (size_t i = 0; i < init.size(); ++i) {
    TB_CHECK_OK(ImplOf(g).CloseLoop(NodeOf(merges[i]), 1, one("NextIteration", next[i])));
  }
  return exits;
}

// Builds a conditional: `if_true(value)` if `pred` is true, otherwise `if_false(value)`. The functions get `value`
// through a Switch.
inline Output Cond(Graph& g, Output pred, Output value, const std::function<Output(Output)>& if_true,
                   const std::function<Output(Output)>& if_false, const std::string& device = "") {
  const auto branch = [&](int side, const std::function<Output(Output)>& f) {
    const Operation pivot = NodeBuilder(g, "Switch").Input(pred).Input(pred).Device(device).Finish();
    const Output chosen = NodeBuilder(g, "Identity").Input(pivot.output(side)).Device(device).Output();
    const Operation sides = NodeBuilder(g, "Switch").Input(value).Input(pred).Device(device).Finish();
    auto scope = g.ControlDependencies({chosen.op()});
    return f(sides.output(side));
  };
  const Output no = branch(0, if_false);
  const Output yes = branch(1, if_true);
  return NodeBuilder(g, "Merge").InputList({no, yes}).Device(device).Output();
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_SESSION_TESTING_LOOPS_H_
