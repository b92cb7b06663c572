"""The test of an agent in numbers: success by scenario, and its report for CI."""
