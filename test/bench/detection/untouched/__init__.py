# The untouched test set (docs/adr: the protocol of the untouched set): voices, rooms, channels and two generators of
# artifacts that no choice of the detector has looked at. The generators follow descriptions of the physics; they share
# with the first two only the interface of an effect (voices/scene.py). Made and played by transfer.py, and only with
# --play-untouched. Never run a detector on this outside a play.
