#include "ops/raw_ops/header.h"

#include "cli/op_dtypes.h"
#include "cli/op_functions.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// Text in lines of at most 120 characters, made of pieces that are not broken.
class Lines {
 public:
  // The first line begins with `first`, the others with `next`.
  Lines(std::string first, std::string next) : line_(std::move(first)), next_(std::move(next)) {}
  // Adds a piece; `space` comes before it unless it begins a line.
  Lines& Add(const std::string& piece, const std::string& space = "") {
    if (has_piece_ && line_.size() + space.size() + piece.size() > 120) {
      text_ += line_ + "\n";
      line_ = next_;
      has_piece_ = false;
    }
    line_ += (has_piece_ ? space : "") + piece;
    has_piece_ = true;
    return *this;
  }
  // Adds the items with commas between them and `end` after the last.
  Lines& AddList(const std::vector<std::string>& items, const std::string& end) {
    for (size_t i = 0; i < items.size(); ++i) Add(items[i] + (i + 1 < items.size() ? "," : end), i == 0 ? "" : " ");
    return items.empty() ? Add(end) : *this;
  }
  std::string Text() const { return text_ + line_ + "\n"; }

 private:
  std::string text_, line_;
  const std::string next_;
  bool has_piece_ = false;
};

// A paragraph of a comment. Breaks at spaces.
std::string CommentLines(const std::string& text) {
  Lines lines("// ", "//   ");
  for (const std::string& word : StrSplit(text, ' ')) lines.Add(word, " ");
  return lines.Text();
}

// "T", "float32", "reference to T", "list of N tensors of type T", "list of tensors of the types Tin".
std::string Describe(const ArgDef& arg) {
  if (!arg.type_list_attr.empty()) return StrCat("a list of tensors of the types ", arg.type_list_attr);
  const std::string type = arg.type == DType::kInvalid ? arg.type_attr : DTypeName(BaseType(arg.type));
  if (!arg.number_attr.empty()) {
    return StrCat("a list of ", arg.number_attr, arg.is_ref ? " references to " : " tensors of type ", type);
  }
  return arg.is_ref ? StrCat("a reference to ", type) : type;
}

// "int, at least 1; default 5", with the attribute's own name if it differs from `name`.
std::string Describe(const OpDef& op, const RawAttr& raw) {
  const AttrDef& attr = *raw.attr;
  const bool is_list = attr.type.starts_with("list(");
  std::string text = is_list ? attr.type.substr(5, attr.type.size() - 6) : attr.type;
  if (text == "type") text = "dtype";
  if (text == "func") text = "function";
  if (is_list) text = StrCat("list of ", text, "s");
  if (raw.name != attr.name) text = StrCat("attribute ", attr.name, ", ", text);
  if (attr.type == "type" || attr.type == "list(type)") text += StrCat(": ", DTypesOf(op, attr));
  if (!attr.allowed_strings.empty()) text += StrCat(": '", StrJoin(attr.allowed_strings, "', '"), "'");
  if (attr.minimum) text += StrCat(", at least ", *attr.minimum);
  if (attr.default_value) {
    const std::string value = attr.type == "string" ? raw.default_value : attr.default_value->ToString();
    text += StrCat("; default ", value);
  }
  return text;
}

template <typename T>
std::string Listed(const std::vector<T>& items, const OpDef& op) {
  std::vector<std::string> texts;
  for (const T& item : items) {
    if constexpr (requires { item.arg; }) {
      texts.push_back(StrCat(item.name, " (", Describe(*item.arg), ")"));
    } else {
      texts.push_back(StrCat(item.name, " (", Describe(op, item), ")"));
    }
  }
  return StrJoin(texts, ", ");
}

// The type attributes that follow from the inputs, with their dtypes: "T: floats int32".
std::vector<std::string> InferredTypes(const RawFunction& f) {
  std::vector<std::string> types;
  for (const AttrDef& attr : f.op->attrs) {
    if (attr.type != "type" && attr.type != "list(type)") continue;
    bool is_chosen = false;
    for (const auto* attrs : {&f.required, &f.options}) {
      for (const RawAttr& raw : *attrs) is_chosen |= raw.attr == &attr;
    }
    if (!is_chosen) types.push_back(StrCat(attr.name, ": ", DTypesOf(*f.op, attr)));
  }
  return types;
}

