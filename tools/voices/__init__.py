# Generates takes of real human voice with artifacts inserted at known times, for the demo and the tests.
