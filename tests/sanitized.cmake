# CFILE_SANITIZED_TESTS: runs tests a second time, against the library with AddressSanitizer and UndefinedBehaviorSanitizer. Only the
# library is compiled again. The objects of the tests are linked again, without sanitizers: what is allocated in tests and used in the
# library is checked. The preset asan instruments the tests and the tools, too, with all checks (tests/campaign/nightly).
file(GLOB_RECURSE encodings_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/encodings/*.cc)
file(GLOB_RECURSE cfile_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cfile/internal/*.cc)
# Checks of each pointer for null and for alignment double the time of compiling. Checks of memory are calls for the same reason.
set(sanitize -fsanitize=address,undefined -fno-sanitize=null,alignment,vptr,object-size -fno-sanitize-recover=all)
cfile_unite(cfile_sources 100)
add_library(cfile_sanitized_encodings OBJECT EXCLUDE_FROM_ALL ${encodings_sources})
add_library(cfile_sanitized SHARED EXCLUDE_FROM_ALL ${cfile_sources} $<TARGET_OBJECTS:cfile_sanitized_encodings>)
get_target_property(libraries cfile LINK_LIBRARIES)
foreach(target cfile_sanitized_encodings cfile_sanitized)
  # Of Highway's targets, AVX2 and the one without vector instructions are compiled.
  target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:cfile,COMPILE_DEFINITIONS>
                             "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4|HWY_AVX3|HWY_AVX3_DL)")
  set(flags -O0)
  if(target STREQUAL "cfile_sanitized_encodings")
    set(flags -O1)
  endif()
  list(APPEND flags -fno-omit-frame-pointer ${sanitize} --param=asan-instrumentation-with-call-threshold=0)
  target_compile_options(${target} PRIVATE ${flags})
  set_target_properties(${target} PROPERTIES VISIBILITY_INLINES_HIDDEN ON) # the library calls its own inline functions, not those of tests
  target_link_libraries(${target} PRIVATE ${libraries} CURL::libcurl OpenSSL::Crypto pugixml::pugixml absl::time protobuf::libprotobuf)
endforeach()
target_link_options(cfile_sanitized PRIVATE ${sanitize} LINKER:-Bsymbolic-functions)

# What tests share, and what their programs link beside the library
set(shared "")
foreach(library testing_encodings testing_cfile testing_campaign testing_golden cfile_test_messages cfile_proto)
  list(APPEND shared $<TARGET_OBJECTS:${library}>)
endforeach()
# Adds the program `target`_sanitized from the objects of `target`, which is a program of tests.
function(cfile_sanitized_program target)
  add_executable(${target}_sanitized $<TARGET_OBJECTS:${target}> ${ARGN})
  target_link_libraries(${target}_sanitized PRIVATE cfile_sanitized ${libraries} ZLIB::ZLIB protobuf::libprotobuf GTest::gmock GTest::gtest_main)
  target_link_options(${target}_sanitized PRIVATE ${sanitize})
  set_target_properties(${target}_sanitized PROPERTIES LINKER_LANGUAGE CXX)
endfunction()
foreach(program encodings_tests encodings_long_tests cfile_tests cfile_long_tests)
  cfile_sanitized_program(${program} ${shared})
  get_target_property(sources ${program} CFILE_TEST_SOURCES)
  foreach(source ${sources})
    get_filename_component(directory ${source} DIRECTORY)
    get_filename_component(directory ${directory} NAME)
    get_filename_component(name ${source} NAME_WE)
    get_property(filter GLOBAL PROPERTY cfile_filter_${directory}_${name})
    add_test(NAME sanitized.${directory}.${name} COMMAND ${program}_sanitized "--gtest_filter=${filter}")
    set_tests_properties(sanitized.${directory}.${name} PROPERTIES TIMEOUT 1800)
  endforeach()
endforeach()
