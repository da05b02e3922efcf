// Makes the descriptions of random graphs.
#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <utility>

#include "core/text/strings.h"
#include "random_graph.h"

namespace tensorbraid {
namespace {

using Dims = RandomGraph::Dims;
using Value = RandomGraph::Value;
using Source = RandomGraph::Source;
using Argument = RandomGraph::Argument;
using Attrs = std::map<std::string, AttrValue>;

constexpr int64_t kLargestBatch = 5;
// Floats below this bound that are multiples of 1/4 are exact in every dtype.
constexpr double kExact = 63;

bool IsNumber(DType t) { return t != kBool; }
bool IsUnsigned(DType t) { return t == kUint8 || t == kUint32; }

int64_t Elements(const Dims& dims) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d < 0 ? kLargestBatch : d;
  return n;
}

std::optional<Dims> Broadcast(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) { graph_.seed = seed; }

  RandomGraph Make() {
    const int inputs = 2 + Int(3);
    for (int i = 0; i < inputs; ++i) Input(RandomDType(), RandomDims());
    const int variables = Int(3);
    for (int i = 0; i < variables; ++i) MakeVariable();
    const size_t nodes = 6 + Int(22);
    for (int tries = 0; graph_.nodes.size() < nodes && tries < 200; ++tries) AddSomething();
    for (auto& v : graph_.variables) {
      if (v.reads.size() == v.updates.size()) Read(v, true);
      v.unordered_read = Read(v, false);
    }
    Finish();
    return std::move(graph_);
  }

