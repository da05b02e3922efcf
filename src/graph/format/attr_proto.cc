#include "graph/format/attr_proto.h"

#include "core/text/strings.h"
#include "graph/format/graph.pb.h"
#include "graph/format/tensor_proto.h"

namespace tensorbraid {
namespace {

constexpr int kMaxFunctionDepth = 8;

void FunctionToProto(const AttrValue::Function& f, proto::NameAttrList* out) {
  out->set_name(f.name);
  for (const auto& [name, attr] : f.attrs) ToProto(attr, &(*out->mutable_attr())[name]);
}

StatusOr<AttrValue> AttrFromProto(const proto::AttrValue& p, std::string_view wanted, int depth);

StatusOr<AttrValue::Function> FunctionFromProto(const proto::NameAttrList& p, int depth) {
  if (depth > kMaxFunctionDepth) return InvalidArgument("function attributes are nested too deeply");
  AttrValue::Function f{p.name(), {}};
  for (const auto& [name, attr] : p.attr()) {
    TF_ASSIGN_OR_RETURN(AttrValue v, AttrFromProto(attr, "", depth));
    f.attrs.emplace(name, std::move(v));
  }
  return f;
}

StatusOr<AttrValue> AttrFromProto(const proto::AttrValue& p, std::string_view wanted, int depth) {
  const auto type = [](int32_t number) -> StatusOr<DType> {
    if (!IsKnownDType(number)) return InvalidArgument("unknown dtype ", number);
    return DType(number);
  };
  switch (p.value_case()) {
    case proto::AttrValue::kS:
      return AttrValue(p.s());
    case proto::AttrValue::kI:
      return AttrValue(static_cast<int64_t>(p.i()));
    case proto::AttrValue::kF:
      return AttrValue(p.f());
    case proto::AttrValue::kB:
      return AttrValue(p.b());
    case proto::AttrValue::kType: {
      TF_ASSIGN_OR_RETURN(const DType t, type(p.type()));
      return AttrValue(t);
    }
    case proto::AttrValue::kShape: {
      TF_ASSIGN_OR_RETURN(Shape s, FromProto(p.shape()));
      return AttrValue(std::move(s));
    }
    case proto::AttrValue::kTensor: {
      TF_ASSIGN_OR_RETURN(Tensor t, FromProto(p.tensor()));
      return AttrValue(std::move(t));
    }
    case proto::AttrValue::kFunc: {
      TF_ASSIGN_OR_RETURN(AttrValue::Function f, FunctionFromProto(p.func(), depth + 1));
      return AttrValue(std::move(f));
    }
    case proto::AttrValue::kList: {
      const auto& l = p.list();
      if (l.s_size() > 0 || wanted == "list(string)")
        return AttrValue(std::vector<std::string>(l.s().begin(), l.s().end()));
      if (l.i_size() > 0 || wanted == "list(int)") return AttrValue(std::vector<int64_t>(l.i().begin(), l.i().end()));
      if (l.f_size() > 0 || wanted == "list(float)") return AttrValue(std::vector<float>(l.f().begin(), l.f().end()));
      if (l.b_size() > 0 || wanted == "list(bool)") return AttrValue(std::vector<bool>(l.b().begin(), l.b().end()));
      if (l.shape_size() > 0 || wanted == "list(shape)") {
        std::vector<Shape> shapes;
        for (const auto& s : l.shape()) {
          TF_ASSIGN_OR_RETURN(Shape shape, FromProto(s));
          shapes.push_back(std::move(shape));
        }
        return AttrValue(std::move(shapes));
      }
      if (l.tensor_size() > 0 || wanted == "list(tensor)") {
        std::vector<Tensor> tensors;
        for (const auto& t : l.tensor()) {
          TF_ASSIGN_OR_RETURN(Tensor tensor, FromProto(t));
          tensors.push_back(std::move(tensor));
        }
        return AttrValue(std::move(tensors));
      }
      if (l.func_size() > 0 || wanted == "list(func)") {
        std::vector<std::shared_ptr<const AttrValue::Function>> functions;
        for (const auto& f : l.func()) {
          TF_ASSIGN_OR_RETURN(AttrValue::Function function, FunctionFromProto(f, depth + 1));
          functions.push_back(std::make_shared<const AttrValue::Function>(std::move(function)));
        }
        return AttrValue(std::move(functions));
      }
      std::vector<DType> types;
      for (int32_t t : l.type()) {
        TF_ASSIGN_OR_RETURN(const DType dtype, type(t));
        types.push_back(dtype);
      }
      return AttrValue(std::move(types));
    }
    default:
      return InvalidArgument("the attribute has no value");
  }
}

}  // namespace

void ToProto(const AttrValue& value, proto::AttrValue* out) {
  std::visit(
      [&](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::string>) out->set_s(v);
        if constexpr (std::is_same_v<T, int64_t>) out->set_i(v);
        if constexpr (std::is_same_v<T, float>) out->set_f(v);
        if constexpr (std::is_same_v<T, bool>) out->set_b(v);
        if constexpr (std::is_same_v<T, DType>) out->set_type(static_cast<proto::DataType>(v));
        if constexpr (std::is_same_v<T, Shape>) ToProto(v, out->mutable_shape());
        if constexpr (std::is_same_v<T, Tensor>) ToProto(v, out->mutable_tensor());
        if constexpr (std::is_same_v<T, std::shared_ptr<const AttrValue::Function>>) {
          FunctionToProto(*v, out->mutable_func());
        }
        auto* list = [&]() -> proto::AttrValue::ListValue* {
          if constexpr (requires { typename T::value_type; } && !std::is_same_v<T, std::string>)
            return out->mutable_list();
          return nullptr;
        }();
        if constexpr (std::is_same_v<T, std::vector<std::string>>)
          for (const auto& s : v) list->add_s(s);
        if constexpr (std::is_same_v<T, std::vector<int64_t>>)
          for (int64_t i : v) list->add_i(i);
        if constexpr (std::is_same_v<T, std::vector<float>>)
          for (float f : v) list->add_f(f);
        if constexpr (std::is_same_v<T, std::vector<bool>>)
          for (bool b : v) list->add_b(b);
        if constexpr (std::is_same_v<T, std::vector<DType>>)
          for (DType t : v) list->add_type(static_cast<proto::DataType>(t));
        if constexpr (std::is_same_v<T, std::vector<Shape>>)
          for (const auto& s : v) ToProto(s, list->add_shape());
        if constexpr (std::is_same_v<T, std::vector<Tensor>>)
          for (const auto& t : v) ToProto(t, list->add_tensor());
        if constexpr (std::is_same_v<T, std::vector<std::shared_ptr<const AttrValue::Function>>>)
          for (const auto& f : v) FunctionToProto(*f, list->add_func());
        (void)list;
      },
      value.value());
}

StatusOr<AttrValue> FromProto(const proto::AttrValue& p, std::string_view wanted) {
  return AttrFromProto(p, wanted, 0);
}

}  // namespace tensorbraid
