#include "runtime/kernel/cost.h"

#include <algorithm>

#include "graph/model/node.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid {

int CostContext::num_inputs() const { return static_cast<int>(node_.inputs().size()); }
int CostContext::num_outputs() const { return node_.num_outputs(); }

const Shape& CostContext::InputShape(int i) const {
  if (!inputs_.empty() && inputs_[i].value.is_valid()) return inputs_[i].value.shape();
  return node_.inputs()[i].shape();
}

double CostContext::input_elements(int i) const {
  if (!inputs_.empty() && inputs_[i].value.is_valid()) return static_cast<double>(inputs_[i].value.num_elements());
  const int64_t elements = node_.inputs()[i].shape().num_elements();
  if (elements < 0) lacks_input_ = true;
  return static_cast<double>(std::max<int64_t>(0, elements));
}

double CostContext::input_bytes(int i) const {
  return input_elements(i) * static_cast<double>(DTypeSize(BaseType(node_.input_type(i))));
}

bool CostContext::knows_output(int i) const { return node_.output_shape(i).num_elements() >= 0; }

double CostContext::output_elements(int i) const {
  return static_cast<double>(std::max<int64_t>(0, node_.output_shape(i).num_elements()));
}

double CostContext::output_bytes(int i) const {
  return output_elements(i) * static_cast<double>(DTypeSize(BaseType(node_.output_type(i))));
}

int CostContext::input_rank(int i) const {
  const Shape& shape = InputShape(i);
  if (shape.has_rank()) return shape.rank();
  lacks_input_ = true;
  return -1;
}

double CostContext::input_dim(int i, int axis) const {
  const int rank = input_rank(i);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return 0;
  const int64_t size = InputShape(i).dim(axis);
  if (size < 0) lacks_input_ = true;
  return static_cast<double>(std::max<int64_t>(0, size));
}

bool CostContext::flag(std::string_view attr) const {
  const AttrValue* value = node_.FindAttr(attr);
  const bool* set = value == nullptr ? nullptr : value->get<bool>();
  return set != nullptr && *set;
}

Cost DefaultCost(const CostContext& c) {
  Cost cost;
  double largest = 0;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (IsRef(c.node().declared_input_type(i))) continue;
    const double bytes = c.input_bytes(i);
    cost.bytes += bytes;
    largest = std::max(largest, bytes);
    cost.flops = std::max(cost.flops, c.input_elements(i));
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    if (IsRef(c.node().output_type(i))) continue;
    cost.bytes += c.knows_output(i) ? c.output_bytes(i) : largest;
    cost.flops = std::max(cost.flops, c.output_elements(i));
  }
  return cost;
}

}  // namespace tensorbraid
