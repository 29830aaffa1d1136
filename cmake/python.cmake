# The Python package, in the folder that the interpreter of the prefix looks in: PREFIX/lib/python3.x/
# dist-packages or site-packages. It needs no compiler and finds the library from where it stands.
find_program(DKMAP_PYTHON python3 HINTS /usr/bin DOC "The Python that the package is installed for")
option(DKMAP_PYTHON_PACKAGE "Install the Python package" ON)

if(DKMAP_PYTHON_PACKAGE AND DKMAP_PYTHON AND BUILD_SHARED_LIBS)
  install(CODE "
    execute_process(COMMAND \"${DKMAP_PYTHON}\" \"${PROJECT_SOURCE_DIR}/cmake/python_folder.py\"
        \"\${CMAKE_INSTALL_PREFIX}\"
      OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
    if(failed)
      message(WARNING \"the Python package is not installed: \${failed}\")
    else()
      file(INSTALL \"${PROJECT_SOURCE_DIR}/src/python/dkmap\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/\${folder}\"
        FILES_MATCHING PATTERN \"*.py\" PATTERN __pycache__ EXCLUDE)
    endif()" COMPONENT python)
endif()
