// A small program that writes and reads files and tables with the installed library.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cfile/inspect.h"
#include "cfile/io.h"
#include "cfile/reader.h"
#include "cfile/status.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "cfile/writer.h"

absl::Status UseAllTypes();     // all_types.cc
absl::Status UseParquetPage();  // parquet_page.cc

namespace {

// A class of this program that derives from a class of the library.
class StringSource final : public cfile::Source {
 public:
  explicit StringSource(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {}
  const std::string& name() const override { return name_; }
  uint64_t size() const override { return bytes_.size(); }
  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    if (offset > bytes_.size() || out.size() > bytes_.size() - offset) {
      return absl::OutOfRangeError("past the end");
    }
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
    return absl::OkStatus();
  }

 private:
  std::string name_ = "bytes of the program";
  std::vector<uint8_t> bytes_;
};

absl::Status UseFile() {
  std::vector<uint8_t> bytes;
  CFILE_ASSIGN_OR_RETURN(auto writer,
                         cfile::Writer<std::string_view>::Create(
                             cfile::NewMemorySink(&bytes), cfile::ColumnType::String(),
                             {.compression = cfile::Compression::kDefault, .value_index = true}));
  const std::vector<std::string_view> fruits = {"apple", "banana", "cherry"};
  CFILE_RETURN_IF_ERROR(writer.Append(fruits));
  CFILE_RETURN_IF_ERROR(writer.Finish());

  CFILE_ASSIGN_OR_RETURN(const auto reader,
                         cfile::Reader::Open(std::make_shared<StringSource>(bytes)));
  CFILE_ASSIGN_OR_RETURN(auto cursor, reader.NewCursor<std::string_view>());
  CFILE_ASSIGN_OR_RETURN(const auto found, cursor.SeekToKey("banana"));
  if (!found.exact || found.ordinal != 1) return absl::InternalError("banana is not found");
  if (!cfile::Verify(reader).ok()) return absl::InternalError("the file is damaged");

  bytes[bytes.size() / 2] ^= 1;
  const auto damaged = cfile::Reader::Open(std::make_shared<StringSource>(bytes));
  if (damaged.ok() && cfile::Verify(*damaged).ok()) return absl::InternalError("not noticed");
  return absl::OkStatus();
}

absl::Status UseTable() {
  const auto storage = cfile::NewMemoryStorage();
  cfile::Schema schema;
  schema.columns = {{.name = "id", .type = cfile::ColumnType::Int64()}};
  CFILE_ASSIGN_OR_RETURN(auto writer, cfile::TableWriter::Create(storage, schema));
  const std::vector<int64_t> ids = {1, 2, 3};
  CFILE_RETURN_IF_ERROR(writer.Append<int64_t>(0, ids));
  CFILE_RETURN_IF_ERROR(writer.Finish());
  CFILE_ASSIGN_OR_RETURN(const auto table, cfile::TableReader::Open(storage));
  return table.num_rows() == 3 ? absl::OkStatus() : absl::InternalError("rows are lost");
}

}  // namespace

int main() {
  for (const auto use : {UseFile, UseTable, UseAllTypes, UseParquetPage}) {
    const absl::Status status = use();
    if (!status.ok()) {
      std::cerr << status << "\n";
      return 1;
    }
  }
  std::cout << "cfile works\n";
  return 0;
}
