// Gradients that a program defines itself: for a computation, or for one node.
//
//   auto y = CustomGradient({x}, [](const auto& in) -> std::vector<Output> { return {Log(1.0 + Exp(in[0]))}; },
//                           [&](const auto& in, const auto&, const auto& grads) -> std::vector<Output> {
//                             return {grads[0] * Sigmoid(in[0])};  // stable where the derivative of the formula is not
//                           })[0];
#ifndef TENSORBRAID_GRAPH_CUSTOM_GRADIENT_H_
#define TENSORBRAID_GRAPH_CUSTOM_GRADIENT_H_

#include <functional>
#include <source_location>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// Returns the gradients for the inputs of `op`, given those for its outputs. A gradient for an output on which nothing
// depends is not valid; one for an input that is not valid stands for none.
using GradientFunction = std::function<std::vector<Output>(const Operation& op, const std::vector<Output>& grads)>;

// Makes `gradient` the gradient function of one node, in place of that of its op. Calls of Gradients use it from now
// on. `gradient` must return one output for each input of the node, and must not outlive what it refers to. Source:
// tf.Graph.gradient_override_map.
void SetGradient(const Operation& op, GradientFunction gradient);

using ForwardFunction = std::function<std::vector<Output>(const std::vector<Output>& inputs)>;
using BackwardFunction = std::function<std::vector<Output>(
    const std::vector<Output>& inputs, const std::vector<Output>& outputs, const std::vector<Output>& grads)>;

// The results of `forward(inputs)`, whose gradients are computed by `backward`: it gets the inputs, the results and the
// gradients of the results (zeros for a result on which nothing depends), and returns one gradient for each input. It
// is called by Gradients, so it must not refer to objects that no longer exist then. Other tensors that `forward` uses
// get no gradient. Source: tf.custom_gradient.
std::vector<Output> CustomGradient(const std::vector<Output>& inputs, const ForwardFunction& forward,
                                   const BackwardFunction& backward, const std::string& name = "CustomGradient",
                                   std::source_location loc = std::source_location::current());

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_CUSTOM_GRADIENT_H_
