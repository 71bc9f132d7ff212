"""The repository held to what it says of itself."""
