#include "op_case.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

using Json = nlohmann::json;

// Reads a number, or one of the strings "nan", "inf" and "-inf".
double Real(const Json& v) {
  if (!v.is_string()) return v.get<double>();
  const std::string s = v.get<std::string>();
  if (s == "nan") return std::numeric_limits<double>::quiet_NaN();
  return s == "-inf" ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
}

// Bytes that are not UTF-8 cannot be text in JSON, and are written as {"hex": "00ff"}.
std::string Bytes(const Json& v) {
  if (v.is_string()) return v.get<std::string>();
  const std::string hex = v.at("hex").get<std::string>();
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

template <typename T>
Tensor Make(const Shape& shape, const Json& values) {
  Tensor t(DTypeOf<T>::value, shape);
  auto out = t.mutable_data<T>();
  for (size_t i = 0; i < out.size(); ++i) {
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>) {
      out[i] = T(static_cast<float>(Real(values[i])));
    } else if constexpr (std::is_floating_point_v<T>) {
      out[i] = static_cast<T>(Real(values[i]));
    } else if constexpr (requires(T v) { v.real(); }) {
      using Part = typename T::value_type;
      out[i] = T(static_cast<Part>(Real(values[i][0])), static_cast<Part>(Real(values[i][1])));
    } else if constexpr (std::is_same_v<T, std::string>) {
      out[i] = Bytes(values[i]);
    } else {
      out[i] = values[i].get<T>();
    }
  }
  return t;
}

Tensor TensorFrom(const Json& j) {
  const DType dtype = ParseDType(j.at("dtype").get<std::string>()).value();
  const Shape shape(j.at("shape").get<std::vector<int64_t>>());
  const Json& v = j.at("values");
  switch (dtype) {
    case DType::kFloat32:
      return Make<float>(shape, v);
    case DType::kFloat64:
      return Make<double>(shape, v);
    case DType::kFloat16:
      return Make<Float16>(shape, v);
    case DType::kBfloat16:
      return Make<Bfloat16>(shape, v);
    case DType::kInt8:
      return Make<int8_t>(shape, v);
    case DType::kInt16:
      return Make<int16_t>(shape, v);
    case DType::kInt32:
      return Make<int32_t>(shape, v);
    case DType::kInt64:
      return Make<int64_t>(shape, v);
    case DType::kUint8:
      return Make<uint8_t>(shape, v);
    case DType::kUint16:
      return Make<uint16_t>(shape, v);
    case DType::kUint32:
      return Make<uint32_t>(shape, v);
    case DType::kUint64:
      return Make<uint64_t>(shape, v);
    case DType::kBool:
      return Make<bool>(shape, v);
    case DType::kComplex64:
      return Make<std::complex<float>>(shape, v);
    case DType::kComplex128:
      return Make<std::complex<double>>(shape, v);
    case DType::kString:
      return Make<std::string>(shape, v);
    default:
      return {};
  }
}

AttrValue AttrFrom(const Json& j) {
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_number_integer()) return j.get<int64_t>();
  if (j.is_number()) return j.get<double>();
  if (j.is_string()) return j.get<std::string>();
  if (j.contains("type")) return ParseDType(j["type"].get<std::string>()).value();
  if (j.contains("shape")) return Shape(j["shape"].get<std::vector<int64_t>>());
  if (j.contains("ints")) return j["ints"].get<std::vector<int64_t>>();
  if (j.contains("floats")) return j["floats"].get<std::vector<float>>();
  if (j.contains("strings")) return j["strings"].get<std::vector<std::string>>();
  if (j.contains("tensor")) return TensorFrom(j["tensor"]);
  if (j.contains("shapes")) {
    std::vector<Shape> shapes;
    for (const Json& s : j["shapes"]) {
      Shape& shape = shapes.emplace_back();
      for (const Json& d : s) shape.AddDim(d.is_null() ? Shape::kUnknownDim : d.get<int64_t>());
    }
    return shapes;
  }
  std::vector<DType> types;
  for (const Json& t : j.at("types")) types.push_back(ParseDType(t.get<std::string>()).value());
  return types;
}

OpCase CaseFrom(const Json& j, std::string where) {
  OpCase c;
  c.where = std::move(where);
  c.op = j.at("op").get<std::string>();
  const Json attrs = j.value("attrs", Json::object());
  for (const auto& [name, value] : attrs.items()) c.attrs[name] = AttrFrom(value);
  for (const Json& input : j.at("inputs")) {
    OpCase::Input& in = c.inputs.emplace_back();
    in.is_list = input.is_array();
    if (!in.is_list) {
      in.tensors.push_back(TensorFrom(input));
    } else {
      for (const Json& t : input) in.tensors.push_back(TensorFrom(t));
    }
  }
  const Json outputs = j.value("outputs", Json::array());
  for (const Json& t : outputs) c.outputs.push_back(TensorFrom(t));
  c.variables = j.value("variables", std::vector<int>());
  const Json values = j.value("values", Json::array());
  for (const Json& t : values) c.values.push_back(TensorFrom(t));
  c.error = j.value("error", "");
  c.gradient = j.value("gradient", std::vector<int>());
  if (j.contains("tf_gradient")) {
    const Json& g = j["tf_gradient"];
    const auto tensor_or_none = [](const Json& t) { return t.is_null() ? Tensor() : TensorFrom(t); };
    c.tf_gradient.inputs = g.at("inputs").get<std::vector<int>>();
    for (const Json& t : g.at("grad_ys")) c.tf_gradient.grad_ys.push_back(tensor_or_none(t));
    for (const Json& t : g.at("values")) c.tf_gradient.values.push_back(tensor_or_none(t));
  }
  c.tolerance = j.value("tolerance", 0.0);
  return c;
}

