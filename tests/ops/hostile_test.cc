// Tests hostile arguments: rows of the op table (op_case.h) in which one or two things are changed, such as a number, a
// size, a dimension or an attribute, and arguments that once ended a server, took minutes or took all memory. Each must
// give an error or an answer, soon and within bounded memory. AddressSanitizer finds the rest.
//
// `hostile_test --gtest_shuffle --gtest_repeat=100` tries other changes in each round.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "core/memory/allocator.h"
#include "core/text/strings.h"
#include "executor/evaluate.h"
#include "graph/model/op_registry.h"
#include "op_case.h"
#include "tensorbraid/ops.h"

namespace tensorbraid {
namespace {

// The case that is being run. It is printed if the process crashes or hangs.
char current_case[1024];

void PrintCurrentCase() {
  for (const char* text : {"\nthe process ends at: ", static_cast<const char*>(current_case), "\n"}) {
    if (write(STDERR_FILENO, text, std::char_traits<char>::length(text)) < 0) return;
  }
}

void SetCurrentCase(const std::string& text) {
  const size_t n = std::min(text.size(), sizeof(current_case) - 1);
  text.copy(current_case, n);
  current_case[n] = 0;
}

}  // namespace
}  // namespace tensorbraid

// The sanitizers call these before they report an error.
extern "C" void __asan_on_error();
extern "C" void __ubsan_on_report();
extern "C" void __asan_on_error() { tensorbraid::PrintCurrentCase(); }
extern "C" void __ubsan_on_report() { tensorbraid::PrintCurrentCase(); }

