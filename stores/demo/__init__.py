"""Sample stores with a believable story, made from a fixed seed and the time of day; used by `load_demo` only."""
