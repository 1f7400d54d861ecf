# CFILE_SANITIZED_TESTS: runs tests a second time, against the library with AddressSanitizer and UndefinedBehaviorSanitizer. Only the
# library is compiled again. The objects of the tests are linked again, without sanitizers: what is allocated in tests and used in the
# library is checked. The preset asan instruments the tests and the tools, too, with all checks (tests/campaign/nightly).
file(GLOB_RECURSE encodings_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/encodings/*.cc)
file(GLOB_RECURSE cfile_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cfile/*.cc)
# Checks of each pointer for null and for alignment double the time of compiling. Checks of memory are calls for the same reason.
set(sanitize -fsanitize=address,undefined -fno-sanitize=null,alignment,vptr,object-size -fno-sanitize-recover=all)
cfile_unite(cfile_sources)
cfile_unite(encodings_sources)
add_library(cfile_sanitized_encodings OBJECT ${encodings_sources})
add_library(cfile_sanitized SHARED ${cfile_sources} $<TARGET_OBJECTS:cfile_sanitized_encodings>)
get_target_property(libraries cfile LINK_LIBRARIES)
foreach(target cfile_sanitized_encodings cfile_sanitized)
  target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:cfile_core_fast,COMPILE_DEFINITIONS>)
  set(flags -O0)
  if(target STREQUAL "cfile_sanitized_encodings")
    set(flags -O1)
  endif()
  list(APPEND flags -fno-omit-frame-pointer ${sanitize} --param=asan-instrumentation-with-call-threshold=0)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)")
    # Of Highway's targets, AVX2 and the one without vector instructions are compiled.
    list(APPEND flags -UHWY_DISABLED_TARGETS "-DHWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4|HWY_AVX3|HWY_AVX3_DL)")
  endif()
  target_compile_options(${target} PRIVATE ${flags})
  cfile_precompile(${target} "precompiled_${target}" "${cfile_headers}" "${flags}")
  set_target_properties(${target} PROPERTIES VISIBILITY_INLINES_HIDDEN ON) # the library calls its own inline functions, not those of tests
  target_link_libraries(${target} PRIVATE cfile_flags ${libraries} CURL::libcurl OpenSSL::Crypto pugixml::pugixml absl::time protobuf::libprotobuf)
endforeach()
target_link_options(cfile_sanitized PRIVATE ${sanitize} LINKER:-Bsymbolic-functions)

# What tests share, and what their programs link beside the library
set(shared "")
foreach(library testing_encodings testing_cfile testing_campaign testing_golden cfile_test_messages cfile_proto)
  list(APPEND shared $<TARGET_OBJECTS:${library}>)
endforeach()
# Adds the program `target`_sanitized from the objects of `target`, which is a program of tests.
function(cfile_sanitized_program target)
  add_executable(${target}_sanitized ${ARGN})
  get_target_property(sources ${target} SOURCES)
  if(sources)
    target_sources(${target}_sanitized PRIVATE $<TARGET_OBJECTS:${target}>)
  endif()
  target_link_libraries(${target}_sanitized PRIVATE cfile_sanitized ${libraries} ZLIB::ZLIB protobuf::libprotobuf GTest::gmock GTest::gtest_main)
  target_link_options(${target}_sanitized PRIVATE ${sanitize})
  set_target_properties(${target}_sanitized PROPERTIES LINKER_LANGUAGE CXX)
endfunction()
# Sanitizers make a test about ten times slower. These tests run with sanitizers only in tests/campaign/nightly, and so do tests that
# replace functions of the whole program and those in the list `long` of CMakeLists.txt.
set(nightly_only encodings.delta encodings.interleaved_bits cfile.arrow_import cfile.arrow_ipc_golden cfile.auto_encoding cfile.block_copy
    cfile.bounded_memory cfile.choice cfile.choice_sizes cfile.file cfile.manifest cfile.minted_golden cfile.movable cfile.parquet_export
    cfile.prepared_parts cfile.record_table_damage cfile.scan cfile.seek cfile.seek_blocks cfile.statistics cfile.table
    cfile.table_columns cfile.table_compact cfile.table_cursor cfile.table_publish cfile.table_repair cfile.table_scan cfile.wire)
foreach(program encodings_tests cfile_tests)
  cfile_sanitized_program(${program} ${shared})
  get_target_property(sources ${program} CFILE_TEST_SOURCES)
  foreach(source ${sources})
    get_filename_component(directory ${source} DIRECTORY)
    get_filename_component(directory ${directory} NAME)
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "_test$" "" short ${name})
    if("${directory}.${short}" IN_LIST nightly_only)
      continue()
    endif()
    get_property(filter GLOBAL PROPERTY cfile_filter_${directory}_${name})
    add_test(NAME sanitized.${directory}.${name} COMMAND ${program}_sanitized "--gtest_filter=${filter}")
    set_tests_properties(sanitized.${directory}.${name} PROPERTIES TIMEOUT 1800)
  endforeach()
endforeach()
cfile_sanitized_program(http_http_test ${shared})
add_test(NAME sanitized.http.http_test COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/http/with_servers.py $<TARGET_FILE:http_http_test_sanitized>)
set_tests_properties(sanitized.http.http_test PROPERTIES TIMEOUT 1800 SKIP_RETURN_CODE 77)
file(GLOB sources CONFIGURE_DEPENDS c/*_test.c)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  cfile_sanitized_program(c_${name})
  add_test(NAME sanitized.c.${name} COMMAND c_${name}_sanitized)
endforeach()
# The targets of fuzz.* that call the library only, with fewer inputs
foreach(name arrow encoding file parquet structure table)
  cfile_sanitized_program(${name}_fuzz_replay ${shared} $<TARGET_OBJECTS:cfile_fuzz_replay> $<TARGET_OBJECTS:${name}_fuzz_object>
                          $<TARGET_OBJECTS:cfile_fuzz_parts>)
  add_test(NAME sanitized.fuzz.${name} COMMAND ${name}_fuzz_replay_sanitized --changed=500 ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/found)
  set_tests_properties(sanitized.fuzz.${name} PROPERTIES TIMEOUT 1800)
endforeach()
