"""What signoff costs, beside what the same work costs at least, and what others take for it.

    python -m bench                 # every table
    python -m bench stream          # one of them
    python -m bench hydrate --json  # for programs

Each row is a plain function without arguments; import it and call it by hand.
"""
