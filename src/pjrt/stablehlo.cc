#include "pjrt/stablehlo.h"

#include <bit>
#include <complex>
#include <cstring>
#include <limits>

#include "core/text/strings.h"
#include "pjrt/math_switches.h"

namespace tensorbraid::stablehlo {
namespace {

// The name of an element type; "" if it has none.
std::string_view ElementText(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "i1";
    case DType::kInt8:
      return "i8";
    case DType::kInt16:
      return "i16";
    case DType::kInt32:
      return "i32";
    case DType::kInt64:
      return "i64";
    case DType::kUint8:
      return "ui8";
    case DType::kUint16:
      return "ui16";
    case DType::kUint32:
      return "ui32";
    case DType::kUint64:
      return "ui64";
    case DType::kFloat16:
      return "f16";
    case DType::kBfloat16:
      return "bf16";
    case DType::kFloat32:
      return "f32";
    case DType::kFloat64:
      return "f64";
    case DType::kComplex64:
      return "complex<f32>";
    case DType::kComplex128:
      return "complex<f64>";
    default:
      return "";
  }
}

std::string ValueText(const Value& v) { return v.result < 0 ? StrCat("%", v.id) : StrCat("%", v.id, "#", v.result); }
std::string TypeText(const Value& v) { return stablehlo::TypeText(v.dtype, v.shape); }

std::string ValuesText(const std::vector<Value>& values) {
  std::vector<std::string> parts;
  for (const Value& v : values) parts.push_back(ValueText(v));
  return StrJoin(parts, ", ");
}
std::string TypesText(const std::vector<Value>& values) {
  std::vector<std::string> parts;
  for (const Value& v : values) parts.push_back(TypeText(v));
  return StrJoin(parts, ", ");
}

// Attributes and regions, as they stand in the text of an op.
std::string DetailsText(std::string_view attributes, const std::vector<std::string>& regions) {
  return StrCat(attributes.empty() ? "" : StrCat(" <{", attributes, "}>"),
                regions.empty() ? "" : StrCat(" (", StrJoin(regions, ", "), ")"));
}

// Bytes as hexadecimal digits, in the order of memory.
std::string HexOfBytes(const void* data, size_t size) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string hex;
  hex.reserve(2 * size);
  for (size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<const unsigned char*>(data)[i];
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

// The elements of a bool tensor as nested lists: "[[true, false], [false, false]]".
std::string BoolsText(const Shape& shape, int dim, const bool*& next) {
  if (dim == shape.rank()) return *next++ ? "true" : "false";
  std::vector<std::string> parts;
  for (int64_t i = 0; i < shape.dim(dim); ++i) parts.push_back(BoolsText(shape, dim + 1, next));
  return StrCat("[", StrJoin(parts, ", "), "]");
}

// What stands between the brackets of `dense<...>`. Bytes in hexadecimal are exact for all numbers; a single element
// stands for all elements. bool is written as words, because MLIR's bytes of bool are not the same in all versions.
std::string DenseText(const Tensor& t) {
  if (t.num_elements() == 0) return "";
  if (t.dtype() == DType::kBool) {
    const bool* next = t.data<bool>().data();
    return BoolsText(t.shape(), 0, next);
  }
  static_assert(std::endian::native == std::endian::little, "MLIR reads bytes in the little-endian order");
  return StrCat("\"0x", HexOfBytes(t.raw_data(), t.num_bytes()), "\"");
}

template <typename T>
Tensor ScalarOf(double number) {
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>) {
    return Tensor::Scalar(T(static_cast<float>(number)));
  } else if constexpr (requires(T v) { v.real(); }) {
    return Tensor::Scalar(T(static_cast<typename T::value_type>(number)));
  } else {
    return Tensor::Scalar(static_cast<T>(number));
  }
}

// Calls fn.template operator()<T>() with the element type of a dtype that HasType.
template <typename Fn>
auto WithType(DType dtype, const Fn& fn) {
  switch (dtype) {
    case DType::kBool:
      return fn.template operator()<bool>();
    case DType::kInt8:
      return fn.template operator()<int8_t>();
    case DType::kInt16:
      return fn.template operator()<int16_t>();
    case DType::kInt32:
      return fn.template operator()<int32_t>();
    case DType::kInt64:
      return fn.template operator()<int64_t>();
    case DType::kUint8:
      return fn.template operator()<uint8_t>();
    case DType::kUint16:
      return fn.template operator()<uint16_t>();
    case DType::kUint32:
      return fn.template operator()<uint32_t>();
    case DType::kUint64:
      return fn.template operator()<uint64_t>();
    case DType::kFloat16:
      return fn.template operator()<Float16>();
    case DType::kBfloat16:
      return fn.template operator()<Bfloat16>();
    case DType::kFloat64:
      return fn.template operator()<double>();
    case DType::kComplex64:
      return fn.template operator()<std::complex<float>>();
    case DType::kComplex128:
      return fn.template operator()<std::complex<double>>();
    default:
      return fn.template operator()<float>();
  }
}

// The scalar at an end of the dtype's range.
Tensor Extreme(DType dtype, bool highest) {
  return WithType(dtype, [&]<typename T>() -> Tensor {
    if constexpr (std::is_integral_v<T>) {
      return Tensor::Scalar(highest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min());
    } else {
      const double infinity = std::numeric_limits<double>::infinity();
      return ScalarOf<T>(highest ? infinity : -infinity);
    }
  });
}

}  // namespace

