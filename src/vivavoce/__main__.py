"""`python -m vivavoce` is `viva`."""

from vivavoce.cli import main

main()