namespace tensorbraid {
namespace {

// A change of one argument.
struct Change {
  std::string what;
  std::function<void(OpCase*)> apply;
};

template <typename T>
std::vector<T> HostileValues() {
  if constexpr (std::is_same_v<T, bool>) {
    return {false, true};
  } else if constexpr (std::is_same_v<T, std::string>) {
    return {"", "x", "18446744073709551616", std::string(40, '\xff'), std::string(1, '\0')};
  } else if constexpr (std::is_integral_v<T>) {
    std::vector<T> values;
    for (const int64_t v : std::initializer_list<int64_t>{
             -1, 0, 1, 7, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min(), int64_t{1} << 32,
             int64_t{1} << 40, int64_t{1} << 62, std::numeric_limits<int64_t>::max(),
             std::numeric_limits<int64_t>::min()}) {
      if (std::in_range<T>(v)) values.push_back(static_cast<T>(v));
    }
    values.push_back(std::numeric_limits<T>::max());
    values.push_back(std::numeric_limits<T>::min());
    return values;
  } else if constexpr (requires(T v) { v.real(); }) {
    return {T(std::numeric_limits<float>::quiet_NaN(), 0), T(0, std::numeric_limits<float>::infinity()), T(0, 0)};
  } else {
    std::vector<T> values;
    for (const float v : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(), 1e30f, -1e30f, 1e-30f, 0.0f, -1.0f}) {
      values.push_back(T(v));
    }
    return values;
  }
}

// Calls f.operator()<T>() for the element type.
template <typename F>
void ForType(DType dtype, const F& f) {
  const auto all = [&]<typename... T>() {
    static_cast<void>(((dtype == DTypeOf<T>::value ? (f.template operator()<T>(), true) : false) || ...));
  };
  all.template operator()<float, double, Float16, Bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                          uint32_t, uint64_t, bool, std::string, std::complex<float>, std::complex<double>>();
}

// A tensor of this shape and of the dtype of `t`. Its elements are those of `t`, repeated as often as needed.
Tensor Remade(const Tensor& t, const Shape& shape) {
  Tensor out(t.dtype(), shape);
  ForType(t.dtype(), [&]<typename T>() {
    const auto from = t.data<T>();
    auto to = out.mutable_data<T>();
    for (size_t i = 0; i < to.size(); ++i) to[i] = from.empty() ? T() : from[i % from.size()];
  });
  return out;
}

std::vector<Shape> HostileShapes(const Shape& shape) {
  std::vector<Shape> shapes = {{}, {0}, {1}, {2}, {3, 1}, {1, 1, 1, 1, 1, 1, 1, 1, 1}};
  shapes.push_back({shape.num_elements()});
  Shape more({1});
  for (const int64_t d : shape.dims()) more.AddDim(d);
  shapes.push_back(more);
  if (shape.rank() > 0) shapes.emplace_back(shape.dims().subspan(1));
  for (int d = 0; d < shape.rank(); ++d) {
    for (const int64_t size : {int64_t{0}, shape.dim(d) - 1, shape.dim(d) + 1}) {
      if (size < 0) continue;
      shapes.push_back(shape);
      shapes.back().set_dim(d, size);
    }
    // A tensor without elements may have other dimensions of any size.
    for (int e = 0; e < shape.rank(); ++e) {
      for (const int64_t size : {int64_t{1} << 31, int64_t{1} << 40, int64_t{1} << 62}) {
        if (e == d) continue;
        shapes.push_back(shape);
        shapes.back().set_dim(d, 0);
        shapes.back().set_dim(e, size);
      }
    }
  }
  return shapes;
}

void AddTensorChanges(const Tensor& t, size_t input, size_t index, std::vector<Change>* changes) {
  const std::string name = StrCat("input ", input, index > 0 ? StrCat(".", index) : "");
  const auto replace = [=](OpCase* c, const Tensor& with) {
    if (input < c->inputs.size() && index < c->inputs[input].tensors.size()) c->inputs[input].tensors[index] = with;
  };
  ForType(t.dtype(), [&]<typename T>() {
    std::vector<T> values = HostileValues<T>();
    const int64_t n = t.num_elements();
    if constexpr (std::is_same_v<T, std::string>) {
      if (n > 0) {
        const std::string& old = t.data<T>()[0];
        for (const size_t length : {old.size() / 2, old.size() - std::min<size_t>(old.size(), 1)}) {
          values.push_back(old.substr(0, length));
        }
        for (const size_t at : {size_t{0}, old.size() / 4, old.size() / 2, old.size() * 3 / 4}) {
          if (at >= old.size()) continue;
          values.push_back(old);
          values.back()[at] = static_cast<char>(~values.back()[at]);
        }
        values.push_back(old + old);
      }
    }
    std::vector<std::pair<int64_t, int64_t>> ranges = {{0, n}};  // of the elements that change
    for (int64_t i = 0; i < std::min<int64_t>(n, 6) && n > 1; ++i) ranges.emplace_back(i, i + 1);
    if (n > 6) ranges.emplace_back(n - 1, n);
    for (const auto& [begin, end] : ranges) {
      for (const T& value : values) {
        Tensor with = t.DeepCopy();
        for (int64_t i = begin; i < end; ++i) with.mutable_data<T>()[i] = value;
        changes->push_back({StrCat(name, " = ", with.ToString(6)), [=](OpCase* c) { replace(c, with); }});
      }
    }
  });
  for (const Shape& shape : HostileShapes(t.shape())) {
    if (shape.num_elements() < 0 || shape.num_elements() > 1 << 16) continue;
    changes->push_back(
        {StrCat(name, " of shape ", shape.ToString()), [=](OpCase* c) { replace(c, Remade(t, shape)); }});
  }
}

template <typename T>
void AddListChanges(const std::string& name, const std::vector<T>& list, const std::vector<T>& values,
                    std::vector<Change>* changes) {
  const auto add = [&](std::vector<T> with, const std::string& what) {
    changes->push_back({StrCat(name, what), [=](OpCase* c) { c->attrs[name] = with; }});
  };
  add({}, " = []");
  for (size_t i = 0; i < std::min<size_t>(list.size(), 6); ++i) {
    for (const T& value : values) {
      std::vector<T> with = list;
      with[i] = value;
      add(with, StrCat("[", i, "] = ", AttrValue(value).ToString()));
    }
  }
  if (!list.empty()) {
    std::vector<T> with = list;
    with.push_back(list[0]);
    add(with, " longer by one");
    with.resize(list.size() - 1);
    add(with, " shorter by one");
  }
  for (const T& value : values) add(std::vector<T>(list.size(), value), StrCat(" all ", AttrValue(value).ToString()));
}

void AddAttrChanges(const AttrDef& def, const AttrValue& value, std::vector<Change>* changes) {
  const auto add = [&](const AttrValue& with) {
    changes->push_back(
        {StrCat(def.name, " = ", with.ToString()), [name = def.name, with](OpCase* c) { c->attrs[name] = with; }});
  };
  if (def.type == "int") {
    for (const int64_t v : HostileValues<int64_t>()) add(v);
  } else if (def.type == "float") {
    for (const float v : HostileValues<float>()) add(v);
  } else if (def.type == "bool") {
    add(true);
    add(false);
  } else if (def.type == "string") {
    for (const std::string& v : def.allowed_strings.empty() ? HostileValues<std::string>() : def.allowed_strings)
      add(v);
  } else if (def.type == "shape") {
    for (const Shape& v : {Shape(), Shape::Unknown(), Shape({-1}), Shape({0}),
                           Shape({int64_t{1} << 31, int64_t{1} << 31}), Shape({int64_t{1} << 62, 8, 0})}) {
      add(v);
    }
  } else if (const auto* ints = value.get<std::vector<int64_t>>()) {
    AddListChanges(def.name, *ints, HostileValues<int64_t>(), changes);
  } else if (const auto* floats = value.get<std::vector<float>>()) {
    AddListChanges(def.name, *floats, HostileValues<float>(), changes);
  } else if (const auto* strings = value.get<std::vector<std::string>>()) {
    AddListChanges(def.name, *strings, HostileValues<std::string>(), changes);
  } else if (const auto* shapes = value.get<std::vector<Shape>>()) {
    AddListChanges<Shape>(def.name, *shapes,
                          {Shape(), Shape::Unknown(), Shape({-1}), Shape({0}), Shape({-1, -1}),
                           Shape({int64_t{1} << 31, int64_t{1} << 31})},
                          changes);
  }
}

// All changes of one argument of the case.
std::vector<Change> ChangesOf(const OpCase& c, const OpDef& def) {
  std::vector<Change> changes;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const OpCase::Input& in = c.inputs[i];
    for (size_t k = 0; k < in.tensors.size() && k < 4; ++k) AddTensorChanges(in.tensors[k], i, k, &changes);
    if (in.is_list && !in.tensors.empty()) {
      changes.push_back({StrCat("input ", i, " shorter by one"), [i](OpCase* c) {
                           if (!c->inputs[i].tensors.empty()) c->inputs[i].tensors.pop_back();
                         }});
    }
  }
  for (const AttrDef& attr : def.attrs) {
    const auto it = c.attrs.find(attr.name);
    if (it == c.attrs.end() && !attr.default_value.has_value()) continue;
    AddAttrChanges(attr, it != c.attrs.end() ? it->second : *attr.default_value, &changes);
  }
  return changes;
}

