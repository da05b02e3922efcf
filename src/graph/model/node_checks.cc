#include "graph/model/node_checks.h"

#include <algorithm>
#include <cctype>

#include "core/text/strings.h"
#include "graph/control_flow/control_flow.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

// The name of the value's type in attribute specifications.
std::string_view TypeWord(const AttrValue& v) {
  static constexpr std::string_view kWords[] = {
      "none",       "string",     "int",         "float",        "bool",      "type",
      "shape",      "tensor",     "func",        "list(string)", "list(int)", "list(float)",
      "list(bool)", "list(type)", "list(shape)", "list(tensor)", "list(func)"};
  return kWords[v.value().index()];
}

// Checks that `value` is allowed by `def`.
Status CheckAttr(const AttrDef& def, AttrValue* value) {
  // A float attribute also accepts an int, which is converted. So 1 can be written instead of 1.0.
  if (def.type == "float" && value->get<int64_t>() != nullptr) *value = static_cast<float>(*value->get<int64_t>());
  if (TypeWord(*value) != def.type) {
    if (std::holds_alternative<std::monostate>(value->value()))
      return InvalidArgument("attribute '", def.name, "' must be a ", def.type, ", but has no value");
    return InvalidArgument("attribute '", def.name, "' must be a ", def.type, ", got ", TypeWord(*value), " ",
                           value->ToString());
  }
  if (!def.allowed_types.empty()) {
    const auto allowed = [&](DType t) {
      return std::find(def.allowed_types.begin(), def.allowed_types.end(), BaseType(t)) != def.allowed_types.end();
    };
    std::vector<DType> types;
    if (const DType* t = value->get<DType>()) types = {*t};
    if (const auto* list = value->get<std::vector<DType>>()) types = *list;
    for (DType t : types) {
      if (allowed(t)) continue;
      std::vector<std::string> names;
      for (DType a : def.allowed_types) names.push_back(DTypeName(a));
      return InvalidArgument("attribute '", def.name, "' cannot be ", t, "; it can be ", StrJoin(names, ", "));
    }
  }
  if (!def.allowed_strings.empty()) {
    const std::string& s = *value->get<std::string>();
    if (std::find(def.allowed_strings.begin(), def.allowed_strings.end(), s) == def.allowed_strings.end()) {
      return InvalidArgument("attribute '", def.name, "' cannot be '", s, "'; it can be ",
                             StrJoin(def.allowed_strings, ", "));
    }
  }
  if (def.minimum) {
    const bool is_list = def.type.starts_with("list(");
    int64_t n = 0;
    if (const int64_t* i = value->get<int64_t>()) n = *i;
    if (is_list) {
      n = std::visit(
          [](const auto& v) -> int64_t {
            if constexpr (requires { v.size(); }) return static_cast<int64_t>(v.size());
            return 0;
          },
          value->value());
    }
    if (n < *def.minimum) {
      return InvalidArgument("attribute '", def.name, "' must ", is_list ? "have" : "be", " at least ", *def.minimum,
                             is_list ? " elements" : "", ", got ", n);
    }
  }
  return OkStatus();
}

// Infers the attributes that follow from the inputs, checks the others, and determines the declared types of all inputs
// (arguments flattened) and outputs.
class Typing {
 public:
  Typing(const OpDef& op, const std::vector<Output>& inputs, std::map<std::string, AttrValue>* attrs)
      : op_(op), inputs_(inputs), attrs_(*attrs) {}

