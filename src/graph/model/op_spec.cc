#include "graph/model/op_spec.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

std::string_view Trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

Status BadSpec(std::string_view spec, std::string_view why) {
  return InvalidArgument("cannot read '", spec, "': ", why);
}

bool IsName(std::string_view name) {
  if (name.empty() || std::isalpha(static_cast<unsigned char>(name.front())) == 0) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

// Splits "name: rest".
StatusOr<std::pair<std::string, std::string_view>> SplitName(std::string_view spec) {
  const size_t colon = spec.find(':');
  if (colon == std::string_view::npos) return BadSpec(spec, "expected 'name: type'");
  const std::string_view name = Trim(spec.substr(0, colon));
  const std::string_view rest = Trim(spec.substr(colon + 1));
  if (!IsName(name)) return BadSpec(spec, "a name consists of letters, digits and _, and begins with a letter");
  if (rest.empty()) return BadSpec(spec, "no type is given");
  return std::pair(std::string(name), rest);
}

// Parses an argument whose type is written as "T", "float", "Ref(T)", "N * T" or "Ts". Whether an attribute such as Ts
// is a list(type) is not known yet; ResolveArguments finds out.
StatusOr<ArgDef> ParseArg(std::string_view spec) {
  ArgDef arg;
  std::string_view rest;
  TF_ASSIGN_OR_RETURN(std::tie(arg.name, rest), SplitName(spec));
  if (rest.starts_with("Ref(") && rest.ends_with(")")) {
    arg.is_ref = true;
    rest = Trim(rest.substr(4, rest.size() - 5));
  }
  if (const size_t star = rest.find('*'); star != std::string_view::npos) {
    arg.number_attr = std::string(Trim(rest.substr(0, star)));
    rest = Trim(rest.substr(star + 1));
    if (!IsName(arg.number_attr)) return BadSpec(spec, "an attribute stands before *");
  }
  if (const auto type = ParseDType(rest)) {
    arg.type = *type;
  } else if (IsName(rest)) {
    arg.type_attr = std::string(rest);
  } else {
    return BadSpec(spec, StrCat("'", rest, "' is neither a dtype nor an attribute"));
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

StatusOr<int64_t> ParseInt(std::string_view text) {
  int64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc() || end != text.data() + text.size()) {
    return InvalidArgument("'", text, "' is not an integer");
  }
  return v;
}

StatusOr<float> ParseFloat(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const float v = std::strtof(copy.c_str(), &end);
  if (copy.empty() || *end != '\0') return InvalidArgument("'", text, "' is not a number");
  return v;
}

StatusOr<std::string> ParseQuoted(std::string_view text) {
  if (text.size() < 2 || text.front() != '\'' || text.back() != '\'') {
    return InvalidArgument("a string is written as 'text'");
  }
  return std::string(text.substr(1, text.size() - 2));
}

StatusOr<DType> ParseType(std::string_view text) {
  const auto type = ParseDType(text);
  if (!type) return InvalidArgument("'", text, "' is not a dtype");
  return *type;
}

// Parses each item of a list by `parse`.
template <typename T>
StatusOr<AttrValue> ParseItems(const std::vector<std::string_view>& items, StatusOr<T> (*parse)(std::string_view)) {
  std::vector<T> values;
  for (const std::string_view item : items) {
    TF_ASSIGN_OR_RETURN(T value, parse(item));
    values.push_back(std::move(value));
  }
  return AttrValue(std::move(values));
}

StatusOr<AttrValue> ParseDefaultList(const std::string& element, std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') {
    return InvalidArgument("a list is written as [a, b]");
  }
  std::vector<std::string_view> items;
  std::string_view inner = Trim(text.substr(1, text.size() - 2));
  while (!inner.empty()) {
    const size_t comma = std::min(inner.find(','), inner.size());
    items.push_back(Trim(inner.substr(0, comma)));
    inner = Trim(inner.substr(std::min(comma + 1, inner.size())));
  }
  if (element == "int") return ParseItems<int64_t>(items, ParseInt);
  if (element == "float") return ParseItems<float>(items, ParseFloat);
  if (element == "string") return ParseItems<std::string>(items, ParseQuoted);
  if (element == "type") return ParseItems<DType>(items, ParseType);
  if (element == "shape" && items.empty()) return AttrValue(std::vector<Shape>{});
  if (element == "bool" && items.empty()) return AttrValue(std::vector<bool>{});
  return InvalidArgument("a default of list(", element, ") cannot be given here");
}

// "uint8 [1, 2]". The only default tensors in TensorFlow's ops are uint8 vectors.
StatusOr<AttrValue> ParseDefaultTensor(std::string_view text) {
  const size_t open = text.find('[');
  if (!text.starts_with("uint8 ") || open == std::string_view::npos || !text.ends_with("]")) {
    return InvalidArgument("a tensor is written as uint8 [1, 2]");
  }
  std::vector<uint8_t> v;
  for (const std::string& item : StrSplit(text.substr(open + 1, text.size() - open - 2), ',')) {
    TF_ASSIGN_OR_RETURN(const int64_t value, ParseInt(Trim(item)));
    v.push_back(static_cast<uint8_t>(value));
  }
  return AttrValue(Tensor::Vector(v));
}

StatusOr<AttrValue> ParseDefault(const std::string& type, std::string_view text) {
  if (type.starts_with("list(")) return ParseDefaultList(type.substr(5, type.size() - 6), text);
  if (type == "tensor") return ParseDefaultTensor(text);
  if (type == "bool") {
    if (text != "true" && text != "false") return InvalidArgument("a bool is true or false");
    return AttrValue(text == "true");
  }
  if (type == "string") {
    TF_ASSIGN_OR_RETURN(std::string value, ParseQuoted(text));
    return AttrValue(std::move(value));
  }
  if (type == "int") {
    TF_ASSIGN_OR_RETURN(const int64_t value, ParseInt(text));
    return AttrValue(value);
  }
  if (type == "float") {
    TF_ASSIGN_OR_RETURN(const float value, ParseFloat(text));
    return AttrValue(value);
  }
  if (type == "type") {
    TF_ASSIGN_OR_RETURN(const DType value, ParseType(text));
    return AttrValue(value);
  }
  if (type == "shape") return AttrValue(text == "[]" ? Shape() : Shape::Unknown());
  return InvalidArgument("an attribute of type ", type, " has no default");
}

// Parses "{float, double}" or "{'same', 'valid'}" into the allowed values. Returns the type of the values.
StatusOr<std::string> ParseAllowed(std::string_view set, AttrDef* attr) {
  for (const std::string& item : StrSplit(set.substr(1, set.size() - 2), ',')) {
    const std::string_view word = Trim(item);
    if (word.starts_with("'")) {
      TF_ASSIGN_OR_RETURN(std::string value, ParseQuoted(word));
      attr->allowed_strings.push_back(std::move(value));
      continue;
    }
    std::vector<DType> types = TypesOfWord(word);
    if (types.empty()) {
      TF_ASSIGN_OR_RETURN(const DType type, ParseType(word));
      types.push_back(type);
    }
    attr->allowed_types.insert(attr->allowed_types.end(), types.begin(), types.end());
  }
  if (!attr->allowed_strings.empty() && !attr->allowed_types.empty()) {
    return InvalidArgument("a set has dtypes or strings, not both");
  }
  return std::string(attr->allowed_strings.empty() ? "type" : "string");
}

Status ParseAttr(std::string_view spec, AttrDef* attr) {
  std::string_view rest;
  TF_ASSIGN_OR_RETURN(std::tie(attr->name, rest), SplitName(spec));
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
    TF_ASSIGN_OR_RETURN(attr->minimum, ParseInt(Trim(rest.substr(bound + 2))));
    rest = Trim(rest.substr(0, bound));
  }
  std::string_view element = rest;
  const bool is_list = rest.starts_with("list(") && rest.ends_with(")");
  if (is_list) element = Trim(rest.substr(5, rest.size() - 6));
  std::string element_type(element);
  if (auto types = TypesOfWord(element); !types.empty()) {
    element_type = "type";
    attr->allowed_types = std::move(types);
  } else if (element.starts_with("{") && element.ends_with("}")) {
    TF_ASSIGN_OR_RETURN(element_type, ParseAllowed(element, attr));
  }
  constexpr std::array kTypes = {"string", "int", "float", "bool", "type", "shape", "tensor", "func"};
  if (std::find(kTypes.begin(), kTypes.end(), element_type) == kTypes.end()) {
    return InvalidArgument("no attribute has the type '", element_type, "'");
  }
  attr->type = is_list ? "list(" + element_type + ")" : element_type;
  if (!default_text.empty()) {
    TF_ASSIGN_OR_RETURN(attr->default_value, ParseDefault(attr->type, default_text));
  }
  return OkStatus();
}

