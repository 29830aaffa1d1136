-- Environment module for Lmod. Set prefix to that of cmake --install.
local prefix = "/opt/dkmap/0.1.0"

help([[Kernel methods on distributed memory: the command dkmap, the library and the Python package.
It was built for one MPI: load that one too.]])
whatis("Name: dkmap")
whatis("Version: 0.1.0")
whatis("Description: kernel methods on distributed memory")
conflict("dkmap")

for _, lib in ipairs({ "lib", "lib64" }) do
  local folder = pathJoin(prefix, lib)
  if isDir(folder) then
    prepend_path("LD_LIBRARY_PATH", folder)
    prepend_path("PKG_CONFIG_PATH", pathJoin(folder, "pkgconfig"))
  end
end
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
prepend_path("CMAKE_PREFIX_PATH", prefix)
-- The Python that the package was installed for.
local python = "python3.11"
prepend_path("PYTHONPATH", pathJoin(prefix, "lib", python, "site-packages"))
setenv("DKMAP_ROOT", prefix)
