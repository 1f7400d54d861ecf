// The module cfile._native.
#include "cfile/types.h"
#include "encodings/registry.h"
#include "tools/python/native/location.h"
#include "tools/python/native/module.h"
#include "tools/python/native/stream.h"

NB_MODULE(_native, module) {
  using namespace cfile_python;  // NOLINT
  nb::set_leak_warnings(false);  // programs may keep objects until the interpreter ends
  module.attr("__version__") = CFILE_VERSION;
  AddStreams(module);
  AddLocation(module);
  AddReading(module);
  AddWriters(module);
  AddMaintenance(module);
  AddParquet(module);
  module.def("codecs", [] {
    nb::list names;
    for (const cfile::Compression codec : cfile::AllCompressions()) {
      if (cfile::CheckCompressionBuiltIn(codec).ok()) names.append(cfile::CompressionName(codec));
    }
    return names;
  });
  module.def("encodings", [] {
    nb::list names;
    names.append("auto");
    for (const cfile::encodings::EncodingRow& row : cfile::encodings::Encodings()) {
      names.append(cfile::EncodingName(row.encoding));
    }
    return names;
  });
}
