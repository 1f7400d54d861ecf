// Names the functions of each class template for each type of values.
// The program links only if the library exports all these functions.
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "cfile/arrow_import.h"
#include "cfile/compound_key.h"
#include "cfile/levels.h"
#include "cfile/merge_cursor.h"
#include "cfile/predicate.h"
#include "cfile/reader.h"
#include "cfile/scan.h"
#include "cfile/statistics.h"
#include "cfile/table.h"
#include "cfile/table_columns.h"
#include "cfile/table_maintenance.h"
#include "cfile/table_scan.h"
#include "cfile/types.h"
#include "cfile/writer.h"

absl::Status UseAllTypes();

namespace {

using cfile::ColumnsWriter;
using cfile::Cursor;
using cfile::LevelCursor;
using cfile::LevelWriter;
using cfile::MergeCursor;
using cfile::Reader;
using cfile::Scan;
using cfile::TableCursor;
using cfile::TableLevelCursor;
using cfile::TableReader;
using cfile::TableWriter;
using cfile::Writer;

// The compiler cannot leave these references out, because the assembler code could use them.
template <typename... Functions>
void Refer(Functions... functions) {
  const std::tuple<Functions...> kept(functions...);
  asm volatile("" : : "r"(&kept) : "memory");
}

template <typename Class>
void MoveAndDestroy(Class& object) {
  Class other = std::move(object);
  object = std::move(other);
}
template <typename... Classes>
void ReferToMoves() {
  Refer(&MoveAndDestroy<Classes>...);
}

using Bits = std::span<const uint8_t>;
using Levels = std::span<const uint16_t>;

template <typename T>
void UseType() {
  using Values = std::span<const T>;
  ReferToMoves<Writer<T>, LevelWriter<T>, Cursor<T>, LevelCursor<T>, Scan<T>, TableCursor<T>,
               TableLevelCursor<T>, MergeCursor>();

  Refer(static_cast<absl::StatusOr<Writer<T>> (*)(const std::string&, const cfile::ColumnType&,
                                                  const cfile::WriterOptions&)>(&Writer<T>::Create),
        static_cast<absl::Status (Writer<T>::*)(Values)>(&Writer<T>::Append),
        static_cast<absl::Status (Writer<T>::*)(Values, Bits)>(&Writer<T>::Append),
        static_cast<absl::Status (Writer<T>::*)(const cfile::Batch<T>&)>(&Writer<T>::Append),
        &Writer<T>::AppendNull, &Writer<T>::AddMetadata, &Writer<T>::Finish, &Writer<T>::totals,
        &Writer<T>::memory_usage_bytes);
  Refer(&LevelWriter<T>::Append, &LevelWriter<T>::AddMetadata, &LevelWriter<T>::Finish,
        &LevelWriter<T>::totals, &LevelWriter<T>::memory_usage_bytes);

  Refer(&Reader::NewCursor<T>, &Reader::NewLevelCursor<T>, &Reader::NewScan<T>, &Reader::Get<T>,
        &Reader::Take<T>, &Reader::Read<T>);
  Refer(&Cursor<T>::SeekToOrdinal, &Cursor<T>::SeekToKey, &Cursor<T>::SeekMany,
        &Cursor<T>::SeekToRange, &Cursor<T>::SeekToKeyRange, &Cursor<T>::Next, &Cursor<T>::Previous,
        &Cursor<T>::Get, &Cursor<T>::Take, &Cursor<T>::ordinal, &Cursor<T>::Clone);
  Refer(&LevelCursor<T>::limits, &LevelCursor<T>::num_records, &LevelCursor<T>::SeekToRecord,
        &LevelCursor<T>::Next, &LevelCursor<T>::record);
  Refer(&Scan<T>::Next, &Scan<T>::counters);

  Refer(static_cast<absl::Status (TableWriter::*)(size_t, Values)>(&TableWriter::Append<T>),
        static_cast<absl::Status (TableWriter::*)(size_t, Values, Bits)>(&TableWriter::Append<T>),
        &TableWriter::AppendLevels<T>);
  Refer(&TableReader::NewCursor<T>, &TableReader::NewLevelCursor<T>);
  Refer(&TableCursor<T>::SeekToOrdinal, &TableCursor<T>::SeekToRange, &TableCursor<T>::Next,
        &TableCursor<T>::Previous, &TableCursor<T>::Get, &TableCursor<T>::ordinal,
        &TableCursor<T>::Clone, &TableCursor<T>::Take, &TableCursor<T>::SeekToKey,
        &TableCursor<T>::SeekMany, &TableCursor<T>::SeekToKeyRange);
  Refer(&TableLevelCursor<T>::SeekToRecord, &TableLevelCursor<T>::Next,
        &TableLevelCursor<T>::record);
  Refer(&MergeCursor::SeekToKey<T>, &MergeCursor::SeekToKeyRange<T>, &cfile::MergeBatch::column<T>);
  Refer(&cfile::TableBatch::column<T>, &cfile::TableBatch::levels<T>);
  Refer(
      static_cast<absl::Status (ColumnsWriter::*)(size_t, Values)>(&ColumnsWriter::Append<T>),
      static_cast<absl::Status (ColumnsWriter::*)(size_t, Values, Bits)>(&ColumnsWriter::Append<T>),
      &ColumnsWriter::AppendLevels<T>);
  Refer(&cfile::DropRowsBelow<T>);
  Refer(static_cast<absl::Status (*)(Writer<T>&, ArrowArrayStream*)>(&cfile::AppendArrow<T>),
        static_cast<absl::Status (*)(LevelWriter<T>&, ArrowArrayStream*)>(&cfile::AppendArrow<T>));

  Refer(&cfile::BlockStatistics::Min<T>, &cfile::BlockStatistics::Max<T>,
        &cfile::FileStatistics::MightContain<T>);
  Refer(&cfile::CompoundKey::Add<T>, &cfile::CompoundKeyReader::Next<T>,
        &cfile::CompoundKeyReader::NextOrNull<T>);
}

}  // namespace

absl::Status UseAllTypes() {
#define USE_TYPE(T) UseType<T>();
  CFILE_FOR_EACH_VALUE_TYPE(USE_TYPE)
#undef USE_TYPE
  return absl::OkStatus();
}
