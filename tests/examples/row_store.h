// A store of rows like a tablet of Apache Kudu, built with cfile. New rows are in memory and in a
// log. Flush writes them as a sorted part of the table DIRECTORY/rows. A row replaces the earlier
// row with its key. After a kill at any moment, Open finds each row whose Put returned OK; after a
// power cut, each row before the last Sync or Flush that returned OK. A call that was killed or
// returned an error has changed all of its rows or none. Thread-compatible.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cfile/compound_key.h"
#include "cfile/merge_cursor.h"
#include "cfile/prepared_parts.h"
#include "cfile/status.h"
#include "cfile/table_lookup.h"
#include "cfile/table_maintenance.h"

struct Key {
  int64_t time = 0, sensor = 0;
  friend auto operator<=>(const Key&, const Key&) = default;
};
struct Values {
  double temperature = 0, humidity = 0;
};
using Rows = std::map<Key, Values>;

inline const cfile::Schema kSchema{
    .columns = {{.name = "time", .type = cfile::ColumnType::Int64()},
                {.name = "sensor", .type = cfile::ColumnType::Int64()},
                {.name = "temperature", .type = cfile::ColumnType::Double()},
                {.name = "humidity", .type = cfile::ColumnType::Double()}},
    .key_columns = {0, 1}};

class RowStore {
 public:
  // Opens the store in an existing directory, and makes it if the directory is empty.
  static absl::StatusOr<std::unique_ptr<RowStore>> Open(const std::string& directory) {
    std::unique_ptr<RowStore> store(new RowStore(directory));
    CFILE_RETURN_IF_ERROR(store->Recover(directory));
    return store;
  }
  ~RowStore() { close(log_); }

  // After an error of the log, Put and Sync return the error until Flush has succeeded.
  absl::Status Put(const Key& key, const Values& values) {
    CFILE_RETURN_IF_ERROR(log_status_);
    const Record record{key, values};
    const bool written = write(log_, &record, sizeof(record)) == ssize_t{sizeof(record)};
    if (!written) return log_status_ = LogError("write");  // no record may follow a torn one
    memory_.insert_or_assign(key, values);
    return absl::OkStatus();
  }
  absl::Status Sync() {
    if (log_status_.ok() && fsync(log_) != 0) log_status_ = LogError("sync");
    return log_status_;
  }
  size_t rows_in_memory() const { return memory_.size(); }

  // Writes the rows in memory into the table, and empties the log.
  absl::Status Flush() {
    if (memory_.empty()) return CutLog(0);
    std::vector<int64_t> times, sensors;
    std::vector<double> temperatures, humidities;
    for (const auto& [key, values] : memory_) {
      times.push_back(key.time);
      sensors.push_back(key.sensor);
      temperatures.push_back(values.temperature);
      humidities.push_back(values.humidity);
    }
    std::vector<cfile::WriterOptions> options(kSchema.columns.size() + 1);
    options.back().bloom_filter_bits_per_value = 10;  // so that Get skips parts without the key
    CFILE_ASSIGN_OR_RETURN(auto writer, cfile::TableWriter::Open(table_path_, options));
    CFILE_RETURN_IF_ERROR(writer.Append<int64_t>(0, times));
    CFILE_RETURN_IF_ERROR(writer.Append<int64_t>(1, sensors));
    CFILE_RETURN_IF_ERROR(writer.Append<double>(2, temperatures));
    CFILE_RETURN_IF_ERROR(writer.Append<double>(3, humidities));
    CFILE_RETURN_IF_ERROR(writer.Finish());
    CFILE_RETURN_IF_ERROR(Refresh());
    memory_.clear();
    return CutLog(0);  // after a kill before this, Open reads the same rows from the log
  }

  absl::StatusOr<std::optional<Values>> Get(const Key& key) {
    if (const auto row = memory_.find(key); row != memory_.end()) return row->second;
    CFILE_ASSIGN_OR_RETURN(const auto row, lookup_->Get<std::string_view>(ToBytes(key)));
    if (!row.found()) return std::nullopt;
    return Values{*row.value<double>(0), *row.value<double>(1)};
  }

  // Returns the rows with from <= key < to. Precondition: from <= to.
  absl::StatusOr<Rows> Range(const Key& from, const Key& to) {
    CFILE_RETURN_IF_ERROR(cursor_->SeekToKeyRange<std::string_view>(ToBytes(from), ToBytes(to)));
    Rows stored;
    for (const auto& batch : cursor_->Batches()) {
      CFILE_RETURN_IF_ERROR(batch.status());
      for (size_t i = 0; i < batch->num_rows(); ++i) {  // the newest row of a key comes last
        const Key key{batch->column<int64_t>(0).values[i], batch->column<int64_t>(1).values[i]};
        stored[key] = {batch->column<double>(2).values[i], batch->column<double>(3).values[i]};
      }
    }
    Rows rows(memory_.lower_bound(from), memory_.lower_bound(to));
    rows.merge(stored);  // keeps the rows of memory
    return rows;
  }

