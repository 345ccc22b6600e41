# The workers of Plosive: nouns in the modules, the three verbs in embed.py, train.py and detect.py.