// The most memory that the process has used since ResetMostMemory, in MB.
int64_t MostMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::strtoll(line.c_str() + 6, nullptr, 10) / 1024;
  }
  return 0;
}
// Writing "5" resets VmHWM (see proc(5)).
void ResetMostMemory() { std::ofstream("/proc/self/clear_refs") << "5"; }

// Reads one byte of each page and the last byte, so that a tensor whose memory is shorter than its shape says is found.
uint64_t SumOf(const Tensor& t) {
  uint64_t sum = 0;
  if (t.dtype() == DType::kString) {
    for (const std::string& s : t.data<std::string>()) sum += s.size();
  } else if (IsPlain(t.dtype())) {
    const auto* bytes = static_cast<const unsigned char*>(t.raw_data());
    for (size_t i = 0; i < t.num_bytes(); i += 4096) sum += bytes[i];
    if (t.num_bytes() > 0) sum += bytes[t.num_bytes() - 1];
  }
  return sum;
}

// Runs the op of a case. Its inputs are fed, or they are constants.
Status Run(const OpCase& c, bool fed) {
  Graph g;
  std::vector<Output> inputs;
  std::vector<std::pair<Output, Tensor>> feeds;
  std::vector<Operation> initializers;
  const OpDef* def = OpRegistry::Global().Find(c.op);
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const bool is_variable = std::count(c.variables.begin(), c.variables.end(), static_cast<int>(i)) > 0;
    for (const Tensor& t : c.inputs[i].tensors) {
      if (is_variable) {
        const bool by_reference = def->inputs[i].is_ref;
        inputs.push_back(NodeBuilder(g, by_reference ? "VariableV2" : "VarHandleOp")
                             .Name(StrCat("v", i))
                             .Attr("dtype", t.dtype())
                             .Attr("shape", Shape::Unknown())
                             .Output());
        initializers.push_back(NodeBuilder(g, by_reference ? "Assign" : "AssignVariableOp")
                                   .Input(inputs.back())
                                   .Input(Const(g, t))
                                   .Finish());
      } else if (fed) {
        inputs.push_back(Placeholder(g, t.dtype()));
        feeds.emplace_back(inputs.back(), t);
      } else {
        inputs.push_back(Const(g, t));
      }
    }
  }
  ResourceManager resources;
  EvaluateOptions options{.targets = initializers, .resources = &resources};
  if (!g.status().ok()) return g.status();
  TF_RETURN_IF_ERROR(Evaluate({}, {}, options).status());
  const Operation op = AddCase(g, c, inputs);
  if (!g.status().ok()) return g.status();
  std::vector<Output> fetches;
  for (int i = 0; i < op.num_outputs(); ++i) fetches.push_back(op.output(i));
  options.targets = {op};
  const auto results = Evaluate(fetches, feeds, options);
  if (results.ok()) {
    uint64_t sum = 0;
    for (const Tensor& t : *results) sum += SumOf(t);
    EXPECT_NE(sum, 1u << 31);  // uses the sum, so that the compiler keeps the reads
  }
  return results.status();
}

