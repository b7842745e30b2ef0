# commit.cmake - the short name of the commit that is being built, "unknown"
# outside a git checkout.  A new commit configures anew.

# define_commit(<source>): defines CLATTN_COMMIT for that file, by a header, so
# that a new commit compiles nothing else again.
function(define_commit source)
  commit_name(commit)
  set(header ${CMAKE_CURRENT_BINARY_DIR}/commit.h)
  file(CONFIGURE OUTPUT ${header} CONTENT "#define CLATTN_COMMIT \"${commit}\"
")
  set_source_files_properties(${source} PROPERTIES
    COMPILE_OPTIONS "-include;${header}")
endfunction()

# commit_name(<out-variable>)
function(commit_name out)
  set(${out} "${CLATTN_COMMIT}" PARENT_SCOPE)
  if(NOT CLATTN_COMMIT STREQUAL "")
    return()
  endif()

  set(${out} unknown PARENT_SCOPE)
  ask_git(top rev-parse --show-toplevel)
  file(REAL_PATH "${PROJECT_SOURCE_DIR}" source)
  # A tarball unpacked inside another project's checkout has no commit.
  if(NOT top STREQUAL source)
    return()
  endif()
  ask_git(name rev-parse --short=12 HEAD)
  if(name STREQUAL "")
    return()
  endif()
  set(${out} ${name} PARENT_SCOPE)

  # git writes to one of them with every commit and every switch.
  foreach(part HEAD logs/HEAD)
    ask_git(file rev-parse --git-path ${part})
    get_filename_component(file "${file}" ABSOLUTE
      BASE_DIR ${PROJECT_SOURCE_DIR})
    if(EXISTS ${file})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    endif()
  endforeach()
endfunction()

# ask_git(<out-variable> <argument>...): what it prints, "" if it fails or is not
# there.
function(ask_git out)
  find_program(CLATTN_GIT git)
  mark_as_advanced(CLATTN_GIT)
  set(text "")
  if(CLATTN_GIT)
    execute_process(COMMAND ${CLATTN_GIT} ${ARGN}
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
      OUTPUT_VARIABLE text ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()