std::string Comment(const RawFunction& f) {
  const OpDef& op = *f.op;
  std::string head = StrCat("Adds a node of the op ", op.name, ".");
  if (const OpFunction* function = OpFunctionOf(op.name)) {
    head += StrCat(" The usual function is ", function->name, " (ops/", function->header, ").");
  }
  if (op.has_gradient()) head += " It has a gradient.";
  std::string text = CommentLines(head);
  if (!f.inputs.empty()) text += CommentLines(StrCat("Inputs: ", Listed(f.inputs, op), "."));
  std::vector<RawAttr> attrs = f.required;
  attrs.insert(attrs.end(), f.options.begin(), f.options.end());
  if (!attrs.empty()) text += CommentLines(StrCat("Attributes: ", Listed(attrs, op), "."));
  if (!f.outputs.empty()) {
    text += CommentLines(StrCat(f.outputs.size() == 1 ? "Output: " : "Outputs: ", Listed(f.outputs, op), "."));
  }
  if (const auto types = InferredTypes(f); !types.empty()) text += CommentLines(StrCat(StrJoin(types, "; "), "."));
  return text;
}

std::string OptionsStruct(const RawFunction& f) {
  std::string text = StrCat("struct ", f.op->name, "Options {\n");
  for (const RawAttr& option : f.options) {
    text += StrCat("  ", option.type, " ", option.name, " = ", option.default_value, ";\n");
  }
  return text + "  std::string name = {};\n};\n";
}

std::string ResultStruct(const RawFunction& f) {
  std::string text = StrCat("struct ", f.op->name, "Outputs {\n");
  for (const RawOutput& output : f.outputs) {
    text += StrCat("  ", output.is_list ? "std::vector<Output> " : "Output ", output.name, ";\n");
  }
  return text + "  Operation operation;\n};\n";
}

std::string Signature(const RawFunction& f) {
  std::vector<std::string> parameters;
  if (f.takes_graph) parameters.push_back("Graph& graph");
  for (const RawInput& input : f.inputs) {
    const char* type = input.kind == RawInput::Kind::kOperand  ? "Operand"
                       : input.kind == RawInput::Kind::kTensor ? "Output"
                                                               : "std::vector<Output>";
    parameters.push_back(StrCat("const ", type, "& ", input.name));
  }
  for (const RawAttr& attr : f.required) {
    const bool is_small = attr.type == "int64_t" || attr.type == "float" || attr.type == "bool" || attr.type == "DType";
    parameters.push_back(StrCat(is_small ? "" : "const ", attr.type, is_small ? " " : "& ", attr.name));
  }
  parameters.push_back(f.has_options_struct() ? StrCat("const ", f.op->name, "Options& options = {}")
                                              : "const std::string& name = \"\"");
  if (f.takes_location) parameters.push_back("std::source_location loc = std::source_location::current()");
  const std::string start = StrCat("inline ", f.result_type(), " ", f.op->name, "(");
  return Lines("", "    ").Add(start).AddList(parameters, ") {").Text();
}

std::string Body(const RawFunction& f) {
  std::vector<std::string> inputs;
  for (const RawInput& input : f.inputs) inputs.push_back(input.name);
  Lines lines(f.has_result_struct() ? "  auto results = " : "  return ", "      ");
  lines.Add(StrCat("internal::Call(", f.takes_graph ? "graph, " : "", "\"", f.op->name, "\", ",
                   f.has_options_struct() ? "options.name" : "name", ", {"));
  lines.AddList(inputs, f.takes_location ? "}, loc)" : "})");
  for (const RawAttr& attr : f.required) lines.Add(StrCat(".Attr(\"", attr.attr->name, "\", ", attr.name, ")"));
  for (const RawAttr& attr : f.options) lines.Add(StrCat(".Attr(\"", attr.attr->name, "\", options.", attr.name, ")"));
  lines.Add(f.has_result_struct() ? ".All();" : f.outputs.empty() ? ".Finish();" : ".One();");
  if (!f.has_result_struct()) return lines.Text() + "}\n";
  std::vector<std::string> members;
  for (const RawOutput& output : f.outputs) members.push_back(output.is_list ? "results.NextList()" : "results.Next()");
  members.push_back("results.operation()");
  return lines.Text() + Lines("  return {", "          ").AddList(members, "};").Text() + "}\n";
}