double ToleranceOf(DType t) {
  switch (t) {
    case DType::kFloat64:
    case DType::kComplex128:
      return 1e-10;
    case DType::kFloat16:
      return 2e-3;
    case DType::kBfloat16:
      return 1.6e-2;
    default:
      return 1e-5;
  }
}

// The folder of the rows: the one that the build knows, unless the environment names another.
std::string References() {
  const char* const folder = std::getenv("TENSORBRAID_OP_REFERENCES");
  return folder == nullptr ? TENSORBRAID_OP_REFERENCES : folder;
}

}  // namespace

std::vector<std::string> ReferenceLines(const std::string& file) {
  std::ifstream in(References() + "/" + file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<OpCase> LoadCases(std::string* error) {
  std::set<std::string> files;  // sorted, because each machine may list the files of a folder in another order
  for (const auto& entry : std::filesystem::directory_iterator(References())) {
    const std::string file = entry.path().filename();
    if (entry.path().extension() == ".jsonl" && file != "op_defs.jsonl") files.insert(file);
  }
  std::vector<OpCase> cases;
  for (const std::string& file : files) {
    int line = 0;
    for (const std::string& text : ReferenceLines(file)) {
      const std::string where = StrCat(file, ":", ++line);
      try {
        cases.push_back(CaseFrom(Json::parse(text), where));
      } catch (const std::exception& e) {
        *error = where + ": " + e.what();
        return cases;
      }
    }
  }
  if (cases.empty()) *error = "no rows in " + References();
  return cases;
}

Operation AddCase(Graph& g, const OpCase& c, const std::vector<Output>& inputs) {
  NodeBuilder builder(g, c.op);
  auto next = inputs.begin();
  for (const OpCase::Input& in : c.inputs) {
    const auto end = next + static_cast<long>(in.tensors.size());
    if (in.is_list) {
      builder.InputList({next, end});
    } else {
      builder.Input(*next);
    }
    next = end;
  }
  for (const auto& [name, value] : c.attrs) builder.Attr(name, value);
  return builder.Finish();
}

std::vector<double> Doubles(const Tensor& t) {
  std::vector<double> v;
  switch (t.dtype()) {
    case DType::kFloat32:
      v.assign(t.data<float>().begin(), t.data<float>().end());
      break;
    case DType::kFloat64:
      v.assign(t.data<double>().begin(), t.data<double>().end());
      break;
    case DType::kFloat16:
      for (Float16 x : t.data<Float16>()) v.push_back(static_cast<float>(x));
      break;
    case DType::kBfloat16:
      for (Bfloat16 x : t.data<Bfloat16>()) v.push_back(static_cast<float>(x));
      break;
    case DType::kComplex64:
      for (const auto& x : t.data<std::complex<float>>()) v.insert(v.end(), {x.real(), x.imag()});
      break;
    case DType::kComplex128:
      for (const auto& x : t.data<std::complex<double>>()) v.insert(v.end(), {x.real(), x.imag()});
      break;
    default:
      break;
  }
  return v;
}

std::string Difference(const Tensor& got, const Tensor& want, double tolerance) {
  if (got.dtype() != want.dtype()) return StrCat("dtype ", got.dtype(), ", wanted ", want.dtype());
  if (got.shape() != want.shape()) return StrCat("shape ", got.shape(), ", wanted ", want.shape());
  const std::string both = StrCat("got ", got.ToString(20), ", wanted ", want.ToString(20));
  if (!IsFloating(want.dtype()) && !IsComplex(want.dtype())) {
    if (want.dtype() == DType::kString) {
      for (size_t i = 0; i < want.data<std::string>().size(); ++i) {
        if (got.data<std::string>()[i] != want.data<std::string>()[i]) return both;
      }
      return "";
    }
    return std::memcmp(got.raw_data(), want.raw_data(), want.num_bytes()) == 0 ? "" : both;
  }
  if (tolerance == 0) tolerance = ToleranceOf(want.dtype());
  const std::vector<double> a = Doubles(got), b = Doubles(want);
  for (size_t i = 0; i < b.size(); ++i) {
    if (std::isnan(b[i]) && std::isnan(a[i])) continue;
    if (a[i] == b[i]) continue;
    const bool close = std::isfinite(b[i]) && std::abs(a[i] - b[i]) <= tolerance * std::max(1.0, std::abs(b[i]));
    if (!close) return StrCat("element ", i, ": ", both);
  }
  return "";
}

}  // namespace tensorbraid
