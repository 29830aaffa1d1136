# Installing: filled by the install step of the build.
