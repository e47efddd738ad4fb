-- The tables of the platform. `k` is the key of the store, ordered by its bytes; `doc` is the record as JSON.
CREATE TABLE r_usr  (k text COLLATE "C" PRIMARY KEY, doc jsonb NOT NULL);
CREATE TABLE r_tok  (k text COLLATE "C" PRIMARY KEY, doc jsonb NOT NULL);
CREATE TABLE r_org  (k text COLLATE "C" PRIMARY KEY, doc jsonb NOT NULL);
CREATE TABLE r_mem  (k text COLLATE "C" PRIMARY KEY, doc jsonb NOT NULL);
CREATE TABLE r_spc  (k text COLLATE "C" PRIMARY KEY, doc jsonb NOT NULL);
CREATE TABLE r_rev  (k text COLLATE "C" PRIMARY KEY, doc jsonb NOT NULL);
CREATE TABLE r_crq  (k text COLLATE "C" PRIMARY KEY, doc jsonb NOT NULL);
CREATE TABLE r_site (k text COLLATE "C" PRIMARY KEY, doc jsonb NOT NULL);
CREATE TABLE r_ssp  (k text COLLATE "C" PRIMARY KEY, doc jsonb NOT NULL);
CREATE TABLE r_job  (k text COLLATE "C" PRIMARY KEY, doc jsonb NOT NULL);

-- Index rows, unique values, receipts, numbers: JSON in `v`, or a number in `n`, or neither.
CREATE TABLE ix (k text COLLATE "C" PRIMARY KEY, v jsonb, n bigint);

-- Counters: one is the sum of its rows, so that those who add to it never meet. The store folds the rows of a counter
-- into one when there are many.
CREATE TABLE ctr (
    k    text COLLATE "C",
    part uuid DEFAULT gen_random_uuid(),
    n    bigint NOT NULL,
    PRIMARY KEY (k, part)
);

-- The change feed. `xid` is the transaction that told; it orders what is told, and tells what is settled: all of the
-- transactions before the oldest one that still runs. `seq` is the place within the transaction.
CREATE TABLE feed (
    topic integer,
    era   integer,
    xid   xid8 DEFAULT pg_current_xact_id(),
    seq   integer,
    k     text COLLATE "C" NOT NULL,
    PRIMARY KEY (topic, era, xid, seq)
);

-- Transactions are counted anew in a cluster that the database was copied to: a new era begins, so that what is told
-- there still comes after what was told before. `upto` is the last transaction of the era that was trimmed.
CREATE TABLE feed_era (era integer NOT NULL, upto xid8 NOT NULL);
INSERT INTO feed_era VALUES (0, '0');

-- Immutable content: `h` is the hash as text, `data` the bytes, or `loc` says where they lie outside the database.
-- What is `dying` is about to be removed and counts as absent.
CREATE TABLE obj (
    domain  text COLLATE "C",
    h       text COLLATE "C",
    len     bigint NOT NULL,
    data    bytea,
    loc     text,
    touched timestamptz NOT NULL,
    dying   boolean NOT NULL DEFAULT false,
    PRIMARY KEY (domain, h),
    CHECK ((data IS NULL) <> (loc IS NULL))
);
-- The order of hashes is that of their bytes, which base32 with this alphabet keeps and the one of `h` does not.
CREATE INDEX obj_order ON obj (
    domain,
    (translate(h, 'abcdefghijklmnopqrstuvwxyz234567', '0123456789abcdefghijklmnopqrstuv') COLLATE "C")
);

-- For people.
CREATE VIEW v_space AS
SELECT doc->>'id' AS id, doc->>'title' AS title, doc->>'organization' AS organization,
       doc->>'default_level' AS default_level, doc->>'edit_mode' AS edit_mode,
       doc->>'created_by' AS created_by, (doc->>'created_at')::timestamptz AS created_at,
       (doc->>'updated_at')::timestamptz AS updated_at, (doc->>'deleted_at')::timestamptz AS deleted_at
FROM r_spc;

CREATE VIEW v_member AS
SELECT m.doc->>'organization' AS organization, m.doc->>'user' AS "user", u.doc->>'email' AS email,
       u.doc->>'display_name' AS name, m.doc->>'role' AS role, (m.doc->>'joined_at')::timestamptz AS joined_at
FROM r_mem AS m
LEFT JOIN r_usr AS u ON u.k = 'usr!' || (m.doc->>'user');

CREATE VIEW v_site AS
SELECT doc->>'id' AS id, doc->>'title' AS title, doc->>'organization' AS organization,
       (doc->>'published')::boolean AS published, doc->>'visibility' AS visibility,
       doc->>'basename' AS basename, doc->>'proxy' AS proxy, doc->>'kind' AS kind,
       doc->>'created_by' AS created_by, (doc->>'created_at')::timestamptz AS created_at
FROM r_site;
