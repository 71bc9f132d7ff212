"""``python -m fireflyassets.api``."""

from fireflyassets.api.main import main

if __name__ == "__main__":
    main()