bool HasType(DType dtype) { return !ElementText(dtype).empty(); }

std::string TypeText(DType dtype, const Shape& shape) {
  std::string text = "tensor<";
  for (const int64_t dim : shape.dims()) text += StrCat(dim, "x");
  return StrCat(text, ElementText(dtype), ">");
}

std::string ArrayText(std::span<const int64_t> numbers) {
  if (numbers.empty()) return "array<i64>";
  std::vector<std::string> parts;
  for (const int64_t n : numbers) parts.push_back(StrCat(n));
  return StrCat("array<i64: ", StrJoin(parts, ", "), ">");
}

Value Builder::Op(std::string_view name, const std::vector<Value>& operands, DType dtype, const Shape& shape,
                  std::string_view attributes, const std::vector<std::string>& regions) {
  const Value result = Parameter(dtype, shape);
  text_ += StrCat(ValueText(result), " = \"stablehlo.", name, "\"(", ValuesText(operands), ")",
                  DetailsText(attributes, regions), " : (", TypesText(operands), ") -> ", TypeText(result), "\n");
  return result;
}

std::vector<Value> Builder::Ops(std::string_view name, const std::vector<Value>& operands,
                                const std::vector<TensorType>& results, std::string_view attributes,
                                const std::vector<std::string>& regions) {
  if (results.size() == 1) return {Op(name, operands, results[0].dtype, results[0].shape, attributes, regions)};
  std::vector<Value> values;
  const int id = next_id_++;
  for (size_t i = 0; i < results.size(); ++i) {
    values.push_back({.id = id, .dtype = results[i].dtype, .shape = results[i].shape, .result = static_cast<int>(i)});
  }
  text_ += StrCat("%", id, ":", results.size(), " = \"stablehlo.", name, "\"(", ValuesText(operands), ")",
                  DetailsText(attributes, regions), " : (", TypesText(operands), ") -> (", TypesText(values), ")\n");
  return values;
}

std::string Builder::Region(const std::vector<TensorType>& parameters, const Body& body) {
  std::string outer;
  outer.swap(text_);
  std::vector<Value> values;
  std::vector<std::string> declarations;
  for (const TensorType& type : parameters) {
    values.push_back(Parameter(type.dtype, type.shape));
    declarations.push_back(StrCat(ValueText(values.back()), ": ", TypeText(values.back())));
  }
  const std::vector<Value> results = body(values);
  std::string text = StrCat("{\n^bb0(", StrJoin(declarations, ", "), "):\n", text_, "\"stablehlo.return\"(",
                            ValuesText(results), ") : (", TypesText(results), ") -> ()\n}");
  text_ = std::move(outer);
  return text;
}

Value Builder::Constant(const Tensor& value) {
  return Op("constant", {}, value.dtype(), value.shape(),
            StrCat("value = dense<", DenseText(value), "> : ", TypeText(value.dtype(), value.shape())));
}

Value Builder::Splat(DType dtype, double number, const Shape& shape) {
  return BroadcastTo(Constant(WithType(dtype, [&]<typename T>() { return ScalarOf<T>(number); })), shape);
}

Value Builder::Lowest(DType dtype, const Shape& shape) { return BroadcastTo(Constant(Extreme(dtype, false)), shape); }
Value Builder::Highest(DType dtype, const Shape& shape) { return BroadcastTo(Constant(Extreme(dtype, true)), shape); }

