"""Labelled conversations for tests."""

PAGE = """---
unit: user turn
parts:
  tone: {values: [warm, cold]}
  why: {text: true}
  marks: {values: [a, b, c], several: [1, 2]}
  sure: {values: [true, false]}
  points: {scale: [1, 5]}
---
How the user sounds.
"""
VALUE = {"tone": "cold", "why": '=1+1, "quoted"\nand a line', "marks": ["b", "a"], "sure": False, "points": 3}
