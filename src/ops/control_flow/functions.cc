// The public conditionals and loops. The contexts in which their nodes are added are in
// graph/control_flow/flow_context.h.
#include <algorithm>

#include "core/text/strings.h"
#include "graph/control_flow/flow_context.h"
#include "graph/model/graph_impl.h"
#include "graph/model/mistakes.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/control_flow.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

// Calls `build` in a context and returns tensors that belong to the context, one for each result.
StatusOr<std::vector<Output>> ResultsIn(Graph& graph, FlowContext* context, const Branch& build) {
  const ScopedFlowContext inside(graph, context);
  std::vector<Output> results;
  {
    const ScopedUserCode user(graph);
    results = build();
  }
  TF_RETURN_IF_ERROR(graph.status());
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].valid()) return InvalidArgument("result ", i, " is not valid", TakeLoggedMistake());
    TF_RETURN_IF_ERROR(ImplOf(graph).CheckOwns(results[i].op()));
    // As in TensorFlow, an Identity, so that a result is an output of the context, even if it is a captured tensor.
    results[i] = NodeBuilder(graph, "Identity").Input(results[i]).Output();
  }
  TF_RETURN_IF_ERROR(graph.status());
  return results;
}

StatusOr<std::vector<Output>> BuildCond(Graph& graph, const Output& predicate, const Branch& if_true,
                                        const Branch& if_false) {
  if (predicate.dtype() != DType::kBool) return InvalidArgument("the predicate must be bool, got ", predicate.dtype());
  TF_ASSIGN_OR_RETURN(FlowContext * taken, AddBranch(graph, predicate, 1));
  TF_ASSIGN_OR_RETURN(FlowContext * other, OtherSide(taken));
  TF_ASSIGN_OR_RETURN(const std::vector<Output> yes, ResultsIn(graph, taken, if_true));
  TF_ASSIGN_OR_RETURN(const std::vector<Output> no, ResultsIn(graph, other, if_false));
  if (yes.size() != no.size()) {
    return InvalidArgument("the branches must return equally many tensors; the one for true returns ", yes.size(),
                           ", the one for false ", no.size());
  }
  std::vector<Output> merged;
  for (size_t i = 0; i < yes.size(); ++i) {
    if (yes[i].dtype() != no[i].dtype()) {
      return InvalidArgument("result ", i, " of the branch for true is ", yes[i].dtype(), ", but that for false is ",
                             no[i].dtype());
    }
    TF_ASSIGN_OR_RETURN(const Output merge, AddMerge(graph, no[i], yes[i]));
    merged.push_back(merge);
  }
  return merged;
}

StatusOr<std::vector<Output>> BuildWhile(Graph& graph, const std::vector<Output>& initial,
                                         const LoopCondition& condition, const LoopBody& body,
                                         const WhileOptions& options) {
  if (initial.empty()) return InvalidArgument("a loop must have at least one variable");
  if (options.parallel_iterations < 1) {
    return InvalidArgument("parallel_iterations must be at least 1, got ", options.parallel_iterations);
  }
  if (!options.shape_invariants.empty() && options.shape_invariants.size() != initial.size()) {
    return InvalidArgument("there are ", options.shape_invariants.size(), " shape invariants for ", initial.size(),
                           " variables");
  }
  FlowContext* const around = ImplOf(graph).flow_context();
  FlowContext* const loop =
      BeginLoop(graph, {.parallel_iterations = options.parallel_iterations, .differentiable = options.back_prop});
  std::vector<Output> merged;
  for (size_t i = 0; i < initial.size(); ++i) {
    if (!initial[i].valid()) return InvalidArgument("variable ", i, " is not valid", TakeLoggedMistake());
    TF_RETURN_IF_ERROR(ImplOf(graph).CheckOwns(initial[i].op()));
    TF_ASSIGN_OR_RETURN(const Output begin, VisibleIn(around, initial[i], loop->frame));
    Shape shape = begin.shape();
    if (!options.shape_invariants.empty()) {
      if (!shape.IsCompatibleWith(options.shape_invariants[i])) {
        return InvalidArgument("variable ", i, " has shape ", shape, ", which its shape invariant ",
                               options.shape_invariants[i], " does not allow");
      }
      shape = options.shape_invariants[i];
    }
    TF_RETURN_IF_ERROR(AddLoopVariable(loop, begin, shape).status());
    merged.push_back(loop->variables.back().merge);
  }
  Output go_on;
  {
    const ScopedFlowContext inside(graph, loop);
    {
      const ScopedUserCode user(graph);
      go_on = condition(merged);
    }
    TF_RETURN_IF_ERROR(graph.status());
    if (!go_on.valid()) return InvalidArgument("the condition is not valid", TakeLoggedMistake());
    if (go_on.dtype() != DType::kBool) return InvalidArgument("the condition must be bool, got ", go_on.dtype());
  }
  TF_RETURN_IF_ERROR(SetLoopCondition(loop, go_on));
  std::vector<Output> now;
  {
    const ScopedFlowContext inside(graph, loop);
    for (const LoopVariable& v : loop->variables) now.push_back(NodeBuilder(graph, "Identity").Input(v.body).Output());
    TF_RETURN_IF_ERROR(graph.status());
  }
  TF_ASSIGN_OR_RETURN(const std::vector<Output> next, ResultsIn(graph, loop, [&] { return body(now); }));
  if (next.size() != initial.size()) {
    return InvalidArgument("the body must return a tensor for each of the ", initial.size(), " variables, but returns ",
                           next.size());
  }
  for (size_t i = 0; i < next.size(); ++i) TF_RETURN_IF_ERROR(CloseLoopVariable(loop, i, next[i]));
  std::vector<Output> results;
  for (size_t i = 0; i < next.size(); ++i) results.push_back(loop->variables[i].exit);
  return results;
}

