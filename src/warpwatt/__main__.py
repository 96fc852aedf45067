"""``python -m warpwatt`` is ``warpwatt``, without modules from the folder that the user is in."""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]

from warpwatt.commands.main import main

if __name__ == "__main__":
    main()
