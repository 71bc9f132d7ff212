"""The local stack: programs that start, are watched and stop; the demo's arithmetic and page."""