// The results, or `count` invalid tensors after a mistake, which the graph then keeps.
std::vector<Output> OrRecord(Graph& graph, StatusOr<std::vector<Output>> results, const char* function,
                             const std::source_location& loc, size_t count) {
  if (results.ok()) return *std::move(results);
  graph.AddError(Annotate(results.status(), StrCat(function, " (", LocationText(ImplOf(graph).UserLine(loc)), ")")));
  return std::vector<Output>(count);
}

Graph* GraphOfTensors(const char* function, const std::vector<Output>& tensors, const std::source_location& loc) {
  std::vector<Operand> operands;
  for (const Output& tensor : tensors) operands.emplace_back(tensor, loc);
  return GraphOf(function, operands, loc);
}

}  // namespace

std::vector<Output> Cond(const Operand& predicate, const Branch& if_true, const Branch& if_false,
                         const std::string& name) {
  Graph* const graph = GraphOf("Cond", {&predicate});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, predicate.location());
  const ScopeGuard scope = graph->NameScope(name);
  return OrRecord(*graph, BuildCond(*graph, predicate.ToOutput(*graph), if_true, if_false), "Cond",
                  predicate.location(), 0);
}

std::vector<Output> Case(const std::vector<std::pair<Output, Branch>>& branches, const Branch& otherwise,
                         const std::string& name) {
  if (branches.empty()) return otherwise();
  Branch rest = otherwise;
  for (size_t i = branches.size(); i-- > 1;) {
    rest = [branch = branches[i], rest] { return Cond(branch.first, branch.second, rest); };
  }
  return Cond(branches[0].first, branches[0].second, rest, name);
}

std::vector<Output> While(const std::vector<Output>& initial, const LoopCondition& condition, const LoopBody& body,
                          WhileOptions options, std::source_location loc) {
  Graph* const graph = GraphOfTensors("While", initial, loc);
  if (graph == nullptr) return std::vector<Output>(initial.size());
  const ScopedLocation at(*graph, loc);
  const ScopeGuard scope = graph->NameScope(options.name);
  if (!options.maximum_iterations.has_value()) {
    return OrRecord(*graph, BuildWhile(*graph, initial, condition, body, options), "While", loc, initial.size());
  }
  // The first variable counts the iterations.
  std::vector<Output> counted = {Const(*graph, Tensor::Scalar(int32_t{0}))};
  counted.insert(counted.end(), initial.begin(), initial.end());
  if (!options.shape_invariants.empty()) options.shape_invariants.insert(options.shape_invariants.begin(), Shape());
  const auto rest = [](const std::vector<Output>& v) { return std::vector<Output>(v.begin() + 1, v.end()); };
  const auto most = static_cast<int32_t>(*options.maximum_iterations);
  auto results = BuildWhile(
      *graph, counted,
      [&](const std::vector<Output>& v) {
        const Output more = condition(rest(v));
        const ScopedLocation here(*graph, loc);
        return LogicalAnd(Less(v[0], most), more);
      },
      [&](const std::vector<Output>& v) {
        std::vector<Output> next = body(rest(v));
        const ScopedLocation here(*graph, loc);
        next.insert(next.begin(), Add(v[0], 1));
        return next;
      },
      options);
  if (results.ok()) results = rest(*results);
  return OrRecord(*graph, std::move(results), "While", loc, initial.size());
}

