#include "cli/checkpoint_report.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <set>
#include <vector>

#include "absl/strings/str_format.h"
#include "core/text/strings.h"
#include "tensorbraid/checkpoint/checkpoint.h"

namespace tensorbraid {
namespace {

std::string BytesText(size_t bytes) {
  if (bytes < 1000) return StrCat(bytes, " B");
  double value = static_cast<double>(bytes);
  const char* unit = "";
  for (const char* next : {"kB", "MB", "GB", "TB"}) {
    if (value < 1000) break;
    value /= 1000;
    unit = next;
  }
  return absl::StrFormat("%.1f %s", value, unit);
}

size_t BytesOf(const CheckpointReader::TensorInfo& info) {
  return static_cast<size_t>(info.shape.num_elements()) * DTypeSize(info.dtype);
}

// The size of a string tensor is not known without reading its data, because each string has its own size.
std::string TensorSizeText(const CheckpointReader::TensorInfo& info) {
  if (info.dtype != DType::kString) return BytesText(BytesOf(info));
  return StrCat(info.shape.num_elements(), info.shape.num_elements() == 1 ? " string" : " strings");
}

std::string TypeText(const CheckpointReader::TensorInfo& info) { return StrCat(info.dtype, info.shape); }

template <typename T>
std::vector<double> Widened(const Tensor& tensor) {
  const auto data = tensor.data<T>();
  std::vector<double> values(data.size());
  std::transform(data.begin(), data.end(), values.begin(), [](const T& v) { return static_cast<double>(float(v)); });
  return values;
}

template <typename T>
std::vector<double> Copied(const Tensor& tensor) {
  const auto data = tensor.data<T>();
  return std::vector<double>(data.begin(), data.end());
}

// The elements of a tensor of real numbers; empty for other dtypes. int64 loses the bits that double does not have.
std::vector<double> RealNumbers(const Tensor& tensor) {
  switch (StorageType(tensor.dtype())) {
    case DType::kFloat32:
      return Copied<float>(tensor);
    case DType::kFloat64:
      return Copied<double>(tensor);
    case DType::kFloat16:
      return Widened<Float16>(tensor);
    case DType::kBfloat16:
      return Widened<Bfloat16>(tensor);
    case DType::kInt8:
      return Copied<int8_t>(tensor);
    case DType::kInt16:
      return Copied<int16_t>(tensor);
    case DType::kInt32:
      return Copied<int32_t>(tensor);
    case DType::kInt64:
      return Copied<int64_t>(tensor);
    case DType::kUint8:
      return Copied<uint8_t>(tensor);
    case DType::kUint16:
      return Copied<uint16_t>(tensor);
    case DType::kUint32:
      return Copied<uint32_t>(tensor);
    case DType::kUint64:
      return Copied<uint64_t>(tensor);
    default:
      return {};
  }
}

// "min -0.2, max 0.3, mean 0.01", and how many elements are NaN or infinite.
std::string RangeText(const Tensor& tensor) {
  double min = INFINITY, max = -INFINITY, sum = 0;
  int64_t finite = 0, not_finite = 0;
  for (const double v : RealNumbers(tensor)) {
    if (!std::isfinite(v)) {
      ++not_finite;
      continue;
    }
    min = std::min(min, v);
    max = std::max(max, v);
    sum += v;
    ++finite;
  }
  std::string text;
  if (finite > 0) text = absl::StrFormat("min %g, max %g, mean %g", min, max, sum / static_cast<double>(finite));
  if (not_finite > 0) text += StrCat(text.empty() ? "" : ", ", not_finite, " elements are NaN or infinite");
  return text;
}

bool SameBytes(const Tensor& a, const Tensor& b) {
  if (a.dtype() == DType::kString) {
    const auto x = a.data<std::string>(), y = b.data<std::string>();
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  }
  return a.num_bytes() == 0 || std::memcmp(a.raw_data(), b.raw_data(), a.num_bytes()) == 0;
}

// Describes how the values of two tensors of one dtype and shape differ; "" if they are equal bit for bit.
std::string DifferenceText(const Tensor& a, const Tensor& b) {
  if (SameBytes(a, b)) return "";
  const std::vector<double> x = RealNumbers(a), y = RealNumbers(b);
  if (x.empty()) return "the values differ";
  int64_t count = 0;
  double largest = 0;
  size_t at = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    const double difference = std::abs(x[i] - y[i]);
    if (count++ == 0 || !(difference <= largest)) {  // NaN is treated as the largest
      largest = difference;
      at = i;
    }
    if (std::isnan(largest)) break;
  }
  if (count == 0) return "the values differ only in the sign of zeros or the bits of NaN";
  if (std::isnan(largest)) return absl::StrFormat("element %d is %g in one and %g in the other", at, x[at], y[at]);
  return absl::StrFormat("%d of %d elements differ, by at most %g (element %d: %g and %g)", count, x.size(), largest,
                         at, x[at], y[at]);
}

}  // namespace

