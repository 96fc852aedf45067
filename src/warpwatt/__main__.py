"""``python -m warpwatt`` is ``warpwatt``."""

from warpwatt.commands.main import main

if __name__ == "__main__":
    main()
