"""One file per figure, table and claim of the paper, each with `ARTEFACT`."""
