import sys

from cmnet.cli import main

sys.exit(main())
