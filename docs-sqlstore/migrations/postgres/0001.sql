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

-- For people. A space is as visible as the first published site it is on; ids need no escaping in keys.
CREATE VIEW v_space AS
SELECT s.doc->>'id' AS id, s.doc->>'title' AS title, s.doc->>'organization' AS organization,
       coalesce(
           (SELECT t.doc->>'visibility'
            FROM ix
            JOIN r_site AS t ON t.k = 'site!' || split_part(substr(ix.k, 8 + length(s.doc->>'id')), '!', 1)
            WHERE ix.k >= 'ssp.s!' || (s.doc->>'id') || '!'
              AND ix.k < 'ssp.s!' || (s.doc->>'id') || '"'
              AND s.doc->>'deleted_at' IS NULL
              AND (t.doc->>'published')::boolean
            ORDER BY ix.k
            LIMIT 1),
           'private'
       ) AS visibility,
       s.doc->>'default_level' AS default_level, s.doc->>'edit_mode' AS edit_mode,
       s.doc->>'created_by' AS created_by, (s.doc->>'created_at')::timestamptz AS created_at,
       (s.doc->>'updated_at')::timestamptz AS updated_at, (s.doc->>'deleted_at')::timestamptz AS deleted_at,
       s.doc->>'head' AS head, s.doc->>'root' AS root, s.doc->>'domain' AS domain
FROM r_spc AS s;

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

-- The pages of each space's active revision. A revision is a tree of nodes, each an object with JSON: an inner node
-- names its children by their hashes, a leaf holds entries, and those under `p!` are pages. Siblings are in the order
-- of `rank`. Looking at one space walks the nodes of all: for people, not for programs.
CREATE VIEW v_page AS
WITH RECURSIVE node (space, domain, body) AS (
    SELECT s.doc->>'id', s.doc->>'domain', convert_from(o.data, 'UTF8')::jsonb
    FROM r_spc AS s
    JOIN obj AS o ON o.domain = s.doc->>'domain' AND o.h = s.doc->>'root'
    UNION ALL
    SELECT node.space, node.domain, convert_from(o.data, 'UTF8')::jsonb
    FROM node
    CROSS JOIN LATERAL jsonb_array_elements(node.body->'children') AS child
    JOIN obj AS o ON o.domain = node.domain AND o.h = child->>1
)
SELECT node.space AS space, substr(entry->>0, 3) AS id, entry->1->>'parent' AS parent,
       entry->1->>'rank' AS rank, entry->1->>'kind' AS kind, entry->1->>'title' AS title,
       entry->1->>'slug' AS slug, entry->1->>'description' AS description,
       coalesce((entry->1->>'hidden')::boolean, false) AS hidden,
       (entry->1->>'updatedAt')::timestamptz AS updated_at,
       convert_from(body.data, 'UTF8') AS markdown
FROM node
CROSS JOIN LATERAL jsonb_array_elements(node.body->'entries') AS entry
LEFT JOIN obj AS body ON body.domain = node.domain AND body.h = entry->1->>'body'
WHERE entry->>0 LIKE 'p!%';