  Status Run(std::vector<DType>* input_types, std::vector<DType>* output_types) {
    for (const ArgDef& arg : op_.inputs) TF_RETURN_IF_ERROR(InferFrom(arg));
    if (next_ != inputs_.size()) {
      return InvalidArgument("takes ", next_, " inputs, got ", inputs_.size());
    }
    for (const AttrDef& def : op_.attrs) {
      auto it = attrs_.find(def.name);
      if (it == attrs_.end()) {
        if (!def.default_value) return InvalidArgument("attribute '", def.name, "' (", def.type, ") is missing");
        it = attrs_.emplace(def.name, *def.default_value).first;
      }
      TF_RETURN_IF_ERROR(CheckAttr(def, &it->second));
    }
    for (const auto& [name, value] : attrs_) {
      if (!name.starts_with("_") && op_.FindAttr(name) == nullptr) {
        std::vector<std::string> names;
        for (const AttrDef& a : op_.attrs) names.push_back(a.name);
        const std::string nearest = NearestWord(name, names);
        return InvalidArgument("has no attribute '", name, "'",
                               nearest.empty() ? "" : StrCat("; did you mean '", nearest, "'?"));
      }
    }
    for (const ArgDef& arg : op_.inputs) TF_RETURN_IF_ERROR(Types(arg, input_types));
    for (const ArgDef& arg : op_.outputs) TF_RETURN_IF_ERROR(Types(arg, output_types));
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_[i].valid()) {
        if (FlowKindOf(op_.name) == FlowKind::kMerge) continue;
        return InvalidArgument("input ", i, " is missing");
      }
      const DType have = NodeOf(inputs_[i])->output_type(inputs_[i].index());
      const DType want = (*input_types)[i];
      if (BaseType(have) != BaseType(want)) {
        return InvalidArgument("input ", i, " must be ", want, ", got ", BaseType(have), " from '", inputs_[i].name(),
                               "'");
      }
      if (IsRef(want) && !IsRef(have)) {
        return InvalidArgument("input ", i, " must be a reference to a variable, got the value '", inputs_[i].name(),
                               "'");
      }
    }
    return OkStatus();
  }

 private:
  DType TypeOfNext() const { return next_ < inputs_.size() ? inputs_[next_].dtype() : DType::kInvalid; }

  // Steps over the inputs of one argument and sets the type attribute that they determine.
  Status InferFrom(const ArgDef& arg) {
    if (!arg.type_list_attr.empty()) {
      const auto it = attrs_.find(arg.type_list_attr);
      const auto* types = it == attrs_.end() ? nullptr : it->second.get<std::vector<DType>>();
      if (types == nullptr) return InvalidArgument("attribute '", arg.type_list_attr, "' (list(type)) is missing");
      next_ += types->size();
      return OkStatus();
    }
    size_t count = 1;
    if (!arg.number_attr.empty()) {
      const auto it = attrs_.find(arg.number_attr);
      const int64_t* n = it == attrs_.end() ? nullptr : it->second.get<int64_t>();
      if (n == nullptr || *n < 0)
        return InvalidArgument("attribute '", arg.number_attr, "' (int) is missing or negative");
      count = static_cast<size_t>(*n);
    }
    if (!arg.type_attr.empty() && count > 0 && TypeOfNext() != DType::kInvalid) {
      const auto [it, added] = attrs_.emplace(arg.type_attr, TypeOfNext());
      const DType* type = it->second.get<DType>();
      if (type != nullptr && BaseType(*type) != TypeOfNext()) {
        return InvalidArgument("input '", arg.name, "' is ", TypeOfNext(), ", but ", arg.type_attr, " is already ",
                               *type, "; give both the same dtype (see Cast)");
      }
    }
    next_ += count;
    if (next_ > inputs_.size()) return InvalidArgument("input '", arg.name, "' is missing");
    return OkStatus();
  }

  Status Types(const ArgDef& arg, std::vector<DType>* types) const {
    if (!arg.type_list_attr.empty()) {
      for (DType t : *attrs_.at(arg.type_list_attr).get<std::vector<DType>>()) types->push_back(t);
      return OkStatus();
    }
    const DType type = arg.type_attr.empty() ? arg.type : *attrs_.at(arg.type_attr).get<DType>();
    const int64_t count = arg.number_attr.empty() ? 1 : *attrs_.at(arg.number_attr).get<int64_t>();
    constexpr int64_t kMaxListLength = 1 << 20;  // so that a number in a malicious GraphDef cannot exhaust memory
    if (count < 0 || count > kMaxListLength) {
      return InvalidArgument("attribute '", arg.number_attr, "' is out of range: ", count);
    }
    types->insert(types->end(), static_cast<size_t>(count), arg.is_ref ? RefType(type) : type);
    return OkStatus();
  }

  const OpDef& op_;
  const std::vector<Output>& inputs_;
  std::map<std::string, AttrValue>& attrs_;
  size_t next_ = 0;  // the first input that InferFrom has not reached
};

}  // namespace

bool IsValidNodeName(std::string_view name) {
  const auto letter = [](unsigned char c) { return std::isalnum(c) || c == '.'; };
  // Names that begin with "_" are reserved for the runtime (_Send, _Arg).
  return !name.empty() && (letter(name[0]) || name[0] == '_') &&
         std::all_of(name.begin(), name.end(), [&](unsigned char c) {
           return letter(c) || c == '_' || c == '-' || c == '/' || c == '>' || c == '\\';
         });
}

Status CheckTypes(const OpDef& op, const std::vector<Output>& inputs, std::map<std::string, AttrValue>* attrs,
                  std::vector<DType>* input_types, std::vector<DType>* output_types) {
  return Typing(op, inputs, attrs).Run(input_types, output_types);
}

}  // namespace tensorbraid
