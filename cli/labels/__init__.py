"""Commands that write and compare labels: `annotate`, `label` and `agreement`."""
