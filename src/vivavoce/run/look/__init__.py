"""What a file is and what it supports, without a run being made."""
