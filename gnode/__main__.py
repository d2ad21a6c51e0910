"""python -m gnode is the gnode command."""

from gnode.cli import main

main()
