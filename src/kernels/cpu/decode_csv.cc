// Lines of comma-separated values (RFC 4180) to tensors, one per column.
#include <algorithm>

#include "core/op_type_name.h"
#include "core/strings.h"
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/parsing.h"
#include "kernels/cpu/strings.h"

namespace tensorbraid::cpu {
namespace {

class DecodeCsvKernel final : public Kernel {
 public:
  explicit DecodeCsvKernel(const KernelConstruction& c)
      : delimiter_(c.attr<std::string>("field_delim")),
        quotes_(c.attr<bool>("use_quote_delim")),
        missing_(c.attr<std::string>("na_value")),
        columns_(c.attr<std::vector<int64_t>>("select_cols")) {}

  Status Compute(KernelContext& ctx) override {
    TF_RETURN_IF_ERROR(CheckAttrs(ctx.num_outputs()));
    for (int i = 1; i < ctx.num_inputs(); ++i) {
      if (ctx.input(i).shape().rank() > 1 || ctx.input(i).num_elements() > 1) {
        return InvalidArgument("record_defaults[", i - 1, "] must have at most one element, got shape ",
                               ctx.input(i).shape());
      }
    }
    const Tensor& records = ctx.input(0);
    std::vector<Tensor*> outputs;
    for (int i = 0; i < ctx.num_outputs(); ++i) {
      TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(i, records.shape()));
      outputs.push_back(out);
    }
    std::vector<std::string> fields;
    for (int64_t n = 0; n < records.num_elements(); ++n) {
      TF_RETURN_IF_ERROR(Annotate(Split(records.data<std::string>()[n], &fields), StrCat("record ", n)));
      if (static_cast<int>(fields.size()) != ctx.num_outputs()) {
        return InvalidArgument("Expect ", ctx.num_outputs(), " fields but have ", fields.size(), " in record ", n);
      }
      for (int i = 0; i < ctx.num_outputs(); ++i) {
        TF_RETURN_IF_ERROR(Store(fields[i], ctx.input(i + 1), i, n, outputs[i]));
      }
    }
    return OkStatus();
  }

 private:
  Status CheckAttrs(int num_outputs) const {
    if (delimiter_.size() != 1) return InvalidArgument("field_delim must be one character, got '", delimiter_, "'");
    if (columns_.empty()) return OkStatus();
    if (static_cast<int>(columns_.size()) != num_outputs) {
      return InvalidArgument("select_cols names ", columns_.size(), " columns for ", num_outputs, " outputs");
    }
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i] < 0 || (i > 0 && columns_[i] <= columns_[i - 1])) {
        return InvalidArgument("select_cols must rise and not be negative");
      }
    }
    return OkStatus();
  }

  // The fields of a record that are wanted.
  Status Split(std::string_view record, std::vector<std::string>* fields) const {
    fields->clear();
    const char delimiter = delimiter_[0];
    int64_t column = 0;
    const auto is_wanted = [&] {
      return columns_.empty() || (fields->size() < columns_.size() && columns_[fields->size()] == column);
    };
    size_t at = 0;
    while (at < record.size()) {
      if (record[at] == '\n' || record[at] == '\r') {
        ++at;
        continue;
      }
      const bool wanted = is_wanted();
      std::string field;
      if (quotes_ && record[at] == '"') {
        TF_RETURN_IF_ERROR(Quoted(record, &at, &field));
      } else {
        for (; at < record.size() && record[at] != delimiter; ++at) {
          const char c = record[at];
          if (wanted && ((quotes_ && c == '"') || c == '\n' || c == '\r')) {
            return InvalidArgument("Unquoted fields cannot have quotes/CRLFs inside: put the field in quotes");
          }
          field += c;
        }
        ++at;
      }
      if (wanted) fields->push_back(std::move(field));
      ++column;
      if (!columns_.empty() && fields->size() == columns_.size()) return OkStatus();
    }
    // A last field that is empty has nothing behind its delimiter.
    if (is_wanted() && !record.empty() && record.back() == delimiter) fields->emplace_back();
    return OkStatus();
  }

  // A field in quotes from `*at` on, and what ends it.
  Status Quoted(std::string_view record, size_t* at, std::string* field) const {
    size_t i = *at + 1;
    while (i < record.size()) {
      if (record[i] != '"') {
        *field += record[i++];
      } else if (i + 1 == record.size() || record[i + 1] == delimiter_[0]) {
        *at = i + 2;
        return OkStatus();
      } else if (record[i + 1] == '"') {
        *field += '"';
        i += 2;
      } else {
        return InvalidArgument("a quote within a quoted field must be doubled");
      }
    }
    return InvalidArgument(
        "a field is still open when the record ends: Quoted field has to end with quote followed "
        "by nothing else of the field");
  }

  Status Store(const std::string& field, const Tensor& missing, int i, int64_t n, Tensor* out) const {
    Status status = Unimplemented(out->dtype(), " cannot be read");
    ForEachType<float, double, int32_t, int64_t, std::string>([&]<typename T>() {
      if (out->dtype() != DTypeOf<T>::value) return;
      T& to = out->mutable_data<T>()[static_cast<size_t>(n)];
      status = OkStatus();
      if (field.empty() || field == missing_) {
        if (missing.num_elements() == 1) {
          to = missing.data<T>()[0];
        } else {
          status = InvalidArgument("Field ", i, " is required but missing in record ", n, "! (it has no default)");
        }
      } else if constexpr (std::is_same_v<T, std::string>) {
        to = field;
      } else if (!ParseNumber(field, &to)) {
        status = InvalidArgument("Field ", i, " in record ", n, " is not a valid ", OpTypeName(out->dtype()), ": ",
                                 field.substr(0, 100));
      }
    });
    return status;
  }

  const std::string delimiter_;
  const bool quotes_;
  const std::string missing_;
  const std::vector<int64_t> columns_;
};

}  // namespace

void RegisterDecodeCsvKernels(KernelRegistry& r) { r.Add<DecodeCsvKernel>("DecodeCSV"); }

}  // namespace tensorbraid::cpu
