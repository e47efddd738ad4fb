-- The tables of the platform. `k` is the key of the store, `doc` the record as JSON.
CREATE TABLE r_usr  (k TEXT PRIMARY KEY, doc TEXT NOT NULL) STRICT, WITHOUT ROWID;
