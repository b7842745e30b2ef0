# tests.cmake - whether the tests are built, and what ctest runs.
if(PROJECT_IS_TOP_LEVEL)
  enable_testing()
endif()

# leave_program_cache(): no test of this directory uses the user's program cache;
# those that are about it name one of their own.
function(leave_program_cache)
  cmake_language(DEFER CALL leave_program_cache_at_the_end)
endfunction()
function(leave_program_cache_at_the_end)
  get_property(tests DIRECTORY PROPERTY TESTS)
  if(tests)
    set_property(TEST ${tests} APPEND PROPERTY ENVIRONMENT CLATTN_CACHE=0)
  endif()
endfunction()

set(build_tests ${CLATTN_BUILD_TESTS})
if(build_tests STREQUAL "AUTO")
  set(build_tests OFF)
  if(PROJECT_IS_TOP_LEVEL AND CLATTN_BUILD_CLI)
    pkg_check_modules(CHECK QUIET check)
    if(CHECK_FOUND)
      set(build_tests ON)
    else()
      message(STATUS "The tests are left out: Check is not installed")
    endif()
  endif()
endif()

if(build_tests)
  if(NOT CLATTN_BUILD_CLI)
    message(FATAL_ERROR "CLATTN_BUILD_TESTS needs CLATTN_BUILD_CLI: the tests"
      " run the program")
  endif()
  add_subdirectory(tests)
endif()
