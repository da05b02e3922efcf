// Splits records of comma-separated values (CSV) into fields, and converts the fields to elements of tensors.
#ifndef TENSORBRAID_KERNELS_CPU_PARSING_CSV_H_
#define TENSORBRAID_KERNELS_CPU_PARSING_CSV_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensorbraid/core/tensor.h"

namespace tensorbraid::cpu {

// Where the values of one column are stored.
struct CsvOutput {
  CsvOutput(const Tensor& default_value, Tensor* out);
  DType dtype;
  void* elements;  // of the dtype
  const Tensor* default_value;
};

struct CsvFormat {
  std::string delimiter = ",";
  bool quotes = true;                 // a field may be in double quotes
  std::string missing = "";           // a field with this text stands for the default, like an empty field
  std::vector<int64_t> columns = {};  // the columns to read or, if `excludes`, not to read; if empty, all are read
  bool excludes = false;

  // Returns InvalidArgument unless the format can give records of this many fields.
  Status Check(int num_fields) const;
  // Splits a record into the fields of the wanted columns.
  Status Split(std::string_view record, std::vector<std::string>* fields) const;
  // Stores field i of a record as element `at` of *out. `default_value` has one element, or none if the field is
  // required. `record` names the record in messages: "record 3".
  Status Store(const std::string& field, const Tensor& default_value, int i, std::string_view record, int64_t at,
               Tensor* out) const;
  // Splits a record and stores all its fields, several times faster than Split and Store. Returns false for a record
  // that is left to these: one with quotes, line ends, another number of fields, a missing value that is required, or
  // no number. Elements `at` may then have changed. REQUIRES: `columns` is empty.
  bool StorePlain(std::string_view record, std::span<const CsvOutput> outputs, int64_t at) const;

 private:
  // Reads the quoted field that starts at `*at`, and moves `*at` past the delimiter that follows it.
  Status Quoted(std::string_view record, size_t* at, std::string* field) const;
};

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_PARSING_CSV_H_