  // Merges all parts, and drops the rows that newer rows replace.
  absl::Status Compact() {
    constexpr auto kNewest = cfile::KeptRows::kNewestOfKey;
    CFILE_RETURN_IF_ERROR(cfile::Compact(table_path_, {}, {}, kNewest).status());
    return Refresh();
  }

  // Removes the rows before `time`.
  absl::Status Retain(int64_t time) {
    CFILE_RETURN_IF_ERROR(Flush());  // so that the log does not bring rows back
    cfile::CompoundKey key(kSchema.key_types());
    key.Add(time);
    CFILE_RETURN_IF_ERROR(cfile::DropRowsBelow(table_path_, *kSchema.key_index(), key.bytes()));
    return Refresh();
  }

  // Deletes unneeded files older than `age`. Use 0 only if no other program has the table open.
  absl::Status CollectGarbage(std::chrono::seconds age = cfile::kGarbageAge) {
    CFILE_RETURN_IF_ERROR(Refresh());  // the files of the parts that it reads must stay
    return cfile::CollectGarbage(table_path_, age).status();
  }

 private:
  struct Record {  // of the log
    Key key;
    Values values;
    uint64_t crc = crc32(0, reinterpret_cast<const Bytef*>(this), sizeof(Key) + sizeof(Values));
  };

  explicit RowStore(const std::string& directory)
      : log_path_(directory + "/log"), table_path_(directory + "/rows") {}

  absl::Status Recover(const std::string& directory) {
    if (access(log_path_.c_str(), F_OK) != 0)  // a new store gets its table before its log
      CFILE_RETURN_IF_ERROR(cfile::CommitParts(table_path_, {}, {.schema = &kSchema}).status());
    log_ = open(log_path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (log_ < 0 || flock(log_, LOCK_EX | LOCK_NB) != 0) return LogError("open and lock");
    const int folder = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool synced = folder >= 0 && fsync(folder) == 0;  // a killed Open may not have done this
    if (folder < 0 || close(folder) != 0 || !synced) return LogError("sync the folder of");
    CFILE_ASSIGN_OR_RETURN(table_, cfile::TableReader::Open(table_path_));
    if (table_->schema() != kSchema) return absl::FailedPreconditionError("another table");
    CFILE_ASSIGN_OR_RETURN(const auto source, cfile::OpenPreadSource(log_path_));
    std::vector<Record> records(source->size() / sizeof(Record));
    const auto bytes = reinterpret_cast<uint8_t*>(records.data());
    CFILE_RETURN_IF_ERROR(source->ReadAt(0, {bytes, records.size() * sizeof(Record)}));
    size_t whole = 0;  // the number of records before one that a kill or a power cut has torn
    for (const auto& [key, values, crc] : records) {
      if (crc != Record{key, values}.crc) break;
      memory_.insert_or_assign(key, values);
      ++whole;
    }
    CFILE_RETURN_IF_ERROR(CutLog(whole * sizeof(Record)));
    return Refresh();
  }

  absl::Status Refresh() {
    CFILE_ASSIGN_OR_RETURN(table_, table_->Refresh());
    CFILE_ASSIGN_OR_RETURN(lookup_, table_->NewLookup(std::vector<size_t>{2, 3}));
    CFILE_ASSIGN_OR_RETURN(cursor_, table_->NewMergeCursor({.columns = {0, 1, 2, 3}}));
    return absl::OkStatus();
  }

  absl::Status CutLog(size_t size) {
    const bool cut = ftruncate(log_, static_cast<off_t>(size)) == 0 && fsync(log_) == 0;
    return log_status_ = cut ? absl::OkStatus() : LogError("cut");
  }
  absl::Status LogError(const std::string& what) const {
    return absl::ErrnoToStatus(errno == 0 ? EIO : errno, "cannot " + what + " " + log_path_);
  }

  static std::string ToBytes(const Key& key) {
    cfile::CompoundKey bytes(kSchema.key_types());
    return std::string(bytes.Add(key.time).Add(key.sensor).bytes());
  }

  const std::string log_path_, table_path_;
  int log_ = -1;
  absl::Status log_status_;
  Rows memory_;
  std::optional<cfile::TableReader> table_;
  std::optional<cfile::TableLookup> lookup_;
  std::optional<cfile::MergeCursor> cursor_;
};
