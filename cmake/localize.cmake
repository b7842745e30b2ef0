# localize.cmake - the static library as it is delivered: one object, in which
# only what the header declares is global.  In an ordinary archive the inner
# names would be global too; a program with a function of such a name would not
# link, or silently put it in the library's place.

# add_localized_library(<target> <objects>): a static library of what the object
# library holds, linked to one object whose hidden names are local.
function(add_localized_library target objects)
  if(NOT CMAKE_OBJCOPY)
    message(FATAL_ERROR "The static library needs objcopy (GNU binutils or"
      " LLVM), which was not found: install it or set CMAKE_OBJCOPY")
  endif()
  # The compiler knows what its linker is to be told.  Of the user's flags only
  # those matter that choose machine and linker; sanitizers and profilers would
  # add their libraries.
  separate_arguments(flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
  list(FILTER flags INCLUDE REGEX "^(-m[^l]|--target=|-fuse-ld=|-flto)")
  if(CMAKE_C_COMPILER_TARGET)
    list(APPEND flags
      "${CMAKE_C_COMPILE_OPTIONS_TARGET}${CMAKE_C_COMPILER_TARGET}")
  endif()
  # Link-time optimisation ends here: its own table of names cannot be changed.
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND
     CMAKE_C_COMPILER_VERSION VERSION_GREATER_EQUAL 9)
    list(APPEND flags -flinker-output=nolto-rel)
  endif()
  set(one ${CMAKE_CURRENT_BINARY_DIR}/${target}$<CONFIG>)
  add_custom_command(OUTPUT ${one}.o
    COMMAND ${CMAKE_C_COMPILER} ${flags} -r -nostdlib -o ${one}.global.o
      $<TARGET_OBJECTS:${objects}>
    COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${one}.global.o ${one}.o
    DEPENDS $<TARGET_OBJECTS:${objects}> COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Making the static library's inner names local")
  add_library(${target} STATIC ${one}.o)
  add_dependencies(${target} ${objects})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C
    ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/localized)
endfunction()
