#include "graph/op_registry.h"

#include <charconv>
#include <cstdlib>

#include "core/text/logging.h"
#include "core/text/source_file.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

std::string_view Trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

[[noreturn]] void BadSpec(const std::string& op, std::string_view spec) {
  CheckFailed(__FILE__, __LINE__, "op definition", StrCat("op ", op, ": cannot read '", spec, "'"));
}

std::pair<std::string, std::string_view> SplitName(const std::string& op, std::string_view spec) {
  const size_t colon = spec.find(':');
  if (colon == std::string_view::npos) BadSpec(op, spec);
  return {std::string(Trim(spec.substr(0, colon))), Trim(spec.substr(colon + 1))};
}

// Parses an argument whose type is written as "T", "float", "Ref(T)", "N * T" or "Ts". Whether an attribute such as Ts
// is a list(type) is not known yet; OpRegistry::Add finds out.
ArgDef ParseArg(const std::string& op, std::string_view spec) {
  ArgDef arg;
  std::string_view rest;
  std::tie(arg.name, rest) = SplitName(op, spec);
  if (rest.starts_with("Ref(") && rest.ends_with(")")) {
    arg.is_ref = true;
    rest = Trim(rest.substr(4, rest.size() - 5));
  }
  if (const size_t star = rest.find('*'); star != std::string_view::npos) {
    arg.number_attr = std::string(Trim(rest.substr(0, star)));
    rest = Trim(rest.substr(star + 1));
  }
  if (rest.empty()) BadSpec(op, spec);
  if (const auto type = ParseDType(rest)) {
    arg.type = *type;
  } else {
    arg.type_attr = std::string(rest);
  }
  return arg;
}

// The dtypes that a word such as "numbertype" stands for; empty for other words.
std::vector<DType> TypesOfWord(std::string_view word) {
  using enum DType;
  std::vector<DType> quantized = {kQint8, kQuint8, kQint16, kQuint16, kQint32};
  if (word == "quantizedtype") return quantized;
  if (word != "numbertype" && word != "realnumbertype") return {};
  std::vector<DType> types = {kFloat32, kFloat64, kInt32,    kUint8,  kInt16,  kInt8,
                              kInt64,   kUint16,  kBfloat16, kUint32, kUint64, kFloat16};
  if (word == "numbertype") {
    types.insert(types.end(), {kComplex64, kComplex128});
    types.insert(types.end(), quantized.begin(), quantized.end());
  }
  return types;
}

AttrValue ParseDefault(const std::string& op, std::string_view spec, const std::string& type, std::string_view text) {
  if (type == "string") {
    if (text.size() < 2 || text.front() != '\'' || text.back() != '\'') BadSpec(op, spec);
    return std::string(text.substr(1, text.size() - 2));
  }
  if (type == "bool") return text == "true";
  if (type == "int") {
    int64_t v = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), v).ec != std::errc()) BadSpec(op, spec);
    return v;
  }
  if (type == "float") return std::strtof(std::string(text).c_str(), nullptr);
  if (type == "type") {
    const auto t = ParseDType(text);
    if (!t) BadSpec(op, spec);
    return *t;
  }
  if (type == "tensor") {
    // For example "uint8 [1, 2]". The only default tensors in TensorFlow's ops are uint8 vectors.
    const size_t open = text.find('[');
    if (!text.starts_with("uint8 ") || open == std::string_view::npos || !text.ends_with("]")) BadSpec(op, spec);
    std::vector<uint8_t> v;
    for (const std::string& item : StrSplit(text.substr(open + 1, text.size() - open - 2), ',')) {
      v.push_back(static_cast<uint8_t>(std::strtoul(item.c_str(), nullptr, 10)));
    }
    return Tensor::Vector(v);
  }
  if (type == "shape") return text == "[]" ? Shape() : Shape::Unknown();
  if (type.starts_with("list(")) {
    // "[]", or a list of integers, types or quoted strings.
    std::vector<std::string> items;
    const std::string_view inner = Trim(text.substr(1, text.size() - 2));
    if (!inner.empty()) {
      for (const std::string& item : StrSplit(inner, ',')) items.emplace_back(Trim(item));
    }
    const std::string element = type.substr(5, type.size() - 6);
    if (element == "int") {
      std::vector<int64_t> v;
      for (const auto& i : items) v.push_back(std::strtoll(i.c_str(), nullptr, 10));
      return v;
    }
    if (element == "float") {
      std::vector<float> v;
      for (const auto& i : items) v.push_back(std::strtof(i.c_str(), nullptr));
      return v;
    }
    if (element == "string") {
      std::vector<std::string> v;
      for (const auto& i : items) v.push_back(i.substr(1, i.size() - 2));
      return v;
    }
    if (element == "type") {
      std::vector<DType> v;
      for (const auto& i : items) v.push_back(ParseDType(i).value_or(DType::kInvalid));
      return v;
    }
    if (element == "shape" && items.empty()) return std::vector<Shape>{};
    if (element == "bool" && items.empty()) return std::vector<bool>{};
  }
  BadSpec(op, spec);
}

