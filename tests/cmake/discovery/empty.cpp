// No tests.