#if defined(TENSORBRAID_ASAN) || defined(TENSORBRAID_TSAN)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
// kTensorLimit limits the memory of all tensors together. Kernels also use vectors, which it does not include, so
// kMostMb limits by how much one case may raise the memory of the process.
constexpr int64_t kTensorLimit = int64_t{64} << 20;
constexpr int64_t kMostMb = 500;
// CPU time. The longest case (all prefixes of a beam search) takes 10 s on a slow machine that is busy with other
// tests; a case without a bound would take minutes or more. Sanitizers make loops several times as slow.
constexpr std::chrono::seconds kSoon{kSanitized ? 60 : 20};
constexpr int64_t kHuge = int64_t{1} << 40;
constexpr unsigned kHangs = 300;  // seconds after which the process ends

// The CPU time of this process so far, on all cores. Other processes of the machine do not change it.
std::chrono::nanoseconds CpuTime() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& t) {
    return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

// Runs the case and checks that it ends soon and within bounded memory.
Status RunBounded(const OpCase& c, bool fed, const std::string& what) {
  SetCurrentCase(what);
  alarm(kHangs);
  ResetMostMemory();
  const int64_t before = MostMemory();
  const auto start = CpuTime();
  const Status status = Run(c, fed);
  EXPECT_LT(CpuTime() - start, kSoon) << what;
  if (!kSanitized) {
    EXPECT_LT(MostMemory() - before, kMostMb) << what;
  }
  // This message says that the kernel's result differs from the inferred dtype or shape.
  EXPECT_EQ(status.message().find("but the kernel returned"), std::string::npos) << what << "\n" << status;
  alarm(0);
  return status;
}

class HostileArguments : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    SetAllocatorLimit(kTensorLimit);
    for (const int number : {SIGSEGV, SIGABRT, SIGFPE, SIGALRM, SIGBUS, SIGILL}) {
      struct sigaction action = {};
      action.sa_flags = static_cast<int>(SA_RESETHAND);
      action.sa_handler = [](int number) {
        PrintCurrentCase();
        raise(number);
      };
      sigaction(number, &action, nullptr);
    }
  }
};

