"""Validators: made of functions, of judges, of other validators."""
