# SPDX-License-Identifier: BSD-3-Clause
"""The command `gputest` of the wheel: it becomes the tool that the wheel has brought."""

import os
import pathlib
import sys


def main():
    tool = str(pathlib.Path(__file__).parent / "bin" / "gputest")
    try:
        os.execv(tool, [tool] + sys.argv[1:])
    except OSError as error:
        sys.exit("gputest: {} cannot be started: {}. Install the wheel again".format(tool, error.strerror))


if __name__ == "__main__":
    main()
