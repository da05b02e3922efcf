#include "executor/clusters/signature_limit.h"

#include <algorithm>

#include "core/text/strings.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

// The elements and the shape.
std::string BytesOfValue(const Tensor& value) {
  std::string bytes = StrCat(value.shape(), ";");
  if (IsPlain(value.dtype())) return bytes.append(static_cast<const char*>(value.raw_data()), value.num_bytes());
  return bytes + value.ToString();
}

}  // namespace

// By the first node that uses it: "input 1 of Tile 'tiles' (train.py:10)". What makes it may be a node of the runtime.
std::string SignatureLimit::NameOf(const pjrt::ProgramArgument& argument) const {
  const Output& tensor = argument.tensors.front();
  for (const Node* node : nodes_) {
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      const Output& in = node->inputs()[i];
      if (NodeOf(in) == NodeOf(tensor) && in.index() == tensor.index()) {
        return StrCat("input ", i, " of ", node->Describe());
      }
    }
  }
  return StrCat("'", tensor.name(), "'");
}

bool SignatureLimit::IsReached() const {
  return signatures_.size() >= kMostSignatures ||
         std::ranges::any_of(values_, [](const auto& entry) { return entry.second.size() > kMostStaticValues; });
}

SignatureLimit::Change SignatureLimit::MostChanging() const {
  Change most;
  // Of what changes equally often, a value comes first, since its nodes can do without a program.
  for (const auto& [number, values] : values_) {
    if (values.size() > most.times) most = {values.size(), number, Change::kValue};
  }
  if (most.times > kMostStaticValues) return most;
  for (const auto& [dimension, sizes] : dimensions_) {
    if (sizes.size() > most.times) most = {sizes.size(), dimension.first, dimension.second};
  }
  return most;
}

void SignatureLimit::Refuse(const std::vector<pjrt::ProgramArgument>& arguments) {
  const std::string each = "A program is compiled for each ";
  const std::string all =
      StrCat(each, "combination of shapes and values of its inputs, and there were ", signatures_.size() + 1);
  const Change most = MostChanging();
  if (most.times <= 1) {
    reason_ = all;
    return;
  }
  const bool is_value = most.dimension == Change::kValue;
  const std::string name =
      StrCat(is_value ? "" : StrCat("dimension ", most.dimension, " of "), NameOf(arguments[most.argument]));
  const char* const what = is_value ? "value" : "size";
  const bool suffices = most.times > (is_value ? kMostStaticValues : kMostSignatures);
  reason_ = suffices ? StrCat(each, what, " of ", name, ", which has had ", most.times)
                     : StrCat(all, ". Of these, ", name, " has had the most ", what, "s, ", most.times);
  reason_ += is_value ? ". Use a constant there, or few values" : ". Pad it to few sizes";
  if (is_value) changing_argument_ = most.argument;
}

bool SignatureLimit::Allows(const std::string& signature, const std::vector<pjrt::ProgramArgument>& arguments) {
  if (signatures_.contains(signature)) return true;
  if (!reason_.empty()) return false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const pjrt::ProgramArgument& argument = arguments[i];
    if (argument.tensors.empty()) continue;  // it is within another argument
    if (argument.constant != nullptr) {
      values_[i].insert(BytesOfValue(*argument.constant));
      continue;
    }
    for (int d = 0; d < argument.shape.rank(); ++d) dimensions_[{i, d}].insert(argument.shape.dim(d));
  }
  if (IsReached()) {
    Refuse(arguments);
    return false;
  }
  signatures_.insert(signature);
  return true;
}

}  // namespace tensorbraid