AttrDef ParseAttr(const std::string& op, std::string_view spec) {
  AttrDef attr;
  std::string_view rest;
  std::tie(attr.name, rest) = SplitName(op, spec);
  std::string_view default_text;
  // The default comes after " = "; ">=" is a bound, and a quoted default may contain anything.
  for (size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == '=' && (i == 0 || rest[i - 1] != '>')) {
      default_text = Trim(rest.substr(i + 1));
      rest = Trim(rest.substr(0, i));
      break;
    }
  }
  if (const size_t bound = rest.find(">="); bound != std::string_view::npos) {
    attr.minimum = std::strtoll(std::string(rest.substr(bound + 2)).c_str(), nullptr, 10);
    rest = Trim(rest.substr(0, bound));
  }
  std::string_view element = rest;
  const bool is_list = rest.starts_with("list(") && rest.ends_with(")");
  if (is_list) element = Trim(rest.substr(5, rest.size() - 6));
  std::string element_type(element);
  if (auto types = TypesOfWord(element); !types.empty()) {
    element_type = "type";
    attr.allowed_types = std::move(types);
  } else if (element.starts_with("{") && element.ends_with("}")) {
    for (const std::string& item : StrSplit(element.substr(1, element.size() - 2), ',')) {
      const std::string_view word = Trim(item);
      if (word.starts_with("'")) {
        element_type = "string";
        attr.allowed_strings.emplace_back(word.substr(1, word.size() - 2));
      } else {
        element_type = "type";
        std::vector<DType> types = TypesOfWord(word);
        if (const auto t = ParseDType(word)) types.push_back(*t);
        if (types.empty()) BadSpec(op, spec);
        attr.allowed_types.insert(attr.allowed_types.end(), types.begin(), types.end());
      }
    }
  }
  attr.type = is_list ? "list(" + element_type + ")" : element_type;
  if (!default_text.empty()) attr.default_value = ParseDefault(op, spec, attr.type, default_text);
  return attr;
}

}  // namespace

const AttrDef* OpDef::FindAttr(std::string_view attr) const {
  for (const AttrDef& a : attrs) {
    if (a.name == attr) return &a;
  }
  return nullptr;
}

Op& Op::Input(const char* spec) {
  def_.inputs.push_back(ParseArg(def_.name, spec));
  return *this;
}

Op& Op::Output(const char* spec) {
  def_.outputs.push_back(ParseArg(def_.name, spec));
  return *this;
}

Op& Op::Attr(const char* spec) {
  def_.attrs.push_back(ParseAttr(def_.name, spec));
  return *this;
}

void OpRegistry::Add(const Op& op, std::source_location location) {
  OpDef def = op.def_;
  def.file = SourceFile(location);
  for (std::vector<ArgDef>* args : {&def.inputs, &def.outputs}) {
    for (ArgDef& arg : *args) {
      if (!arg.number_attr.empty() && def.FindAttr(arg.number_attr) == nullptr) BadSpec(def.name, arg.name);
      if (arg.type_attr.empty()) continue;
      const AttrDef* attr = def.FindAttr(arg.type_attr);
      if (attr == nullptr) BadSpec(def.name, arg.name);
      if (attr->type == "list(type)") arg.type_list_attr = std::exchange(arg.type_attr, "");
    }
  }
  const std::string name = def.name;
  if (!ops_.emplace(name, std::move(def)).second) {
    CheckFailed(__FILE__, __LINE__, "op definition", StrCat("op ", name, " is defined twice"));
  }
}

const OpDef* OpRegistry::Find(std::string_view op) const {
  const auto it = ops_.find(op);
  return it == ops_.end() ? nullptr : &it->second;
}

std::vector<std::string> OpRegistry::names() const {
  std::vector<std::string> names;
  for (const auto& [name, def] : ops_) names.push_back(name);
  return names;
}

}  // namespace tensorbraid