 private:
  int Int(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  bool Chance(int n) { return Int(n) == 0; }
  template <typename T>
  T OneOf(std::initializer_list<T> list) {
    return list.begin()[Int(static_cast<int>(list.size()))];
  }
  DType RandomDType() {
    return OneOf({kFloat32, kFloat32, kFloat32, kFloat32, kFloat64, kFloat16, kBfloat16, kInt32, kInt32, kInt64, kInt8,
                  kUint8, kUint32, kBool});
  }
  Dims RandomDims() {
    Dims dims;
    if (!Chance(3)) dims.push_back(-1);
    const int rank = Int(3);
    for (int i = 0; i < rank; ++i) dims.push_back(1 + Int(4));
    return dims;
  }

  const Value& At(Source s) const { return graph_.nodes[s.node].outputs[s.output]; }
  const Dims& DimsOf(Source s) const { return At(s).dims; }
  int RankOf(Source s) const { return static_cast<int>(At(s).dims.size()); }

  int Add(RandomGraph::Node node, bool usable = true) {
    for (const Argument& argument : node.inputs) {
      for (const Source& s : argument.sources) node.changes |= graph_.nodes[s.node].changes;
    }
    node.changes |= node.draws;
    graph_.nodes.push_back(std::move(node));
    const int n = static_cast<int>(graph_.nodes.size()) - 1;
    for (size_t i = 0; usable && i < graph_.nodes[n].outputs.size(); ++i) pool_.push_back({n, static_cast<int>(i)});
    return n;
  }
  int Op(const std::string& op, const std::vector<Source>& inputs, std::vector<Value> outputs, Attrs attrs = {},
         bool usable = true) {
    RandomGraph::Node node{.op = op, .attrs = std::move(attrs), .outputs = std::move(outputs)};
    for (const Source& s : inputs) node.inputs.push_back({{s}});
    for (Value& v : node.outputs) {
      if (v.dtype == kBool) v.bound = 1;
      if (v.dtype == kInt8) v.bound = std::min(v.bound, 128.0);
      if (v.dtype == kUint8) v.bound = std::min(v.bound, 255.0);
      if (IsFloating(v.dtype) && v.bound > kExact) v.exact = false;
      if (!IsFloating(v.dtype)) v.exact = true;
    }
    return Add(std::move(node), usable);
  }
  Source Const(const Tensor& value) {
    Dims dims;
    for (int i = 0; i < value.shape().rank(); ++i) dims.push_back(value.shape().dim(i));
    return {Op("Const", {}, {{value.dtype(), dims}}, {{"value", value}, {"dtype", value.dtype()}}, false)};
  }
  Source Integers(const std::vector<int64_t>& values) {
    std::vector<int32_t> narrow(values.begin(), values.end());
    return Const(Tensor::Vector(narrow));
  }
  Source Integer(int64_t value) { return Const(Tensor::Scalar(static_cast<int32_t>(value))); }
  Source RandomConst(DType dtype, const Dims& dims) {
    return Const(RandomGraph::RandomTensor(dtype, dims, 1, random_()));
  }
  Source Input(DType dtype, const Dims& dims) {
    return {Add({.op = "Placeholder", .outputs = {{.dtype = dtype, .dims = dims}}, .fed = true})};
  }

  // A tensor for which the condition holds, if there is one.
  std::optional<Source> Pick(const std::function<bool(const Value&)>& fits) {
    std::vector<Source> found;
    for (const Source& s : pool_) {
      if (fits(At(s))) found.push_back(s);
    }
    if (found.empty()) return std::nullopt;
    return found[Int(static_cast<int>(found.size()))];
  }
  Source PickOrInput(DType dtype, const Dims& dims, bool exact = false) {
    const auto s = Pick(
        [&](const Value& v) { return v.dtype == dtype && v.dims == dims && v.bound < 200 && (v.exact || !exact); });
    return s ? *s : Input(dtype, dims);
  }

  void MakeVariable() {
    const Value value{OneOf({kFloat32, kFloat32, kFloat64, kInt32, kInt64}), Dims(1 + Int(2), 1 + Int(3))};
    const bool reference = Chance(2);
    const int n = Op(reference ? "VariableV2" : "VarHandleOp", {}, {value},
                     {{"shape", Shape(value.dims)}, {"dtype", value.dtype}}, false);
    graph_.variables.push_back({.node = n, .reference = reference, .value = value});
  }
  int Read(RandomGraph::Variable& v, bool ordered) {
    // A copy of a reference would be a reference, so another op reads it.
    const int n = v.reference ? Op("Neg", {{v.node}}, {v.value}, {}, ordered)
                              : Op("ReadVariableOp", {{v.node}}, {v.value}, {{"dtype", v.value.dtype}}, ordered);
    RandomGraph::Node& node = graph_.nodes[n];
    node.changes = true;
    node.fetched = true;
    if (ordered) {
      if (!v.updates.empty()) node.controls = {v.updates.back()};
      node.outputs[0].exact = !IsFloating(v.value.dtype);
      v.reads.push_back(n);
    }
    return n;
  }
  void Update(RandomGraph::Variable& v) {
    const DType t = v.value.dtype;
    const Source delta = PickOrInput(t, v.value.dims);
    const std::string kind = OneOf<const char*>({"Add", "Sub", "", "Descent"});
    std::vector<Source> inputs = {{v.node}, delta};
    std::string op;
    if (kind == "Descent" && IsFloating(t)) {
      op = v.reference ? "ApplyGradientDescent" : "ResourceApplyGradientDescent";
      inputs.insert(inputs.begin() + 1, RandomConst(t, {}));
    } else {
      op = StrCat("Assign", kind == "Descent" ? "" : kind, v.reference ? "" : "VariableOp");
    }
    const int n = Op(op, inputs, v.reference ? std::vector<Value>{v.value} : std::vector<Value>{}, {}, false);
    graph_.nodes[n].controls = {v.reads.back()};
    graph_.nodes[n].changes = true;
    v.updates.push_back(n);
    v.value.bound = v.value.bound + 2 * At(delta).bound;
  }

  void AddSomething() {
    static const std::vector<void (Generator::*)()> kinds = {
        &Generator::Unary,      &Generator::Unary,  &Generator::Binary,  &Generator::Binary,
        &Generator::Compare,    &Generator::Cast,   &Generator::Select,  &Generator::Reshape,
        &Generator::Rearrange,  &Generator::Join,   &Generator::Cut,     &Generator::Gather,
        &Generator::Reduce,     &Generator::Reduce, &Generator::Product, &Generator::Product,
        &Generator::Classify,   &Generator::Image,  &Generator::Matrix,  &Generator::Random,
        &Generator::Segments,   &Generator::Scan,   &Generator::Fill,    &Generator::UseVariable,
        &Generator::UseVariable};
    (this->*kinds[Int(static_cast<int>(kinds.size()))])();
  }

  void UseVariable() {
    if (graph_.variables.empty()) return;
    auto& v = graph_.variables[Int(static_cast<int>(graph_.variables.size()))];
    if (v.reads.size() == v.updates.size()) {
      Read(v, true);
    } else if (v.updates.size() < 2) {
      Update(v);
    }
  }

  void Unary() {
    const auto s = Pick([](const Value& v) { return IsNumber(v.dtype); });
    if (!s) return;
    const Value x = At(*s);
    if (!IsFloating(x.dtype)) {
      if (IsUnsigned(x.dtype)) return;
      Op(OneOf<const char*>({"Neg", "Abs", "Sign"}), {*s}, {x});
    } else if (x.exact && Chance(2)) {
      Value y = x;
      y.bound = x.bound + 1;
      // The logarithm and the like have no value for some numbers, so no other node uses them.
      const char* op = OneOf(
          {"Neg", "Abs", "Sign", "Floor", "Ceil", "Round", "Rint", "Sqrt", "Log", "Rsqrt", "Log1p", "Reciprocal"});
      Op(op, {*s}, {y}, {},
         op[0] != 'S' && op[0] != 'L' && !std::string(op).starts_with("Rs") && !std::string(op).starts_with("Rec"));
    } else if (x.bound <= 4 && Chance(3)) {
      Op(OneOf<const char*>({"Exp", "Expm1", "Sinh", "Cosh", "Square"}), {*s}, {{x.dtype, x.dims, 55, false}});
    } else if (x.bound <= 200) {
      Op(OneOf<const char*>({"Tanh", "Sigmoid", "Softplus", "Softsign", "Relu", "Relu6", "Elu", "Selu", "LeakyRelu",
                             "Erf", "Atan", "Asinh"}),
         {*s}, {{x.dtype, x.dims, x.bound + 2, false}});
    }
  }

  void Binary() {
    const auto a = Pick([](const Value&) { return true; });
    const auto b = Pick([&](const Value& v) { return v.dtype == At(*a).dtype && Broadcast(v.dims, DimsOf(*a)); });
    const Value x = At(*a), y = At(*b);
    const Dims dims = *Broadcast(x.dims, y.dims);
    if (x.dtype == kBool) {
      Op(OneOf<const char*>({"LogicalAnd", "LogicalOr"}), {*a, *b}, {{kBool, dims}});
    } else if (!IsFloating(x.dtype)) {
      const std::string op = OneOf<const char*>({"AddV2", "Sub", "Mul", "Maximum", "Minimum", "BitwiseAnd",
                                                 "BitwiseXor", "FloorDiv", "FloorMod", "SquaredDifference"});
      const double bound = 2 * x.bound * y.bound + x.bound + y.bound + 1;
      if ((op[0] == 'S' && IsUnsigned(x.dtype)) || bound > 1e9) return;
      if (op == "SquaredDifference" && x.dtype != kInt32 && x.dtype != kInt64) return;
      if (op.starts_with("Floor") && (x.dtype == kUint32 || !Chance(10))) {
        // Most divisors are not 0.
        Op(op == "FloorMod" && x.dtype == kInt8 ? "FloorDiv" : op, {*a, Const(RandomDivisor(x.dtype))},
           {{x.dtype, x.dims, bound}});
        return;
      }
      Op(op, {*a, *b}, {{x.dtype, dims, bound}});
    } else {
      const std::string op = OneOf<const char*>({"AddV2", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference"});
      const double bound = op == "Mul"                    ? x.bound * y.bound
                           : op[0] == 'S' && op[1] == 'q' ? (x.bound + y.bound) * (x.bound + y.bound)
                                                          : x.bound + y.bound;
      if (bound > 200) return;
      Op(op, {*a, *b}, {{x.dtype, dims, bound, x.exact && y.exact && op != "Mul" && op != "SquaredDifference"}});
    }
  }
  Tensor RandomDivisor(DType dtype) {
    switch (dtype) {
      case DType::kInt8:
        return Tensor::Scalar<int8_t>(OneOf({-3, 2, 5}));
      case DType::kInt32:
        return Tensor::Scalar<int32_t>(OneOf({-3, 2, 5}));
      case DType::kInt64:
        return Tensor::Scalar<int64_t>(OneOf({-3, 2, 5}));
      case DType::kUint8:
        return Tensor::Scalar<uint8_t>(OneOf({3, 2}));
      default:
        return Tensor::Scalar<uint32_t>(OneOf({3, 2}));
    }
  }

  void Compare() {
    const auto a = Pick([](const Value& v) { return v.exact && IsNumber(v.dtype); });
    if (!a) return;
    const auto b =
        Pick([&](const Value& v) { return v.exact && v.dtype == At(*a).dtype && Broadcast(v.dims, DimsOf(*a)); });
    Op(OneOf<const char*>({"Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual"}), {*a, *b},
       {{kBool, *Broadcast(DimsOf(*a), DimsOf(*b))}});
  }

  void Cast() {
    const DType to = RandomDType();
    const auto s = Pick([&](const Value& v) { return v.dtype != to && v.exact && v.bound <= kExact; });
    if (!s) return;
    const Value x = At(*s);
    // A negative float that becomes an unsigned number has no defined value.
    if (IsUnsigned(to) && IsFloating(x.dtype)) return;
    const bool wraps = IsUnsigned(to) && !IsUnsigned(x.dtype);
    Op("Cast", {*s}, {{to, x.dims, wraps ? 5e9 : x.bound}}, {{"SrcT", x.dtype}, {"DstT", to}});
  }

  void Select() {
    const auto s = Pick([](const Value& v) { return v.dtype == kBool; });
    const auto a = Pick([](const Value&) { return true; });
    if (!s || !a || !Broadcast(DimsOf(*s), DimsOf(*a))) return;
    const Value x = At(*a);
    const Dims dims = *Broadcast(DimsOf(*s), x.dims);
    const auto b = Pick([&](const Value& v) { return v.dtype == x.dtype && Broadcast(v.dims, dims); });
    if (!b) return;
    Op("SelectV2", {*s, *a, *b},
       {{x.dtype, *Broadcast(dims, DimsOf(*b)), std::max(x.bound, At(*b).bound), x.exact && At(*b).exact}});
  }

  void Reshape() {
    const auto s = Pick([](const Value&) { return true; });
    Value x = At(*s);
    if (Chance(3)) {
      const int axis = Int(RankOf(*s) + 1);
      x.dims.insert(x.dims.begin() + axis, 1);
      Op("ExpandDims", {*s, Integer(axis)}, {x});
      return;
    }
    const auto batch = std::find(x.dims.begin(), x.dims.end(), -1);
    const bool has_batch = batch != x.dims.end();
    int64_t rest = 1;
    for (const int64_t d : x.dims) rest *= d < 0 ? 1 : d;
    if (has_batch && batch != x.dims.begin()) return;
    x.dims = {rest};
    if (rest % 2 == 0 && Chance(2)) x.dims = {2, rest / 2};
    if (has_batch) x.dims.insert(x.dims.begin(), -1);
    Op("Reshape", {*s, Integers(x.dims)}, {x});
  }

  void Rearrange() {
    const auto s = Pick([](const Value& v) { return !v.dims.empty(); });
    if (!s) return;
    Value x = At(*s);
    const int rank = RankOf(*s), axis = Int(rank);
    switch (Int(4)) {
      case 0: {
        std::vector<int64_t> perm(rank);
        for (int i = 0; i < rank; ++i) perm[i] = i;
        std::shuffle(perm.begin(), perm.end(), random_);
        for (int i = 0; i < rank; ++i) x.dims[i] = DimsOf(*s)[perm[i]];
        Op("Transpose", {*s, Integers(perm)}, {x});
        break;
      }
      case 1:
        Op("ReverseV2", {*s, Integers({axis})}, {x});
        break;
      case 2:
        Op("Roll", {*s, Integers({Int(5) - 2}), Integers({axis})}, {x});
        break;
      default: {
        std::vector<int64_t> times(rank, 1);
        if (x.dims[axis] < 0 || Elements(x.dims) > 500) return;
        times[axis] = 1 + Int(3);
        x.dims[axis] *= times[axis];
        Op("Tile", {*s, Integers(times)}, {x});
      }
    }
  }

  void Join() {
    const auto a = Pick([](const Value& v) { return Elements(v.dims) < 500; });
    if (!a) return;
    const auto b = Pick([&](const Value& v) { return v.dtype == At(*a).dtype && v.dims == DimsOf(*a); });
    Value x = At(*a);
    x.bound = std::max(x.bound, At(*b).bound);
    x.exact = x.exact && At(*b).exact;
    const bool numbers = IsNumber(x.dtype);
    const int rank = RankOf(*a), kind = Int(3);
    RandomGraph::Node node{.op = "", .inputs = {{{*a, *b}, true}}};
    if (kind == 0) {
      const int axis = Int(rank + 1);
      x.dims.insert(x.dims.begin() + axis, 2);
      node.op = "Pack";
      node.attrs["axis"] = axis;
    } else if (kind == 1 && rank > 0) {
      const int axis = Int(rank);
      if (x.dims[axis] < 0) return;
      x.dims[axis] *= 2;
      node.op = "ConcatV2";
      node.inputs.push_back({{Integer(axis)}});
    } else if (numbers && x.bound <= 200) {
      node.op = "AddN";
      x.bound *= 2;
      x.exact = x.exact && (!IsFloating(x.dtype) || x.bound <= kExact);
    } else {
      return;
    }
    node.outputs = {x};
    Add(std::move(node));
  }

  void Cut() {
    const auto s = Pick([](const Value& v) { return !v.dims.empty() && v.dims.back() >= 2; });
    if (!s) return;
    Value x = At(*s);
    const int rank = RankOf(*s), axis = rank - 1;
    const int64_t size = x.dims.back();
    switch (Int(4)) {
      case 0: {
        std::vector<int64_t> begin(rank, 0), sizes(rank, -1);
        begin[axis] = 1;
        x.dims[axis] = size - 1;
        Op("Slice", {*s, Integers(begin), Integers(sizes)}, {x});
        break;
      }
      case 1: {
        std::vector<int64_t> begin(rank, 0), end(rank, 0), strides(rank, 1);
        const int mask = (1 << rank) - 1;
        strides[axis] = OneOf({-1, 2});
        x.dims[axis] = strides[axis] < 0 ? size : (size + 1) / 2;
        Op("StridedSlice", {*s, Integers(begin), Integers(end), Integers(strides)}, {x},
           {{"begin_mask", mask}, {"end_mask", mask}});
        break;
      }
      case 2: {
        if (size % 2 != 0) return;
        x.dims[axis] = size / 2;
        Op("Split", {Integer(axis), *s}, {x, x}, {{"num_split", 2}});
        break;
      }
      default: {
        if (Elements(x.dims) > 500) return;
        std::vector<int32_t> pads(2 * static_cast<size_t>(rank), 0);
        pads[2 * static_cast<size_t>(axis)] = 1;
        x.dims[axis] = size + 1;
        Op("Pad", {*s, Const(Tensor::Of(Shape({rank, 2}), pads))}, {x});
      }
    }
  }

  void Gather() {
    const auto s = Pick([](const Value& v) { return !v.dims.empty() && v.dims[0] >= 2; });
    if (!s) return;
    Value x = At(*s);
    std::vector<int64_t> rows(1 + Int(3));
    for (int64_t& r : rows) r = Int(static_cast<int>(x.dims[0]));
    if (Chance(30)) {  // may be out of range
      const Source indices = PickOrInput(kInt32, {3});
      x.dims[0] = 3;
      Op("GatherV2", {*s, indices, Integer(0)}, {x});
    } else if (Chance(3)) {
      std::vector<int32_t> at(rows.begin(), rows.end());
      x.dims[0] = static_cast<int64_t>(rows.size());
      Op("GatherNd", {*s, Const(Tensor::Of(Shape({x.dims[0], 1}), at))}, {x});
    } else {
      x.dims[0] = static_cast<int64_t>(rows.size());
      Op("GatherV2", {*s, Integers(rows), Integer(0)}, {x});
    }
  }

  void Reduce() {
    const auto s = Pick([](const Value& v) { return !v.dims.empty(); });
    if (!s) return;
    Value x = At(*s);
    const int axis = Int(RankOf(*s));
    const double n = x.dims[axis] < 0 ? kLargestBatch : static_cast<double>(x.dims[axis]);
    const bool keep = Chance(2);
    Dims dims = x.dims;
    if (keep) {
      dims[axis] = 1;
    } else {
      dims.erase(dims.begin() + axis);
    }
    if (x.dtype == kBool) {
      Op(OneOf<const char*>({"All", "Any"}), {*s, Integers({axis})}, {{kBool, dims}}, {{"keep_dims", keep}});
      return;
    }
    if (x.exact && Chance(4)) {
      const DType to = OneOf({kInt32, kInt64});
      Dims without = x.dims;
      without.erase(without.begin() + axis);
      Op(OneOf<const char*>({"ArgMax", "ArgMin"}), {*s, Integer(axis)}, {{to, without, n}}, {{"output_type", to}});
      return;
    }
    const std::string op = OneOf<const char*>({"Sum", "Mean", "Max", "Min"});
    if (op == "Sum") {
      if (x.bound * n > (IsFloating(x.dtype) ? 200 : 1e9)) return;
      x.bound *= n;
    }
    if (op == "Mean") {
      if (!IsFloating(x.dtype) && x.bound * n > 100) return;
      x.exact = false;
    }
    x.dims = dims;
    Op(op, {*s, Integers({axis})}, {x}, {{"keep_dims", keep}});
  }

  void Scan() {
    const auto s = Pick([](const Value& v) { return !v.dims.empty() && IsNumber(v.dtype) && v.bound <= 8; });
    if (!s) return;
    Value x = At(*s);
    const int axis = Int(RankOf(*s));
    x.bound *= 8;
    if (x.dims[axis] > 8) return;
    Op("Cumsum", {*s, Integer(axis)}, {x}, {{"exclusive", Chance(2)}, {"reverse", Chance(2)}});
  }

  void Product() {
    const auto a = Pick([](const Value& v) { return IsFloating(v.dtype) && v.dims.size() == 2 && v.bound <= 16; });
    if (!a) return;
    const Value x = At(*a);
    const int64_t k = x.dims[1];
    if (k < 0 || static_cast<double>(k) * x.bound > 80) return;
    const int64_t n = 1 + Int(5);
    const bool transposed = Chance(3);
    const Source w = RandomConst(x.dtype, transposed ? Dims{n, k} : Dims{k, n});
    const Value y{x.dtype, {x.dims[0], n}, 2 * static_cast<double>(k) * x.bound, false};
    if (Chance(4) && !transposed) {
      Add({.op = "Einsum", .inputs = {{{*a, w}, true}}, .attrs = {{"equation", "ij,jk->ik"}}, .outputs = {y}});
      return;
    }
    Source product{Op("MatMul", {*a, w}, {y}, {{"transpose_b", transposed}})};
    if (Chance(2)) product = {Op("BiasAdd", {product, RandomConst(x.dtype, {n})}, {y})};
    if (Chance(2)) Op("Relu", {product}, {y});
  }

  void Classify() {
    const auto s = Pick(
        [](const Value& v) { return IsFloating(v.dtype) && v.dims.size() == 2 && v.dims[1] >= 1 && v.bound <= 200; });
    if (!s) return;
    const Value x = At(*s);
    const int kind = Int(4);
    if (kind == 0) {
      Op("Softmax", {*s}, {{x.dtype, x.dims, 1, false}});
    } else if (kind == 1) {
      Op("LogSoftmax", {*s}, {{x.dtype, x.dims, 2 * x.bound + 5, false}});
    } else if (kind == 2) {
      const Source scores = PickOrInput(x.dtype, x.dims, true);
      const Source labels{Op("ArgMax", {scores, Integer(1)}, {{kInt64, {x.dims[0]}, static_cast<double>(x.dims[1])}})};
      Op("SparseSoftmaxCrossEntropyWithLogits", {*s, labels},
         {{x.dtype, {x.dims[0]}, 2 * x.bound + 5, false}, {x.dtype, x.dims, 1, false}});
    } else if (x.exact) {
      const int64_t k = 1 + Int(static_cast<int>(x.dims[1]));
      Op("TopKV2", {*s, Integer(k)},
         {{x.dtype, {x.dims[0], k}, x.bound}, {kInt32, {x.dims[0], k}, static_cast<double>(x.dims[1])}});
    }
  }

  void Image() {
    if (!Chance(3)) return;
    const DType t = OneOf({kFloat32, kFloat32, kFloat64});
    const Source s = PickOrInput(t, {-1, 4, 4, 2});
    const Value x = At(s);
    const std::vector<int64_t> two = {1, 2, 2, 1}, one = {1, 1, 1, 1};
    if (x.bound > 10) return;
    if (Chance(2)) {
      const int64_t channels = 1 + Int(2);
      Op("Conv2D", {s, RandomConst(t, {3, 3, 2, channels})}, {{t, {-1, 4, 4, channels}, 36 * x.bound, false}},
         {{"strides", one}, {"padding", "SAME"}});
    } else {
      Op(OneOf<const char*>({"MaxPool", "AvgPool"}), {s}, {{t, {-1, 2, 2, 2}, x.bound, false}},
         {{"ksize", two}, {"strides", two}, {"padding", "VALID"}});
    }
  }

  void Matrix() {
    const auto s = Pick([](const Value& v) { return v.dims.size() == 2 && v.dims[0] >= 1 && v.dims[1] >= 1; });
    if (!s) return;
    Value x = At(*s);
    if (Chance(2)) {
      const auto diagonals = [&] { return Const(Tensor::Scalar<int64_t>(Int(3) - 1)); };
      const Source lower = diagonals(), upper = diagonals();
      Op("MatrixBandPart", {*s, lower, upper}, {x}, {{"Tindex", kInt64}});
    } else {
      x.dims = {std::min(x.dims[0], x.dims[1])};
      Op("MatrixDiagPart", {*s}, {x});
    }
  }

  void Random() {
    const DType t = OneOf({kFloat32, kFloat64, kInt32});
    const Dims dims(Int(3), 2 + Int(3));
    const Attrs seeds = {{"seed", 1 + Int(1000)}, {"seed2", 1 + Int(1000)}};
    const Source shape = Integers(dims);
    Attrs attrs = seeds;
    int n = -1;
    if (t == kInt32) {
      const Source low = Integer(-3), high = Integer(1 + Int(9));
      n = Op("RandomUniformInt", {shape, low, high}, {{t, dims, 10}}, attrs);
    } else {
      attrs["dtype"] = t;
      n = Op(OneOf<const char*>({"RandomUniform", "RandomStandardNormal", "TruncatedNormal"}), {shape},
             {{t, dims, 7, false}}, attrs);
    }
    graph_.nodes[n].draws = graph_.nodes[n].changes = true;
  }

  void Segments() {
    const auto s = Pick([](const Value& v) {
      return IsNumber(v.dtype) && !v.dims.empty() && v.dims[0] >= 1 && v.bound * static_cast<double>(v.dims[0]) < 200;
    });
    if (!s) return;
    Value x = At(*s);
    const int64_t rows = x.dims[0];
    std::vector<int32_t> ids(static_cast<size_t>(rows));
    for (int32_t& id : ids) id = Int(4) - 1;  // rows of segment -1 are left out
    x.bound *= static_cast<double>(rows);
    x.dims[0] = 3;
    Op("UnsortedSegmentSum", {*s, Const(Tensor::Vector(ids)), Integer(3)}, {x});
  }

  void Fill() {
    const auto s = Pick([](const Value& v) { return v.dims.size() <= 3; });
    Value x = At(*s);
    switch (Int(4)) {
      case 0:
        Op("ZerosLike", {*s}, {{x.dtype, x.dims, 1}});
        break;
      case 1:
        Op("OnesLike", {*s}, {{x.dtype, x.dims, 1}});
        break;
      case 2:
        Op("Shape", {*s}, {{kInt32, {RankOf(*s)}, 2000}});
        break;
      default:
        if ((x.dtype != kInt32 && x.dtype != kInt64) || Elements(x.dims) > 200) return;
        x.dims.push_back(3);
        Op("OneHot", {*s, Integer(3), Const(Tensor::Scalar(1.0f)), Const(Tensor::Scalar(0.0f))},
           {{kFloat32, x.dims, 1}});
    }
  }

  // Chooses what is fetched, what is on the host, and the steps.
  void Finish() {
    const bool some_on_host = Chance(3);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      auto& node = graph_.nodes[i];
      if (node.fed || node.op == "Const" || node.op == "VariableV2" || node.op == "VarHandleOp") continue;
      if (some_on_host && Chance(5)) node.on_host = true;
      bool used = false;
      for (size_t k = 0; k < node.outputs.size(); ++k) {
        used |= graph_.Uses(static_cast<int>(i), static_cast<int>(k));
      }
      if (!node.outputs.empty() && (!used || Chance(4))) node.fetched = true;
    }
    for (const auto& v : graph_.variables) {
      for (const int n : v.updates) graph_.nodes[n].fetched = false;
    }
    const int64_t first = 1 + Int(kLargestBatch), second = 1 + Int(kLargestBatch);
    graph_.batches = {first, first, second};
    if (Chance(2)) graph_.batches.push_back(first);
    if (Chance(4)) graph_.threads = 3;
  }

  RandomGraph graph_;
  std::vector<Source> pool_;
  std::mt19937_64 random_;
};

}  // namespace

RandomGraph RandomGraph::Make(uint64_t seed) { return Generator(seed).Make(); }

}  // namespace tensorbraid