namespace {

// The first dimension of a tensor.
Output RowsOf(const Output& tensor) { return StridedSlice(ShapeOf(tensor), {0}, {1}, {1}, {.shrink_axis_mask = 1}); }

Shape WithoutFirst(const Shape& shape) {
  return shape.has_rank() && shape.rank() > 0 ? Shape(shape.dims().subspan(1)) : Shape::Unknown();
}

// All elements of a list as one tensor, and what is known of its shape.
Output Stacked(const Output& list, DType dtype, const Shape& element, int64_t count) {
  const Output stacked = NodeBuilder(*list.graph(), "TensorListStack")
                             .Input(list)
                             .Input(ShapeConstant(*list.graph(), element))
                             .Attr("element_dtype", dtype)
                             .Attr("num_elements", count)
                             .Output();
  return stacked;
}

}  // namespace

TensorArray::TensorArray(Graph& graph, DType dtype, const Operand& size, TensorArrayOptions options,
                         std::source_location loc)
    : dtype_(dtype), element_shape_(options.element_shape), dynamic_size_(options.dynamic_size) {
  const ScopedLocation at(graph, loc);
  list_ = NodeBuilder(graph, "TensorListReserve", loc)
              .Name(options.name)
              .Input(ShapeConstant(graph, options.element_shape))
              .Input(size.ToOutput(graph, kInt32))
              .Attr("element_dtype", dtype)
              .Output();
}

TensorArray TensorArray::WithList(Output list) const {
  TensorArray array = *this;
  array.list_ = list;
  return array;
}

TensorArray TensorArray::Write(const Operand& index, const Operand& value) const {
  if (!valid()) return {};
  Graph& g = *list_.graph(index.location());
  return WithList(NodeBuilder(g, "TensorListSetItem", index.location())
                      .Input(list_)
                      .Input(index.ToOutput(g, kInt32))
                      .Input(value.ToOutput(g, dtype_))
                      .Attr("resize_if_index_out_of_bounds", dynamic_size_)
                      .Output());
}

Output TensorArray::Read(const Operand& index) const {
  if (!valid()) return {};
  Graph& g = *list_.graph(index.location());
  const ScopedLocation at(g, index.location());
  return NodeBuilder(g, "TensorListGetItem")
      .Input(list_)
      .Input(index.ToOutput(g, kInt32))
      .Input(ShapeConstant(g, element_shape_))
      .Attr("element_dtype", dtype_)
      .Output();
}

Output TensorArray::Gather(const Operand& indices) const {
  if (!valid()) return {};
  Graph& g = *list_.graph(indices.location());
  const ScopedLocation at(g, indices.location());
  return NodeBuilder(g, "TensorListGather")
      .Input(list_)
      .Input(indices.ToOutput(g, kInt32))
      .Input(ShapeConstant(g, element_shape_))
      .Attr("element_dtype", dtype_)
      .Output();
}

Output TensorArray::Stack(std::source_location loc) const {
  if (!valid()) return {};
  const ScopedLocation at(*list_.graph(loc), loc);
  return Stacked(list_, dtype_, element_shape_, -1);
}

Output TensorArray::Concat(std::source_location loc) const {
  if (!valid()) return {};
  Graph& g = *list_.graph(loc);
  const ScopedLocation at(g, loc);
  return NodeBuilder(g, "TensorListConcatV2")
      .Input(list_)
      .Input(ShapeConstant(g, element_shape_))
      .Input(Const(g, Tensor::Vector(std::vector<int64_t>())))
      .Attr("element_dtype", dtype_)
      .Output();
}

