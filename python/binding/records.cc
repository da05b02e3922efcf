// TFRecord files.
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include "binding/binding.h"
#include "binding/python_calls.h"
#include "io/record.h"

namespace tensorbraid::python {

void BindRecords(Module& m) {
  Class<RecordWriter>(m, "RecordWriter")
      .def_static("open",
                  [](const std::string& path, const std::string& compression) {
                    return Check(RecordWriter::Open(path, Check(CompressionFromName(compression))));
                  })
      .def("write",
           [](RecordWriter& self, const nb::bytes& record) {
             Check(self.Write({record.c_str(), record.size()}));
           })
      .def("flush",
           [](RecordWriter& self) {
             const Unlocked unlocked;
             Check(self.Flush());
           })
      .def("close", [](RecordWriter& self) {
        const Unlocked unlocked;
        Check(self.Close());
      });
  Class<RecordReader>(m, "RecordReader")
      .def_static("open",
                  [](const std::string& path, const std::string& compression) {
                    return Check(RecordReader::Open(path, Check(CompressionFromName(compression))));
                  })
      // The next record; None after the last.
      .def("read", [](RecordReader& self) -> nb::object {
        std::string record;
        const Status read = self.Read(&record);
        if (absl::IsOutOfRange(read)) return nb::none();
        Check(read);
        return nb::bytes(record.data(), record.size());
      });
}

}  // namespace tensorbraid::python
