# Takes of real human voice with artifacts mixed in at known times, for the demo and the tests.
