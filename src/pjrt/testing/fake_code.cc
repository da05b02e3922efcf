#include "pjrt/testing/fake_code.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <utility>

namespace tensorbraid::pjrt::fake {
namespace {

// Reads the text of a program.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  // Returns false if the text is wrong; see error().
  bool Parse(Code* code) {
    code->text = text_;
    if (!SkipTo("@main(")) return Wrong("no function @main");
    while (!Accept(")")) {
      std::string name;
      ArrayType type;
      if (!Name(&name) || !Accept(":") || !Type(&type)) return Wrong("an argument");
      int output = -1;
      if (Accept("{")) {
        if (!Accept("tf.aliasing_output") || !Accept("=") || !Number(&output) || !Accept(":") || !Accept("i32") ||
            !Accept("}")) {
          return Wrong("an attribute");
        }
      }
      numbers_[name] = static_cast<int>(code->types.size());
      code->arguments.push_back(type);
      code->types.push_back(type);
      code->donated_to.push_back(output);
      Accept(",");
    }
    if (!SkipTo("{")) return Wrong("no body");
    bool generic = false;
    while (!(generic = Accept("\"func.return\"(")) && !Accept("return")) {
      std::string name;
      Op op;
      ArrayType type;
      if (!Name(&name) || !Accept("=") || !Accept("\"stablehlo.") || !Word(&op.name) || !Accept("\"(")) {
        return Wrong("an op");
      }
      if (!Operands(&op.operands) || !Accept(")") || !SkipAttributes() || !SkipTo("->") || !Type(&type)) {
        return Wrong("operands or types");
      }
      numbers_[name] = static_cast<int>(code->types.size());
      code->types.push_back(type);
      code->ops.push_back(op);
    }
    if (!Operands(&code->outputs) || !Accept(generic ? ")" : ":")) return Wrong("a return");
    return true;
  }
  const std::string& error() const { return error_; }

 private:
  bool Wrong(const std::string& what) {
    error_ = "the fake plugin cannot read the program: " + what + " at '" + std::string(text_.substr(0, 30)) + "'";
    return false;
  }
  void SkipSpace() {
    while (!text_.empty() && std::strchr(" \n\t", text_[0]) != nullptr) text_.remove_prefix(1);
  }
  bool Accept(std::string_view token) {
    SkipSpace();
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  // Skips `<{...}>` and the regions `({...}, {...})` of an op.
  bool SkipAttributes() {
    if (Accept("<{") && !SkipTo("}>")) return false;
    if (!Accept("(")) return true;
    for (int depth = 1; depth > 0; text_.remove_prefix(1)) {
      if (text_.empty()) return false;
      depth += text_[0] == '(' ? 1 : text_[0] == ')' ? -1 : 0;
    }
    return true;
  }
  bool SkipTo(std::string_view token) {
    const size_t at = text_.find(token);
    if (at == std::string_view::npos) return false;
    text_.remove_prefix(at + token.size());
    return true;
  }
  bool Word(std::string* word) {
    size_t n = 0;
    while (n < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[n])) != 0 || text_[n] == '_')) ++n;
    *word = text_.substr(0, n);
    text_.remove_prefix(n);
    return n > 0;
  }
  bool Name(std::string* name) { return Accept("%") && Word(name); }
  bool Number(int* number) {
    SkipSpace();
    std::string word;
    if (!Word(&word)) return false;
    *number = std::atoi(word.c_str());
    return true;
  }
  bool Type(ArrayType* type) {
    if (!Accept("tensor<")) return false;
    while (!text_.empty() && std::isdigit(static_cast<unsigned char>(text_[0])) != 0) {
      int64_t size = 0;
      size_t n = 0;
      while (n < text_.size() && std::isdigit(static_cast<unsigned char>(text_[n])) != 0)
        size = size * 10 + (text_[n++] - '0');
      text_.remove_prefix(n);
      if (!Accept("x")) return false;
      type->dims.push_back(size);
    }
    for (const auto& [name, element] : kTypes) {
      if (!Accept(name)) continue;
      type->type = element;
      return true;
    }
    return false;
  }
  bool Operands(std::vector<int>* operands) {
    if (SkipSpace(); text_.starts_with(")")) return true;
    do {
      std::string name;
      if (!Name(&name) || !numbers_.contains(name)) return false;
      operands->push_back(numbers_[name]);
    } while (Accept(","));
    return true;
  }

  static constexpr std::pair<const char*, ElementType> kTypes[] = {
      {"f32>", ElementType::kF32}, {"f64>", ElementType::kF64}, {"i1>", ElementType::kPred},
      {"i32>", ElementType::kS32}, {"i64>", ElementType::kS64}, {"ui32>", ElementType::kU32},
      {"ui64>", ElementType::kU64}};

  std::string_view text_;
  std::map<std::string, int> numbers_;
  std::string error_;
};

bool Computes(const std::string& op) {
  static constexpr const char* kOps[] = {"add", "subtract", "multiply", "divide", "negate"};
  return std::count(std::begin(kOps), std::end(kOps), op) > 0;
}

float Compute(const std::string& op, float a, float b) {
  if (op == "add") return a + b;
  if (op == "subtract") return a - b;
  if (op == "multiply") return a * b;
  if (op == "divide") return a / b;
  return -a;
}

}  // namespace

size_t SizeOf(ElementType type) {
  switch (type) {
    case ElementType::kPred:
    case ElementType::kS8:
    case ElementType::kU8:
      return 1;
    case ElementType::kS16:
    case ElementType::kU16:
    case ElementType::kF16:
    case ElementType::kBF16:
      return 2;
    case ElementType::kS32:
    case ElementType::kU32:
    case ElementType::kF32:
      return 4;
    case ElementType::kC128:
      return 16;
    default:
      return 8;
  }
}

std::string ParseCode(std::string_view text, Code* code) {
  Parser parser(text);
  return parser.Parse(code) ? "" : parser.error();
}

std::vector<std::vector<char>> Interpret(const Code& code, const std::vector<std::shared_ptr<Block>>& arguments) {
  std::vector<std::vector<char>> values;
  for (const auto& argument : arguments) {
    values.emplace_back(argument->bytes.get(), argument->bytes.get() + argument->size);
  }
  for (const Op& op : code.ops) {
    const ArrayType& type = code.types[values.size()];
    std::vector<char> result(type.num_elements() * SizeOf(type.type));
    if (Computes(op.name) && type.type == ElementType::kF32) {
      const std::vector<char>&a = values[op.operands.front()], &b = values[op.operands.back()];
      for (size_t at = 0; at < result.size(); at += sizeof(float)) {
        float x, y;
        std::memcpy(&x, &a[at], sizeof(float));
        std::memcpy(&y, &b[at], sizeof(float));
        const float z = Compute(op.name, x, y);
        std::memcpy(&result[at], &z, sizeof(float));
      }
    }
    values.push_back(std::move(result));
  }
  std::vector<std::vector<char>> outputs;
  for (const int output : code.outputs) {
    outputs.push_back(values[output]);
    if (code.types[output].type != ElementType::kS64) continue;
    for (size_t i = 0; i < std::size(control.integers) && i < code.types[output].num_elements(); ++i) {
      const int64_t integer = control.integers[i];
      std::memcpy(&outputs.back()[i * sizeof(integer)], &integer, sizeof(integer));
    }
  }
  return outputs;
}

}  // namespace tensorbraid::pjrt::fake
