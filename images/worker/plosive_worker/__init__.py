# The workers of Plosive. The three verbs are embed.py, train.py and detect.py; the other modules hold what they share.
