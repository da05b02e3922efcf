#include "checkpoint/row_tensors.h"

#include "core/text/strings.h"

namespace tensorbraid {

std::string RowTensor(BundleReader& reader, std::string_view part, std::string_view list) {
  std::string name = StrCat(part, "-", list);
  if (reader.Find(name).ok()) return name;
  std::string of_deeprec = StrCat(part, kDeepRecRows, list);
  return reader.Find(of_deeprec).ok() ? of_deeprec : name;
}

}  // namespace tensorbraid