StatusOr<std::string> ResolveCheckpoint(const std::string& path) {
  const bool is_directory = std::filesystem::is_directory(path);
  if (is_directory && std::filesystem::exists(path + "/checkpoint")) return LatestCheckpoint(path);
  if (CheckpointExists(path)) return path;
  const size_t dot = path.rfind('.');
  if (dot != std::string::npos) {
    const std::string suffix = path.substr(dot);
    const std::string prefix = path.substr(0, dot);
    if ((suffix == ".index" || suffix == ".meta" || suffix.starts_with(".data-")) && CheckpointExists(prefix)) {
      return prefix;
    }
  }
  std::string parent = is_directory ? path : std::filesystem::path(path).parent_path().string();
  if (parent.empty()) parent = ".";
  std::set<std::string> beside;
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator(parent, unreadable)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".index")) beside.insert(name.substr(0, name.size() - 6));
  }
  const std::vector<std::string> names(beside.begin(), beside.end());
  return NotFound(is_directory ? StrCat("'", path, "' has no file 'checkpoint' that names its latest checkpoint")
                               : StrCat("there is no checkpoint '", path, "'"),
                  names.empty() ? StrCat("; '", parent, "' has no checkpoints")
                                : StrCat("; '", parent, "' has ", StrJoin(names, ", ")));
}

StatusOr<std::string> DescribeCheckpoint(const std::string& prefix) {
  TF_ASSIGN_OR_RETURN(const auto reader, CheckpointReader::Open(prefix));
  size_t name_width = 4, type_width = 5, bytes = 0;
  for (const auto& info : reader->tensors()) {
    name_width = std::max(name_width, info.name.size());
    type_width = std::max(type_width, TypeText(info).size());
    if (info.dtype != DType::kString) bytes += BytesOf(info);
  }
  std::string text = StrCat(prefix, ": ", reader->tensors().size(), " tensors, ", BytesText(bytes), "\n");
  for (const auto& info : reader->tensors()) {
    text += absl::StrFormat("%-*s  %-*s  %s\n", static_cast<int>(name_width), info.name, static_cast<int>(type_width),
                            TypeText(info), TensorSizeText(info));
  }
  return text;
}

StatusOr<std::string> DescribeTensor(const std::string& prefix, const std::string& name, int max_elements) {
  TF_ASSIGN_OR_RETURN(const auto reader, CheckpointReader::Open(prefix));
  if (!reader->HasTensor(name)) {
    std::vector<std::string> names;
    for (const auto& info : reader->tensors()) names.push_back(info.name);
    const std::string nearest = NearestWord(name, names);
    return NotFound("'", prefix, "' has no tensor '", name, "'",
                    nearest.empty() ? "" : StrCat("; did you mean '", nearest, "'?"));
  }
  TF_ASSIGN_OR_RETURN(const Tensor value, reader->GetTensor(name));
  const std::string range = RangeText(value);
  return StrCat(name, ": ", range, range.empty() ? "" : "\n", value.ToString(max_elements), "\n");
}

StatusOr<CheckpointComparison> CompareCheckpoints(const std::string& first, const std::string& second) {
  TF_ASSIGN_OR_RETURN(const auto a, CheckpointReader::Open(first));
  TF_ASSIGN_OR_RETURN(const auto b, CheckpointReader::Open(second));
  CheckpointComparison result;
  int same = 0;
  const auto differs = [&result](const std::string& name, const std::string& how) {
    result.equal = false;
    result.text += StrCat(name, ": ", how, "\n");
  };
  auto i = a->tensors().begin(), j = b->tensors().begin();  // both are sorted by name
  while (i != a->tensors().end() || j != b->tensors().end()) {
    if (j == b->tensors().end() || (i != a->tensors().end() && i->name < j->name)) {
      differs(i->name, StrCat("only in ", first));
      ++i;
    } else if (i == a->tensors().end() || j->name < i->name) {
      differs(j->name, StrCat("only in ", second));
      ++j;
    } else {
      if (i->dtype != j->dtype || i->shape != j->shape) {
        differs(i->name, StrCat(TypeText(*i), " in ", first, ", ", TypeText(*j), " in ", second));
      } else {
        TF_ASSIGN_OR_RETURN(const Tensor x, a->GetTensor(i->name));
        TF_ASSIGN_OR_RETURN(const Tensor y, b->GetTensor(j->name));
        const std::string how = DifferenceText(x, y);
        if (how.empty()) {
          ++same;
        } else {
          differs(i->name, how);
        }
      }
      ++i, ++j;
    }
  }
  result.text += StrCat(same, same == 1 ? " tensor is" : " tensors are", " equal, bit for bit\n");
  return result;
}

}  // namespace tensorbraid