Value Builder::Iota(DType dtype, const Shape& shape, int dim) {
  return Op("iota", {}, dtype, shape, StrCat("iota_dimension = ", dim, " : i64"));
}

Value Builder::Compare(std::string_view direction, const Value& x, const Value& y) {
  const bool is_signed =
      x.dtype == DType::kInt8 || x.dtype == DType::kInt16 || x.dtype == DType::kInt32 || x.dtype == DType::kInt64;
  const std::string_view type = IsFloating(x.dtype) || IsComplex(x.dtype) ? "FLOAT" : is_signed ? "SIGNED" : "UNSIGNED";
  return Op("compare", {x, y}, DType::kBool, x.shape,
            StrCat("comparison_direction = #stablehlo<comparison_direction ", direction,
                   ">, compare_type = #stablehlo<comparison_type ", type, ">"));
}

Value Builder::Select(const Value& condition, const Value& if_true, const Value& if_false) {
  return Op("select", {condition, if_true, if_false}, if_true.dtype, if_true.shape);
}

Value Builder::Convert(const Value& x, DType dtype) {
  return x.dtype == dtype ? x : Op("convert", {x}, dtype, x.shape);
}

Value Builder::Reshape(const Value& x, const Shape& shape) {
  return x.shape == shape ? x : Op("reshape", {x}, x.dtype, shape);
}

Value Builder::BroadcastInDim(const Value& x, const Shape& shape, const std::vector<int64_t>& dims) {
  return Op("broadcast_in_dim", {x}, x.dtype, shape, StrCat("broadcast_dimensions = ", ArrayText(dims)));
}

Value Builder::BroadcastTo(const Value& x, const Shape& shape) {
  if (x.shape == shape) return x;
  std::vector<int64_t> dims;
  for (int i = 0; i < x.rank(); ++i) dims.push_back(shape.rank() - x.rank() + i);
  return BroadcastInDim(x, shape, dims);
}

Value Builder::Transpose(const Value& x, const std::vector<int64_t>& permutation) {
  Shape shape;
  for (const int64_t dim : permutation) shape.AddDim(x.shape.dim(static_cast<int>(dim)));
  return Op("transpose", {x}, x.dtype, shape, StrCat("permutation = ", ArrayText(permutation)));
}

Value Builder::Concatenate(const std::vector<Value>& parts, int dim) {
  if (parts.size() == 1) return parts[0];
  Shape shape = parts[0].shape;
  int64_t size = 0;
  for (const Value& part : parts) size += part.shape.dim(dim);
  shape.set_dim(dim, size);
  return Op("concatenate", parts, parts[0].dtype, shape, StrCat("dimension = ", dim, " : i64"));
}

Value Builder::Slice(const Value& x, const std::vector<int64_t>& starts, const std::vector<int64_t>& limits,
                     const std::vector<int64_t>& strides) {
  Shape shape;
  for (int i = 0; i < x.rank(); ++i) shape.AddDim((limits[i] - starts[i] + strides[i] - 1) / strides[i]);
  return Op("slice", {x}, x.dtype, shape,
            StrCat("start_indices = ", ArrayText(starts), ", limit_indices = ", ArrayText(limits),
                   ", strides = ", ArrayText(strides)));
}

Value Builder::Pad(const Value& x, const Value& value, const std::vector<int64_t>& low,
                   const std::vector<int64_t>& high, const std::vector<int64_t>& interior) {
  Shape shape;
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t size = x.shape.dim(i);
    shape.AddDim(low[i] + high[i] + size + (size > 1 ? (size - 1) * interior[i] : 0));
  }
  return Op("pad", {x, value}, x.dtype, shape,
            StrCat("edge_padding_low = ", ArrayText(low), ", edge_padding_high = ", ArrayText(high),
                   ", interior_padding = ", ArrayText(interior)));
}

Value Builder::Reverse(const Value& x, const std::vector<int64_t>& dims) {
  return Op("reverse", {x}, x.dtype, x.shape, StrCat("dimensions = ", ArrayText(dims)));
}

