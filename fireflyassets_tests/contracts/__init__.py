"""What each port promises, run against every implementation."""