TensorArray TensorArray::Scatter(const Operand& indices, const Operand& value) const {
  if (!valid()) return {};
  Graph& g = *list_.graph(value.location());
  return WithList(NodeBuilder(g, "TensorListScatterIntoExistingList", value.location())
                      .Input(list_)
                      .Input(value.ToOutput(g, dtype_))
                      .Input(indices.ToOutput(g, kInt32))
                      .Output());
}

TensorArray TensorArray::Unstack(const Operand& value) const {
  if (!valid()) return {};
  Graph& g = *list_.graph(value.location());
  const ScopedLocation at(g, value.location());
  const Output tensor = value.ToOutput(g, dtype_);
  if (!tensor.valid()) return {};
  TensorArray array = WithList(NodeBuilder(g, "TensorListFromTensor")
                                   .Input(tensor)
                                   .Input(ShapeConstant(g, WithoutFirst(tensor.shape())))
                                   .Output());
  if (!element_shape_.has_rank()) array.element_shape_ = WithoutFirst(tensor.shape());
  return array;
}

TensorArray TensorArray::Split(const Operand& value, const Operand& lengths) const {
  if (!valid()) return {};
  Graph& g = *list_.graph(value.location());
  const ScopedLocation at(g, value.location());
  const Output tensor = value.ToOutput(g, dtype_);
  if (!tensor.valid()) return {};
  Shape part = tensor.shape();
  if (part.has_rank() && part.rank() > 0) part.set_dim(0, Shape::kUnknownDim);
  return WithList(NodeBuilder(g, "TensorListSplit")
                      .Input(tensor)
                      .Input(ShapeConstant(g, part))
                      .Input(lengths.ToOutput(g, kInt64))
                      .Output());
}

Output TensorArray::Size(std::source_location loc) const {
  if (!valid()) return {};
  return NodeBuilder(*list_.graph(loc), "TensorListLength", loc).Input(list_).Output();
}

namespace {

// What MapFn, Foldl and Scan share: a loop over the slices of tensors.
class SliceLoop {
 public:
  SliceLoop(Graph& graph, const std::vector<Output>& elements, const std::source_location& loc)
      : graph_(graph), loc_(loc), elements_(elements), rows_(RowsOf(elements[0])) {
    if (elements[0].shape().has_rank() && elements[0].shape().rank() > 0) count_ = elements[0].shape().dim(0);
  }

  // A list for one result of each iteration.
  Output Results(DType dtype) const {
    auto list = EmptyList(graph_, dtype, Shape::Unknown());
    graph_.AddError(list.status());
    return list.ok() ? *list : Output();
  }
  static Output Push(const Output& list, const Output& value) {
    return NodeBuilder(*list.graph(), "TensorListPushBack").Input(list).Input(value).Output();
  }
  // The results of all iterations in one tensor; `shape` is that of each result.
  Output Stack(const Output& list, DType dtype, const Shape& shape) const {
    return list.valid() ? Stacked(list, dtype, shape, count_) : Output();
  }
  // Calls the user's function with the values `first` and the slices number i.
  std::vector<Output> Call(const LoopBody& function, std::vector<Output> first, const Output& i) const {
    for (const Output& tensor : elements_) first.push_back(Gather(tensor, i));
    const ScopedUserCode user(graph_);
    return function(first);
  }
  // Runs `body(i, variables)` for each i.
  std::vector<Output> Run(std::vector<Output> variables,
                          const std::function<std::vector<Output>(Output, std::vector<Output>)>& body,
                          WhileOptions options) const {
    variables.insert(variables.begin(), Const(graph_, Tensor::Scalar(int32_t{0})));
    if (!options.shape_invariants.empty()) options.shape_invariants.insert(options.shape_invariants.begin(), Shape());
    options.name = "while";
    std::vector<Output> results = While(
        variables,
        [&](const std::vector<Output>& v) {
          const ScopedLocation here(graph_, loc_);
          return Less(v[0], rows_);
        },
        [&](const std::vector<Output>& v) {
          const ScopedLocation here(graph_, loc_);
          std::vector<Output> next = body(v[0], {v.begin() + 1, v.end()});
          next.insert(next.begin(), Add(v[0], 1));
          return next;
        },
        options);
    results.erase(results.begin());
    return results;
  }

