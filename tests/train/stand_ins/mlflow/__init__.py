"""Stands for MLflow 3.17: the parameters of what gnode calls, and a list of the calls."""

calls = []
experiments = {}
