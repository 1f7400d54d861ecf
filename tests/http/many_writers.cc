// Lets several writers append parts to one table on an S3 server at the same time, and checks that
// no part is lost and that no row is there twice. Prints what the commits cost.
//
//   with_servers.py many_writers SERVER WRITERS PARTS
//
// SERVER: the name of a server of with_servers.py, for example S3 or LATENCY, or the URL of a
// server. WRITERS threads append PARTS parts each. Each writer has an HttpClient of its own, so the
// writers share nothing, as if they were processes on different machines.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cfile/http.h"
#include "cfile/table.h"
#include "tests/benchmarks/forwarding_storage.h"
#include "tests/benchmarks/or_die.h"

namespace cfile {
namespace {

using benchmarks::Check;
using benchmarks::OrDie;
using Clock = std::chrono::steady_clock;

constexpr int64_t kRowsPerPart = 10;

// Counts the commits that are tried.
class CountingStorage final : public ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;
  absl::Status Commit(const std::string& path, const std::optional<std::string>& expected_version,
                      std::string_view bytes) override {
    ++commits_;
    return base()->Commit(path, expected_version, bytes);
  }
  uint64_t commits() const { return commits_; }

 private:
  std::atomic<uint64_t> commits_ = 0;
};

// What one writer has done.
struct Work {
  std::vector<double> milliseconds;  // of each Finish
  uint64_t commits = 0;              // conditional PUTs of table.cft
  uint64_t requests = 0;             // while Finish ran
  uint64_t most_commits = 0;         // of one part
};

HttpOptions OptionsFor(const std::string& server) {
  HttpOptions options;
  const char* url = std::getenv(absl::StrCat("CFILE_TEST_SERVER_", server).c_str());
  options.s3.endpoint = url == nullptr ? server : url;
  return options;
}

Schema NumberedRows() { return {.columns = {{.name = "row", .type = ColumnType::Int64()}}}; }

void AppendPart(const std::shared_ptr<Storage>& storage, bool create, int64_t part, Work& work,
                const HttpClient& client) {
  TableWriter writer =
      OrDie(create ? TableWriter::Create(storage, NumberedRows()) : TableWriter::Open(storage));
  std::vector<int64_t> rows(kRowsPerPart);
  for (int64_t i = 0; i < kRowsPerPart; ++i) rows[static_cast<size_t>(i)] = kRowsPerPart * part + i;
  OrDie(writer.Append<int64_t>(0, rows));
  const uint64_t requests = client.counters().requests;
  const auto begin = Clock::now();
  OrDie(writer.Finish());
  work.milliseconds.push_back(
      std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  work.requests += client.counters().requests - requests;
}

void CheckTable(const std::shared_ptr<Storage>& storage, int64_t parts) {
  const TableReader table = OrDie(TableReader::Open(storage));
  Check(table.num_parts() == static_cast<size_t>(parts),
        absl::StrCat(parts, " parts expected, found ", table.num_parts()));
  std::set<int64_t> rows;
  auto cursor = OrDie(table.NewCursor<int64_t>(0));
  for (const auto& batch : cursor.Batches()) {
    for (const int64_t row : OrDie(batch).values)
      Check(rows.insert(row).second, absl::StrCat("row ", row, " is in the table twice"));
  }
  Check(rows.size() == static_cast<size_t>(parts * kRowsPerPart) && *rows.begin() == 0 &&
            *rows.rbegin() == parts * kRowsPerPart - 1,
        absl::StrCat("the table has ", rows.size(), " of ", parts * kRowsPerPart, " rows"));
  // No writer has left files that the table does not name: each part has a column and a copy of its
  // description.
  std::set<std::string> names;
  for (size_t part = 0; part < table.num_parts(); ++part)
    names.insert(OrDie(table.part(part)).name);
  int64_t files = 0;
  for (const StorageEntry& entry : OrDie(storage->List(""))) {
    const size_t slash = entry.path.find('/');
    if (slash == std::string::npos) continue;
    Check(names.contains(entry.path.substr(0, slash)), entry.path + " belongs to no part");
    ++files;
  }
  Check(files == 2 * parts, absl::StrCat(2 * parts, " files of parts expected, found ", files));
}

void Run(const std::string& server, int64_t writers, int64_t parts_of_writer) {
  const HttpOptions options = OptionsFor(server);
  const std::string url =
      absl::StrCat("s3://bucket/writers-", Clock::now().time_since_epoch().count());
  const HttpClient first = OrDie(HttpClient::Create(options));
  const auto storage = OrDie(first.OpenTable(url));
  Work unused;
  AppendPart(storage, /*create=*/true, 0, unused, first);

  std::vector<Work> works(static_cast<size_t>(writers));
  std::vector<std::thread> threads;
  std::atomic<bool> begun = false;
  for (int64_t writer = 0; writer < writers; ++writer) {
    threads.emplace_back([&, writer] {
      Work& work = works[static_cast<size_t>(writer)];
      const HttpClient client = OrDie(HttpClient::Create(options));
      const auto own = std::make_shared<CountingStorage>(OrDie(client.OpenTable(url)));
      begun.wait(false);
      for (int64_t i = 0; i < parts_of_writer; ++i) {
        const uint64_t before = own->commits();
        AppendPart(own, /*create=*/false, 1 + writer * parts_of_writer + i, work, client);
        work.most_commits = std::max(work.most_commits, own->commits() - before);
      }
      work.commits = own->commits();
    });
  }
  const auto begin = Clock::now();
  begun = true;
  begun.notify_all();
  for (std::thread& thread : threads) thread.join();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  CheckTable(storage, 1 + writers * parts_of_writer);

  Work all;
  for (const Work& work : works) {
    all.milliseconds.insert(all.milliseconds.end(), work.milliseconds.begin(),
                            work.milliseconds.end());
    all.commits += work.commits;
    all.requests += work.requests;
    all.most_commits = std::max(all.most_commits, work.most_commits);
  }
  std::sort(all.milliseconds.begin(), all.milliseconds.end());
  const auto parts = static_cast<double>(writers * parts_of_writer);
  std::printf(
      "%lld writers, %.0f commits in %.2f s, none lost: %.1f PUTs of table.cft (at most %llu) and "
      "%.1f requests for each commit; %.0f ms in the median, %.0f ms at most\n",
      static_cast<long long>(writers), parts, seconds, static_cast<double>(all.commits) / parts,
      static_cast<unsigned long long>(all.most_commits), static_cast<double>(all.requests) / parts,
      all.milliseconds[all.milliseconds.size() / 2], all.milliseconds.back());
}

}  // namespace
}  // namespace cfile

int main(int argc, char** argv) {
  int64_t writers = 0, parts = 0;
  cfile::benchmarks::Check(argc == 4 && absl::SimpleAtoi(argv[2], &writers) && writers > 0 &&
                               absl::SimpleAtoi(argv[3], &parts) && parts > 0,
                           "usage: many_writers SERVER WRITERS PARTS");
  cfile::Run(argv[1], writers, parts);
}