 private:
  Graph& graph_;
  const std::source_location loc_;
  const std::vector<Output> elements_;
  const Output rows_;   // the number of slices
  int64_t count_ = -1;  // the same, if it is known
};

Status CheckCount(size_t have, size_t wanted) {
  if (have == wanted) return OkStatus();
  return InvalidArgument("the function must return ", wanted, " tensors, but returns ", have);
}

}  // namespace

std::vector<Output> MapFn(const LoopBody& function, const std::vector<Output>& elements, std::vector<DType> dtypes,
                          WhileOptions options, std::source_location loc) {
  if (dtypes.empty()) {
    for (const Output& tensor : elements) dtypes.push_back(tensor.dtype());
  }
  Graph* const graph = GraphOfTensors("MapFn", elements, loc);
  if (graph == nullptr) return std::vector<Output>(dtypes.size());
  const ScopedLocation at(*graph, loc);
  const ScopeGuard scope = graph->NameScope(options.name);
  const SliceLoop loop(*graph, elements, loc);
  std::vector<Output> lists;
  for (const DType dtype : dtypes) lists.push_back(loop.Results(dtype));
  std::vector<Shape> shapes(dtypes.size(), Shape::Unknown());
  lists = loop.Run(
      lists,
      [&](const Output& i, std::vector<Output> v) {
        const std::vector<Output> results = loop.Call(function, {}, i);
        graph->AddError(CheckCount(results.size(), v.size()));
        for (size_t k = 0; k < std::min(results.size(), v.size()); ++k) {
          shapes[k] = results[k].shape();
          v[k] = SliceLoop::Push(v[k], results[k]);
        }
        return v;
      },
      options);
  std::vector<Output> results;
  for (size_t k = 0; k < lists.size(); ++k) results.push_back(loop.Stack(lists[k], dtypes[k], shapes[k]));
  return results;
}

std::vector<Output> Foldl(const LoopBody& function, const std::vector<Output>& elements,
                          const std::vector<Output>& initial, WhileOptions options, std::source_location loc) {
  Graph* const graph = GraphOfTensors("Foldl", elements, loc);
  if (graph == nullptr) return std::vector<Output>(initial.size());
  const ScopedLocation at(*graph, loc);
  const ScopeGuard scope = graph->NameScope(options.name);
  const SliceLoop loop(*graph, elements, loc);
  return loop.Run(
      initial,
      [&](const Output& i, std::vector<Output> v) {
        std::vector<Output> next = loop.Call(function, std::move(v), i);
        graph->AddError(CheckCount(next.size(), initial.size()));
        return next;
      },
      options);
}

std::vector<Output> Scan(const LoopBody& function, const std::vector<Output>& elements,
                         const std::vector<Output>& initial, WhileOptions options, std::source_location loc) {
  Graph* const graph = GraphOfTensors("Scan", elements, loc);
  if (graph == nullptr) return std::vector<Output>(initial.size());
  const ScopedLocation at(*graph, loc);
  const ScopeGuard scope = graph->NameScope(options.name);
  const SliceLoop loop(*graph, elements, loc);
  const size_t n = initial.size();
  std::vector<Output> variables = initial;  // the accumulated values, and then the lists of them
  for (const Output& value : initial) variables.push_back(loop.Results(value.dtype()));
  if (!options.shape_invariants.empty()) options.shape_invariants.resize(2 * n, Shape());
  variables = loop.Run(
      variables,
      [&](const Output& i, std::vector<Output> v) {
        std::vector<Output> next = loop.Call(function, {v.begin(), v.begin() + static_cast<int64_t>(n)}, i);
        graph->AddError(CheckCount(next.size(), n));
        next.resize(n);
        for (size_t k = 0; k < n; ++k) next.push_back(next[k].valid() ? SliceLoop::Push(v[n + k], next[k]) : Output());
        return next;
      },
      options);
  std::vector<Output> results;
  for (size_t k = 0; k < n; ++k) {
    results.push_back(loop.Stack(variables[n + k], initial[k].dtype(), initial[k].shape()));
  }
  return results;
}

}  // namespace tensorbraid
