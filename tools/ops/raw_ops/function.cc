#include "ops/raw_ops/function.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "cli/ops_document.h"
#include "core/text/logging.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }

const std::set<std::string>& ReservedWords() {
  static const auto& words = *new std::set<std::string>{
      "and",      "auto",      "bool",   "break",    "case",     "catch",   "char",     "class",     "const",
      "default",  "delete",    "do",     "double",   "else",     "enum",    "export",   "explicit",  "extern",
      "false",    "float",     "for",    "friend",   "goto",     "if",      "inline",   "int",       "long",
      "mutable",  "namespace", "new",    "not",      "operator", "or",      "private",  "protected", "public",
      "register", "requires",  "return", "short",    "signed",   "sizeof",  "static",   "struct",    "switch",
      "template", "this",      "throw",  "true",     "try",      "typedef", "typename", "union",     "unsigned",
      "using",    "virtual",   "void",   "volatile", "while"};
  return words;
}

// The names of the parameters or outputs of one function: in snake case, not reserved, and each used once.
class Names {
 public:
  // `used`: names that the function has for itself.
  explicit Names(std::set<std::string> used) : used_(std::move(used)) {}

  std::string Add(std::string_view name) {
    std::string snake;
    for (size_t i = 0; i < name.size(); ++i) {
      if (i > 0 && IsUpper(name[i]) && IsLower(name[i - 1])) snake += '_';
      snake += IsUpper(name[i]) ? static_cast<char>(name[i] - 'A' + 'a') : name[i];
    }
    while (ReservedWords().contains(snake) || used_.contains(snake)) snake += '_';
    used_.insert(snake);
    return snake;
  }

 private:
  std::set<std::string> used_;
};

std::string TypeOf(const std::string& attr_type) {
  if (attr_type.starts_with("list(")) {
    return StrCat("std::vector<", TypeOf(attr_type.substr(5, attr_type.size() - 6)), ">");
  }
  if (attr_type == "string") return "std::string";
  if (attr_type == "int") return "int64_t";
  if (attr_type == "type") return "DType";
  if (attr_type == "shape") return "tensorbraid::Shape";  // raw_ops has a function of the name Shape
  if (attr_type == "tensor") return "Tensor";
  if (attr_type == "func") return "AttrValue::Function";
  return attr_type;  // float, bool
}

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + "\"";
}

// The shortest text that reads back as the same float.
std::string FloatText(float value) {
  TB_CHECK(std::isfinite(value));
  char text[32];
  for (int digits = 1; digits <= 9; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(value));
    if (std::strtof(text, nullptr) == value) break;
  }
  std::string result = text;
  if (result.find_first_of(".e") == std::string::npos) result += ".0";
  return result + "f";
}

std::string TypeText(DType type) {
  std::string name = DTypeName(type);
  name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return "DType::k" + name;
}

std::string ShapeText(const Shape& shape) {
  if (!shape.has_rank()) return "tensorbraid::Shape::Unknown()";
  std::vector<std::string> sizes;
  for (const int64_t size : shape.dims()) sizes.push_back(StrCat(size));
  return StrCat("{", StrJoin(sizes, ", "), "}");
}