TEST_F(HostileArguments, ChangedRowsOfTheOpTableGiveAnErrorOrAnAnswer) {
  constexpr int kChangesPerOp = 4;
  std::string error;
  static const std::vector<OpCase> cases = LoadCases(&error);
  ASSERT_EQ(error, "");
  std::map<std::string, std::vector<const OpCase*>> rows;
  for (const OpCase& c : cases) rows[c.op].push_back(&c);
  std::mt19937 random(static_cast<unsigned>(testing::UnitTest::GetInstance()->random_seed()));
  for (const auto& [op, of_op] : rows) {
    const OpDef* def = OpRegistry::Global().Find(op);
    ASSERT_NE(def, nullptr) << op;
    for (int i = 0; i < kChangesPerOp; ++i) {
      OpCase changed = *of_op[random() % of_op.size()];
      const std::vector<Change> changes = ChangesOf(changed, *def);
      if (changes.empty()) break;
      std::string what = StrCat(changed.where, " ", op);
      for (unsigned n = random() % 2; n < 2; ++n) {  // one or two changes
        const Change& change = changes[random() % changes.size()];
        change.apply(&changed);
        what += StrCat("; ", change.what);
      }
      for (const bool fed : {true, false}) (void)RunBounded(changed, fed, StrCat(what, fed ? "; fed" : "; constant"));
    }
  }
}

// A tensor without elements may have another dimension of any size: a loop over that dimension would take hours.
TEST_F(HostileArguments, HugeDimensionsOfTensorsWithoutElementsCostNoTime) {
  std::string error;
  static const std::vector<OpCase> cases = LoadCases(&error);
  ASSERT_EQ(error, "");
  std::set<std::string> tried;  // the op, the input, the rank, and the number of each of the two dimensions
  for (const OpCase& c : cases) {
    for (size_t input = 0; input < c.inputs.size(); ++input) {
      if (c.inputs[input].tensors.empty()) continue;
      const Tensor& t = c.inputs[input].tensors[0];
      for (int none = 0; none < t.shape().rank(); ++none) {
        for (int huge = 0; huge < t.shape().rank(); ++huge) {
          if (none == huge) continue;
          const std::string dims = StrCat(c.op, " ", input, " ", t.shape().rank(), " ", none, " ", huge);
          if (!tried.insert(dims).second) continue;
          Shape shape = t.shape();
          shape.set_dim(none, 0);
          shape.set_dim(huge, kHuge);
          if (shape.num_elements() < 0) continue;
          OpCase changed = c;
          changed.inputs[input].tensors[0] = Remade(t, shape);
          const std::string what = StrCat(c.where, " ", c.op, "; input ", input, " of shape ", shape.ToString());
          (void)RunBounded(changed, /*fed=*/true, what);
        }
      }
    }
  }
}

constexpr int64_t kMost32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kMost64 = std::numeric_limits<int64_t>::max();

Tensor Floats(const Shape& shape) { return Remade(Tensor::Vector<float>({0.5f}), shape); }
Tensor Ints(const std::vector<int32_t>& v) { return Tensor::Vector(v); }
Tensor Longs(const std::vector<int64_t>& v) { return Tensor::Vector(v); }
Tensor Int(int64_t v) { return Tensor::Scalar(static_cast<int32_t>(v)); }

// A row whose outcome is known: the code of its error, or kOk for an answer. An input with several tensors is a list.
struct Known {
  const char* op;
  std::vector<std::vector<Tensor>> inputs;
  std::map<std::string, AttrValue> attrs;
  absl::StatusCode code;
};

OpCase CaseOf(const Known& known) {
  OpCase c;
  c.op = known.op;
  c.attrs = known.attrs;
  const OpDef* def = OpRegistry::Global().Find(known.op);
  for (size_t i = 0; i < known.inputs.size(); ++i) {
    const ArgDef& argument = def->inputs[i];
    c.inputs.push_back({known.inputs[i], !argument.number_attr.empty() || !argument.type_list_attr.empty()});
  }
  return c;
}

