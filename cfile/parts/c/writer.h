// cfile_schema and cfile_writer: writers of files and of parts of tables, for values of any type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "cfile/c.h"
#include "cfile/options.h"
#include "cfile/schema.h"

namespace cfile::internal {

// Writes a file or a part. Each function implements the cfile_writer_... function of the same name.
class CWriter {
 public:
  virtual ~CWriter() = default;
  virtual absl::Status Append(size_t column, int32_t type, const void* values,
                              const uint8_t* validity, size_t num_values) = 0;
  virtual absl::Status AppendArrow(ArrowArrayStream* stream) = 0;
  virtual absl::Status AddMetadata(std::string_view key, std::string_view value) = 0;
  virtual absl::Status Finish() = 0;
};

}  // namespace cfile::internal

struct cfile_schema {
  cfile::Schema schema;
  std::vector<cfile::WriterOptions> options;  // one per column
  bool broken = false;                        // see CallOn
};

struct cfile_writer {
  std::unique_ptr<cfile::internal::CWriter> writer;
  bool finished = false;
  bool broken = false;  // see CallOn
};
