// Measures sorted key stores: one table file of LevelDB, one table file of RocksDB, and LMDB. Keys
// have no values. All options have their defaults, except that block caches hold all blocks, which
// is the best case for the stores.
#include "file_comparison.h"

#ifdef CFILE_BENCHMARK_LEVELDB
#include <leveldb/cache.h>
#include <leveldb/env.h>
#include <leveldb/iterator.h>
#include <leveldb/options.h>
#include <leveldb/table.h>
#include <leveldb/table_builder.h>
#endif
#ifdef CFILE_BENCHMARK_LMDB
#include <lmdb.h>
#endif
#ifdef CFILE_BENCHMARK_ROCKSDB
#include <rocksdb/cache.h>
#include <rocksdb/env.h>
#include <rocksdb/iterator.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#endif

namespace cfile::benchmarks {
namespace {

#if defined(CFILE_BENCHMARK_LEVELDB) || defined(CFILE_BENCHMARK_ROCKSDB)
constexpr size_t kCacheBytes = size_t{2} << 30;

// Iterators of LevelDB and of RocksDB have the same methods.
template <typename Slice, typename Iterator>
void MeasureIterator(const Column<std::string_view>& column, const Queries& queries,
                     const std::string& who, Iterator& iterator) {
  const double scan = MedianSeconds([&] {
    size_t count = 0;
    for (iterator.SeekToFirst(); iterator.Valid(); iterator.Next()) {
      const Slice key = iterator.key();
      Keep(key.data());
      ++count;
    }
    Check(iterator.status().ok() && count == column.values.size(), who + " has its keys");
  });
  PrintRate(column.name, "scan", who, column.values.size(), scan);
  const double seek = MedianSeconds([&] {
    for (const std::string_view key : queries.keys) {
      iterator.Seek(Slice(key.data(), key.size()));
      Check(iterator.Valid() && iterator.key() == Slice(key.data(), key.size()),
            who + " finds a key");
    }
  });
  PrintLatency(column.name, "seek", who, queries.keys.size(), seek);
}
#endif

#ifdef CFILE_BENCHMARK_LEVELDB
void MeasureLevelDb(const Column<std::string_view>& column, const Queries& queries,
                    const std::string& directory) {
  const std::string path = directory + "/" + column.name + ".leveldb";
  const std::unique_ptr<leveldb::Cache> cache(leveldb::NewLRUCache(kCacheBytes));
  leveldb::Options options;
  options.block_cache = cache.get();
  const auto check = [](const leveldb::Status& status) { Check(status.ok(), status.ToString()); };
  const double write = MedianSeconds([&] {
    leveldb::WritableFile* opened = nullptr;
    check(leveldb::Env::Default()->NewWritableFile(path, &opened));
    const std::unique_ptr<leveldb::WritableFile> file(opened);
    leveldb::TableBuilder builder(options, file.get());
    for (const std::string_view key : column.values)
      builder.Add(leveldb::Slice(key.data(), key.size()), leveldb::Slice());
    check(builder.Finish());
    check(file->Close());
  });
  PrintRate(column.name, "write", "LevelDB", column.values.size(), write);
  PrintSize(column.name, "LevelDB", path, column.values.size());

  leveldb::RandomAccessFile* opened_file = nullptr;
  check(leveldb::Env::Default()->NewRandomAccessFile(path, &opened_file));
  const std::unique_ptr<leveldb::RandomAccessFile> file(opened_file);
  leveldb::Table* opened_table = nullptr;
  check(leveldb::Table::Open(options, file.get(), std::filesystem::file_size(path), &opened_table));
  const std::unique_ptr<leveldb::Table> table(opened_table);
  const std::unique_ptr<leveldb::Iterator> iterator(table->NewIterator(leveldb::ReadOptions()));
  MeasureIterator<leveldb::Slice>(column, queries, "LevelDB", *iterator);
}
#endif

#ifdef CFILE_BENCHMARK_ROCKSDB
void MeasureRocksDb(const Column<std::string_view>& column, const Queries& queries,
                    const std::string& directory) {
  const std::string path = directory + "/" + column.name + ".rocksdb";
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(kCacheBytes);
  rocksdb::Options options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  const auto check = [](const rocksdb::Status& status) { Check(status.ok(), status.ToString()); };
  const double write = MedianSeconds([&] {
    std::filesystem::remove(path);
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
    check(writer.Open(path));
    for (const std::string_view key : column.values)
      check(writer.Put(rocksdb::Slice(key.data(), key.size()), rocksdb::Slice()));
    check(writer.Finish());
  });
  PrintRate(column.name, "write", "RocksDB", column.values.size(), write);
  PrintSize(column.name, "RocksDB", path, column.values.size());

  rocksdb::SstFileReader reader(options);
  check(reader.Open(path));
  const std::unique_ptr<rocksdb::Iterator> iterator(reader.NewIterator(rocksdb::ReadOptions()));
  MeasureIterator<rocksdb::Slice>(column, queries, "RocksDB", *iterator);
}
#endif

#ifdef CFILE_BENCHMARK_LMDB
void CheckLmdb(int code) { Check(code == MDB_SUCCESS, mdb_strerror(code)); }

MDB_env* OpenLmdb(const std::string& path, unsigned flags) {
  MDB_env* environment = nullptr;
  CheckLmdb(mdb_env_create(&environment));
  CheckLmdb(mdb_env_set_mapsize(environment, size_t{4} << 30));
  CheckLmdb(mdb_env_open(environment, path.c_str(), MDB_NOSUBDIR | flags, 0644));
  return environment;
}
MDB_val LmdbKey(std::string_view key) { return {key.size(), const_cast<char*>(key.data())}; }

void MeasureLmdb(const Column<std::string_view>& column, const Queries& queries,
                 const std::string& directory) {
  const std::string path = directory + "/" + column.name + ".lmdb";
  MDB_txn* transaction = nullptr;
  MDB_dbi database = 0;
  double used_bytes = 0;
  // Writes all keys in order and in one transaction, without a sync.
  const double write = MedianSeconds([&] {
    std::filesystem::remove(path);
    MDB_env* const environment = OpenLmdb(path, MDB_NOSYNC | MDB_WRITEMAP);
    CheckLmdb(mdb_txn_begin(environment, nullptr, 0, &transaction));
    CheckLmdb(mdb_dbi_open(transaction, nullptr, 0, &database));
    for (const std::string_view key : column.values) {
      MDB_val stored_key = LmdbKey(key);
      MDB_val value = LmdbKey("");
      CheckLmdb(mdb_put(transaction, database, &stored_key, &value, MDB_APPEND));
    }
    CheckLmdb(mdb_txn_commit(transaction));
    MDB_envinfo info;
    MDB_stat stat;
    CheckLmdb(mdb_env_info(environment, &info));
    CheckLmdb(mdb_env_stat(environment, &stat));
    used_bytes = static_cast<double>(info.me_last_pgno + 1) * stat.ms_psize;
    mdb_env_close(environment);
  });
  PrintRate(column.name, "write", "LMDB", column.values.size(), write);
  // The file is as long as its mapping. So the figure counts only the used bytes.
  PrintFigure(column.name, "size", "LMDB", used_bytes / static_cast<double>(column.values.size()));

  MDB_env* const environment = OpenLmdb(path, MDB_RDONLY);
  MDB_cursor* cursor = nullptr;
  CheckLmdb(mdb_txn_begin(environment, nullptr, MDB_RDONLY, &transaction));
  CheckLmdb(mdb_dbi_open(transaction, nullptr, 0, &database));
  CheckLmdb(mdb_cursor_open(transaction, database, &cursor));
  MDB_val key;
  MDB_val value;
  const double scan = MedianSeconds([&] {
    size_t count = 0;
    int code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST);
    for (; code == MDB_SUCCESS; code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) {
      Keep(key.mv_data);
      ++count;
    }
    Check(code == MDB_NOTFOUND && count == column.values.size(), "LMDB has its keys");
  });
  PrintRate(column.name, "scan", "LMDB", column.values.size(), scan);
  const double seek = MedianSeconds([&] {
    for (const std::string_view wanted : queries.keys) {
      key = LmdbKey(wanted);
      CheckLmdb(mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE));
      Check(std::string_view(static_cast<const char*>(key.mv_data), key.mv_size) == wanted,
            "LMDB finds a key");
    }
  });
  PrintLatency(column.name, "seek", "LMDB", queries.keys.size(), seek);
  mdb_cursor_close(cursor);
  mdb_txn_abort(transaction);
  mdb_env_close(environment);
  std::filesystem::remove(path);
  std::filesystem::remove(path + "-lock");
}
#endif

}  // namespace

void MeasureKeyValueStores([[maybe_unused]] const Column<std::string_view>& column,
                           [[maybe_unused]] const Queries& queries,
                           [[maybe_unused]] const std::string& directory) {
#ifdef CFILE_BENCHMARK_LEVELDB
  MeasureLevelDb(column, queries, directory);
#endif
#ifdef CFILE_BENCHMARK_ROCKSDB
  MeasureRocksDb(column, queries, directory);
#endif
#ifdef CFILE_BENCHMARK_LMDB
  MeasureLmdb(column, queries, directory);
#endif
}

}  // namespace cfile::benchmarks
