-- Which blobs objects name: what lies beside them was left by a `put` that was broken off.
CREATE INDEX obj_loc ON obj (loc) WHERE loc IS NOT NULL;