Value Builder::Reduce(const Value& x, const Value& initial, const std::vector<int64_t>& dims, const Combine& combine) {
  std::vector<bool> reduced(x.rank(), false);
  for (const int64_t dim : dims) reduced[dim] = true;
  Shape shape;
  for (int i = 0; i < x.rank(); ++i) {
    if (!reduced[i]) shape.AddDim(x.shape.dim(i));
  }
  const std::string region =
      Region({x.dtype, x.dtype}, [&](const std::vector<Value>& v) { return std::vector<Value>{combine(v[0], v[1])}; });
  return Op("reduce", {x, initial}, x.dtype, shape, StrCat("dimensions = ", ArrayText(dims)), {region});
}

std::vector<Value> Builder::While(const std::vector<Value>& state,
                                  const std::function<Value(const std::vector<Value>&)>& condition, const Body& body) {
  std::vector<TensorType> types;
  for (const Value& v : state) types.push_back(v.type());
  const std::string condition_text =
      Region(types, [&](const std::vector<Value>& v) { return std::vector<Value>{condition(v)}; });
  return Ops("while", state, types, "", {condition_text, Region(types, body)});
}

std::vector<Value> Builder::Sort(const std::vector<Value>& tensors, int dim, const Combine& comes_before) {
  std::vector<TensorType> types, elements;
  for (const Value& v : tensors) {
    types.push_back(v.type());
    elements.insert(elements.end(), 2, v.dtype);
  }
  const std::string region =
      Region(elements, [&](const std::vector<Value>& v) { return std::vector<Value>{comes_before(v[0], v[1])}; });
  return Ops("sort", tensors, types, StrCat("dimension = ", dim, " : i64, is_stable = true"), {region});
}

Value Builder::Dot(const Value& x, const Value& y, const DotDimensions& dims, DType dtype) {
  Shape shape;
  std::vector<bool> x_used(x.rank(), false), y_used(y.rank(), false);
  for (const int64_t d : dims.x_batch) shape.AddDim(x.shape.dim(static_cast<int>(d)));
  for (const auto* used : {&dims.x_batch, &dims.x_contracting}) {
    for (const int64_t d : *used) x_used[d] = true;
  }
  for (const auto* used : {&dims.y_batch, &dims.y_contracting}) {
    for (const int64_t d : *used) y_used[d] = true;
  }
  for (int i = 0; i < x.rank(); ++i) {
    if (!x_used[i]) shape.AddDim(x.shape.dim(i));
  }
  for (int i = 0; i < y.rank(); ++i) {
    if (!y_used[i]) shape.AddDim(y.shape.dim(i));
  }
  std::vector<std::string> parts;
  const auto add = [&](std::string_view name, const std::vector<int64_t>& numbers) {
    if (numbers.empty()) return;
    std::vector<std::string> texts;
    for (const int64_t n : numbers) texts.push_back(StrCat(n));
    parts.push_back(StrCat(name, " = [", StrJoin(texts, ", "), "]"));
  };
  add("lhs_batching_dimensions", dims.x_batch);
  add("rhs_batching_dimensions", dims.y_batch);
  add("lhs_contracting_dimensions", dims.x_contracting);
  add("rhs_contracting_dimensions", dims.y_contracting);
  const std::string_view precision = pjrt::PrecisionOf(x.dtype);
  return Op("dot_general", {x, y}, dtype == DType::kInvalid ? x.dtype : dtype, shape,
            StrCat("dot_dimension_numbers = #stablehlo.dot<", StrJoin(parts, ", "), ">", precision.empty() ? "" : ", ",
                   precision));
}

std::string Builder::Module(const std::vector<Value>& parameters, const std::vector<Value>& results,
                            const std::vector<std::pair<int, int>>& aliases) const {
  std::vector<std::string> declarations;
  for (size_t i = 0; i < parameters.size(); ++i) {
    std::string text = StrCat(ValueText(parameters[i]), ": ", TypeText(parameters[i]));
    for (const auto& [parameter, result] : aliases) {
      if (parameter == static_cast<int>(i)) text += StrCat(" {tf.aliasing_output = ", result, " : i32}");
    }
    declarations.push_back(std::move(text));
  }
  return StrCat("module @", pjrt::ModuleName(), " {\nfunc.func public @main(", StrJoin(declarations, ", "), ") -> (",
                TypesText(results), ") {\n", text_, "\"func.return\"(", ValuesText(results), ") : (",
                TypesText(results), ") -> ()\n}\n}\n");
}

}  // namespace tensorbraid::stablehlo