std::string Guard(const std::string& path) {
  std::string guard = "TENSORBRAID_";
  for (const char c : path) guard += c == '/' || c == '.' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return guard + "_";
}

constexpr char kWritten[] = "// Written by scripts/update_op_files; do not edit.\n// clang-format off\n";

}  // namespace

std::string RawOpsHeader(const std::string& family, const std::vector<RawFunction>& functions) {
  const std::string guard = Guard(StrCat("raw_ops/", family, ".h"));
  std::string text =
      StrCat("// A function for each op of src/ops/", family, "; raw_ops.h says what they have in common.\n", kWritten,
             "#ifndef ", guard, "\n#define ", guard, "\n\n",
             "#include \"tensorbraid/raw_ops/call.h\"\n\nnamespace tensorbraid::raw_ops {\n");
  for (const RawFunction& f : functions) {
    text += "\n";
    if (f.has_options_struct()) text += OptionsStruct(f);
    if (f.has_result_struct()) text += ResultStruct(f);
    text += Comment(f) + Signature(f) + Body(f);
  }
  return StrCat(text, "\n}  // namespace tensorbraid::raw_ops\n\n#endif  // ", guard, "\n");
}

std::string RawOpsUmbrella(const std::vector<std::string>& families) {
  const std::string guard = Guard("raw_ops.h");
  std::string text = StrCat(
      R"(// A function for every op that a graph may use: raw_ops::MatMul adds a node of the op MatMul.
//
//   auto product = raw_ops::MatMul(a, b, {.transpose_a = true, .name = "product"});
//   auto best = raw_ops::TopKV2(product, 3);            // best.values, best.indices
//   raw_ops::AssignAddVariableOp(weights.handle(), 1.0f);  // an Operation
//
// The functions of ops.h have formulas, checks and shorter calls; use these for ops that have no such function. A
// header of one family, such as raw_ops/math.h, compiles faster than this one. docs/ops.md lists the ops of each
// family. For the meaning of an op, see its documentation in TensorFlow.
//
// Parameters come in this order: the graph, if the op can be called without inputs; the inputs; the attributes without
// default values; the options, which are the attributes with default values and the node's name, or the name alone.
// They have the names of the op's definition in lower case, with "_" after a reserved word. Attributes that follow from
// the inputs, such as T and N, are no parameters.
//
// An input is an Operand: a tensor, a variable (its value), a constant, or a number. A number takes the dtype that the
// op prescribes, or else that of the inputs with the same type attribute, or else this attribute's default. One input
// or more must belong to a graph; Const makes such a tensor of a value. Handles, variants and references must be
// tensors (Output), not variables. An input that takes several tensors is a vector of them.
//
// A function returns the op's output, or its Operation if it has none. If the op has several outputs or a list of them,
// the result has a member for each, and the operation. Mistakes are recorded as those of ops.h are (see ops/math.h).
//
// In the comments, "floats" means float16, bfloat16, float32 and float64; "ints" int8 to int64 and uint8 to uint64;
// "complex" complex64 and complex128; "reals" floats and ints; "numbers" reals and complex; "quantized" qint8, quint8,
// qint16, quint16 and qint32; "any" all of these, bool, string, resource and variant. The kernels accept these dtypes.
)",
      kWritten, "#ifndef ", guard, "\n#define ", guard, "\n\n");
  for (const std::string& family : families) text += StrCat("#include \"tensorbraid/raw_ops/", family, ".h\"\n");
  return StrCat(text, "\n#endif  // ", guard, "\n");
}

}  // namespace tensorbraid