// A default value in C++. REQUIRES: an op of this build has a default of that type (checked).
std::string TextOf(const AttrValue& value) {
  const auto list = [](const auto& values, auto text_of) {
    std::vector<std::string> texts;
    for (const auto& v : values) texts.push_back(text_of(v));
    return StrCat("{", StrJoin(texts, ", "), "}");
  };
  const auto number = [](int64_t v) { return StrCat(v); };
  if (const auto* v = value.get<std::string>()) return Quoted(*v);
  if (const auto* v = value.get<int64_t>()) return number(*v);
  if (const auto* v = value.get<float>()) return FloatText(*v);
  if (const auto* v = value.get<bool>()) return *v ? "true" : "false";
  if (const auto* v = value.get<DType>()) return TypeText(*v);
  if (const auto* v = value.get<Shape>()) return ShapeText(*v);
  if (const auto* v = value.get<Tensor>()) {
    TB_CHECK(v->dtype() == kUint8 && v->shape().rank() == 1);
    std::vector<std::string> elements;
    for (int64_t i = 0; i < v->num_elements(); ++i) elements.push_back(StrCat(int{v->data<uint8_t>()[i]}));
    return StrCat("Tensor::Vector(std::vector<uint8_t>{", StrJoin(elements, ", "), "})");
  }
  if (const auto* v = value.get<std::vector<std::string>>()) return list(*v, Quoted);
  if (const auto* v = value.get<std::vector<int64_t>>()) return list(*v, number);
  if (const auto* v = value.get<std::vector<float>>()) return list(*v, FloatText);
  if (const auto* v = value.get<std::vector<DType>>()) return list(*v, TypeText);
  if (const auto* v = value.get<std::vector<Shape>>()) return list(*v, ShapeText);
  CheckFailed(__FILE__, __LINE__, "default value", value.ToString());
}

// The attribute that has the length of a list; null for one tensor.
const AttrDef* LengthAttr(const OpDef& op, const ArgDef& arg) {
  const std::string& attr = arg.number_attr.empty() ? arg.type_list_attr : arg.number_attr;
  return attr.empty() ? nullptr : op.FindAttr(attr);
}

// Whether a call always has a tensor of this argument.
bool HasTensor(const OpDef& op, const ArgDef& arg) {
  const AttrDef* length = LengthAttr(op, arg);
  return length == nullptr || length->minimum.value_or(1) > 0;
}

// Whether the value of the attribute follows from the inputs.
bool IsInferred(const OpDef& op, const AttrDef& attr) {
  return std::any_of(op.inputs.begin(), op.inputs.end(), [&](const ArgDef& arg) {
    if (arg.number_attr == attr.name || arg.type_list_attr == attr.name) return true;
    return arg.type_attr == attr.name && (HasTensor(op, arg) || attr.default_value.has_value());
  });
}

// References, handles and variants are tensors of the graph: neither a number nor the value of a Variable can be one.
RawInput::Kind KindOf(const OpDef& op, const ArgDef& arg) {
  if (LengthAttr(op, arg) != nullptr) return RawInput::Kind::kList;
  const bool is_tensor = arg.is_ref || arg.type == DType::kResource || arg.type == DType::kVariant;
  return is_tensor ? RawInput::Kind::kTensor : RawInput::Kind::kOperand;
}

}  // namespace

RawFunction::RawFunction(const OpDef& op) : op(&op), family(StrSplit(op.file, '/')[1]) {
  Names names({"graph", "loc", "name", "options", "results"}), output_names({"operation"});
  for (const ArgDef& arg : op.inputs) {
    inputs.push_back({&arg, KindOf(op, arg), names.Add(arg.name)});
    if (HasTensor(op, arg)) takes_graph = false;
    if (inputs.back().kind == RawInput::Kind::kOperand) takes_location = false;
  }
  for (const AttrDef& attr : op.attrs) {
    if (IsInferred(op, attr)) continue;
    RawAttr raw{&attr, names.Add(attr.name), TypeOf(attr.type), ""};
    if (attr.default_value) raw.default_value = TextOf(*attr.default_value);
    (attr.default_value ? options : required).push_back(std::move(raw));
  }
  for (const ArgDef& arg : op.outputs) {
    outputs.push_back({&arg, LengthAttr(op, arg) != nullptr, output_names.Add(arg.name)});
  }
}

std::string RawFunction::result_type() const {
  if (has_result_struct()) return op->name + "Outputs";
  return outputs.empty() ? "Operation" : "Output";
}

std::vector<RawFunction> RawFunctions() {
  std::vector<RawFunction> functions;
  for (const OpDef* op : DocumentedOps()) functions.emplace_back(*op);
  std::stable_sort(functions.begin(), functions.end(),
                   [](const RawFunction& a, const RawFunction& b) { return a.family < b.family; });
  return functions;
}

}  // namespace tensorbraid
