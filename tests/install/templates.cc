// Uses the function templates that libcfile.so exports. install_test.py compiles this file with
// each compiler of the machine and compares the names with those in the library.
#include <cstdint>
#include <optional>
#include <string_view>

#include "cfile/arrow.h"
#include "cfile/arrow_import.h"
#include "cfile/compound_key.h"
#include "cfile/inspect.h"
#include "cfile/levels.h"
#include "cfile/reader.h"
#include "cfile/scan.h"
#include "cfile/statistics.h"
#include "cfile/table.h"
#include "cfile/table_columns.h"
#include "cfile/table_maintenance.h"
#include "cfile/table_scan.h"
#include "cfile/writer.h"

namespace {

// Keeps a reference to the function.
template <typename Function>
volatile Function kept;
template <typename Function>
void Keep(Function function) {
  kept<Function> = function;
}

template <typename T>
void KeepAll() {
  Keep(&cfile::Reader::NewCursor<T>);
  Keep(&cfile::Reader::NewLevelCursor<T>);
  Keep(&cfile::Reader::Get<T>);
  Keep(&cfile::Reader::Take<T>);
  Keep(&cfile::Reader::Read<T>);
  Keep(&cfile::Reader::NewScan<T>);
  Keep(&cfile::Writer<T>::Finish);
  Keep(&cfile::LevelWriter<T>::Finish);
  Keep(&cfile::BlockStatistics::Min<T>);
  Keep(&cfile::BlockStatistics::Max<T>);
  Keep(&cfile::FileStatistics::MightContain<T>);
  Keep(&cfile::CompoundKey::Add<T>);
  Keep(&cfile::CompoundKeyReader::Next<T>);
  Keep(&cfile::CompoundKeyReader::NextOrNull<T>);
  Keep(&cfile::TableBatch::column<T>);
  Keep(&cfile::TableBatch::levels<T>);
  Keep(&cfile::TableWriter::AppendLevels<T>);
  Keep(&cfile::DropRowsBelow<T>);
  Keep(&cfile::ReadDictionary<T>);
  Keep(static_cast<absl::Status (*)(cfile::Writer<T>&, ArrowArrayStream*)>(&cfile::AppendArrow<T>));
}

}  // namespace

int main() {
  KeepAll<int32_t>();
  KeepAll<double>();
  KeepAll<std::string_view>();
}
