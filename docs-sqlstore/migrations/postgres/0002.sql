-- Blob names of objects. A stored blob without a row was left by an interrupted `put`.
CREATE INDEX obj_loc ON obj (loc) WHERE loc IS NOT NULL;
