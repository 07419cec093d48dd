"""A package, so that what is started once for its tests ends with them."""
