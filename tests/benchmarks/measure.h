// Functions for all programs of file_comparison: measuring time, printing figures as lines of JSON,
// ending the program on errors.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

namespace cfile::benchmarks {

inline void Check(bool good, const std::string& what) {
  if (good) return;
  std::fprintf(stderr, "failed: %s\n", what.c_str());
  std::exit(1);
}

// Keeps the compiler from removing the computation of the data at `p`.
inline void Keep(const void* p) { asm volatile("" : : "g"(p) : "memory"); }

// Writes the file's dirty pages to the disk, and drops the file from the page cache. The file must
// not be mapped.
inline void DropFromMemory(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY);
  Check(descriptor >= 0, "cannot open " + path);
  Check(fsync(descriptor) == 0, "fsync " + path);
  Check(posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0, "posix_fadvise " + path);
  close(descriptor);
}

// Returns the processor time of this process, in seconds. One thread does all work and waits only
// for memory, so that the processor time is the elapsed time without the time of other programs.
inline double ProcessorSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Runs `work` once to warm up, and then returns the median of five runs, in seconds.
template <typename Work>
double MedianSeconds(const Work& work) {
  work();
  std::array<double, 5> seconds;
  for (double& turn : seconds) {
    const double begin = ProcessorSeconds();
    work();
    turn = ProcessorSeconds() - begin;
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

// Prints one figure as a line of JSON: `who` did `work` with the column `data`. Scans and writes
// are in million values per second; seeks, takes and single rows in microseconds per row; sizes in
// bytes per value. No string may need escapes in JSON.
inline void PrintFigure(const std::string& data, const std::string& work, const std::string& who,
                        double figure) {
  std::printf("{\"data\": \"%s\", \"work\": \"%s\", \"who\": \"%s\", \"figure\": %.6g}\n",
              data.c_str(), work.c_str(), who.c_str(), figure);
  std::fflush(stdout);
}
inline void PrintRate(const std::string& data, const std::string& work, const std::string& who,
                      size_t values, double seconds) {
  PrintFigure(data, work, who, static_cast<double>(values) / seconds / 1e6);
}
inline void PrintLatency(const std::string& data, const std::string& work, const std::string& who,
                         size_t rows, double seconds) {
  PrintFigure(data, work, who, seconds / static_cast<double>(rows) * 1e6);
}
inline void PrintSize(const std::string& data, const std::string& who, const std::string& path,
                      size_t values) {
  PrintFigure(data, "size", who,
              static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(values));
}

}  // namespace cfile::benchmarks