TEST_F(HostileArguments, ThatOnceDidHarmGiveTheExpectedResult) {
  using enum absl::StatusCode;
  const Tensor text = Tensor::Scalar("x"), megabyte = Tensor::Scalar(std::string(1 << 20, 'x'));
  const Tensor threshold = Tensor::Scalar(0.5f), many = Remade(text, {1000});
  const Tensor none_of_2 = Remade(Longs({0}), {0, 2});
  const Known known[] = {
      // Division by a product of sizes that wraps to 0.
      {"Reshape", {{Floats({0})}, {Longs({0, -1, int64_t{1} << 32, int64_t{1} << 32})}}, {}, kInvalidArgument},
      // Outputs padded to any size.
      {"NonMaxSuppressionV4",
       {{Floats({2, 4})}, {Floats({2})}, {Int(kMost32)}, {threshold}, {threshold}},
       {{"pad_to_max_output_size", true}},
       kInvalidArgument},
      {"NonMaxSuppressionV5",
       {{Floats({2, 4})}, {Floats({2})}, {Int(kMost32)}, {threshold}, {threshold}, {threshold}},
       {{"pad_to_max_output_size", true}},
       kInvalidArgument},
      {"CombinedNonMaxSuppression",
       {{Floats({1, 2, 1, 4})}, {Floats({1, 2, 1})}, {Int(kMost32)}, {Int(kMost32)}, {threshold}, {threshold}},
       {},
       kInvalidArgument},
      {"SampleDistortedBoundingBoxV2",
       {{Ints({1, 1, 1})}, {Floats({0, 0, 4})}, {threshold}},
       {{"max_attempts", kMost32}, {"use_image_if_no_bounding_boxes", true}},
       kInvalidArgument},
      // Loops over dimensions of tensors without elements.
      {"MirrorPad", {{Floats({kHuge, 0})}, {Remade(Int(0), {2, 2})}}, {{"mode", "REFLECT"}}, kOk},
      {"Reverse", {{Floats({0, kHuge})}, {Tensor::Vector<bool>({true, true})}}, {}, kOk},
      {"Roll", {{Floats({0, kHuge})}, {Int(1)}, {Int(1)}}, {}, kOk},
      {"NthElement", {{Floats({0, kHuge})}, {Int(1)}}, {}, kOk},
      {"BiasAdd", {{Floats({kHuge, 3, 0, 2})}, {Floats({2})}}, {}, kOk},
      {"BiasAdd", {{Floats({kHuge, 3, 2, 0})}, {Floats({3})}}, {{"data_format", "NCHW"}}, kOk},
      {"FakeQuantWithMinMaxVarsPerChannel", {{Floats({kHuge, 0, 2})}, {Floats({2})}, {Floats({2})}}, {}, kOk},
      {"QuantizeAndDequantizeV4", {{Floats({kHuge, 2, 0})}, {Floats({2})}, {Floats({2})}}, {{"axis", 1}}, kOk},
      {"AddV2", {{Floats({kHuge, 1, 0})}, {Floats({1, 3, 0})}}, {}, kOk},
      {"Softmax", {{Floats({kHuge, 0})}}, {}, kOk},
      {"LogSoftmax", {{Floats({kHuge, 0})}}, {}, kOk},
      {"Cumsum", {{Floats({kHuge, 0})}, {Int(1)}}, {}, kOk},
      {"MatrixDiagPartV2", {{Floats({kHuge, 0, 2})}, {Int(0)}, {Tensor::Scalar(0.0f)}}, {}, kOk},
      {"BiasAddGrad", {{Floats({kHuge, 3, 2, 0})}}, {{"data_format", "NCHW"}}, kOk},
      {"BatchMatMulV2", {{Floats({kHuge, 0, 3})}, {Floats({3, 2})}}, {}, kOk},
      {"Svd", {{Floats({kHuge, 0, 2})}}, {}, kOk},
      {"UniqueV2", {{Floats({kHuge, 0})}, {Ints({0})}}, {}, kInvalidArgument},
      {"UniqueV2", {{Floats({kHuge, 0})}, {Ints({1})}}, {}, kOk},
      {"GatherNd", {{Floats({3})}, {Remade(Int(0), {int64_t{1} << 31, 0})}}, {}, kResourceExhausted},
      {"SparseSegmentSumGrad",
       {{Floats({int64_t{1} << 31, 0})}, {Ints({})}, {Ints({})}, {Int(1)}},
       {},
       kResourceExhausted},
      // Sizes that sparse and ragged tensors announce.
      {"SparseCrossV2", {{none_of_2}, {Remade(text, {0})}, {Longs({int64_t{1} << 62, 1})}, {}, {text}}, {}, kOk},
      {"SerializeManySparse", {{none_of_2}, {Floats({0})}, {Longs({int64_t{1} << 26, 1})}}, {}, kResourceExhausted},
      {"RaggedTensorToTensor",
       {{Longs({1, 1})}, {Floats({0})}, {Tensor::Scalar(0.0f)}, {Tensor::Scalar(kMost32), Longs({})}},
       {{"row_partition_types", std::vector<std::string>{"FIRST_DIM_SIZE", "VALUE_ROWIDS"}}},
       kInvalidArgument},
      {"RaggedGather",
       {{Longs({0, 1})}, {Floats({1})}, {Remade(Int(0), {int64_t{1} << 30, 0})}},
       {{"OUTPUT_RAGGED_RANK", 2}},
       kResourceExhausted},
      // Text that grows with the product of sizes.
      {"StringJoin", {{megabyte, many}}, {}, kResourceExhausted},
      {"StringNGrams",
       {{many}, {Longs({0, 1000})}},
       {{"separator", megabyte.scalar<std::string>()},
        {"ngram_widths", std::vector<int64_t>{2}},
        {"left_pad", ""},
        {"right_pad", ""},
        {"pad_width", 0},
        {"preserve_short_sequences", false}},
       kResourceExhausted},
      // Sums and products of sizes that wrap.
      {"ConcatV2", {{Floats({0, int64_t{1} << 62}), Floats({0, int64_t{1} << 62})}, {Int(1)}}, {}, kInvalidArgument},
      {"ConcatOffset", {{Int(0)}, {Longs({kMost64}), Longs({kMost64}), Longs({1})}}, {}, kInvalidArgument},
      {"StridedSlice", {{Floats({5, 4})}, {Longs({0})}, {Longs({5})}, {Longs({int64_t{1} << 62})}}, {}, kOk},
      // A default that does not fit.
      {"PlaceholderWithDefault", {{Floats({2})}}, {{"shape", Shape({3})}}, kInvalidArgument},
  };
  for (const Known& k : known) {
    const Status status = RunBounded(CaseOf(k), /*fed=*/true, k.op);
    EXPECT_EQ(status.code(), k.code) << k.op << ": " << status;
    if (!status.ok()) {
      EXPECT_NE(status.message().find(k.op), std::string::npos) << status;
    }
  }
}

// A beam search that keeps all prefixes, whose number grows exponentially with the number of time steps.
TEST_F(HostileArguments, TheBeamSearchesOfABatchShareABoundOfMemory) {
  if (kSanitized) GTEST_SKIP() << "memory is not measured, and millions of prefixes take long";
  const Known all_prefixes = {"CTCBeamSearchDecoder",
                              {{Remade(Tensor::Vector<double>({0.5}), {12, 2, 6})}, {Ints({12, 12})}},
                              {{"beam_width", kMost64}, {"top_paths", 1}, {"merge_repeated", false}},
                              absl::StatusCode::kResourceExhausted};
  EXPECT_EQ(RunBounded(CaseOf(all_prefixes), /*fed=*/true, all_prefixes.op).code(), all_prefixes.code);
}

TEST_F(HostileArguments, NoPartOfAShapeOverflows) {
  EXPECT_EQ(Shape({0, kHuge, kHuge}).num_elements(), -1);
  EXPECT_EQ(Shape({kHuge, kHuge, 0}).num_elements(), -1);
  EXPECT_EQ(Shape({kHuge, 0, 1 << 20}).num_elements(), 0);
  EXPECT_EQ(Tensor::Create(kFloat32, {0, kHuge, kHuge}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tensorbraid
