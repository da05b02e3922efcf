#include "cli/op_dtypes.h"

#include <algorithm>
#include <set>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

using Types = std::set<DType>;

// Sets of dtypes that have a name. A set comes before its subsets.
const std::vector<std::pair<std::string, Types>>& Groups() {
  static const auto& groups = *new std::vector<std::pair<std::string, Types>>([] {
    const Types floats = {kFloat16, kBfloat16, kFloat32, kFloat64};
    const Types ints = {kInt8, kInt16, kInt32, kInt64, kUint8, kUint16, kUint32, kUint64};
    const Types complex = {DType::kComplex64, DType::kComplex128};
    Types reals = floats, numbers, any;
    reals.insert(ints.begin(), ints.end());
    numbers = reals;
    numbers.insert(complex.begin(), complex.end());
    const Types quantized = {DType::kQint8, DType::kQuint8, DType::kQint16, DType::kQuint16, DType::kQint32};
    any = numbers;
    any.insert(quantized.begin(), quantized.end());
    any.insert({kBool, kString, DType::kResource, DType::kVariant});
    return std::vector<std::pair<std::string, Types>>{
        {"any", any},       {"numbers", numbers}, {"reals", reals},        {"ints", ints},
        {"floats", floats}, {"complex", complex}, {"quantized", quantized}};
  }());
  return groups;
}

// The dtypes in words, with the names of the sets that they contain.
std::string Words(Types types) {
  std::vector<std::string> words;
  for (const auto& [word, group] : Groups()) {
    if (!std::includes(types.begin(), types.end(), group.begin(), group.end())) continue;
    words.push_back(word);
    for (DType t : group) types.erase(t);
  }
  for (DType t : types) words.push_back(DTypeName(t));
  return StrJoin(words, " ");
}

Types Allowed(const AttrDef& attr) {
  if (attr.allowed_types.empty()) return Groups().front().second;
  return {attr.allowed_types.begin(), attr.allowed_types.end()};
}

}  // namespace

std::vector<const KernelDef*> KernelsOf(const OpDef& op) {
  std::vector<const KernelDef*> kernels;
  const auto [begin, end] = KernelRegistry::Global().kernels().equal_range(op.name);
  for (auto it = begin; it != end; ++it) kernels.push_back(&it->second);
  return kernels;
}

std::string DTypesOf(const OpDef& op, const AttrDef& attr) {
  const std::vector<const KernelDef*> kernels = KernelsOf(op);
  if (kernels.empty()) return Words(Allowed(attr));
  Types types;
  for (const KernelDef* kernel : kernels) {
    const auto it = std::find_if(kernel->types.begin(), kernel->types.end(),
                                 [&](const TypeConstraint& c) { return c.attr == attr.name; });
    if (it == kernel->types.end()) {
      types.merge(Allowed(attr));
    } else {
      const std::vector<DType> more = it->types.ToVector();
      types.insert(more.begin(), more.end());
    }
  }
  return Words(std::move(types));
}

std::string DTypesOf(const OpDef& op) {
  std::vector<std::string> parts;
  for (const AttrDef& attr : op.attrs) {
    if (attr.type == "type" || attr.type == "list(type)") parts.push_back(StrCat(attr.name, ": ", DTypesOf(op, attr)));
  }
  if (!parts.empty()) return StrJoin(parts, "; ");
  Types fixed;
  for (const auto* args : {&op.inputs, &op.outputs}) {
    for (const ArgDef& arg : *args) fixed.insert(BaseType(arg.type));
  }
  return Words(std::move(fixed));
}

}  // namespace tensorbraid