Status AddArgument(std::string_view spec, std::vector<ArgDef>* arguments) {
  TF_ASSIGN_OR_RETURN(ArgDef arg, ParseArg(spec));
  for (const ArgDef& other : *arguments) {
    if (other.name == arg.name) return BadSpec(spec, "there are two of that name");
  }
  arguments->push_back(std::move(arg));
  return OkStatus();
}

}  // namespace

Status AddInput(std::string_view spec, OpDef* op) { return AddArgument(spec, &op->inputs); }
Status AddOutput(std::string_view spec, OpDef* op) { return AddArgument(spec, &op->outputs); }

Status AddAttr(std::string_view spec, OpDef* op) {
  AttrDef attr;
  const Status parsed = ParseAttr(spec, &attr);
  if (!parsed.ok()) return BadSpec(spec, StrCat(parsed.message()));
  if (op->FindAttr(attr.name) != nullptr) return BadSpec(spec, "there are two attributes of that name");
  op->attrs.push_back(std::move(attr));
  return OkStatus();
}

Status ResolveArguments(OpDef* op) {
  for (std::vector<ArgDef>* args : {&op->inputs, &op->outputs}) {
    for (ArgDef& arg : *args) {
      const auto find = [&](const std::string& name) -> StatusOr<const AttrDef*> {
        const AttrDef* attr = op->FindAttr(name);
        if (attr == nullptr) return InvalidArgument("'", arg.name, "' refers to '", name, "', which is no attribute");
        return attr;
      };
      if (!arg.number_attr.empty()) {
        TF_ASSIGN_OR_RETURN(const AttrDef* number, find(arg.number_attr));
        if (number->type != "int") return InvalidArgument("the number of '", arg.name, "' must be an int attribute");
      }
      if (arg.type_attr.empty()) continue;
      TF_ASSIGN_OR_RETURN(const AttrDef* attr, find(arg.type_attr));
      if (attr->type == "list(type)") {
        if (!arg.number_attr.empty()) return InvalidArgument("'", arg.name, "' is a list twice");
        arg.type_list_attr = std::exchange(arg.type_attr, "");
      } else if (attr->type != "type") {
        return InvalidArgument("the type of '", arg.name, "' must be an attribute of type 'type' or 'list(type)'");
      }
    }
  }
  return OkStatus();
}

}  // namespace tensorbraid
